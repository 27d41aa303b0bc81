#include "compiler/pass/place_numbers.hpp"

#include <llvm/ADT/SmallPtrSet.h>
#include <llvm/Analysis/LoopInfo.h>
#include <llvm/IR/CFG.h>
#include <llvm/IR/Dominators.h>
#include <llvm/IR/InstIterator.h>

#include <vector>

#include "compiler/pass/runtime_abi.hpp"

namespace sb::pass {

using namespace llvm;

namespace {

bool asks(const Instruction& inst) {
  auto* call = dyn_cast<CallBase>(&inst);
  return call && called_slot(*call) == slot::active_mask;
}

// Each block before those that are reached from it, but for the ways back in loops, and the blocks
// of a loop before those behind it.
std::vector<BasicBlock*> in_order(Function& function) {
  DominatorTree dominators(function);
  LoopInfo loops(dominators);
  std::vector<BasicBlock*> done;  // the last first
  SmallPtrSet<BasicBlock*, 32> seen;
  struct step {
    BasicBlock* block;
    bool behind;  // all that is reached from it is done
  };
  std::vector<step> stack = {{&function.getEntryBlock(), false}};
  while (!stack.empty()) {
    auto [block, behind] = stack.back();
    stack.pop_back();
    if (behind) {
      done.push_back(block);
      continue;
    }
    if (!seen.insert(block).second) {
      continue;
    }
    stack.push_back({block, true});
    // What is on top of the stack is done first, and so comes last: the ways out of the loop.
    Loop* loop = loops.getLoopFor(block);
    for (bool leaves : {false, true}) {
      for (BasicBlock* next : successors(block)) {
        if ((loop && !loop->contains(next)) == leaves) {
          stack.push_back({next, false});
        }
      }
    }
  }
  return {done.rbegin(), done.rend()};
}

}  // namespace

void place_numbers::add(Function& function) {
  if (none_of(instructions(function), asks)) {
    return;
  }
  for (BasicBlock* block : in_order(function)) {
    for (Instruction& inst : *block) {
      if (asks(inst)) {
        numbers_[cast<CallBase>(&inst)] = ++last_;
      }
    }
  }
}

}  // namespace sb::pass
