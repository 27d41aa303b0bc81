#include "compiler/pass/spin_loops.hpp"

#include <llvm/ADT/SetVector.h>
#include <llvm/Analysis/LoopInfo.h>
#include <llvm/Analysis/ValueTracking.h>
#include <llvm/IR/Dominators.h>
#include <llvm/IR/IRBuilder.h>
#include <llvm/IR/InstIterator.h>
#include <llvm/Transforms/Utils/BasicBlockUtils.h>

#include <memory>
#include <vector>

#include "compiler/pass/clock_loops.hpp"
#include "compiler/pass/drawn_work.hpp"
#include "compiler/pass/effects.hpp"
#include "compiler/pass/runtime_abi.hpp"

namespace sb::pass {

using namespace llvm;

namespace {

// Loads that can see what another thread writes.
bool observes_others(const Instruction& inst) {
  if (auto* load = dyn_cast<LoadInst>(&inst)) {
    return load->isVolatile() || load->isAtomic();
  }
  return isa<AtomicRMWInst, AtomicCmpXchgInst>(inst);
}

bool is_fence(const Instruction& inst) { return isa<FenceInst>(inst); }

bool calls_slot(const Instruction& inst, ArrayRef<slot> slots) {
  auto* call = dyn_cast<CallBase>(&inst);
  auto which = call ? called_slot(*call) : std::nullopt;
  return which && is_contained(slots, *which);
}

const Value* address_of(const Instruction& inst) {
  if (auto* load = dyn_cast<LoadInst>(&inst)) {
    return load->getPointerOperand();
  }
  if (auto* update = dyn_cast<AtomicRMWInst>(&inst)) {
    return update->getPointerOperand();
  }
  return cast<AtomicCmpXchgInst>(inst).getPointerOperand();
}

class spin_analysis {
 public:
  spin_analysis(const Loop& loop, const DominatorTree& dominators,
                const DenseSet<const Function*>& observing)
      : loop_(loop), dominators_(dominators), observing_(observing) {}

  bool spins() {
    find_draws();
    const bool draws = !draws_.empty();
    bool fenced = false;
    for (BasicBlock* block : loop_.blocks()) {
      for (Instruction& inst : *block) {
        bool always = dominators_.dominates(block, loop_.getLoopLatch());
        if (always && calls_slot(inst, {slot::wait_until, slot::wait_until_timer})) {
          return false;  // lets others run by itself
        }
        sleeps_ |= always && calls_slot(inst, {slot::nanosleep});
        // Where what is drawn ends the loop, others' memory need not be looked at for that.
        fenced |= is_fence(inst) ||
                  (observes_others(inst) && !(draws && isa<AtomicRMWInst>(inst))) ||
                  calls_slot(inst, {slot::warp_sync, slot::active_mask});
      }
    }
    fenced_ = fenced;
    collect_exit_slice();
    for (Value* value : slice_) {
      if (waits_for_others(*cast<Instruction>(value))) {
        watched_.push_back(cast<Instruction>(value));
      }
    }
    watch_what_is_brought();
    // One that sleeps waits for the clock by itself; of memory the engine has to hear.
    if (!sleeps_) {
      return !watched_.empty();
    }
    if (all_of(watched_, [](Instruction* inst) { return reads_clock(*inst); })) {
      return false;
    }
    // One that sleeps a number of times at most gets on with every sleep.
    for (Value* value : slice_) {
      if (auto* phi = dyn_cast<PHINode>(value);
          phi && phi->getParent() == loop_.getHeader() && changes_always(*phi)) {
        watched_.push_back(phi);
      }
    }
    return true;
  }

