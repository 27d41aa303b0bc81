#include "compiler/pass/sum_loops.hpp"

#include <llvm/Analysis/LoopInfo.h>
#include <llvm/Analysis/ScalarEvolutionExpressions.h>
#include <llvm/Analysis/TargetTransformInfo.h>
#include <llvm/IR/IRBuilder.h>
#include <llvm/IR/IntrinsicInst.h>
#include <llvm/Transforms/Utils/LoopUtils.h>

#include "compiler/pass/counted_version.hpp"
#include "compiler/pass/thread_marks.hpp"

namespace sb::pass {

using namespace llvm;

namespace {

constexpr StringLiteral sum_mark = "sb.sums";
constexpr StringLiteral interleave_count = "llvm.loop.interleave.count";
constexpr std::size_t largest = 40;  // instructions
constexpr std::int64_t line_bytes = 64;
// Two lines at a time, asked for some lines before: of 64 to 1024 bytes this was best.
constexpr unsigned bytes_at_a_time = 128;
constexpr std::int64_t bytes_ahead = 768;
constexpr unsigned most_reads = 4;

// An address that goes through memory from one turn of the loop to the next.
struct way {
  const SCEVAddRecExpr* place;
  std::int64_t step;  // bytes
  bool is_kept;       // memory of the function's own
};

std::optional<way> way_of(Value* pointer, const Loop& loop, ScalarEvolution& evolution) {
  auto* place = dyn_cast<SCEVAddRecExpr>(evolution.getSCEV(pointer));
  if (!place || place->getLoop() != &loop || !place->isAffine()) {
    return std::nullopt;
  }
  auto* step = dyn_cast<SCEVConstant>(place->getStepRecurrence(evolution));
  auto* base = dyn_cast<SCEVUnknown>(evolution.getPointerBase(place));
  if (!step || !base || step->getAPInt().getSignificantBits() > 32) {
    return std::nullopt;
  }
  return way{place, step->getAPInt().getSExtValue(), isa<AllocaInst>(base->getValue())};
}

// Reads elements side by side, and changes nothing but what it keeps, in place.
bool adds_up(const Loop& loop, ScalarEvolution& evolution) {
  const DataLayout& layout = loop.getHeader()->getModule()->getDataLayout();
  std::size_t size = 0;
  bool reads = false;
  SmallPtrSet<const SCEV*, 4> loaded, stored;
  if (loop.getNumBlocks() != 1) {
    return false;
  }
  for (Instruction& inst : *loop.getHeader()) {
    if (inst.isDebugOrPseudoInst()) {
      continue;
    }
    bool accesses = isa<LoadInst, StoreInst>(inst);
    if (++size > largest || (!accesses && inst.mayReadOrWriteMemory()) || inst.isAtomic() ||
        inst.isVolatile()) {
      return false;
    }
    if (!accesses) {
      continue;
    }
    auto found = way_of(getLoadStorePointerOperand(&inst), loop, evolution);
    bool is_store = isa<StoreInst>(inst);
    if (!found) {
      if (is_store) {
        return false;
      }
      continue;
    }
    std::int64_t bytes = layout.getTypeStoreSize(getLoadStoreType(&inst)).getFixedValue();
    if (is_store ? !found->is_kept : !found->is_kept && found->step != bytes) {
      return false;
    }
    reads |= !is_store && !found->is_kept;
    if (found->is_kept) {
      (is_store ? stored : loaded).insert(found->place);
    }
  }
  return reads && !stored.empty() &&
         all_of(stored, [&](const SCEV* place) { return loaded.contains(place); });
}

// One of those that read the same memory: the first of them.
struct stream {
  LoadInst* load;
  way at;
};

std::vector<stream> streams_of(Loop& loop, ScalarEvolution& evolution) {
  std::vector<stream> found;
  for (Instruction& inst : *loop.getHeader()) {
    auto* load = dyn_cast<LoadInst>(&inst);
    auto at = load && load->getType()->isVectorTy()
                  ? way_of(load->getPointerOperand(), loop, evolution)
                  : std::nullopt;
    if (!at || at->is_kept || at->step < 16 || at->step > 4 * line_bytes) {
      continue;
    }
    bool known = any_of(found, [&](const stream& other) {
      const SCEV* apart = evolution.getMinusSCEV(at->place, other.at.place);
      auto* bytes = dyn_cast<SCEVConstant>(apart);
      return bytes && bytes->getAPInt().abs().ult(static_cast<std::uint64_t>(2 * at->step));
    });
    if (!known && found.size() < most_reads) {
      found.push_back({load, *at});
    }
  }
  return found;
}

}  // namespace

PreservedAnalyses mark_sum_loops::run(Function& function, FunctionAnalysisManager& analyses) {
  if (function.hasOptNone() || is_counted(function)) {
    return PreservedAnalyses::all();
  }
  auto& evolution = analyses.getResult<ScalarEvolutionAnalysis>(function);
  auto& target = analyses.getResult<TargetIRAnalysis>(function);
  auto bits = target.getRegisterBitWidth(TargetTransformInfo::RGK_FixedWidthVector);
  auto bytes = static_cast<unsigned>(bits.getFixedValue() / 8);
  for (Loop* loop : analyses.getResult<LoopAnalysis>(function).getLoopsInPreorder()) {
    if (bytes != 0 && loop->isInnermost() && is_row_loop(*loop) && adds_up(*loop, evolution)) {
      addStringMetadataToLoop(loop, sum_mark.data(), 1);
      addStringMetadataToLoop(loop, interleave_count.data(), std::max(1u, bytes_at_a_time / bytes));
    }
  }
  return PreservedAnalyses::all();
}

PreservedAnalyses read_sums_ahead::run(Function& function, FunctionAnalysisManager& analyses) {
  bool changed = false;
  for (Loop* loop : analyses.getResult<LoopAnalysis>(function).getLoopsInPreorder()) {
    if (!loop->isInnermost() || loop->getNumBlocks() != 1 ||
        !findStringMetadataForLoop(loop, sum_mark)) {
      continue;
    }
    auto& evolution = analyses.getResult<ScalarEvolutionAnalysis>(function);
    for (const stream& one : streams_of(*loop, evolution)) {
      IRBuilder<> builder(one.load);
      for (std::int64_t at = 0; at < one.at.step; at += line_bytes) {
        Value* ahead =
            builder.CreateConstGEP1_64(builder.getInt8Ty(), one.load->getPointerOperand(),
                                       static_cast<std::uint64_t>(bytes_ahead + at));
        Value* how[] = {ahead, builder.getInt32(0), builder.getInt32(3), builder.getInt32(1)};
        builder.CreateIntrinsic(Intrinsic::prefetch, {builder.getPtrTy()}, how);
      }
      changed = true;
    }
  }
  return changed ? PreservedAnalyses::none() : PreservedAnalyses::all();
}

}  // namespace sb::pass
