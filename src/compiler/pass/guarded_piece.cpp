#include "compiler/pass/guarded_piece.hpp"

#include <llvm/IR/CFG.h>
#include <llvm/IR/IntrinsicInst.h>
#include <llvm/IR/Module.h>

#include "compiler/pass/neighbours.hpp"

namespace sb::pass {

using namespace llvm;

namespace {

constexpr std::size_t most_blocks = 24;

}  // namespace

bool is_plain(const Instruction& inst) {
  if (auto* call = dyn_cast<CallBase>(&inst)) {
    return isa<IntrinsicInst>(call) && !call->mayReadOrWriteMemory();
  }
  return isa<LoadInst, StoreInst>(inst) ? !inst.isVolatile() && !inst.isAtomic()
                                        : !inst.mayReadOrWriteMemory();
}

unsigned guarded_piece::way() const {
  return asks->getTerminator()->getSuccessor(0) == behind ? 1 : 0;
}

std::optional<guarded_piece> piece_at(BasicBlock& block, const uniformity& uniform) {
  auto* branch = dyn_cast<BranchInst>(block.getTerminator());
  if (!branch || !branch->isConditional() || uniform.branches_together(&block) ||
      !uniform.is_reached_together(&block)) {
    return std::nullopt;
  }
  auto* behind = const_cast<BasicBlock*>(uniform.meeting_of(&block));
  if (!behind || !is_contained(branch->successors(), behind) ||
      branch->getSuccessor(0) == branch->getSuccessor(1) || !uniform.is_reached_together(behind)) {
    return std::nullopt;
  }
  guarded_piece found = {&block, behind, {}};
  found.blocks.insert(branch->getSuccessor(found.way()));
  bool stores = false;
  for (unsigned i = 0; i < found.blocks.size(); ++i) {
    if (!all_of(*found.blocks[i], is_plain)) {
      return std::nullopt;
    }
    stores |= stores_something(*found.blocks[i]);
    for (BasicBlock* next : successors(found.blocks[i])) {
      if (next != behind) {
        found.blocks.insert(next);
      }
    }
    if (found.blocks.size() > most_blocks || found.blocks.contains(&block)) {
      return std::nullopt;
    }
  }
  return stores ? std::optional(found) : std::nullopt;
}

bool stores_something(const BasicBlock& block) {
  return any_of(block, [](const Instruction& inst) { return isa<StoreInst>(inst); });
}

bool stores_row(const Instruction& inst, const uniformity& uniform) {
  auto* store = dyn_cast<StoreInst>(&inst);
  if (!store) {
    return false;
  }
  const DataLayout& layout = inst.getDataLayout();
  auto bytes = layout.getTypeStoreSize(store->getValueOperand()->getType()).getFixedValue();
  return distance_of_neighbours(store->getPointerOperand(), uniform, layout) ==
         static_cast<std::int64_t>(bytes);
}

bool stores_rows(const BasicBlock& block, const uniformity& uniform) {
  return any_of(block, [&](const Instruction& inst) { return stores_row(inst, uniform); });
}

Instruction* before_condition(BasicBlock& block) {
  Instruction* first = block.getTerminator();
  while (first != &*block.getFirstNonPHIOrDbg() && !first->getPrevNode()->mayReadOrWriteMemory()) {
    first = first->getPrevNode();
  }
  return first;
}

}  // namespace sb::pass
