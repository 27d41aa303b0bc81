#include "compiler/pass/thread_loops.hpp"

#include <llvm/IR/InstIterator.h>

#include "compiler/pass/guard_splitting.hpp"
#include "compiler/pass/region_function.hpp"
#include "compiler/pass/runtime_abi.hpp"

namespace sb::pass {

using namespace llvm;

namespace {

constexpr const char* axes[] = {"x", "y", "z"};

Value* block_size(IRBuilder<>& builder, unsigned axis) {
  Module& module = *builder.GetInsertBlock()->getModule();
  auto builtin =
      builtin_function(module, (Twine("__sb_ntid_") + axes[axis]).str(), builder.getInt32Ty());
  return builder.CreateCall(builtin);
}

Value* linear_index(IRBuilder<>& builder, Value* x, Value* y, Value* z) {
  Value* rows = builder.CreateNUWAdd(y, builder.CreateNUWMul(z, block_size(builder, 1)));
  return builder.CreateNUWAdd(x, builder.CreateNUWMul(rows, block_size(builder, 0)));
}

// In 64 bits, so that the way along x is plainly one by one.
Value* context_index(IRBuilder<>& builder, Value* x, Value* y, Value* z) {
  auto wide = [&](Value* value) { return builder.CreateZExt(value, builder.getInt64Ty()); };
  Value* rows =
      builder.CreateNUWAdd(wide(y), builder.CreateNUWMul(wide(z), wide(block_size(builder, 1))));
  return builder.CreateNUWAdd(builder.CreateNUWMul(rows, wide(block_size(builder, 0))), wide(x));
}

void store_thread_index(IRBuilder<>& builder, Value* self, Value* const index[3]) {
  auto store = [&](Value* value, std::size_t offset) {
    builder.CreateStore(value,
                        builder.CreateConstInBoundsGEP1_64(builder.getInt8Ty(), self, offset));
  };
  for (unsigned axis = 0; axis < 3; ++axis) {
    store(index[axis], offsetof(abi::thread_context, tid) + 4 * axis);
  }
  store(linear_index(builder, index[0], index[1], index[2]),
        offsetof(abi::thread_context, linear_tid));
}

}  // namespace

void bind_thread(Function& function) {
  SmallVector<CallInst*, 16> calls, replaced;
  for (Instruction& inst : instructions(function)) {
    auto* call = dyn_cast<CallInst>(&inst);
    if (call && call->getCalledFunction() && !called_slot(*call) &&
        call->getCalledFunction()->getName().starts_with("__sb_")) {
      calls.push_back(call);
    }
  }
  IRBuilder<> builder(&*function.getEntryBlock().getFirstInsertionPt());
  builder.SetCurrentDebugLocation(DebugLoc());
  Value* tid[] = {function.getArg(2), function.getArg(3), function.getArg(4)};
  Value* linear = nullptr;
  Value* context = nullptr;
  auto linear_tid = [&] {
    return linear ? linear : linear = linear_index(builder, tid[0], tid[1], tid[2]);
  };
  for (CallInst* call : calls) {
    StringRef name = call->getCalledFunction()->getName().drop_front(StringRef("__sb_").size());
    Value* value = nullptr;
    if (name == "tid_x" || name == "tid_y" || name == "tid_z") {
      value = tid[name.back() - 'x'];
    } else if (name == "linear_tid") {
      value = linear_tid();
    } else if (name == "laneid") {
      value = builder.CreateAnd(linear_tid(), 31);
    } else if (name == "warpid") {
      value = builder.CreateLShr(linear_tid(), 5);
    } else if (("__sb_" + name).str() == context_index_name) {
      value = context ? context : context = context_index(builder, tid[0], tid[1], tid[2]);
    } else {
      continue;
    }
    call->replaceAllUsesWith(IRBuilder<>(call).CreateZExtOrTrunc(value, call->getType()));
    replaced.push_back(call);
  }
  // Not before: the builder stands at one of them, perhaps.
  for (CallInst* call : replaced) {
    call->eraseFromParent();
  }
}

CallInst* call_for_threads(IRBuilder<>& builder, const kernel& kernel, Function& function,
                           ArrayRef<Value*> args) {
  Function& caller = *builder.GetInsertBlock()->getParent();
  LLVMContext& context = caller.getContext();
  Value* size[3];
  for (unsigned axis = 0; axis < 3; ++axis) {
    size[axis] = block_size(builder, axis);
  }
  // Every size is at least one, so the loops need no test at the top.
  Value* index[3];
  BasicBlock* header[3];
  for (int axis = 2; axis >= 0; --axis) {
    BasicBlock* before = builder.GetInsertBlock();
    header[axis] = BasicBlock::Create(context, Twine("for.") + axes[axis], &caller);
    builder.CreateBr(header[axis]);
    builder.SetInsertPoint(header[axis]);
    auto* phi = builder.CreatePHI(builder.getInt32Ty(), 2, Twine("tid.") + axes[axis]);
    phi->addIncoming(builder.getInt32(0), before);
    index[axis] = phi;
  }
  if (kernel.stores_thread_index) {
    store_thread_index(builder, caller.getArg(1), index);
  }
  SmallVector<Value*, 16> all(args);
  std::copy_n(index, 3, all.begin() + 2);
  auto* call = builder.CreateCall(&function, all);
  for (unsigned axis = 0; axis < 3; ++axis) {
    auto* latch = BasicBlock::Create(context, Twine("next.") + axes[axis], &caller);
    auto* exit = BasicBlock::Create(context, Twine("end.") + axes[axis], &caller);
    builder.CreateBr(latch);
    builder.SetInsertPoint(latch);
    Value* next = builder.CreateAdd(index[axis], builder.getInt32(1), "", true, true);
    auto* end = builder.CreateCondBr(builder.CreateICmpNE(next, size[axis]), header[axis], exit);
    mark_thread_loop(*end);
    cast<PHINode>(index[axis])->addIncoming(next, latch);
    builder.SetInsertPoint(exit);
  }
  return call;
}

}  // namespace sb::pass
