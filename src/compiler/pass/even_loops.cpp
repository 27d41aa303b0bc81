#include "compiler/pass/even_loops.hpp"

#include <llvm/Analysis/AssumptionCache.h>
#include <llvm/Analysis/LoopInfo.h>
#include <llvm/Analysis/ScalarEvolution.h>
#include <llvm/Analysis/ScalarEvolutionExpressions.h>
#include <llvm/Analysis/TargetLibraryInfo.h>
#include <llvm/IR/Dominators.h>
#include <llvm/IR/GetElementPtrTypeIterator.h>
#include <llvm/IR/IntrinsicInst.h>
#include <llvm/IR/Module.h>
#include <llvm/IR/PatternMatch.h>

#include <optional>

#include "compiler/pass/runtime_abi.hpp"
#include "compiler/pass/uniformity.hpp"

namespace sb::pass {

using namespace llvm;
using namespace llvm::PatternMatch;

namespace {

// Shorter ones are unrolled, and their sums stay in registers.
constexpr std::uint64_t short_loop = 64;
constexpr unsigned largest_loop = 200;  // instructions
constexpr unsigned deepest_sum = 12;

// By how much a value grows from one thread to the next along x; nothing if that is not known.
std::optional<std::int64_t> growth(const Value* value, const uniformity& uniform,
                                   unsigned depth = 0) {
  // Variables of loops may come back to themselves on any way.
  if (depth == deepest_sum) {
    return std::nullopt;
  }
  ++depth;
  if (uniform.is_uniform(value)) {
    return 0;
  }
  auto* call = dyn_cast<CallBase>(value);
  if (call && call->getCalledFunction()) {
    StringRef name = call->getCalledFunction()->getName();
    return name == "__sb_tid_x"                           ? std::optional(1)
           : name == "__sb_tid_y" || name == "__sb_tid_z" ? std::optional(0)
                                                          : std::nullopt;
  }
  const Value* one = nullptr;
  const Value* other = nullptr;
  const APInt* number = nullptr;
  if (match(value, m_Add(m_Value(one), m_Value(other))) ||
      match(value, m_DisjointOr(m_Value(one), m_Value(other)))) {
    auto first = growth(one, uniform, depth);
    auto second = growth(other, uniform, depth);
    return first && second ? std::optional(*first + *second) : std::nullopt;
  }
  if (match(value, m_Mul(m_Value(one), m_APInt(number))) && number->isSignedIntN(16)) {
    auto first = growth(one, uniform, depth);
    return first ? std::optional(*first * number->getSExtValue()) : std::nullopt;
  }
  if (match(value, m_Mul(m_Value(one), m_Value(other)))) {
    return growth(one, uniform, depth) == 0 && growth(other, uniform, depth) == 0 ? std::optional(0)
                                                                                  : std::nullopt;
  }
  if (match(value, m_Shl(m_Value(one), m_APInt(number))) && number->ult(16)) {
    auto first = growth(one, uniform, depth);
    return first ? std::optional(*first << number->getZExtValue()) : std::nullopt;
  }
  if (match(value, m_ZExtOrSExt(m_Value(one)))) {
    return growth(one, uniform, depth);
  }
  if (auto* phi = dyn_cast<PHINode>(value)) {
    // A variable of a loop that grows alike for all threads.
    std::optional<std::int64_t> result;
    for (const Value* incoming : phi->incoming_values()) {
      bool steps =
          match(incoming, m_c_Add(m_Specific(phi), m_Value(one))) && uniform.is_uniform(one);
      auto first = steps ? std::nullopt : growth(incoming, uniform, depth);
      if (!steps && (!first || (result && result != first))) {
        return std::nullopt;
      }
      result = steps ? result : first;
    }
    return result;
  }
  return std::nullopt;
}

// How far apart the places are that neighbours use; nothing if that is not known.
std::optional<std::int64_t> distance_of(const Value* pointer, const uniformity& uniform,
                                        const DataLayout& layout) {
  std::int64_t distance = 0;
  while (!uniform.is_uniform(pointer)) {
    auto* address = dyn_cast<GEPOperator>(pointer);
    if (!address) {
      return std::nullopt;
    }
    for (auto index = gep_type_begin(address); index != gep_type_end(address); ++index) {
      auto step = growth(index.getOperand(), uniform);
      if (!step) {
        return std::nullopt;
      }
      distance += *step == 0
                      ? 0
                      : *step * static_cast<std::int64_t>(
                                    index.getSequentialElementStride(layout).getFixedValue());
    }
    pointer = address->getPointerOperand();
  }
  return distance;
}

// Whether the value is computed from the other one, in the same round.
bool comes_from(const Value* value, const PHINode& other, const Loop& loop, unsigned depth = 0) {
  constexpr unsigned longest_chain = 6;
  if (value == &other) {
    return true;
  }
  auto* inst = dyn_cast<Instruction>(value);
  if (!inst || !loop.contains(inst) || isa<PHINode>(inst) || depth == longest_chain) {
    return false;
  }
  return any_of(inst->operands(), [&](const Use& operand) {
    return comes_from(operand.get(), other, loop, depth + 1);
  });
}

// A sum of its own for each thread, of a kind whose order must be kept, or another value that each
// round computes from the last one's.
bool has_sums(const Loop& loop, const uniformity& uniform) {
  return any_of(loop.getHeader()->phis(), [&](const PHINode& phi) {
    const Value* next = phi.getIncomingValueForBlock(loop.getLoopLatch());
    return phi.getType()->isFloatingPointTy() && !uniform.is_uniform(&phi) && next != &phi &&
           comes_from(next, phi, loop);
  });
}

bool is_short(const Loop& loop) {
  auto* back = dyn_cast<BranchInst>(loop.getLoopLatch()->getTerminator());
  auto* compare =
      back && back->isConditional() ? dyn_cast<ICmpInst>(back->getCondition()) : nullptr;
  auto* limit = compare ? dyn_cast<ConstantInt>(compare->getOperand(1)) : nullptr;
  return limit && limit->getValue().abs().ule(short_loop);
}

// Whether a round uses another place than the one before it, and not the next element, as far as
// that is known.
bool jumps(Value* pointer, std::int64_t size, const Loop& loop, ScalarEvolution& evolution) {
  const SCEV* place = evolution.getSCEV(pointer);
  if (evolution.isLoopInvariant(place, &loop)) {
    return false;
  }
  auto* steady = dyn_cast<SCEVAddRecExpr>(place);
  auto* step = steady ? dyn_cast<SCEVConstant>(steady->getStepRecurrence(evolution)) : nullptr;
  return !step || step->getAPInt().abs().sgt(size);
}

bool is_worth_it(const Loop& loop, const uniformity& uniform, ScalarEvolution& evolution) {
  BasicBlock& block = *loop.getHeader();
  const DataLayout& layout = block.getModule()->getDataLayout();
  unsigned size = 0;
  bool is_column = false;  // neighbours go down columns side by side
  for (Instruction& inst : block) {
    auto* call = dyn_cast<CallBase>(&inst);
    if (call && !isa<IntrinsicInst>(call)) {
      return false;
    }
    Value* pointer = getLoadStorePointerOperand(&inst);
    bool good = pointer ? !inst.isVolatile() && !inst.isAtomic() : !inst.mayReadOrWriteMemory();
    if (good && pointer) {
      auto bytes = static_cast<std::int64_t>(
          layout.getTypeStoreSize(getLoadStoreType(&inst)).getFixedValue());
      auto distance = distance_of(pointer, uniform, layout);
      good = distance == 0 || distance == bytes;
      is_column |= distance == bytes && jumps(pointer, bytes, loop, evolution);
    }
    if (!good || ++size > largest_loop) {
      return false;
    }
  }
  return (is_column || has_sums(loop, uniform)) && !is_short(loop);
}

}  // namespace

std::vector<BasicBlock*> find_even_loops(Function& body) {
  std::vector<BasicBlock*> starts;
  DominatorTree dominators(body);
  LoopInfo loops(dominators);
  if (loops.empty()) {
    return starts;
  }
  AssumptionCache assumptions(body);
  TargetLibraryInfoImpl library(Triple(body.getParent()->getTargetTriple()));
  TargetLibraryInfo functions(library);
  ScalarEvolution evolution(body, functions, assumptions, dominators, loops);
  uniformity uniform(body, team::block);
  for (Loop* loop : loops.getLoopsInPreorder()) {
    BasicBlock* header = loop->getHeader();
    if (loop->getNumBlocks() == 1 && loop->getLoopPreheader() && loop->getExitBlock() &&
        uniform.is_reached_together(header) && uniform.branches_together(header) &&
        is_worth_it(*loop, uniform, evolution)) {
      starts.push_back(header);
    }
  }
  return starts;
}

}  // namespace sb::pass
