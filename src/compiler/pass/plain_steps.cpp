#include "compiler/pass/plain_steps.hpp"

#include <llvm/IR/IRBuilder.h>
#include <llvm/IR/PatternMatch.h>
#include <llvm/Transforms/Utils/ScalarEvolutionExpander.h>

namespace sb::pass {

using namespace llvm;
using namespace llvm::PatternMatch;

namespace {

constexpr unsigned largest_loop = 600;  // instructions

bool is_next(Value* value, Value* variable) {
  return match(value, m_Add(m_Specific(variable), m_One())) ||
         match(value, m_DisjointOr(m_Specific(variable), m_One()));
}

}  // namespace

bool make_steps_plain(Loop& loop) {
  BasicBlock* latch = loop.getLoopLatch();
  bool changed = false;
  for (PHINode& variable : loop.getHeader()->phis()) {
    auto* next = latch ? dyn_cast<PHINode>(variable.getIncomingValueForBlock(latch)) : nullptr;
    if (!next || next->getParent() != latch || !variable.getType()->isIntegerTy() ||
        !all_of(next->incoming_values(),
                [&](const Use& one) { return is_next(one.get(), &variable); })) {
      continue;
    }
    IRBuilder<> builder(latch, latch->getFirstInsertionPt());
    // `x | 1` is not said of numbers that would wrap; of a sum it is where it says so.
    auto wraps = [&](bool is_signed) {
      return any_of(next->incoming_values(), [&](const Use& one) {
        auto* sum = dyn_cast<OverflowingBinaryOperator>(one.get());
        return sum && !(is_signed ? sum->hasNoSignedWrap() : sum->hasNoUnsignedWrap());
      });
    };
    Value* plain = builder.CreateAdd(&variable, ConstantInt::get(variable.getType(), 1), "",
                                     !wraps(false), !wraps(true));
    next->replaceAllUsesWith(plain);
    next->eraseFromParent();
    changed = true;
  }
  return changed;
}

bool counts_rounds(const Loop& loop, ScalarEvolution& evolution) {
  if (!loop.isInnermost() || !loop.isLoopSimplifyForm() || !loop.getExitBlock() ||
      loop.getExitingBlock() != loop.getLoopLatch() || !loop.getLoopLatch()) {
    return false;
  }
  auto* end = dyn_cast<BranchInst>(loop.getLoopLatch()->getTerminator());
  if (!end || !end->isConditional()) {
    return false;
  }
  const SCEV* rounds = evolution.getBackedgeTakenCount(&loop);
  SCEVExpander expander(evolution, loop.getHeader()->getDataLayout(), "rounds");
  if (isa<SCEVCouldNotCompute>(rounds) || rounds->getType()->getIntegerBitWidth() > 64 ||
      !expander.isSafeToExpand(rounds)) {
    return false;
  }
  unsigned size = 0;
  for (BasicBlock* block : loop.blocks()) {
    size += static_cast<unsigned>(block->size());
  }
  return size <= largest_loop;
}

}  // namespace sb::pass
