#include "compiler/pass/shared_atomics.hpp"

#include <llvm/Analysis/ValueTracking.h>
#include <llvm/IR/GlobalVariable.h>
#include <llvm/IR/IRBuilder.h>
#include <llvm/IR/InstIterator.h>
#include <llvm/Transforms/Utils/LowerAtomic.h>

#include "compiler/pass/address_spaces.hpp"

namespace sb::pass {

using namespace llvm;

namespace {

bool is_in_shared_memory(const Value* address) {
  auto* variable = dyn_cast<GlobalVariable>(getUnderlyingObject(address, 0));
  return variable && is_shared(*variable);
}

}  // namespace

void relax_shared_atomics(Function& function) {
  for (Instruction& inst : make_early_inc_range(instructions(function))) {
    if (auto* update = dyn_cast<AtomicRMWInst>(&inst)) {
      if (is_in_shared_memory(update->getPointerOperand()) && !update->isVolatile()) {
        lowerAtomicRMWInst(update);
      }
    } else if (auto* exchange = dyn_cast<AtomicCmpXchgInst>(&inst)) {
      if (is_in_shared_memory(exchange->getPointerOperand()) && !exchange->isVolatile()) {
        lowerAtomicCmpXchgInst(exchange);
      }
    }
  }
}

}  // namespace sb::pass
