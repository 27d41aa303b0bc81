#include "compiler/pass/place_numbers.hpp"

#include <llvm/ADT/SetVector.h>
#include <llvm/ADT/SmallPtrSet.h>
#include <llvm/Analysis/CFG.h>
#include <llvm/Analysis/LoopInfo.h>
#include <llvm/Analysis/PostDominators.h>
#include <llvm/IR/CFG.h>
#include <llvm/IR/Dominators.h>
#include <llvm/IR/InstIterator.h>
#include <llvm/Transforms/Utils/BasicBlockUtils.h>

#include <vector>

#include "compiler/pass/runtime_abi.hpp"

namespace sb::pass {

using namespace llvm;

namespace {

bool asks(const Instruction& inst) {
  auto* call = dyn_cast<CallInst>(&inst);
  return call && called_slot(*call) == slot::active_mask;
}

void add_place(Instruction* before) {
  IRBuilder<> builder(before);
  builder.SetCurrentDebugLocation({});
  auto place = runtime_function(*before->getModule(), slot::active_mask, builder.getInt32Ty(), {});
  builder.CreateCall(place)->setConvergent();
}

// The functions that ask, themselves or in one that they call: callees before their callers.
class asking_functions {
 public:
  asking_functions(Module& module, const call_reach& reach) : reach_(reach) {
    if (none_of(module, [](Function& one) { return any_of(instructions(one), asks); })) {
      return;
    }
    for (Function& function : module) {
      visit(function);
    }
  }
  [[nodiscard]] ArrayRef<Function*> in_order() const { return asking_.getArrayRef(); }
  [[nodiscard]] bool are_entered(const CallBase& call) const {
    return any_of(reach_.callees(call), [&](Function* one) { return asking_.contains(one); });
  }

 private:
  void visit(Function& function) {
    if (!seen_.insert(&function).second) {
      return;
    }
    bool found = any_of(instructions(function), asks);
    for (Instruction& inst : instructions(function)) {
      auto* call = dyn_cast<CallBase>(&inst);
      if (!call) {
        continue;
      }
      for (Function* callee : reach_.callees(*call)) {
        visit(*callee);
        found |= asking_.contains(callee);
      }
    }
    if (found) {
      asking_.insert(&function);
    }
  }

  const call_reach& reach_;
  SmallPtrSet<Function*, 32> seen_;
  SetVector<Function*> asking_;
};

void meet_before_calls(Function& function, const asking_functions& asking) {
  SmallVector<CallBase*, 4> calls;
  for (Instruction& inst : instructions(function)) {
    if (auto* call = dyn_cast<CallBase>(&inst); call && asking.are_entered(*call)) {
      calls.push_back(call);
    }
  }
  for (CallBase* call : calls) {
    add_place(call);
  }
}

void meet_at_the_end_of_rounds(Function& function) {
  DominatorTree dominators(function);
  LoopInfo loops(dominators);
  for (Loop* loop : loops.getLoopsInPreorder()) {
    if (none_of(loop->blocks(), [](BasicBlock* block) { return any_of(*block, asks); })) {
      continue;
    }
    SmallVector<BasicBlock*, 4> latches;
    loop->getLoopLatches(latches);
    BasicBlock* end =
        SplitBlockPredecessors(loop->getHeader(), latches, ".round", &dominators, &loops);
    add_place(end->getTerminator());
  }
}

// The blocks of a loop, or of the function where there is none: each before those that are reached
// from it but by the way back, and all blocks of an inner loop before those behind it.
class block_order {
 public:
  explicit block_order(Function& function) : dominators_(function), loops_(dominators_) {
    append(nullptr, &function.getEntryBlock());
  }
  [[nodiscard]] const std::vector<BasicBlock*>& blocks() const { return blocks_; }

 private:
  // The block, or the header of the largest loop below `within` that it is in.
  BasicBlock* whole(BasicBlock* block, const Loop* within) const {
    Loop* loop = loops_.getLoopFor(block);
    if (loop == within) {
      return block;
    }
    while (loop->getParentLoop() != within) {
      loop = loop->getParentLoop();
    }
    return loop->getHeader();
  }

  SmallVector<BasicBlock*, 8> behind(BasicBlock* part, const Loop* within) const {
    SmallVector<BasicBlock*, 8> next;
    if (const Loop* loop = loops_.getLoopFor(part); loop != within) {
      loop->getExitBlocks(next);
    } else {
      append_range(next, successors(part));
    }
    erase_if(next, [&](BasicBlock* one) { return within && !within->contains(one); });
    for (BasicBlock*& one : next) {
      one = whole(one, within);
    }
    return next;
  }

