#include "compiler/pass/exit_slice.hpp"

#include <utility>

namespace sb::pass {

using namespace llvm;

namespace {

class slicing {
 public:
  slicing(const Loop& loop, const DominatorTree& dominators)
      : loop_(loop), dominators_(dominators) {}

  loop_slice collect(function_ref<bool(const BasicBlock&)> counts) {
    SmallVector<BasicBlock*, 8> exiting;
    loop_.getExitingBlocks(exiting);
    for (BasicBlock* block : exiting) {
      if (!counts(*block)) {
        continue;
      }
      add_condition(block);
      add_control(block, loop_.getHeader());
    }
    for (unsigned i = 0; i < slice_.size(); ++i) {
      Instruction* inst = slice_[i];
      for (Value* operand : inst->operands()) {
        add(operand);
      }
      // Which value a phi has depends on the way to it.
      if (auto* phi = dyn_cast<PHINode>(inst); phi && phi->getParent() != loop_.getHeader()) {
        auto* node = dominators_.getNode(phi->getParent());
        const BasicBlock* above = node && node->getIDom() ? node->getIDom()->getBlock() : nullptr;
        if (above && loop_.contains(above)) {
          add_condition(above);
        }
        for (BasicBlock* from : phi->blocks()) {
          if (loop_.contains(from)) {
            add_condition(from);
            add_control(from, above);
          }
        }
      }
    }
    return std::move(slice_);
  }

 private:
  void add(Value* value) {
    auto* inst = dyn_cast<Instruction>(value);
    if (inst && loop_.contains(inst)) {
      slice_.insert(inst);
    }
  }

  void add_condition(const BasicBlock* block) {
    const Instruction* end = block->getTerminator();
    if (auto* branch = dyn_cast<BranchInst>(end)) {
      if (branch->isConditional()) {
        add(branch->getCondition());
      }
    } else if (auto* choice = dyn_cast<SwitchInst>(end)) {
      add(choice->getCondition());
    }
  }

  // Conditions within the loop that decide whether `block` runs in an iteration.
  void add_control(const BasicBlock* block, const BasicBlock* up_to) {
    for (auto* node = dominators_.getNode(block); node && node->getBlock() != up_to;) {
      node = node->getIDom();
      if (!node || !loop_.contains(node->getBlock())) {
        return;
      }
      if (!is_passed(block, node->getBlock())) {
        add_condition(node->getBlock());
      }
    }
  }

  // Every way from there comes through the block in the same iteration. (That it comes there in
  // some iteration says nothing: until then others may be waited for.)
  bool is_passed(const BasicBlock* block, const BasicBlock* from) {
    SmallPtrSet<const BasicBlock*, 16> seen = {from};
    SmallVector<const BasicBlock*, 16> open = {from};
    while (!open.empty()) {
      for (const BasicBlock* next : successors(open.pop_back_val())) {
        if (next == block) {
          continue;
        }
        if (!loop_.contains(next) || next == loop_.getHeader()) {
          return false;
        }
        if (seen.insert(next).second) {
          open.push_back(next);
        }
      }
    }
    return true;
  }

  const Loop& loop_;
  const DominatorTree& dominators_;
  loop_slice slice_;
};

}  // namespace

loop_slice exit_slice(const Loop& loop, const DominatorTree& dominators) {
  return exit_slice(loop, dominators, [](const BasicBlock&) { return true; });
}

loop_slice exit_slice(const Loop& loop, const DominatorTree& dominators,
                      function_ref<bool(const BasicBlock&)> counts) {
  return slicing(loop, dominators).collect(counts);
}

}  // namespace sb::pass
