#include "compiler/pass/shared_atomics.hpp"

#include <llvm/Analysis/LoopInfo.h>
#include <llvm/Analysis/ValueTracking.h>
#include <llvm/IR/Dominators.h>
#include <llvm/IR/GlobalVariable.h>
#include <llvm/IR/IRBuilder.h>
#include <llvm/IR/InstIterator.h>
#include <llvm/Transforms/Utils/LoopUtils.h>
#include <llvm/Transforms/Utils/LowerAtomic.h>

#include "compiler/pass/address_spaces.hpp"

namespace sb::pass {

using namespace llvm;

namespace {

constexpr StringLiteral unroll_count = "llvm.loop.unroll.count";
constexpr unsigned rounds_in_a_row = 4;
constexpr std::size_t largest_unrolled = 40;  // instructions

bool is_in_shared_memory(const Value* address) {
  auto* variable = dyn_cast<GlobalVariable>(getUnderlyingObject(address, 0));
  return variable && is_shared(*variable);
}

std::size_t size_of(const Loop& loop) {
  std::size_t size = 0;
  for (const BasicBlock* block : loop.blocks()) {
    size += block->size();
  }
  return size;
}

// Instructions between two of the updates that a loop makes are few, and no vector can be made of
// them: some rounds in a row save the counting.
void unroll_loops(ArrayRef<BasicBlock*> updated, Function& function) {
  DominatorTree dominators(function);
  LoopInfo loops(dominators);
  for (BasicBlock* block : updated) {
    Loop* loop = loops.getLoopFor(block);
    if (loop && loop->isInnermost() && size_of(*loop) <= largest_unrolled &&
        !findStringMetadataForLoop(loop, unroll_count)) {
      addStringMetadataToLoop(loop, unroll_count.data(), rounds_in_a_row);
    }
  }
}

}  // namespace

void relax_shared_atomics(Function& function) {
  SmallVector<BasicBlock*, 4> updated;
  for (Instruction& inst : make_early_inc_range(instructions(function))) {
    if (auto* update = dyn_cast<AtomicRMWInst>(&inst)) {
      if (is_in_shared_memory(update->getPointerOperand()) && !update->isVolatile()) {
        updated.push_back(update->getParent());
        lowerAtomicRMWInst(update);
      }
    } else if (auto* exchange = dyn_cast<AtomicCmpXchgInst>(&inst)) {
      if (is_in_shared_memory(exchange->getPointerOperand()) && !exchange->isVolatile()) {
        lowerAtomicCmpXchgInst(exchange);
      }
    }
  }
  if (!updated.empty()) {
    unroll_loops(updated, function);
  }
}

}  // namespace sb::pass