  void append(const Loop* within, BasicBlock* first) {
    struct step {
      BasicBlock* part;
      bool is_done;  // with all that is reached from it
    };
    std::vector<BasicBlock*> done;  // the last first
    std::vector<step> stack = {{first, false}};
    SmallPtrSet<BasicBlock*, 32> seen;
    while (!stack.empty()) {
      auto [part, is_done] = stack.back();
      stack.pop_back();
      if (is_done) {
        done.push_back(part);
      } else if (seen.insert(part).second) {
        stack.push_back({part, true});
        for (BasicBlock* next : behind(part, within)) {
          stack.push_back({next, false});
        }
      }
    }
    for (BasicBlock* part : reverse(done)) {
      if (const Loop* loop = loops_.getLoopFor(part); loop != within) {
        append(loop, part);
      } else {
        blocks_.push_back(part);
      }
    }
  }

  DominatorTree dominators_;
  LoopInfo loops_;
  std::vector<BasicBlock*> blocks_;
};

// What comes behind places where lanes part for good, or sleep together.
class ways_behind {
 public:
  explicit ways_behind(Function& function)
      : dominators_(function), ends_(function), loops_(dominators_) {
    for (Instruction& inst : instructions(function)) {
      if (sleeps_together(inst)) {
        sleeping_.push_back(&inst);
      } else if (spins(inst) || sleeps(inst)) {
        parting_.push_back(&inst);
      }
    }
  }

  [[nodiscard]] std::uint32_t flag_of(const Instruction& place) const {
    const bool is_parted = any_of(parting_, [&](const Instruction* one) {
      const Loop* loop = loops_.getLoopFor(one->getParent());
      const bool waits_there = spins(*one) && loop && loop->contains(place.getParent());
      return !waits_there && is_behind(*one, place);
    });
    if (is_parted) {
      return abi::place_of_parted;
    }
    const bool slept =
        any_of(sleeping_, [&](const Instruction* one) { return is_behind(*one, place); });
    return slept ? abi::place_behind_sleep : 0u;
  }

 private:
  [[nodiscard]] bool is_behind(const Instruction& one, const Instruction& place) const {
    return isPotentiallyReachable(&one, &place, nullptr, &dominators_, &loops_);
  }
  static bool spins(const Instruction& inst) {
    auto which = called_slot_of(inst);
    return which == slot::spin || which == slot::yield;
  }
  static bool sleeps(const Instruction& inst) { return called_slot_of(inst) == slot::nanosleep; }
  // On their common way: all lanes are together behind it.
  [[nodiscard]] bool sleeps_together(const Instruction& inst) const {
    const BasicBlock* start = &inst.getFunction()->getEntryBlock();
    return sleeps(inst) && ends_.dominates(inst.getParent(), start);
  }
  static std::optional<slot> called_slot_of(const Instruction& inst) {
    auto* call = dyn_cast<CallBase>(&inst);
    return call ? called_slot(*call) : std::nullopt;
  }

  DominatorTree dominators_;
  PostDominatorTree ends_;
  LoopInfo loops_;
  std::vector<const Instruction*> parting_;
  std::vector<const Instruction*> sleeping_;
};

}  // namespace

std::vector<asked_place> places_in_order(Function& function) {
  if (none_of(instructions(function), asks)) {
    return {};
  }
  meet_at_the_end_of_rounds(function);
  const ways_behind ways(function);
  const block_order order(function);
  std::vector<asked_place> places;
  std::uint32_t number = abi::first_place;
  for (BasicBlock* block : order.blocks()) {
    for (Instruction& inst : *block) {
      if (asks(inst)) {
        places.push_back({cast<CallInst>(&inst), number | ways.flag_of(inst)});
        number += abi::first_place;
      }
    }
  }
  return places;
}

place_numbers::place_numbers(Module& module, const call_reach& reach) {
  std::uint32_t before = 0;
  const asking_functions asking(module, reach);
  for (Function* function : asking.in_order()) {
    meet_before_calls(*function, asking);
    const std::vector<asked_place> places = places_in_order(*function);
    for (const asked_place& place : places) {
      numbers_[place.call] = before + place.number;
    }
    before += static_cast<std::uint32_t>(places.size()) * abi::first_place;
  }
}

}  // namespace sb::pass
