#include "compiler/pass/draw_marks.hpp"

#include <llvm/ADT/SetVector.h>
#include <llvm/Analysis/LoopInfo.h>
#include <llvm/Analysis/ValueTracking.h>
#include <llvm/IR/Dominators.h>
#include <llvm/IR/InstIterator.h>
#include <llvm/IR/Instructions.h>

#include "compiler/pass/address_spaces.hpp"
#include "compiler/pass/drawn_work.hpp"
#include "compiler/pass/runtime_abi.hpp"

namespace sb::pass {

using namespace llvm;

namespace {

constexpr StringLiteral draw_mark = "sb.draw";
constexpr unsigned most_followed = 256;

// Where what was drawn gets to, within a loop: through arithmetic, from lane to lane, and through
// memory that one thread writes for the others.
class drawn_values {
 public:
  drawn_values(const Loop& loop, const AtomicRMWInst& draw) : loop_(loop) {
    reached_.insert(&draw);
  }

  bool decide_end() {
    for (unsigned i = 0; i < reached_.size() && i < most_followed; ++i) {
      for (const User* user : reached_[i]->users()) {
        auto* inst = dyn_cast<Instruction>(user);
        if (inst && loop_.contains(inst) && follow(*inst, *reached_[i])) {
          return true;
        }
      }
    }
    return false;
  }

 private:
  // A failed assertion is no end of a loop.
  bool leaves(const BasicBlock* to) const {
    return !loop_.contains(to) && !isa<UnreachableInst>(to->getTerminator());
  }

  bool follow(const Instruction& inst, const Value& drawn) {
    if (inst.isTerminator()) {
      if (any_of(successors(&inst), [&](const BasicBlock* to) { return leaves(to); })) {
        return true;
      }
      for (const BasicBlock* to : successors(&inst)) {
        add_flags(*inst.getParent(), *to);
        if (const BasicBlock* next = to->getSingleSuccessor()) {
          add_flags(*to, *next);
        }
      }
      return false;
    }
    if (auto* store = dyn_cast<StoreInst>(&inst)) {
      if (store->getValueOperand() == &drawn) {
        add_loads(*store);
      }
      return false;
    }
    auto* call = dyn_cast<CallBase>(&inst);
    if (call ? called_slot(*call).has_value() || !call->mayWriteToMemory()
             : !inst.mayWriteToMemory()) {
      reached_.insert(&inst);
    }
    return false;
  }

  // That say later which way was gone.
  void add_flags(const BasicBlock& from, const BasicBlock& to) {
    if (!loop_.contains(&to) || &to == loop_.getHeader()) {
      return;
    }
    for (const PHINode& phi : to.phis()) {
      if (isa<ConstantInt>(phi.getIncomingValueForBlock(&from))) {
        reached_.insert(&phi);
      }
    }
  }

  void add_loads(const StoreInst& store) {
    const Value* object = getUnderlyingObject(store.getPointerOperand());
    for (const BasicBlock* block : loop_.blocks()) {
      for (const Instruction& inst : *block) {
        auto* load = dyn_cast<LoadInst>(&inst);
        if (load && getUnderlyingObject(load->getPointerOperand()) == object) {
          reached_.insert(load);
        }
      }
    }
  }

  const Loop& loop_;
  SmallSetVector<const Value*, 32> reached_;
};

Loop* loop_that_draws(const AtomicRMWInst& update, const LoopInfo& loops) {
  for (Loop* loop = loops.getLoopFor(update.getParent()); loop; loop = loop->getParentLoop()) {
    if (drawn_work(*loop).may_end_by(update) && drawn_values(*loop, update).decide_end()) {
      return loop;
    }
  }
  return nullptr;
}

void tell_rounds(BasicBlock& header) {
  IRBuilder<> builder(&header, header.getFirstInsertionPt());
  auto* number = builder.getInt64Ty();
  auto* nothing = ConstantPointerNull::get(builder.getPtrTy());
  auto* zero = builder.getInt64(0);
  auto drew = runtime_function(*header.getModule(), slot::drew, builder.getVoidTy(),
                               {builder.getPtrTy(), number, number, number, number, number});
  builder.CreateCall(drew, {nothing, zero, zero, zero, zero, zero});
}

bool is_of_block(const Value* counter) {
  auto* variable = dyn_cast<GlobalVariable>(getUnderlyingObject(counter));
  return variable && is_shared(*variable);
}

}  // namespace

bool is_draw(const Instruction& inst) { return inst.hasMetadata(draw_mark); }

bool is_round(const Instruction& inst) {
  auto* call = dyn_cast<CallBase>(&inst);
  return call && lowered_slot(*call) == slot::drew;
}

bool mark_draws(Function& body) {
  SmallVector<AtomicRMWInst*, 4> updates;
  for (Instruction& inst : instructions(body)) {
    if (auto* update = dyn_cast<AtomicRMWInst>(&inst)) {
      updates.push_back(update);
    }
  }
  if (updates.empty()) {
    return false;
  }
  DominatorTree tree(body);
  const LoopInfo loops(tree);
  SmallPtrSet<const Value*, 2> counters;
  SmallSetVector<BasicBlock*, 2> headers;
  for (const AtomicRMWInst* update : updates) {
    if (const Loop* loop = loop_that_draws(*update, loops)) {
      counters.insert(update->getPointerOperand());
      headers.insert(loop->getHeader());
    }
  }
  for (BasicBlock* header : headers) {
    tell_rounds(*header);
  }
  // The first draw of a loop may be before it.
  bool shared_by_blocks = false;
  for (AtomicRMWInst* update : updates) {
    if (counters.contains(update->getPointerOperand()) &&
        (update->getOperation() == AtomicRMWInst::Add ||
         update->getOperation() == AtomicRMWInst::Sub)) {
      update->setMetadata(draw_mark, MDNode::get(body.getContext(), {}));
      shared_by_blocks |= !is_of_block(update->getPointerOperand());
    }
  }
  return shared_by_blocks;
}

}  // namespace sb::pass
