#include "compiler/pass/live_values.hpp"

#include <llvm/ADT/PostOrderIterator.h>
#include <llvm/Analysis/CaptureTracking.h>
#include <llvm/IR/CFG.h>
#include <llvm/IR/InstIterator.h>
#include <llvm/IR/IntrinsicInst.h>

#include "compiler/pass/runtime_abi.hpp"
#include "compiler/pass/warp_function.hpp"

namespace sb::pass {

using namespace llvm;

namespace {

// What an array's load and store cost, in simple instructions.
constexpr unsigned dearest_again = 8;

// The same result whenever it runs, and nothing else happens.
bool is_pure(const Instruction& inst) {
  if (isa<PHINode, AllocaInst, FreezeInst>(inst) || inst.isTerminator() ||
      inst.getType()->isVoidTy() || inst.getType()->isTokenTy()) {
    return false;
  }
  if (auto* load = dyn_cast<LoadInst>(&inst)) {
    return reads_constant(*load);
  }
  if (auto* call = dyn_cast<CallBase>(&inst)) {
    return call->doesNotAccessMemory() && call->willReturn() && !call->isConvergent() &&
           !call->isInlineAsm() && !called_slot(*call);
  }
  return !inst.mayReadOrWriteMemory();
}

unsigned own_cost(const Instruction& inst) {
  if (auto* call = dyn_cast<CallBase>(&inst)) {
    return call->arg_empty() ? 0 : dearest_again;
  }
  switch (inst.getOpcode()) {
    case Instruction::UDiv:
    case Instruction::SDiv:
    case Instruction::URem:
    case Instruction::SRem:
    case Instruction::FDiv:
    case Instruction::FRem:
    case Instruction::Load:
      return 4;
    default:
      return 1;
  }
}

// More than anybody has if that is not known.
std::uint64_t bytes_of(const AllocaInst& slot, const DataLayout& layout) {
  return slot.getAllocationSize(layout) ? frame_stride(slot) : std::uint64_t{1} << 32;
}

// Of private variables that the lanes of a warp may have on the stack, each.
constexpr std::uint64_t most_lane_bytes = 2048;

}  // namespace

std::uint64_t frame_stride(const AllocaInst& slot) {
  constexpr std::uint64_t small = 8, usual = 16;
  const std::uint64_t bytes =
      slot.getAllocationSize(slot.getModule()->getDataLayout())->getFixedValue();
  const std::uint64_t alignment =
      bytes <= small ? std::max(PowerOf2Ceil(bytes), slot.getAlign().value()) : usual;
  return alignTo(bytes, alignment);
}

live_values::live_values(Function& function, const region_plan& plan, const uniformity& uniform)
    : function_(function), plan_(plan), uniform_(uniform), needs_(plan.regions().size()) {
  find_again();
  find_private();
  for (const region& one : plan.regions()) {
    for (PHINode& phi : one.leader->phis()) {
      if (!phi.use_empty()) {
        leading_.insert(&phi);
      }
    }
  }
  for (unsigned r = 0; r < plan.regions().size(); ++r) {
    const region& one = plan.regions()[r];
    for (BasicBlock* block : one.blocks) {
      for (Instruction& inst : *block) {
        auto* phi = dyn_cast<PHINode>(&inst);
        if (phi && block == one.leader) {
          if (!phi->use_empty() && !uniform.is_uniform(phi)) {
            needs_[r].phis.push_back(phi);
          }
          continue;
        }
        if (&inst == block->getTerminator() && block == one.decides) {
          for (Value* operand : inst.operands()) {
            request(operand, outer);
          }
          continue;
        }
        if (is_meeting(inst)) {
          continue;
        }
        for (Value* operand : inst.operands()) {
          request(operand, static_cast<int>(r));
        }
      }
    }
  }
  for (PHINode* phi : leading_) {
    for (unsigned i = 0; i < phi->getNumIncomingValues(); ++i) {
      unsigned from = plan.region_of(phi->getIncomingBlock(i));
      bool merged = uniform.is_uniform(phi) && only_incoming(*phi, from);
      request(phi->getIncomingValue(i), merged ? outer : static_cast<int>(from));
    }
  }
}

bool live_values::is_meeting(const Instruction& inst) const {
  auto* call = dyn_cast<CallBase>(&inst);
  auto which = call ? called_slot(*call) : std::nullopt;
  return (which && *which == slot::barrier) || is_warp_meeting(inst);
}

bool live_values::is_outer(const Instruction& inst) const {
  auto* phi = dyn_cast<PHINode>(&inst);
  return is_meeting(inst) || is_team_memory(inst) ||
         (phi && plan_.is_leader(phi->getParent()) && uniform_.is_uniform(phi));
}

Value* live_values::only_incoming(const PHINode& phi, unsigned from) const {
  Value* only = nullptr;
  for (unsigned i = 0; i < phi.getNumIncomingValues(); ++i) {
    if (plan_.region_of(phi.getIncomingBlock(i)) == from) {
      if (only && only != phi.getIncomingValue(i)) {
        return nullptr;
      }
      only = phi.getIncomingValue(i);
    }
  }
  return only;
}

unsigned live_values::cost_of(Instruction& inst) {
  unsigned cost = own_cost(inst);
  for (Value* operand : inst.operands()) {
    auto* made = dyn_cast<Instruction>(operand);
    if (made && !uniform_.is_uniform(made)) {
      cost += isa<AllocaInst>(made) ? 2
              : again_.lookup(made) ? cost_.lookup(made)
                                    : dearest_again + 1;
    }
  }
  return cost;
}

void live_values::find_again() {
  // Operands come first: only phis see values from below.
  ReversePostOrderTraversal<Function*> order(&function_);
  for (BasicBlock* block : order) {
    for (Instruction& inst : *block) {
      if (!is_pure(inst)) {
        continue;
      }
      if (uniform_.is_uniform(&inst)) {
        again_[&inst] = true;
        continue;
      }
      unsigned cost = cost_of(inst);
      if (cost <= dearest_again) {
        again_[&inst] = true;
        cost_[&inst] = cost;
      }
    }
  }
}

// A private variable belongs to one run of a region when nothing of it is seen outside: its address
// stays there, and its life begins there, or the region runs once.
void live_values::find_private() {
  DominatorTree dominators(function_);
  SmallVector<AllocaInst*, 8> slots;
  for (Instruction& inst : instructions(function_)) {
    if (auto* slot = dyn_cast<AllocaInst>(&inst); slot && !is_team_memory(inst)) {
      slots.push_back(slot);
    }
  }
  std::uint64_t bytes = 0;
  for (AllocaInst* slot : slots) {
    bytes += bytes_of(*slot, function_.getParent()->getDataLayout());
  }
  // A region of lanes would have to keep them for each.
  if (uniform_.of() == team::block && bytes > most_lane_bytes && has_warp_meetings(function_)) {
    return;
  }
  for (AllocaInst* slot : slots) {
    if (plan_.regions().size() == 1) {
      private_.insert(slot);
      continue;
    }
    SmallSetVector<Instruction*, 16> reached;
    reached.insert(slot);
    SmallVector<Instruction*, 2> starts;
    std::optional<unsigned> home;
    bool stays = slot->isStaticAlloca() && !PointerMayBeCaptured(slot, true, true);
    for (unsigned i = 0; stays && i < reached.size(); ++i) {
      for (User* user : reached[i]->users()) {
        auto* inst = cast<Instruction>(user);
        unsigned where = plan_.region_of(inst->getParent());
        stays &= !home || *home == where;
        home = where;
        auto* mark = dyn_cast<IntrinsicInst>(inst);
        if (mark && mark->getIntrinsicID() == Intrinsic::lifetime_start) {
          starts.push_back(inst);
        } else if (mark && mark->isLifetimeStartOrEnd()) {
          continue;
        } else {
          // Phis at the top of a region carry addresses from one run to the next.
          stays &= !isa<PHINode>(inst) || !plan_.is_leader(inst->getParent());
          reached.insert(inst);
        }
      }
    }
    if (!stays || !home) {
      continue;
    }
    bool runs_once = *home == 0 && pred_empty(plan_.regions()[0].leader);
    bool begins = all_of(reached, [&](Instruction* inst) {
      return inst == slot ||
             any_of(starts, [&](Instruction* start) { return dominators.dominates(start, inst); });
    });
    if (runs_once || begins) {
      private_.insert(slot);
    }
  }
}

void live_values::request(Value* value, int region) {
  auto* inst = dyn_cast<Instruction>(value);
  if (!inst || !requested_.insert({inst, region}).second) {
    return;
  }
  bool here = region != outer && plan_.region_of(inst->getParent()) == unsigned(region);
  if (here && !is_outer(*inst) && !isa<AllocaInst>(inst)) {
    return;
  }
  if (isa<AllocaInst>(inst) && !is_team_memory(*inst)) {
    if (!private_.contains(inst)) {
      frames_.insert(inst);
    }
    if (region != outer) {
      needs_[region].frames.insert(inst);
    }
    return;
  }
  if (again_.lookup(inst)) {
    for (Value* operand : inst->operands()) {
      request(operand, region);
    }
    return;
  }
  if (uniform_.is_uniform(inst)) {
    scalars_.insert(inst);
    if (region != outer) {
      needs_[region].scalars.insert(inst);
    }
    return;
  }
  arrays_.insert(inst);
  needs_[region].arrays.insert(inst);
}

std::uint64_t live_values::context_bytes() const {
  const DataLayout& layout = function_.getParent()->getDataLayout();
  std::uint64_t bytes = 0;
  for (Instruction* inst : arrays_) {
    bytes += layout.getTypeAllocSize(inst->getType());
  }
  for (PHINode* phi : leading_) {
    bytes += uniform_.is_uniform(phi) ? 0 : layout.getTypeAllocSize(phi->getType()).getFixedValue();
  }
  return bytes + frame_bytes();
}

std::uint64_t live_values::frame_bytes() const {
  const DataLayout& layout = function_.getParent()->getDataLayout();
  std::uint64_t bytes = 0;
  for (Instruction* inst : frames_) {
    bytes += bytes_of(*cast<AllocaInst>(inst), layout);
  }
  return bytes;
}

}  // namespace sb::pass
