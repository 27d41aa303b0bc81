#include "compiler/pass/common_start.hpp"

#include <llvm/Analysis/LoopInfo.h>
#include <llvm/IR/Dominators.h>

#include "compiler/pass/even_loops.hpp"
#include "compiler/pass/stride_loops.hpp"

namespace sb::pass {

using namespace llvm;

namespace {

// Others should not have begun what only one of them can do.
bool may_take(const Instruction& inst) {
  return inst.isAtomic() || inst.isVolatile() || isa<FenceInst>(inst);
}

std::vector<CallInst*> waits_of(const stops& where) {
  std::vector<CallInst*> waits = where.spins;
  append_range(waits, where.warp_calls);
  append_range(waits, where.sleeps);
  copy_if(where.barriers, std::back_inserter(waits),
          [](const CallInst* one) { return is_grid_barrier(*one); });
  return waits;
}

// The last block that all threads go through, once, before any of these: all but those that end
// the kernel.
BasicBlock* last_before(ArrayRef<CallInst*> waits, const DominatorTree& dominators) {
  Function& body = *waits.front()->getFunction();
  const LoopInfo loops(dominators);
  const auto all_come_to = [&](const BasicBlock* block) {
    return all_of(body, [&](const BasicBlock& one) {
      return !isa<ReturnInst>(one.getTerminator()) || dominators.dominates(block, &one);
    });
  };
  BasicBlock* last = waits.front()->getParent();
  for (const CallInst* wait : waits) {
    last = dominators.findNearestCommonDominator(last, const_cast<BasicBlock*>(wait->getParent()));
  }
  while (loops.getLoopFor(last) || !all_come_to(last)) {
    last = dominators.getNode(last)->getIDom()->getBlock();
  }
  return last;
}

}  // namespace

common_start separate_common_start(Function& body, stops& where) {
  common_start start;
  const std::vector<CallInst*> waits = waits_of(where);
  if (waits.empty()) {
    return start;
  }
  DominatorTree dominators(body);
  BasicBlock* last = last_before(waits, dominators);
  if (last == &body.getEntryBlock()) {
    return start;
  }
  Instruction* end = &*last->getFirstNonPHIOrDbg();
  while (!end->isTerminator() && !may_take(*end) && !is_contained(waits, end)) {
    end = end->getNextNode();
  }
  const auto is_behind = [&](const Instruction* one) {
    return one == end || dominators.dominates(end, one);
  };
  const LoopInfo loops(dominators);
  const bool has_loop =
      any_of(loops, [&](const Loop* loop) { return !is_behind(&loop->getHeader()->front()); });
  const std::size_t stops_before = where.barriers.size();
  erase_if(where.barriers, [&](const CallInst* one) { return !is_behind(one); });
  if (!has_loop && where.barriers.size() == stops_before) {
    return start;
  }
  start.end = end;
  for (const meeting& one : find_barriers(body)) {
    if (!is_contained(where.barriers, one.place)) {
      start.barriers.push_back(one);
    }
  }
  dominators.recalculate(body);
  const auto is_of_start = [&](const Loop& loop) { return !is_behind(&loop.getHeader()->front()); };
  start.rounds = separate_common_rounds(body, team::block, is_of_start);
  dominators.recalculate(body);
  for (BasicBlock* cut : find_even_loops(body)) {
    if (!is_behind(&cut->front())) {
      start.rounds.push_back(cut);
    }
  }
  return start;
}

}  // namespace sb::pass
