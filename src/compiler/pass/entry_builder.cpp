#include "compiler/pass/entry_builder.hpp"

#include <llvm/IR/DIBuilder.h>
#include <llvm/IR/MDBuilder.h>
#include <llvm/Transforms/Utils/Cloning.h>

#include <utility>

#include "compiler/pass/runtime_abi.hpp"

namespace sb::pass {

using namespace llvm;

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

void build_entry(kernel& kernel) {
  if (kernel.mode != abi::kernel_mode::fibers) {
    kernel.entry = std::exchange(kernel.body, nullptr);
    return;
  }
  Function& entry = *create_entry(kernel);
  IRBuilder<> builder(BasicBlock::Create(entry.getContext(), "entry", &entry));
  builder.SetCurrentDebugLocation(attach_debug_info(entry, kernel));
  Value* self = entry.getArg(1);
  Value* tid[3];
  for (unsigned axis = 0; axis < 3; ++axis) {
    auto* load = load_field(builder, builder.getInt32Ty(), self,
                            offsetof(abi::thread_context, tid) + 4 * axis, "tid", true);
    MDBuilder metadata(load->getContext());
    load->setMetadata(LLVMContext::MD_range, metadata.createRange(APInt(32, 0), APInt(32, 1024)));
    tid[axis] = load;
  }
  auto* call = builder.CreateCall(kernel.body, {entry.getArg(0), self, tid[0], tid[1], tid[2]});
  builder.CreateRetVoid();
  InlineFunctionInfo info;
  InlineFunction(*call, info);
  kernel.body->eraseFromParent();
  kernel.body = nullptr;
  kernel.entry = &entry;
}

}  // namespace sb::pass
