#include "compiler/pass/early_divisions.hpp"

#include <llvm/Analysis/LoopInfo.h>
#include <llvm/Analysis/LoopIterator.h>
#include <llvm/IR/Dominators.h>
#include <llvm/IR/IRBuilder.h>

#include "compiler/pass/arithmetic.hpp"

namespace sb::pass {

using namespace llvm;

namespace {

bool divides(const Instruction& inst) {
  switch (inst.getOpcode()) {
    case Instruction::SDiv:
    case Instruction::UDiv:
    case Instruction::SRem:
    case Instruction::URem:
      return true;
    default:
      return false;
  }
}

bool divides_fixed_numbers(Instruction& inst, const Loop& loop, Instruction* before, bool& moved) {
  return divides(inst) && inst.getType()->isIntegerTy() &&
         loop.makeLoopInvariant(inst.getOperand(0), moved, before) &&
         loop.makeLoopInvariant(inst.getOperand(1), moved, before);
}

// The same division where it is not known that its numbers can be divided: by one if they cannot.
// What it gives then is not used.
Value* divide_anyway(Instruction* before, const Instruction& division) {
  IRBuilder<> builder(before);
  Value* dividend = builder.CreateFreeze(division.getOperand(0));
  Value* divisor = builder.CreateFreeze(division.getOperand(1));
  auto operation = static_cast<Instruction::BinaryOps>(division.getOpcode());
  const safe_divisor safe = divide_by(builder, operation, dividend, divisor);
  return builder.CreateBinOp(operation, dividend, safe.value, division.getName());
}

// In the order of execution: a division may divide what another one gives.
bool divide_before(Loop& loop, LoopInfo& loops, const DominatorTree& dominators) {
  bool changed = false;
  Instruction* before = loop.getLoopPreheader()->getTerminator();
  LoopBlocksRPO blocks(&loop);
  blocks.perform(&loops);
  for (BasicBlock* block : blocks) {
    if (dominators.dominates(block, loop.getLoopLatch())) {
      continue;  // every round comes there
    }
    for (Instruction& inst : make_early_inc_range(*block)) {
      if (divides_fixed_numbers(inst, loop, before, changed)) {
        inst.replaceAllUsesWith(divide_anyway(before, inst));
        inst.eraseFromParent();
        changed = true;
      }
    }
  }
  return changed;
}

}  // namespace

PreservedAnalyses divide_early::run(Function& function, FunctionAnalysisManager& analyses) {
  bool changed = false;
  auto& dominators = analyses.getResult<DominatorTreeAnalysis>(function);
  auto& loops = analyses.getResult<LoopAnalysis>(function);
  for (Loop* loop : loops.getLoopsInPreorder()) {
    if (loop->isInnermost() && loop->isLoopSimplifyForm()) {
      changed |= divide_before(*loop, loops, dominators);
    }
  }
  if (!changed) {
    return PreservedAnalyses::all();
  }
  PreservedAnalyses kept;
  kept.preserveSet<CFGAnalyses>();
  return kept;
}

}  // namespace sb::pass
