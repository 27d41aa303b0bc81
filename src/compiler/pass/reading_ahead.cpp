#include "compiler/pass/reading_ahead.hpp"

#include <llvm/IR/InstIterator.h>
#include <llvm/IR/Module.h>
#include <llvm/Transforms/Utils/BasicBlockUtils.h>
#include <llvm/Transforms/Utils/Cloning.h>

namespace sb::pass {

using namespace llvm;

namespace {

constexpr StringLiteral mark_name = "__sb_ahead";

std::vector<CallInst*> marks_of(Function& function) {
  std::vector<CallInst*> marks;
  for (Instruction& inst : instructions(function)) {
    auto* call = dyn_cast<CallInst>(&inst);
    if (call && call->getCalledFunction() && call->getCalledFunction()->getName() == mark_name) {
      marks.push_back(call);
    }
  }
  return marks;
}

// Nothing is left behind the last mark of the block.
void end_behind(CallInst& mark) {
  BasicBlock* block = mark.getParent();
  BasicBlock* rest = block->splitBasicBlock(mark.getNextNode());
  block->getTerminator()->eraseFromParent();
  ReturnInst::Create(block->getContext(), block);
  EliminateUnreachableBlocks(*rest->getParent());
}

}  // namespace

void mark_ahead(IRBuilder<>& builder, Value* address, unsigned threads) {
  Module& module = *builder.GetInsertBlock()->getModule();
  auto* type =
      FunctionType::get(builder.getVoidTy(), {builder.getPtrTy(), builder.getInt32Ty()}, false);
  auto mark = module.getOrInsertFunction(mark_name, type);
  auto* function = cast<Function>(mark.getCallee());
  function->setDoesNotThrow();
  function->setWillReturn();
  function->setOnlyAccessesInaccessibleMemory();
  builder.CreateCall(mark, {address, builder.getInt32(threads)});
}

reads_ahead split_ahead(Function& function) {
  std::vector<CallInst*> marks = marks_of(function);
  if (marks.empty()) {
    return {};
  }
  reads_ahead ahead;
  bool together = all_of(
      marks, [&](CallInst* mark) { return mark->getParent() == marks.front()->getParent(); });
  if (together) {
    ValueToValueMapTy map;
    ahead.function = CloneFunction(&function, map);
    ahead.threads = ~0u;
    end_behind(*cast<CallInst>(map[marks.back()]));
    for (CallInst* mark : marks_of(*ahead.function)) {
      auto shared = cast<ConstantInt>(mark->getArgOperand(1))->getZExtValue();
      ahead.threads = std::min(ahead.threads, static_cast<unsigned>(shared));
      IRBuilder<> builder(mark);
      // Into the second level: rounds are often so far apart that they share places in the first.
      Value* how[] = {mark->getArgOperand(0), builder.getInt32(0), builder.getInt32(2),
                      builder.getInt32(1)};  // to read; data
      builder.CreateIntrinsic(Intrinsic::prefetch, {builder.getPtrTy()}, how);
      mark->eraseFromParent();
    }
  }
  drop_marks(function);
  return ahead;
}

void drop_marks(Function& function) {
  for (CallInst* mark : marks_of(function)) {
    mark->eraseFromParent();
  }
}

}  // namespace sb::pass
