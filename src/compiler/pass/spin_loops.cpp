#include "compiler/pass/spin_loops.hpp"

#include <llvm/ADT/SetVector.h>
#include <llvm/Analysis/LoopInfo.h>
#include <llvm/Analysis/ValueTracking.h>
#include <llvm/IR/Dominators.h>
#include <llvm/IR/IRBuilder.h>
#include <llvm/IR/InstIterator.h>
#include <llvm/Transforms/Utils/BasicBlockUtils.h>

#include <iterator>
#include <memory>
#include <vector>

#include "compiler/pass/clock_loops.hpp"
#include "compiler/pass/drawn_work.hpp"
#include "compiler/pass/effects.hpp"
#include "compiler/pass/exit_slice.hpp"
#include "compiler/pass/loop_places.hpp"
#include "compiler/pass/runtime_abi.hpp"

namespace sb::pass {

using namespace llvm;

namespace {

constexpr StringLiteral roaming_mark = "sb-roams", counting_mark = "sb-counts-looks";

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
      : loop_(loop), dominators_(dominators), observing_(observing), places_(loop) {}

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
                  calls_slot(inst, {slot::warp_sync, slot::active_mask, slot::nanosleep});
        auto* store = dyn_cast<StoreInst>(&inst);
        stores_ |= store && !isa<AllocaInst>(getUnderlyingObject(store->getPointerOperand()));
      }
    }
    // Whoever comes there stays, and the others go on.
    if (loop_.hasNoExitBlocks()) {
      return !sleeps_;
    }
    fenced_ = fenced;
    slice_ = exit_slice(loop_, dominators_);
    counts_ = any_of(slice_, [&](const Instruction* inst) { return places_.is_counter(*inst); });
    copy_if(slice_, std::back_inserter(watched_),
            [&](const Instruction* inst) { return waits_for_others(*inst); });
    watch_what_is_brought();
    gives_up_ = counts_looks();
    roams_ = !sleeps_ && any_of(slice_, [&](const Instruction* inst) {
      return observes_others(*inst) && places_.goes_around(address_of(*inst));
    });
    // One that sleeps waits for the clock by itself; of memory the engine has to hear.
    if (!sleeps_) {
      return !watched_.empty();
    }
    if (all_of(watched_, [](Instruction* inst) { return reads_clock(*inst); })) {
      return false;
    }
    // One that sleeps a number of times at most gets on with every sleep.
    copy_if(slice_, std::back_inserter(watched_),
            [&](const Instruction* inst) { return places_.is_counter(*inst); });
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
    CallInst* call = nullptr;
    if (seen) {
      auto spin = runtime_function(module, slot::spin, builder.getVoidTy(), {builder.getInt64Ty()});
      call = builder.CreateCall(spin, {seen});
    } else {
      call = builder.CreateCall(runtime_function(module, slot::yield, builder.getVoidTy(), {}));
    }
    if (roams_) {
      mark_roaming(*call);
    }
    if (gives_up_) {
      call->addFnAttr(Attribute::get(call->getContext(), counting_mark));
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

  [[nodiscard]] bool counts(const Value& number) const {
    auto* sum = dyn_cast<BinaryOperator>(&number);
    const bool is_sum =
        sum && (sum->getOpcode() == Instruction::Add || sum->getOpcode() == Instruction::Sub);
    return places_.is_counter(number) || (is_sum && places_.is_counter(*sum->getOperand(0)));
  }

  // One of its exits compares a number that is another one in every turn.
  [[nodiscard]] bool counts_looks() const {
    SmallVector<BasicBlock*, 4> exits;
    loop_.getExitingBlocks(exits);
    SmallSetVector<const Value*, 8> decide;
    for (const BasicBlock* block : exits) {
      if (auto* branch = dyn_cast<BranchInst>(block->getTerminator())) {
        decide.insert(branch->getCondition());
      }
    }
    for (unsigned i = 0; i < decide.size(); ++i) {
      auto* inst = dyn_cast<Instruction>(decide[i]);
      if (!inst || !loop_.contains(inst)) {
        continue;
      }
      if (isa<ICmpInst>(inst) &&
          any_of(inst->operands(), [&](const Use& compared) { return counts(*compared.get()); })) {
        return true;
      }
      if (inst->getType()->isIntegerTy(1) && !isa<CmpInst>(inst) && !isa<LoadInst>(inst)) {
        decide.insert(inst->op_begin(), inst->op_end());
      }
    }
    return false;
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
    for (Instruction* inst : slice_) {
      auto* load = dyn_cast<LoadInst>(inst);
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
      return !places_.goes_ahead(address_of(inst));
    }
    if (auto* load = dyn_cast<LoadInst>(&inst)) {
      return is_read_again(load->getPointerOperand()) &&
             !isa<AllocaInst>(getUnderlyingObject(load->getPointerOperand())) &&
             !written_here(load->getPointerOperand());
    }
    return false;
  }

  // A plain load is made again in every turn only when something in the loop demands it: a fence,
  // or a store that might be to its place, where nothing else could end the loop. One that draws
  // and looks at a place of what it drew behind a fence may wait there.
  bool is_read_again(const Value* address) {
    const bool draws = !draws_.empty();
    return fenced_ ? draws || places_.stays(address)
                   : stores_ && !draws && !counts_ && places_.stays(address);
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
  loop_places places_;
  bool fenced_ = false;
  bool stores_ = false;                       // to memory that others see
  bool counts_ = false;                       // an exit depends on what changes in every turn
  bool sleeps_ = false;                       // in every round
  bool roams_ = false;                        // looks at other places all the time
  bool gives_up_ = false;                     // looks so many times at most
  SmallPtrSet<const Instruction*, 4> draws_;  // one of which ends the loop
  loop_slice slice_;
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

// `asm volatile("" ::: "memory")`: says to the compiler that memory may have changed. Loops that
// look at it again have been found; in others it would only be in the way.
void drop_compiler_fences(Module& module) {
  for (Function& function : module) {
    for (Instruction& inst : make_early_inc_range(instructions(function))) {
      auto* fence = dyn_cast<FenceInst>(&inst);
      if (fence && fence->getSyncScopeID() == SyncScope::SingleThread) {
        fence->eraseFromParent();
      }
    }
  }
}

}  // namespace

void mark_roaming(CallBase& call) {
  call.addFnAttr(Attribute::get(call.getContext(), roaming_mark));
}

bool gives_up(const CallBase& call) { return call.hasFnAttr(counting_mark); }

bool is_roaming(const CallBase& call) { return call.hasFnAttr(roaming_mark); }

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
  drop_compiler_fences(module);
}

}  // namespace sb::pass
