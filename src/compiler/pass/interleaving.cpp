#include "compiler/pass/interleaving.hpp"

#include <llvm/Analysis/LoopInfo.h>
#include <llvm/Analysis/ScalarEvolution.h>
#include <llvm/Analysis/ScalarEvolutionExpressions.h>
#include <llvm/Analysis/TargetTransformInfo.h>
#include <llvm/IR/Dominators.h>
#include <llvm/IR/IntrinsicInst.h>
#include <llvm/Transforms/Utils/LoopUtils.h>

#include "compiler/pass/counted_version.hpp"
#include "compiler/pass/processor.hpp"
#include "compiler/pass/thread_marks.hpp"
#include "compiler/pass/usual_blocks.hpp"

namespace sb::pass {

using namespace llvm;

namespace {

constexpr StringLiteral interleave_count = "llvm.loop.interleave.count";
constexpr StringLiteral unroll_count = "llvm.loop.unroll.count";
constexpr StringLiteral hints[] = {"llvm.loop.interleave.count", "llvm.loop.unroll.count",
                                   "llvm.loop.unroll.disable", "llvm.loop.vectorize.enable",
                                   "llvm.loop.isvectorized"};
constexpr unsigned many_registers = 32;
// Instructions of a loop whose values fit into the registers twice, as a rule. Those of shorter
// ones are repeated by LLVM as often as is good.
constexpr std::size_t least = 26, largest = 300, largest_with_few_registers = 60;
// From so many on there is enough to compute for a core with four units for vectors: it waits for
// results, not for memory.
constexpr std::size_t long_loop = 48;
// A loop of which no vectors are made, and how many of its rounds follow each other then.
constexpr std::size_t largest_repeated = 40;
constexpr unsigned rounds_in_a_row = 4;

// How many instructions it has; 0 if vectors cannot be made of them.
std::size_t size_for_vectors(const Loop& loop, std::size_t most) {
  std::size_t size = 0;
  bool writes = false;
  for (const BasicBlock* block : loop.blocks()) {
    for (const Instruction& inst : *block) {
      if (inst.isDebugOrPseudoInst()) {
        continue;
      }
      auto* call = dyn_cast<CallBase>(&inst);
      if (inst.isAtomic() || inst.isVolatile() ||
          (call && !isa<IntrinsicInst>(call) && call->mayHaveSideEffects()) || ++size > most) {
        return 0;
      }
      writes |= isa<StoreInst>(inst);
    }
  }
  return writes && size >= least ? size : 0;
}

unsigned vectors_side_by_side(std::size_t size, unsigned registers) {
  return size >= long_loop && registers >= many_registers && !is_neoverse_n1() ? 4 : 2;
}

// Bits of the largest thing that is loaded or stored, by which LLVM chooses the length of vectors.
unsigned widest_access(const Loop& loop) {
  std::uint64_t bits = 8;
  for (BasicBlock* block : loop.blocks()) {
    for (Instruction& inst : *block) {
      if (isa<LoadInst, StoreInst>(inst)) {
        bits = std::max(
            bits,
            inst.getDataLayout().getTypeSizeInBits(getLoadStoreType(&inst)).getKnownMinValue());
      }
    }
  }
  return static_cast<unsigned>(bits);
}

// Threads whose elements lie as far apart as the program says when it runs take turns: LLVM has no
// vectors for that.
bool takes_turns(const Loop& loop, ScalarEvolution& evolution) {
  auto is_unknown_step = [&](const SCEV* part) {
    auto* line = dyn_cast<SCEVAddRecExpr>(part);
    return line && line->getLoop() == &loop && line->isAffine() &&
           !isa<SCEVConstant>(line->getStepRecurrence(evolution));
  };
  bool found = false;
  if (loop.getNumBlocks() != 1 || loop.getHeader()->size() > largest_repeated) {
    return false;
  }
  for (Instruction& inst : *loop.getHeader()) {
    if (isa<StoreInst>(inst)) {
      const SCEV* place = evolution.getSCEV(getLoadStorePointerOperand(&inst));
      found |= SCEVExprContains(place, is_unknown_step);
    } else if (inst.mayHaveSideEffects() && !isa<IntrinsicInst>(inst)) {
      return false;
    }
  }
  return found;
}

unsigned vectors_in_row(const Loop& loop, unsigned threads, const TargetTransformInfo& target,
                        unsigned registers) {
  auto bits = target.getRegisterBitWidth(TargetTransformInfo::RGK_FixedWidthVector);
  unsigned lanes = static_cast<unsigned>(bits.getKnownMinValue()) / widest_access(loop);
  return std::clamp(threads / std::max(lanes, 1u), 1u, registers >= many_registers ? 4u : 2u);
}

// Whether some threads leave a store out that the processor has no vectors with gaps for: LLVM may
// then go thread by thread. To move all of two threads behind their conditions takes it
// seconds, and gains nothing.
bool writes_with_gaps(const Loop& loop, const DominatorTree& dominators,
                      const TargetTransformInfo& target) {
  return any_of(loop.blocks(), [&](BasicBlock* block) {
    return !dominators.dominates(block, loop.getLoopLatch()) &&
           any_of(*block, [&](Instruction& inst) {
             auto* store = dyn_cast<StoreInst>(&inst);
             return store && !target.isLegalMaskedStore(store->getValueOperand()->getType(),
                                                        store->getAlign());
           });
  });
}

}  // namespace

PreservedAnalyses interleave_loops::run(Function& function, FunctionAnalysisManager& analyses) {
  if (function.hasOptNone() || is_counted(function)) {
    return PreservedAnalyses::all();
  }
  auto& target = analyses.getResult<TargetIRAnalysis>(function);
  unsigned registers = target.getNumberOfRegisters(target.getRegisterClassForType(true));
  std::size_t most = registers >= many_registers ? largest : largest_with_few_registers;
  auto& evolution = analyses.getResult<ScalarEvolutionAnalysis>(function);
  auto& dominators = analyses.getResult<DominatorTreeAnalysis>(function);
  bool for_other_blocks = has_usual_version(function);
  for (Loop* loop : analyses.getResult<LoopAnalysis>(function).getLoopsInPreorder()) {
    if (unsigned threads = findStringMetadataForLoop(loop, row_loop_mark)
                               ? evolution.getSmallConstantTripCount(loop)
                               : 0) {
      addStringMetadataToLoop(loop, interleave_count.data(),
                              vectors_in_row(*loop, threads, target, registers));
      continue;
    }
    // Blocks of other shapes than the usual one are seldom: what is small compiles sooner.
    if (for_other_blocks && loop->isInnermost() && is_thread_loop(*loop)) {
      addStringMetadataToLoop(loop, interleave_count.data(), 1);
      continue;
    }
    bool told = any_of(
        hints, [&](StringRef hint) { return findStringMetadataForLoop(loop, hint).has_value(); });
    if (loop->isInnermost() && !told && is_thread_loop(*loop) && takes_turns(*loop, evolution)) {
      addStringMetadataToLoop(loop, unroll_count.data(), rounds_in_a_row);
      continue;
    }
    std::size_t size = loop->isInnermost() && !told ? size_for_vectors(*loop, most) : 0;
    if (size != 0 && !writes_with_gaps(*loop, dominators, target)) {
      addStringMetadataToLoop(loop, interleave_count.data(), vectors_side_by_side(size, registers));
    }
  }
  return PreservedAnalyses::all();
}

}  // namespace sb::pass
