#include "compiler/pass/wrapped_places.hpp"

#include <llvm/Analysis/LoopInfo.h>
#include <llvm/Analysis/ScalarEvolution.h>
#include <llvm/Analysis/ScalarEvolutionExpressions.h>
#include <llvm/IR/Instructions.h>

namespace sb::pass {

using namespace llvm;

namespace {

// No array of a block, and no row of a table, goes round at 2^32.
constexpr unsigned widest = 32;

// Grows by more than one in every round, in a few bits.
bool goes_round(Instruction& inst, const Loop& loop, ScalarEvolution& evolution) {
  if (!inst.getType()->isIntegerTy() || isa<PHINode>(inst)) {
    return false;
  }
  auto* extended = dyn_cast<SCEVCastExpr>(evolution.getSCEV(&inst));
  auto* line = extended && isa<SCEVZeroExtendExpr, SCEVSignExtendExpr>(extended)
                   ? dyn_cast<SCEVAddRecExpr>(extended->getOperand())
                   : nullptr;
  if (!line || line->getLoop() != &loop || line->getType()->getIntegerBitWidth() >= widest) {
    return false;
  }
  auto* step = dyn_cast<SCEVConstant>(line->getStepRecurrence(evolution));
  return !step || !(step->getAPInt().isOne() || step->getAPInt().isAllOnes());
}

}  // namespace

PreservedAnalyses hide_wrapped_places::run(Function& function, FunctionAnalysisManager& analyses) {
  auto& loops = analyses.getResult<LoopAnalysis>(function);
  if (loops.empty()) {
    return PreservedAnalyses::all();
  }
  auto& evolution = analyses.getResult<ScalarEvolutionAnalysis>(function);
  SmallVector<Instruction*, 8> found;
  for (Loop* loop : loops.getLoopsInPreorder()) {
    if (!loop->isInnermost()) {
      continue;
    }
    for (BasicBlock* block : loop->blocks()) {
      for (Instruction& inst : *block) {
        if (goes_round(inst, *loop, evolution)) {
          found.push_back(&inst);
        }
      }
    }
  }
  for (Instruction* inst : found) {
    auto* hidden = new FreezeInst(inst, "", std::next(inst->getIterator()));
    hidden->setDebugLoc(inst->getDebugLoc());
    inst->replaceUsesWithIf(hidden, [&](Use& use) { return use.getUser() != hidden; });
    evolution.forgetValue(inst);
  }
  return found.empty() ? PreservedAnalyses::all() : PreservedAnalyses::none();
}

}  // namespace sb::pass
