#include "compiler/pass/look_loops.hpp"

#include <llvm/Analysis/LoopInfo.h>
#include <llvm/IR/Dominators.h>
#include <llvm/IR/Instructions.h>
#include <llvm/IR/IntrinsicInst.h>

#include "compiler/pass/runtime_abi.hpp"
#include "compiler/pass/spin_loops.hpp"

namespace sb::pass {

using namespace llvm;

namespace {

bool lets_others_run(const Instruction& inst) {
  auto* call = dyn_cast<CallBase>(&inst);
  const auto which = call ? lowered_slot(*call) : std::nullopt;
  return which == slot::spin || which == slot::yield;
}

// atomicAdd(p, 0) is a way to read.
bool changes_nothing(const AtomicRMWInst& update) {
  auto* operand = dyn_cast<ConstantInt>(update.getValOperand());
  switch (update.getOperation()) {
    case AtomicRMWInst::Add:
    case AtomicRMWInst::Sub:
    case AtomicRMWInst::Or:
    case AtomicRMWInst::Xor:
    case AtomicRMWInst::UMax:
      return operand && operand->isZero();
    case AtomicRMWInst::And:
    case AtomicRMWInst::UMin:
      return operand && operand->isMinusOne();
    default:
      return false;
  }
}

// What a round may do that is over when the thread has seen what it waits for. An exchange takes a
// lock, or finds it taken.
bool only_looks(const Instruction& inst) {
  if (auto* update = dyn_cast<AtomicRMWInst>(&inst)) {
    return update->getOperation() == AtomicRMWInst::Xchg || changes_nothing(*update);
  }
  if (isa<AtomicCmpXchgInst, FenceInst>(inst)) {
    return true;
  }
  if (auto* call = dyn_cast<CallBase>(&inst)) {
    const auto which = lowered_slot(*call);
    return lets_others_run(inst) || which == slot::nanosleep || which == slot::self ||
           (which && tells_time(*which)) || isa<IntrinsicInst>(call);
  }
  return isa<LoadInst>(inst) || !inst.mayWriteToMemory();  // a volatile load may, for LLVM
}

}  // namespace

look_loops::look_loops(Function& function) {
  DominatorTree tree(function);
  const LoopInfo loops(tree);
  for (BasicBlock& block : function) {
    for (Instruction& inst : block) {
      if (!lets_others_run(inst)) {
        continue;
      }
      const Loop* loop = loops.getLoopFor(&block);
      // One that looks at other places all the time goes through them.
      const bool stays = loop && !is_roaming(*cast<CallBase>(&inst));
      const bool looks = stays && all_of(loop->blocks(), [](const BasicBlock* one) {
                           return all_of(*one, only_looks);
                         });
      if (!looks) {
        vague_.push_back(&inst);
        continue;
      }
      for (const BasicBlock* one : loop->blocks()) {
        moved_[one] = loop->getLoopPredecessor();
      }
    }
  }
}

BasicBlock* look_loops::counted_in(BasicBlock& block) const {
  const auto found = moved_.find(&block);
  return found == moved_.end() ? &block : found->second;
}

}  // namespace sb::pass
