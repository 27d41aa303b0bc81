#include "compiler/pass/volatile_lanes.hpp"

#include <llvm/Analysis/ValueTracking.h>
#include <llvm/IR/GlobalVariable.h>
#include <llvm/IR/IRBuilder.h>
#include <llvm/IR/InstIterator.h>

#include "compiler/pass/address_spaces.hpp"
#include "compiler/pass/runtime_abi.hpp"
#include "compiler/pass/uniformity.hpp"

namespace sb::pass {

using namespace llvm;

namespace {

bool is_volatile_and_shared(const Instruction& inst) {
  const Value* pointer = inst.isVolatile() ? getLoadStorePointerOperand(&inst) : nullptr;
  auto* variable = pointer ? dyn_cast<GlobalVariable>(getUnderlyingObject(pointer, 0)) : nullptr;
  return variable && is_shared(*variable);
}

bool waits(const Instruction& inst) {
  auto* call = dyn_cast<CallBase>(&inst);
  auto which = call ? called_slot(*call) : std::nullopt;
  return which && (*which == slot::yield || *which == slot::spin || *which == slot::nanosleep);
}

void meet(IRBuilder<>& builder) {
  Module& module = *builder.GetInsertBlock()->getModule();
  auto sync = runtime_function(module, slot::warp_sync, builder.getVoidTy(), builder.getInt32Ty());
  auto* call = builder.CreateCall(sync, builder.getInt32(~0u));
  call->setConvergent();
}

}  // namespace

void meet_at_volatile_stores(Function& body) {
  SmallVector<Instruction*, 16> accesses;
  SmallVector<StoreInst*, 16> stores;
  for (Instruction& inst : instructions(body)) {
    if (waits(inst)) {
      return;
    }
    if (is_volatile_and_shared(inst)) {
      accesses.push_back(&inst);
      if (auto* store = dyn_cast<StoreInst>(&inst)) {
        stores.push_back(store);
      }
    }
  }
  if (stores.empty() || stores.size() == accesses.size()) {
    return;
  }
  const uniformity uniform(body, team::warp);
  auto is_parted = [&](StoreInst* store) {
    return !uniform.is_reached_together(store->getParent());
  };
  bool all_meet = none_of(stores, is_parted);
  erase_if(stores, is_parted);
  for (StoreInst* store : stores) {
    IRBuilder<> before(store);
    meet(before);
    IRBuilder<> behind(store->getNextNode());
    behind.SetCurrentDebugLocation(store->getDebugLoc());
    meet(behind);
  }
  // The meetings say it all.
  for (Instruction* access : accesses) {
    if (all_meet) {
      isa<LoadInst>(access) ? cast<LoadInst>(access)->setVolatile(false)
                            : cast<StoreInst>(access)->setVolatile(false);
    }
  }
}

}  // namespace sb::pass
