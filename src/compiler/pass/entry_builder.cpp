#include "compiler/pass/entry_builder.hpp"

#include <llvm/IR/DIBuilder.h>
#include <llvm/IR/MDBuilder.h>
#include <llvm/Transforms/Utils/Cloning.h>

#include "compiler/pass/runtime_abi.hpp"

namespace sb::pass {

using namespace llvm;

namespace {

Function* create_entry(const kernel& kernel) {
  Function& body = *kernel.body;
  LLVMContext& context = body.getContext();
  auto* pointer = PointerType::getUnqual(context);
  auto* type = FunctionType::get(Type::getVoidTy(context), {pointer, pointer}, false);
  auto* entry = Function::Create(type, GlobalValue::InternalLinkage, kernel.symbol + ".entry",
                                 body.getParent());
  AttributeList attributes = AttributeList::get(context, body.getAttributes().getFnAttrs(), {}, {});
  for (unsigned i = 0; i < 2; ++i) {
    attributes = attributes.addParamAttributes(
        context, i, AttrBuilder(context, body.getAttributes().getParamAttrs(i)));
    entry->getArg(i)->setName(body.getArg(i)->getName());
  }
  entry->setAttributes(attributes);
  entry->removeFnAttr(Attribute::AlwaysInline);
  entry->removeFnAttr(Attribute::NoInline);
  return entry;
}

// Debuggers see the kernel as inlined into an artificial function of the same name.
DebugLoc attach_debug_info(Function& entry, const kernel& kernel) {
  auto* source = kernel.body->getSubprogram();
  if (!source) {
    return {};
  }
  DIBuilder builder(*entry.getParent(), false, source->getUnit());
  auto* type = builder.createSubroutineType(builder.getOrCreateTypeArray({nullptr}));
  auto* subprogram = builder.createFunction(
      source->getFile(), source->getName(), entry.getName(), source->getFile(), source->getLine(),
      type, source->getLine(), DINode::FlagArtificial,
      DISubprogram::SPFlagDefinition | DISubprogram::SPFlagLocalToUnit);
  builder.finalizeSubprogram(subprogram);
  entry.setSubprogram(subprogram);
  return DILocation::get(entry.getContext(), source->getLine(), 0, subprogram);
}

class entry_builder {
 public:
  explicit entry_builder(kernel& kernel)
      : kernel_(kernel), entry_(*create_entry(kernel)), builder_(entry_.getContext()) {}

  Function* build() {
    builder_.SetInsertPoint(BasicBlock::Create(entry_.getContext(), "entry", &entry_));
    builder_.SetCurrentDebugLocation(attach_debug_info(entry_, kernel_));
    CallInst* call = kernel_.mode == abi::kernel_mode::fibers ? build_thread()
                     : kernel_.threads_are_alike              ? build_only_thread()
                                                              : build_loops();
    InlineFunctionInfo info;
    InlineFunction(*call, info);
    return &entry_;
  }

 private:
  Value* self() { return entry_.getArg(1); }

  CallInst* call_body(Value* x, Value* y, Value* z) {
    return builder_.CreateCall(kernel_.body, {entry_.getArg(0), self(), x, y, z});
  }

  CallInst* build_thread() {
    Value* tid[3];
    for (unsigned axis = 0; axis < 3; ++axis) {
      auto* load = load_field(builder_, builder_.getInt32Ty(), self(),
                              offsetof(abi::thread_context, tid) + 4 * axis, "tid", true);
      MDBuilder metadata(load->getContext());
      load->setMetadata(LLVMContext::MD_range, metadata.createRange(APInt(32, 0), APInt(32, 1024)));
      tid[axis] = load;
    }
    auto* call = call_body(tid[0], tid[1], tid[2]);
    builder_.CreateRetVoid();
    return call;
  }

  CallInst* build_only_thread() {
    Value* zero = builder_.getInt32(0);
    auto* call = call_body(zero, zero, zero);
    builder_.CreateRetVoid();
    return call;
  }

  CallInst* build_loops() {
    Value* block = load_field(builder_, builder_.getPtrTy(), self(),
                              offsetof(abi::thread_context, block), "block", true);
    static const char* const names[] = {"x", "y", "z"};
    Value* size[3];
    for (unsigned axis = 0; axis < 3; ++axis) {
      auto* load = load_field(builder_, builder_.getInt32Ty(), block,
                              offsetof(abi::block_context, block_dim) + 4 * axis, "ntid", true);
      MDBuilder metadata(load->getContext());
      load->setMetadata(LLVMContext::MD_range, metadata.createRange(APInt(32, 1), APInt(32, 1025)));
      size[axis] = load;
    }
    // Every size is at least one, so the loops need no test at the top.
    PHINode* index[3];
    BasicBlock* header[3];
    for (int axis = 2; axis >= 0; --axis) {
      BasicBlock* before = builder_.GetInsertBlock();
      header[axis] = BasicBlock::Create(entry_.getContext(), Twine("for.") + names[axis], &entry_);
      builder_.CreateBr(header[axis]);
      builder_.SetInsertPoint(header[axis]);
      index[axis] = builder_.CreatePHI(builder_.getInt32Ty(), 2, Twine("tid.") + names[axis]);
      index[axis]->addIncoming(builder_.getInt32(0), before);
    }
    if (kernel_.stores_thread_index) {
      store_thread_index(index, size);
    }
    auto* call = call_body(index[0], index[1], index[2]);
    for (unsigned axis = 0; axis < 3; ++axis) {
      auto* latch = BasicBlock::Create(entry_.getContext(), Twine("next.") + names[axis], &entry_);
      auto* exit = BasicBlock::Create(entry_.getContext(), Twine("end.") + names[axis], &entry_);
      builder_.CreateBr(latch);
      builder_.SetInsertPoint(latch);
      Value* next = builder_.CreateAdd(index[axis], builder_.getInt32(1), "", true, true);
      builder_.CreateCondBr(builder_.CreateICmpNE(next, size[axis]), header[axis], exit);
      index[axis]->addIncoming(next, latch);
      builder_.SetInsertPoint(exit);
    }
    builder_.CreateRetVoid();
    return call;
  }

  void store_thread_index(PHINode* const index[3], Value* const size[3]) {
    auto store = [&](Value* value, std::size_t offset) {
      builder_.CreateStore(
          value, builder_.CreateConstInBoundsGEP1_64(builder_.getInt8Ty(), self(), offset));
    };
    for (unsigned axis = 0; axis < 3; ++axis) {
      store(index[axis], offsetof(abi::thread_context, tid) + 4 * axis);
    }
    Value* rows = builder_.CreateNUWAdd(index[1], builder_.CreateNUWMul(index[2], size[1]));
    store(builder_.CreateNUWAdd(index[0], builder_.CreateNUWMul(rows, size[0])),
          offsetof(abi::thread_context, linear_tid));
  }

  kernel& kernel_;
  Function& entry_;
  IRBuilder<> builder_;
};

}  // namespace

void build_entry(kernel& kernel) {
  kernel.entry = entry_builder(kernel).build();
  kernel.body->eraseFromParent();
  kernel.body = nullptr;
}

}  // namespace sb::pass