  // Yields where the loop goes on, with what it saw: the engine can tell a loop that got on from
  // one that stands still.
  void insert_yield() {
    BasicBlock* latch = loop_.getLoopLatch();
    BasicBlock* back = latch->getTerminator()->getNumSuccessors() == 1
                           ? latch
                           : SplitEdge(latch, loop_.getHeader());
    IRBuilder<> builder(back->getTerminator());
    Value* seen = nullptr;
    for (Instruction* inst : watched_) {
      if (!dominators_.dominates(inst, latch->getTerminator())) {
        continue;
      }
      Value* value = as_word(builder, inst);
      if (value && seen) {
        seen = builder.CreateIntrinsic(Intrinsic::fshl, {builder.getInt64Ty()},
                                       {seen, seen, builder.getInt64(7)});
        seen = builder.CreateXor(seen, value);
      } else if (value) {
        seen = value;
      }
    }
    Module& module = *latch->getModule();
    if (seen) {
      auto spin = runtime_function(module, slot::spin, builder.getVoidTy(), {builder.getInt64Ty()});
      builder.CreateCall(spin, {seen});
    } else {
      builder.CreateCall(runtime_function(module, slot::yield, builder.getVoidTy(), {}));
    }
  }

 private:
  static Value* as_word(IRBuilder<>& builder, Value* value) {
    if (isa<AtomicCmpXchgInst>(value)) {
      value = builder.CreateExtractValue(value, 0);
    }
    Type* type = value->getType();
    if (type->isPointerTy()) {
      return builder.CreatePtrToInt(value, builder.getInt64Ty());
    }
    unsigned bits = type->getPrimitiveSizeInBits();
    if (bits == 0 || bits > 64) {
      return nullptr;
    }
    value = builder.CreateBitCast(value, builder.getIntNTy(bits));
    return builder.CreateZExt(value, builder.getInt64Ty());
  }

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

