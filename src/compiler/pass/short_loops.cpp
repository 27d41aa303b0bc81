#include "compiler/pass/short_loops.hpp"

#include <llvm/Analysis/AssumptionCache.h>
#include <llvm/Analysis/OptimizationRemarkEmitter.h>
#include <llvm/Analysis/TargetTransformInfo.h>
#include <llvm/Analysis/ValueTracking.h>
#include <llvm/IR/Dominators.h>
#include <llvm/IR/InstIterator.h>
#include <llvm/IR/IntrinsicInst.h>
#include <llvm/Transforms/InstCombine/InstCombine.h>
#include <llvm/Transforms/Scalar/EarlyCSE.h>
#include <llvm/Transforms/Scalar/SROA.h>
#include <llvm/Transforms/Scalar/SimplifyCFG.h>
#include <llvm/Transforms/Utils/LCSSA.h>
#include <llvm/Transforms/Utils/LoopSimplify.h>
#include <llvm/Transforms/Utils/LoopUtils.h>
#include <llvm/Transforms/Utils/UnrollLoop.h>

#include "compiler/pass/neighbours.hpp"
#include "compiler/pass/uniformity.hpp"

namespace sb::pass {

using namespace llvm;

namespace {

constexpr std::uint64_t most_written = 1400;  // instructions
constexpr std::uint64_t most_rounds = 64;
constexpr StringLiteral unroll_full = "llvm.loop.unroll.full";

// How many rounds are written out if the program says so: all, some, or one.
std::optional<std::uint64_t> rounds_asked_for(const Loop& loop, std::uint64_t rounds) {
  if (findOptionMDForLoop(&loop, unroll_full) ||
      findOptionMDForLoop(&loop, "llvm.loop.unroll.enable")) {
    return rounds;
  }
  if (findOptionMDForLoop(&loop, "llvm.loop.unroll.disable")) {
    return 1;
  }
  auto count = getOptionalIntLoopAttribute(&loop, "llvm.loop.unroll.count");
  return count ? std::optional<std::uint64_t>(*count) : std::nullopt;
}

bool is_of_thread(const Value* pointer) { return isa<AllocaInst>(getUnderlyingObject(pointer, 0)); }

// What the threads do there, one vector of them does.
bool goes_side_by_side(Instruction& inst, const uniformity& uniform) {
  if (auto* call = dyn_cast<CallBase>(&inst)) {
    return isa<IntrinsicInst>(call) && !call->mayReadOrWriteMemory();
  }
  Value* pointer = getLoadStorePointerOperand(&inst);
  if (!pointer) {
    return !inst.mayReadOrWriteMemory();
  }
  const DataLayout& layout = inst.getDataLayout();
  auto bytes =
      static_cast<std::int64_t>(layout.getTypeStoreSize(getLoadStoreType(&inst)).getFixedValue());
  auto distance = distance_of_neighbours(pointer, uniform, layout);
  return !inst.isVolatile() && !inst.isAtomic() &&
         (is_of_thread(pointer) || distance == 0 || distance == bytes);
}

class short_loops {
 public:
  short_loops(LoopInfo& loops, ScalarEvolution& evolution, const uniformity& uniform)
      : evolution_(evolution) {
    for (Loop* loop : loops.getLoopsInReverseSiblingPreorder()) {
      note(*loop, uniform);
    }
  }

  // The outermost ones.
  const std::vector<Loop*>& outermost() const { return outermost_; }

 private:
  // Instructions that the loop becomes, with the ones within it; nothing if it is not for us.
  std::optional<std::uint64_t> size_of(Loop& loop, const uniformity& uniform) {
    const std::uint64_t rounds = evolution_.getSmallConstantTripCount(&loop);
    if (rounds == 0 || rounds > most_rounds || !loop.isLoopSimplifyForm() ||
        loop.getExitingBlock() != loop.getLoopLatch() ||
        rounds_asked_for(loop, rounds).value_or(rounds) < rounds) {
      return std::nullopt;
    }
    std::uint64_t size = 0;
    for (Loop* inner : loop) {
      auto own = size_of(*inner, uniform);
      if (!own) {
        return std::nullopt;
      }
      size += *own;
    }
    for (BasicBlock* block : loop.blocks()) {
      bool is_inside = any_of(loop, [&](Loop* inner) { return inner->contains(block); });
      if (is_inside) {
        continue;
      }
      // No ways but those of the loops.
      if (block != loop.getLoopLatch() && !block->getSingleSuccessor()) {
        return std::nullopt;
      }
      for (Instruction& inst : *block) {
        if (!goes_side_by_side(inst, uniform)) {
          return std::nullopt;
        }
        size += isa<PHINode>(inst) || inst.isTerminator() || inst.isDebugOrPseudoInst() ? 0 : 1;
      }
    }
    return size * rounds <= most_written ? std::optional(size * rounds) : std::nullopt;
  }

