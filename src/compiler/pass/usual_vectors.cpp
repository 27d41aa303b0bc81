#include "compiler/pass/usual_vectors.hpp"

#include <llvm/Analysis/LoopInfo.h>
#include <llvm/Analysis/ScalarEvolution.h>
#include <llvm/Analysis/ScalarEvolutionExpressions.h>
#include <llvm/Analysis/ValueTracking.h>
#include <llvm/IR/Instructions.h>
#include <llvm/Transforms/Utils/LoopUtils.h>

#include "compiler/pass/thread_marks.hpp"
#include "compiler/pass/usual_blocks.hpp"

namespace sb::pass {

using namespace llvm;

namespace {

constexpr StringLiteral vectorize_enable = "llvm.loop.vectorize.enable";
constexpr StringLiteral vectorize_width = "llvm.loop.vectorize.width";
constexpr StringLiteral interleave_count = "llvm.loop.interleave.count";
constexpr std::uint64_t vector_bits = 128;

enum class places { same, side_by_side, apart };

places places_of(Instruction& access, const Loop& loop, ScalarEvolution& evolution) {
  const SCEV* place = evolution.getSCEV(getLoadStorePointerOperand(&access));
  if (evolution.isLoopInvariant(place, &loop)) {
    return places::same;
  }
  auto* line = dyn_cast<SCEVAddRecExpr>(place);
  auto* step = line && line->getLoop() == &loop
                   ? dyn_cast<SCEVConstant>(line->getStepRecurrence(evolution))
                   : nullptr;
  const DataLayout& layout = access.getDataLayout();
  return step && step->getAPInt() ==
                     layout.getTypeStoreSize(getLoadStoreType(&access)).getFixedValue()
             ? places::side_by_side
             : places::apart;
}

// How many threads make up a vector; 0 where LLVM decides by itself.
std::uint64_t wanted_lanes(const Loop& loop, const Argument& shared, ScalarEvolution& evolution) {
  if (loop.getNumBlocks() != 1) {
    return 0;
  }
  const DataLayout& layout = loop.getHeader()->getDataLayout();
  std::uint64_t widest = 0;
  bool apart = false;
  for (Instruction& inst : *loop.getHeader()) {
    if (!inst.mayReadOrWriteMemory()) {
      continue;
    }
    if (!isa<LoadInst, StoreInst>(inst) || inst.isVolatile() || inst.isAtomic()) {
      return 0;
    }
    widest = std::max(widest, layout.getTypeSizeInBits(getLoadStoreType(&inst)).getFixedValue());
    if (places_of(inst, loop, evolution) == places::apart) {
      apart = true;
      if (getUnderlyingObject(getLoadStorePointerOperand(&inst), 0) != &shared) {
        return 0;
      }
    }
  }
  return apart && widest != 0 && widest < vector_bits ? vector_bits / widest : 0;
}

}  // namespace

PreservedAnalyses widen_usual_loops::run(Function& function, FunctionAnalysisManager& analyses) {
  Argument* shared = is_usual_version(function) ? shared_memory_of(function) : nullptr;
  if (!shared) {
    return PreservedAnalyses::all();
  }
  auto& evolution = analyses.getResult<ScalarEvolutionAnalysis>(function);
  for (Loop* loop : analyses.getResult<LoopAnalysis>(function).getLoopsInPreorder()) {
    unsigned rounds = evolution.getSmallConstantTripCount(loop);
    std::uint64_t lanes =
        loop->isInnermost() && is_thread_loop(*loop) ? wanted_lanes(*loop, *shared, evolution) : 0;
    if (lanes > 1 && rounds >= lanes) {
      addStringMetadataToLoop(loop, vectorize_enable.data(), 1);
      addStringMetadataToLoop(loop, vectorize_width.data(), static_cast<unsigned>(lanes));
      addStringMetadataToLoop(loop, interleave_count.data(), 1);
    }
  }
  return PreservedAnalyses::all();
}

}  // namespace sb::pass
