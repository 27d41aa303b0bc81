#include "compiler/pass/context_lowering.hpp"

#include <llvm/ADT/StringSwitch.h>
#include <llvm/IR/InstIterator.h>
#include <llvm/IR/MDBuilder.h>

#include "compiler/pass/joined_blocks.hpp"
#include "compiler/pass/place_numbers.hpp"
#include "compiler/pass/runtime_abi.hpp"
#include "compiler/pass/spin_loops.hpp"

namespace sb::pass {

using namespace llvm;

namespace {

// The values of one function, made at its entry when first asked for.
class thread_values {
 public:
  thread_values(Function& function, bool is_body) : function_(function), is_body_(is_body) {}

  Value* self() {
    if (is_body_) {
      return function_.getArg(1);
    }
    return keep("self", [&](IRBuilder<>& builder) {
      Value* target = load_slot(builder, slot::self);
      auto* call =
          builder.CreateCall(FunctionType::get(builder.getPtrTy(), false), target, {}, "sb.self");
      mark_lowered_slot(*call, slot::self);
      // The same thread gets the same answer, wherever it runs.
      call->setDoesNotAccessMemory();
      call->setDoesNotThrow();
      call->addFnAttr(Attribute::WillReturn);
      call->addRetAttr(Attribute::NonNull);
      return call;
    });
  }

  Value* block() {
    self();
    return keep("block", [&](IRBuilder<>& builder) {
      return load_field(builder, builder.getPtrTy(), self(), offsetof(abi::thread_context, block),
                        "sb.block", true);
    });
  }

  Value* tid(unsigned axis) {
    if (is_body_) {
      return function_.getArg(2 + axis);
    }
    return thread_word(offsetof(abi::thread_context, tid) + 4 * axis, "sb.tid", 1024);
  }

  Value* linear_tid() {
    if (!is_body_) {
      return thread_word(offsetof(abi::thread_context, linear_tid), "sb.linear_tid", 1024);
    }
    Value* width = block_dim(0);
    Value* height = block_dim(1);
    return keep("linear", [&](IRBuilder<>& builder) {
      Value* rows = builder.CreateNUWAdd(tid(1), builder.CreateNUWMul(tid(2), height));
      return builder.CreateNUWAdd(tid(0), builder.CreateNUWMul(rows, width), "sb.linear_tid");
    });
  }

  Value* block_dim(unsigned axis) {
    return block_word(offsetof(abi::block_context, block_dim) + 4 * axis, "sb.ntid", 1, 1025);
  }
  Value* block_idx(unsigned axis) {
    return block_word(offsetof(abi::block_context, block_idx) + 4 * axis, "sb.ctaid", 0,
                      axis == 0 ? 0x7fffffff : 65535);
  }
  Value* grid_dim(unsigned axis) {
    return block_word(offsetof(abi::block_context, grid_dim) + 4 * axis, "sb.nctaid", 1,
                      axis == 0 ? 0x80000000 : 65536);
  }
  Value* row_blocks() {
    return block_word(offsetof(abi::block_context, row_blocks), "sb.row", 1,
                      std::max(longest_row, longest_row_of_rows) + 1);
  }
  Value* cooperative() {
    return block_word(offsetof(abi::block_context, cooperative), "sb.cooperative", 0, 2);
  }
  Value* dynamic_shared_bytes() {
    return block_word(offsetof(abi::block_context, dynamic_shared_bytes), "sb.dynamic_bytes", 0,
                      0x80000000);
  }
  Value* shared() { return memory(offsetof(abi::block_context, shared), "sb.shared"); }
  Value* dynamic_shared() {
    return memory(offsetof(abi::block_context, dynamic_shared), "sb.dynamic_shared");
  }

 private:
  template <class Make>
  Value* keep(StringRef key, Make make) {
    auto found = values_.find(key);
    if (found != values_.end()) {
      return found->second;
    }
    // In the order of the requests, so that each finds what it needs above itself.
    Instruction* next =
        last_ ? last_->getNextNode() : &*function_.getEntryBlock().getFirstInsertionPt();
    while (isa<AllocaInst>(next)) {
      next = next->getNextNode();
    }
    IRBuilder<> builder(next);
    builder.SetCurrentDebugLocation(DebugLoc());
    Value* value = make(builder);
    last_ = next->getPrevNode();
    return values_[key] = value;
  }

  void set_range(LoadInst* load, std::uint32_t least, std::uint32_t end) {
    MDBuilder metadata(load->getContext());
    load->setMetadata(LLVMContext::MD_range,
                      metadata.createRange(APInt(32, least), APInt(32, end)));
  }

  // Not invariant: in loop mode the fields change from one thread's turn to the next.
  Value* thread_word(std::size_t offset, const char* name, std::uint32_t end) {
    self();
    return keep(("t" + Twine(offset)).str(), [&](IRBuilder<>& builder) {
      auto* load = load_field(builder, builder.getInt32Ty(), self(), offset, name, false);
      set_range(load, 0, end);
      return load;
    });
  }

  Value* block_word(std::size_t offset, const char* name, std::uint32_t least, std::uint32_t end) {
    block();
    return keep(("b" + Twine(offset)).str(), [&](IRBuilder<>& builder) {
      auto* load = load_field(builder, builder.getInt32Ty(), block(), offset, name, true);
      set_range(load, least, end);
      return load;
    });
  }

