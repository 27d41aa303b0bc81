#include "compiler/pass/kept_values.hpp"

#include <llvm/ADT/PostOrderIterator.h>
#include <llvm/IR/Dominators.h>
#include <llvm/IR/InstIterator.h>
#include <llvm/Transforms/Utils/Local.h>

#include "compiler/pass/runtime_abi.hpp"
#include "compiler/pass/warp_function.hpp"

namespace sb::pass {

using namespace llvm;

namespace {

// Costs next to nothing, and does no harm where nobody asks for it.
bool is_cheap(const Instruction& inst) {
  if (auto* call = dyn_cast<CallInst>(&inst)) {
    return call->getCalledFunction() && call->arg_empty() &&
           call->getCalledFunction()->getName().starts_with("__sb_") && !called_slot(*call) &&
           call->doesNotAccessMemory() && call->willReturn();
  }
  return isa<CastInst, ICmpInst, GetElementPtrInst, SelectInst>(inst) ||
         (isa<BinaryOperator>(inst) && inst.getType()->isIntegerTy() && !inst.isIntDivRem());
}

}  // namespace

void compute_early(Function& body) {
  Instruction* end = body.getEntryBlock().getTerminator();
  ReversePostOrderTraversal<Function*> order(&body);
  for (BasicBlock* block : order) {
    if (block == &body.getEntryBlock()) {
      continue;
    }
    for (Instruction& inst : make_early_inc_range(*block)) {
      bool early = is_cheap(inst) && all_of(inst.operand_values(), [&](const Value* operand) {
                     auto* made = dyn_cast<Instruction>(operand);
                     return !made || made->getParent() == end->getParent();
                   });
      if (early) {
        inst.dropUBImplyingAttrsAndMetadata();
        inst.moveBefore(end);
        inst.setDebugLoc({});
      }
    }
  }
}

void keep_values(Function& body, const uniformity* same) {
  DominatorTree dominators(body);
  SmallVector<Instruction*, 16> kept;
  for (Instruction& inst : instructions(body)) {
    bool lost =
        any_of(inst.uses(), [&](const Use& use) { return !dominators.dominates(&inst, use); });
    if (lost) {
      kept.push_back(&inst);
    }
  }
  BasicBlock& entry = body.getEntryBlock();
  for (Instruction* inst : kept) {
    bool is_same = same && same->is_uniform(inst);
    AllocaInst* memory = DemoteRegToStack(*inst, false, entry.begin());
    for (User* user : memory->users()) {
      if (auto* load = dyn_cast<LoadInst>(user); load && is_same) {
        mark_same_in_warp(*load);
      }
    }
  }
}

}  // namespace sb::pass
