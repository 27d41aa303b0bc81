#include "compiler/pass/even_loops.hpp"

#include <llvm/Analysis/AssumptionCache.h>
#include <llvm/Analysis/LoopInfo.h>
#include <llvm/Analysis/ScalarEvolution.h>
#include <llvm/Analysis/ScalarEvolutionExpressions.h>
#include <llvm/Analysis/TargetLibraryInfo.h>
#include <llvm/IR/Dominators.h>
#include <llvm/IR/IntrinsicInst.h>
#include <llvm/IR/Module.h>

#include "compiler/pass/neighbours.hpp"
#include "compiler/pass/short_loops.hpp"
#include "compiler/pass/uniformity.hpp"

namespace sb::pass {

using namespace llvm;

namespace {

constexpr unsigned largest_loop = 200;  // instructions

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

// Nothing but arithmetic and plain accesses, and not too much of it.
bool is_plain(const BasicBlock& block) {
  unsigned size = 0;
  return all_of(block, [&](const Instruction& inst) {
    auto* call = dyn_cast<CallBase>(&inst);
    bool good = getLoadStorePointerOperand(&inst) ? !inst.isVolatile() && !inst.isAtomic()
                                                  : !inst.mayReadOrWriteMemory();
    return good && (!call || isa<IntrinsicInst>(call)) && ++size <= largest_loop;
  });
}

bool is_worth_it(const Loop& loop, const uniformity& uniform, ScalarEvolution& evolution) {
  BasicBlock& block = *loop.getHeader();
  const DataLayout& layout = block.getModule()->getDataLayout();
  bool is_column = false;  // neighbours go down columns side by side
  if (!is_plain(block)) {
    return false;
  }
  for (Instruction& inst : block) {
    if (Value* pointer = getLoadStorePointerOperand(&inst)) {
      auto bytes = static_cast<std::int64_t>(
          layout.getTypeStoreSize(getLoadStoreType(&inst)).getFixedValue());
      auto distance = distance_of_neighbours(pointer, uniform, layout);
      if (distance != 0 && distance != bytes) {
        return false;
      }
      is_column |= distance == bytes && jumps(pointer, bytes, loop, evolution);
    }
  }
  return (is_column || has_sums(loop, uniform)) && !will_be_written_out(loop, evolution);
}

using choice = function_ref<bool(const Loop&, const uniformity&, ScalarEvolution&)>;

// Loops of one block that all threads come to and go round equally often.
std::vector<BasicBlock*> find_loops(Function& body, choice wanted) {
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
        wanted(*loop, uniform, evolution)) {
      starts.push_back(header);
    }
  }
  return starts;
}

}  // namespace

std::vector<BasicBlock*> find_even_loops(Function& body) { return find_loops(body, is_worth_it); }

bool has_sums_of_neighbours(Function& body) {
  return !find_loops(body, [](const Loop& loop, const uniformity& uniform,
                              ScalarEvolution& evolution) {
            return is_plain(*loop.getHeader()) && has_sums(loop, uniform) &&
                   !will_be_written_out(loop, evolution);
          }).empty();
}

}  // namespace sb::pass