  Value* memory(std::size_t offset, const char* name) {
    block();
    return keep(("b" + Twine(offset)).str(), [&](IRBuilder<>& builder) {
      auto* load = load_field(builder, builder.getPtrTy(), block(), offset, name, true);
      auto* alignment = ConstantAsMetadata::get(builder.getInt64(128));
      load->setMetadata(LLVMContext::MD_align, MDNode::get(load->getContext(), alignment));
      return load;
    });
  }

  Function& function_;
  bool is_body_;
  Instruction* last_ = nullptr;  // of those made so far
  StringMap<Value*> values_;
};

// The value of a builtin without arguments; null for a name that is none.
Value* builtin_value(IRBuilder<>& builder, thread_values& values, StringRef name) {
  unsigned axis = name.ends_with("_y") ? 1 : name.ends_with("_z") ? 2 : 0;
  StringRef kind = name.drop_front(StringRef("__sb_").size());
  if (kind.size() > 2 && kind[kind.size() - 2] == '_') {
    StringRef stem = kind.drop_back(2);
    if (stem == "tid") {
      return values.tid(axis);
    }
    if (stem == "ntid") {
      return values.block_dim(axis);
    }
    if (stem == "ctaid") {
      return values.block_idx(axis);
    }
    if (stem == "nctaid") {
      return values.grid_dim(axis);
    }
  }
  if (kind == "laneid") {
    return builder.CreateAnd(values.linear_tid(), 31);
  }
  if (kind == "warpid") {
    return builder.CreateLShr(values.linear_tid(), 5);
  }
  if (kind == "linear_tid") {
    return values.linear_tid();
  }
  if (kind == "row_blocks") {
    return values.row_blocks();
  }
  if (kind == "dynamic_shared_bytes") {
    return values.dynamic_shared_bytes();
  }
  if (kind == "cooperative") {
    return values.cooperative();
  }
  if (kind == "shared_base") {
    return values.shared();
  }
  if (kind == "dynamic_shared") {
    return values.dynamic_shared();
  }
  return nullptr;
}

// NAME(args...) through the table becomes NAME(self, args...).
void lower_runtime_call(CallBase& call, slot which, thread_values& values,
                        const place_numbers& places) {
  IRBuilder<> builder(&call);
  SmallVector<Type*, 8> types;
  SmallVector<Value*, 8> args;
  if (which != slot::self) {
    types.push_back(builder.getPtrTy());
    args.push_back(values.self());
  }
  for (Type* type : call.getFunctionType()->params()) {
    types.push_back(type);
  }
  args.append(call.arg_begin(), call.arg_end());
  if (which == slot::active_mask) {
    types.push_back(builder.getInt32Ty());
    args.push_back(builder.getInt32(places.of(call)));
  }
  auto* type = FunctionType::get(call.getType(), types, call.getFunctionType()->isVarArg());
  auto* fresh = builder.CreateCall(type, load_slot(builder, which), args);
  mark_lowered_slot(*fresh, which);
  if (is_roaming(call)) {
    mark_roaming(*fresh);
  }
  fresh->setDoesNotThrow();
  // A fiber waits at a barrier by itself, and loops of barriers may be copied as others are.
  if (call.isConvergent() && which != slot::barrier) {
    fresh->setConvergent();
  }
  if (which == slot::trap || which == slot::assert_fail) {
    fresh->setDoesNotReturn();
  }
  if (which == slot::allocate || which == slot::private_memory) {
    fresh->addRetAttr(Attribute::NoAlias);
  }
  fresh->takeName(&call);
  call.replaceAllUsesWith(fresh);
  call.eraseFromParent();
}

void lower_function(Function& function, bool is_body, const shared_layout& layout,
                    const place_numbers& places) {
  thread_values values(function, is_body);
  SmallVector<CallBase*, 16> calls;
  for (Instruction& inst : instructions(function)) {
    auto* call = dyn_cast<CallBase>(&inst);
    if (call && call->getCalledFunction() && call->getCalledFunction()->isDeclaration() &&
        call->getCalledFunction()->getName().starts_with("__sb_")) {
      calls.push_back(call);
    }
  }
  for (CallBase* call : calls) {
    StringRef name = call->getCalledFunction()->getName();
    if (auto which = called_slot(*call)) {
      lower_runtime_call(*call, *which, values, places);
      continue;
    }
    IRBuilder<> builder(call);
    Value* value = builtin_value(builder, values, name);
    if (!value) {
      report_error(*call, "unknown builtin '" + name + "'");
      continue;
    }
    if (call->getType()->isIntegerTy()) {
      value = builder.CreateZExtOrTrunc(value, call->getType());
    }
    call->replaceAllUsesWith(value);
    call->eraseFromParent();
  }
  lower_shared_variables(
      function, layout, [&] { return values.shared(); }, [&] { return values.dynamic_shared(); });
}

}  // namespace

void lower_context(Module& module, ArrayRef<kernel> kernels, const shared_layout& layout,
                   const call_reach& reach) {
  DenseSet<const Function*> bodies;
  for (const kernel& one : kernels) {
    bodies.insert(one.body);
  }
  const place_numbers places(module, reach);
  for (Function& function : module) {
    if (!function.isDeclaration()) {
      lower_function(function, bodies.contains(&function), layout, places);
    }
  }
}

}  // namespace sb::pass
