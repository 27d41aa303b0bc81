#include "compiler/pass/endless_loops.hpp"

#include <llvm/IR/CFG.h>
#include <llvm/IR/Function.h>
#include <llvm/IR/Instructions.h>

namespace sb::pass {

using namespace llvm;

namespace {

// Behind a call that does not return, as of a trap.
bool is_behind_the_last_call(const UnreachableInst& end) {
  const auto* call = dyn_cast_or_null<CallBase>(end.getPrevNonDebugInstruction());
  return call && call->doesNotReturn();
}

// `switch (x & 3)` with all four cases: LLVM makes a shorter table of it.
bool is_left_out_of_switches(const UnreachableInst& end) {
  const BasicBlock& block = *end.getParent();
  return block.getFirstNonPHIOrDbg() == &end && !pred_empty(&block) &&
         all_of(predecessors(&block),
                [](const BasicBlock* from) { return isa<SwitchInst>(from->getTerminator()); });
}

}  // namespace

PreservedAnalyses stay_in_endless_loops::run(Function& function, FunctionAnalysisManager&) {
  SmallVector<UnreachableInst*, 4> ends;
  for (BasicBlock& block : function) {
    auto* end = dyn_cast<UnreachableInst>(block.getTerminator());
    if (end && !is_behind_the_last_call(*end) && !is_left_out_of_switches(*end)) {
      ends.push_back(end);
    }
  }
  for (UnreachableInst* end : ends) {
    BasicBlock* loop = BasicBlock::Create(function.getContext(), "endless", &function);
    BranchInst::Create(loop, loop);
    BranchInst::Create(loop, end->getIterator());
    end->eraseFromParent();
  }
  return ends.empty() ? PreservedAnalyses::all() : PreservedAnalyses::none();
}

}  // namespace sb::pass
