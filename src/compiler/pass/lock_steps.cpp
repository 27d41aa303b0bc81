#include "compiler/pass/lock_steps.hpp"

#include <llvm/IR/Dominators.h>
#include <llvm/IR/InstIterator.h>
#include <llvm/IR/Instructions.h>

#include "base/device_abi.hpp"
#include "compiler/pass/operation_counts.hpp"

namespace sb::pass {

using namespace llvm;

namespace {

bool is_ticket(const Value* value) {
  while (auto* cast = dyn_cast<CastInst>(value)) {
    value = cast->getOperand(0);
  }
  auto* draw = dyn_cast<AtomicRMWInst>(value);
  return draw && draw->getOperation() == AtomicRMWInst::Add;
}

// What a load is compared with, if that is a ticket which was drawn before.
Value* ticket_awaited_by(const LoadInst& load, const DominatorTree& dominators) {
  if (!load.isVolatile() && !load.isAtomic()) {
    return nullptr;
  }
  for (const User* user : load.users()) {
    auto* compare = dyn_cast<ICmpInst>(user);
    if (!compare || !compare->isEquality()) {
      continue;
    }
    Value* other = compare->getOperand(compare->getOperand(0) == &load ? 1 : 0);
    if (is_ticket(other) && dominators.dominates(other, &load)) {
      return other;
    }
  }
  return nullptr;
}

bool may_take(const Instruction& inst) {
  if (auto* exchange = dyn_cast<AtomicCmpXchgInst>(&inst)) {
    return isa<ConstantInt>(exchange->getCompareOperand()) &&
           isa<ConstantInt>(exchange->getNewValOperand());
  }
  auto* update = dyn_cast<AtomicRMWInst>(&inst);
  auto* held = update ? dyn_cast<ConstantInt>(update->getValOperand()) : nullptr;
  return held && update->getOperation() == AtomicRMWInst::Xchg && !held->isZero();
}

// Null where nothing may be taken.
Value* takes(const lock_step& step, IRBuilder<>& builder) {
  if (step.ticket) {
    return builder.CreateICmpEQ(step.at, step.ticket);
  }
  if (!may_take(*step.at)) {
    return nullptr;
  }
  if (auto* update = dyn_cast<AtomicRMWInst>(step.at)) {
    return builder.CreateICmpNE(update, update->getValOperand());
  }
  return builder.CreateExtractValue(step.at, 1);
}

Value* written_place(Instruction& inst) {
  if (isa<StoreInst, AtomicRMWInst, AtomicCmpXchgInst>(inst)) {
    return isa<StoreInst>(inst) ? getLoadStorePointerOperand(&inst) : inst.getOperand(0);
  }
  return nullptr;
}

}  // namespace

SmallVector<lock_step, 8> lock_steps_of(Function& function) {
  SmallVector<lock_step, 8> steps;
  const DominatorTree dominators(function);
  bool any = false;
  for (Instruction& inst : instructions(function)) {
    auto* fence = dyn_cast<FenceInst>(&inst);
    if (fence && fence->getOrdering() == AtomicOrdering::SequentiallyConsistent) {
      steps.push_back({&inst, nullptr, nullptr});
      continue;
    }
    auto* load = dyn_cast<LoadInst>(&inst);
    Value* ticket = load ? ticket_awaited_by(*load, dominators) : nullptr;
    Value* place = ticket ? load->getPointerOperand() : written_place(inst);
    if (place && space_of(place) == space::global) {
      steps.push_back({&inst, place, ticket});
      any |= ticket || may_take(inst);
    }
  }
  return any ? steps : SmallVector<lock_step, 8>();
}

Value* event_of(const lock_step& step, IRBuilder<>& builder) {
  const auto number = [&](abi::lock_event event) {
    return builder.getInt32(static_cast<std::uint32_t>(event));
  };
  if (!step.lock) {
    return number(abi::lock_event::fence);
  }
  Value* taken = takes(step, builder);
  return taken ? builder.CreateSelect(taken, number(abi::lock_event::taken),
                                      number(abi::lock_event::tried))
               : static_cast<Value*>(number(abi::lock_event::written));
}

}  // namespace sb::pass