  void note(Loop& loop, const uniformity& uniform) {
    bool is_inside = any_of(outermost_, [&](Loop* outer) { return outer->contains(&loop); });
    if (!is_inside && size_of(loop, uniform)) {
      outermost_.push_back(&loop);
    }
  }

  ScalarEvolution& evolution_;
  std::vector<Loop*> outermost_;
};

bool meets(const Loop& loop) {
  return any_of(loop.blocks(), [](const BasicBlock* block) {
    return any_of(*block, [](const Instruction& inst) {
      auto* call = dyn_cast<CallBase>(&inst);
      return call && call->isConvergent();
    });
  });
}

bool uses_own_array(const Loop& loop) {
  return any_of(loop.blocks(), [](const BasicBlock* block) {
    return any_of(*block, [](const Instruction& inst) {
      const Value* pointer = getLoadStorePointerOperand(&inst);
      return pointer && is_of_thread(pointer);
    });
  });
}

void mark(Loop& loop) {
  LLVMContext& context = loop.getHeader()->getContext();
  for (Loop* one : loop.getLoopsInPreorder()) {
    one->setLoopID(makePostTransformationMetadata(
        context, one->getLoopID(), {"llvm.loop.unroll."},
        {MDNode::get(context, MDString::get(context, unroll_full))}));
  }
}

void tidy(Function& body, FunctionAnalysisManager& analyses) {
  FunctionPassManager passes;
  passes.addPass(SROAPass(SROAOptions::ModifyCFG));
  passes.addPass(SimplifyCFGPass());
  passes.addPass(InstCombinePass());
  passes.addPass(EarlyCSEPass());
  passes.addPass(LoopSimplifyPass());
  passes.addPass(LCSSAPass());
  analyses.invalidate(body, PreservedAnalyses::none());
  analyses.invalidate(body, passes.run(body, analyses));
}

}  // namespace

bool will_be_written_out(const Loop& loop, ScalarEvolution& evolution) {
  const std::uint64_t rounds = evolution.getSmallConstantTripCount(&loop);
  return rounds != 0 && rounds_asked_for(loop, rounds).value_or(0) >= rounds;
}

void write_out_short_loops(Function& body, FunctionAnalysisManager& analyses) {
  analyses.invalidate(body, PreservedAnalyses::none());
  auto& loops = analyses.getResult<LoopAnalysis>(body);
  if (loops.empty() || body.hasOptSize()) {
    return;
  }
  auto& dominators = analyses.getResult<DominatorTreeAnalysis>(body);
  auto& assumptions = analyses.getResult<AssumptionAnalysis>(body);
  auto& evolution = analyses.getResult<ScalarEvolutionAnalysis>(body);
  auto& target = analyses.getResult<TargetIRAnalysis>(body);
  auto& remarks = analyses.getResult<OptimizationRemarkEmitterAnalysis>(body);
  const uniformity uniform(body, team::block);
  const short_loops found(loops, evolution, uniform);
  bool changed = false;
  for (Loop* outer : found.outermost()) {
    Loop* around = outer->getParentLoop();
    if (!uses_own_array(*outer) && (!around || meets(*around))) {
      mark(*outer);
      continue;
    }
    auto nest = outer->getLoopsInPreorder();
    for (Loop* loop : reverse(nest)) {
      UnrollLoopOptions options{};
      options.Count = evolution.getSmallConstantTripCount(loop);
      options.Force = true;
      UnrollLoop(loop, options, &loops, &evolution, &dominators, &assumptions, &target, &remarks,
                 /*PreserveLCSSA=*/true);
      changed = true;
    }
  }
  if (changed) {
    tidy(body, analyses);
  }
}

}  // namespace sb::pass