  void collect_exit_slice() {
    SmallVector<BasicBlock*, 8> exiting;
    loop_.getExitingBlocks(exiting);
    for (BasicBlock* block : exiting) {
      add_condition(block);
      add_control(block, loop_.getHeader());
    }
    for (unsigned i = 0; i < slice_.size(); ++i) {
      auto* inst = cast<Instruction>(slice_[i]);
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
  }

  void find_draws() {
    drawn_work work(loop_);
    for (BasicBlock* block : loop_.blocks()) {
      for (Instruction& inst : *block) {
        if (auto* update = dyn_cast<AtomicRMWInst>(&inst); update && work.ends_by(*update)) {
          draws_.insert(update);
        }
      }
    }
  }

  // `if (threadIdx.x == 0) seen = *flag; __syncthreads(); if (seen) break;`: one thread looks for
  // its block. What decides whether it does is not followed: most of what threads tell each other
  // so comes of their own work.
  void watch_what_is_brought() {
    for (Value* value : slice_) {
      auto* load = dyn_cast<LoadInst>(value);
      if (load && load->isSimple() && brings_what_others_write(*load)) {
        watched_.push_back(load);
      }
    }
  }

  bool brings_what_others_write(const LoadInst& load) {
    drawn_work work(loop_);
    SmallSetVector<Value*, 16> brought;
    add_stored(load.getPointerOperand(), brought);
    for (unsigned i = 0; i < brought.size(); ++i) {
      auto* inst = dyn_cast<Instruction>(brought[i]);
      if (!inst || !loop_.contains(inst)) {
        continue;
      }
      auto* update = dyn_cast<AtomicRMWInst>(inst);
      if (observes_others(*inst) && waits_for_others(*inst) &&
          !(update && work.may_end_by(*update))) {
        return true;
      }
      if (!inst->mayReadOrWriteMemory() || calls_slot(*inst, {slot::shuffle})) {
        brought.insert(inst->op_begin(), inst->op_end());
      }
    }
    return false;
  }

  // What the loop stores at this very place.
  void add_stored(const Value* address, SmallSetVector<Value*, 16>& stored) {
    for (BasicBlock* block : loop_.blocks()) {
      for (Instruction& inst : *block) {
        auto* store = dyn_cast<StoreInst>(&inst);
        if (store && store->getPointerOperand() == address) {
          stored.insert(store->getValueOperand());
        }
      }
    }
  }

  // A new address in every iteration: the loop moves on by itself (a probe of a hash table).
  bool moves_on(const Value* address) {
    SmallSetVector<const Value*, 16> reached;
    reached.insert(address);
    for (unsigned i = 0; i < reached.size() && i < 64; ++i) {
      auto* inst = dyn_cast<Instruction>(reached[i]);
      if (!inst || !loop_.contains(inst)) {
        continue;
      }
      if (auto* phi = dyn_cast<PHINode>(inst)) {
        if (phi->getParent() != loop_.getHeader()) {
          return false;
        }
        if (changes_always(*phi)) {
          return true;
        }
        continue;
      }
      if (isa<GetElementPtrInst, CastInst, BinaryOperator, SelectInst>(inst)) {
        for (const Value* operand : inst->operands()) {
          reached.insert(operand);
        }
      }
    }
    return false;
  }

  // The value that comes round is computed from the old one, never the old one itself.
  bool changes_always(const PHINode& phi) {
    SmallSetVector<const Value*, 8> choices;
    choices.insert(phi.getIncomingValueForBlock(loop_.getLoopLatch()));
    for (unsigned i = 0; i < choices.size(); ++i) {
      if (choices[i] == &phi) {
        return false;
      }
      if (auto* select = dyn_cast<SelectInst>(choices[i])) {
        choices.insert(select->getTrueValue());
        choices.insert(select->getFalseValue());
      } else if (auto* inner = dyn_cast<PHINode>(choices[i]); inner && loop_.contains(inner)) {
        choices.insert(inner->op_begin(), inner->op_end());
      }
    }
    return any_of(choices, [&](const Value* choice) { return computed_from(choice, phi); });
  }

  bool computed_from(const Value* value, const PHINode& phi) {
    SmallSetVector<const Value*, 16> reached;
    reached.insert(value);
    for (unsigned i = 0; i < reached.size() && i < 32; ++i) {
      auto* inst = dyn_cast<Instruction>(reached[i]);
      if (inst == &phi) {
        return true;
      }
      if (inst && loop_.contains(inst) &&
          isa<BinaryOperator, GetElementPtrInst, CastInst, SelectInst>(inst)) {
        reached.insert(inst->op_begin(), inst->op_end());
      }
    }
    return false;
  }

  // assumed = old; old = atomicCAS(p, assumed, f(assumed)): a failure means that another succeeded.
  bool retries(const AtomicCmpXchgInst& exchange) {
    SmallSetVector<const Value*, 16> reached;
    reached.insert(exchange.getCompareOperand());
    for (unsigned i = 0; i < reached.size() && i < 64; ++i) {
      auto* inst = dyn_cast<Instruction>(reached[i]);
      if (!inst || !loop_.contains(inst)) {
        continue;
      }
      if (inst == &exchange) {
        return true;
      }
      if (auto* load = dyn_cast<LoadInst>(inst)) {
        if (load->getPointerOperand() == exchange.getPointerOperand()) {
          return true;
        }
        continue;
      }
      for (const Value* operand : inst->operands()) {
        reached.insert(operand);
      }
    }
    return false;
  }

  bool waits_for_others(const Instruction& inst) {
    if (reads_clock(inst)) {
      return true;
    }
    if (auto* call = dyn_cast<CallBase>(&inst)) {
      if (const Function* callee = call->getCalledFunction()) {
        return observing_.contains(callee);
      }
      return call->isIndirectCall() && !observing_.empty();
    }
    if (observes_others(inst)) {
      if (auto* exchange = dyn_cast<AtomicCmpXchgInst>(&inst); exchange && retries(*exchange)) {
        return false;
      }
      if (draws_.contains(&inst)) {
        return false;
      }
      // The load whose value such an exchange retries with.
      if (feeds_retry(inst)) {
        return false;
      }
      return !moves_on(address_of(inst));
    }
    if (auto* load = dyn_cast<LoadInst>(&inst)) {
      // A plain load is read again in every iteration only when something in the loop demands it.
      // One that draws and looks at a place of what it drew behind a fence may wait there.
      return fenced_ && (!draws_.empty() || is_same_in_every_turn(load->getPointerOperand())) &&
             !isa<AllocaInst>(getUnderlyingObject(load->getPointerOperand())) &&
             !written_here(load->getPointerOperand());
    }
    return false;
  }

  // An address may be computed in the loop.
  bool is_same_in_every_turn(const Value* address) {
    auto* inst = dyn_cast<Instruction>(address);
    return !inst || !loop_.contains(inst) ||
           (isa<GetElementPtrInst, CastInst>(inst) &&
            all_of(inst->operands(),
                   [&](const Use& part) { return is_same_in_every_turn(part.get()); }));
  }

  bool feeds_retry(const Instruction& inst) {
    if (!isa<LoadInst>(inst)) {
      return false;
    }
    for (BasicBlock* block : loop_.blocks()) {
      for (Instruction& other : *block) {
        auto* exchange = dyn_cast<AtomicCmpXchgInst>(&other);
        if (exchange && exchange->getPointerOperand() == address_of(inst) && retries(*exchange)) {
          return true;
        }
      }
    }
    return false;
  }

  bool written_here(const Value* address) {
    const Value* object = getUnderlyingObject(address);
    for (BasicBlock* block : loop_.blocks()) {
      for (Instruction& inst : *block) {
        auto* store = dyn_cast<StoreInst>(&inst);
        if (store && getUnderlyingObject(store->getPointerOperand()) == object) {
          return true;
        }
      }
    }
    return false;
  }

  const Loop& loop_;
  const DominatorTree& dominators_;
  const DenseSet<const Function*>& observing_;
  bool fenced_ = false;
  bool sleeps_ = false;                       // in every round
  SmallPtrSet<const Instruction*, 4> draws_;  // one of which ends the loop
  SmallSetVector<Value*, 32> slice_;
  SmallVector<Instruction*, 4> watched_;  // of the slice: what others may write
};

// Functions that stay calls and look at what others write, themselves or further down.
DenseSet<const Function*> observing_functions(Module& module) {
  DenseSet<const Function*> direct;
  for (Function& function : module) {
    if (any_of(instructions(function), [](const Instruction& inst) {
          return observes_others(inst) || reads_clock(inst);
        })) {
      direct.insert(&function);
    }
  }
  if (direct.empty()) {
    return direct;
  }
  DenseSet<const Function*> all = direct;
  call_reach reach(module);
  for (Function& function : module) {
    if (!function.isDeclaration() &&
        any_of(reach.from(function), [&](Function* one) { return direct.contains(one); })) {
      all.insert(&function);
    }
  }
  return all;
}

}  // namespace

void yield_in_spin_loops(Module& module, FunctionAnalysisManager& analyses) {
  DenseSet<const Function*> observing = observing_functions(module);
  for (Function& function : module) {
    if (function.isDeclaration()) {
      continue;
    }
    auto& loops = analyses.getResult<LoopAnalysis>(function);
    if (loops.empty()) {
      continue;
    }
    auto& dominators = analyses.getResult<DominatorTreeAnalysis>(function);
    // All loops are judged before the first one changes.
    std::vector<std::unique_ptr<spin_analysis>> spinning;
    for (Loop* loop : loops.getLoopsInPreorder()) {
      auto one = std::make_unique<spin_analysis>(*loop, dominators, observing);
      if (loop->getLoopLatch() && one->spins()) {
        spinning.push_back(std::move(one));
      }
    }
    for (auto& one : spinning) {
      one->insert_yield();
    }
    if (!spinning.empty()) {
      analyses.invalidate(function, PreservedAnalyses::none());
    }
  }
}

}  // namespace sb::pass
