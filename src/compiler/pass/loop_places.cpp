#include "compiler/pass/loop_places.hpp"

#include <llvm/ADT/SetVector.h>
#include <llvm/IR/Constants.h>

namespace sb::pass {

using namespace llvm;

namespace {

// Sums and multiples of a number that grows grow too; what is cut off comes back.
bool is_part_of_sum(const Instruction& inst) {
  switch (inst.getOpcode()) {
    case Instruction::GetElementPtr:
    case Instruction::Add:
    case Instruction::Sub:
    case Instruction::SExt:
    case Instruction::ZExt:
      return true;
    case Instruction::Mul:
    case Instruction::Shl:
      return isa<ConstantInt>(inst.getOperand(1));
    default:
      return false;
  }
}

}  // namespace

bool loop_places::stays(const Value* address) const {
  auto* inst = dyn_cast<Instruction>(address);
  return !inst || !loop_.contains(inst) ||
         (isa<GetElementPtrInst, CastInst>(inst) &&
          all_of(inst->operands(), [&](const Use& part) { return stays(part.get()); }));
}

bool loop_places::goes_ahead(const Value* address) const {
  return reaches_phi(address, is_part_of_sum, [&](const PHINode& phi) { return steps(phi); });
}

bool loop_places::goes_around(const Value* address) const {
  return reaches_phi(
      address,
      [](const Instruction& inst) {
        return isa<GetElementPtrInst, CastInst, BinaryOperator, SelectInst>(inst);
      },
      [&](const PHINode& phi) { return changes_always(phi); });
}

bool loop_places::reaches_phi(const Value* value,
                              function_ref<bool(const Instruction&)> is_followed,
                              function_ref<bool(const PHINode&)> is_it) const {
  SmallSetVector<const Value*, 16> reached;
  reached.insert(value);
  for (unsigned i = 0; i < reached.size() && i < 64; ++i) {
    auto* inst = dyn_cast<Instruction>(reached[i]);
    if (!inst || !loop_.contains(inst)) {
      continue;
    }
    if (auto* phi = dyn_cast<PHINode>(inst)) {
      if (phi->getParent() != loop_.getHeader()) {
        return false;
      }
      if (is_it(*phi)) {
        return true;
      }
    } else if (is_followed(*inst)) {
      reached.insert(inst->op_begin(), inst->op_end());
    }
  }
  return false;
}

// The same step in every turn, and no end of numbers in sight.
bool loop_places::steps(const PHINode& phi) const {
  auto* next = dyn_cast<Instruction>(phi.getIncomingValueForBlock(loop_.getLoopLatch()));
  const bool counts =
      next && (next->getOpcode() == Instruction::Add || next->getOpcode() == Instruction::Sub ||
               isa<GetElementPtrInst>(next));
  return counts && (phi.getType()->isPointerTy() || phi.getType()->getIntegerBitWidth() >= 32) &&
         is_contained(next->operands(), &phi) && all_of(next->operands(), [&](const Use& part) {
           return part == &phi || loop_.isLoopInvariant(part);
         });
}

bool loop_places::is_counter(const Value& value) const {
  auto* phi = dyn_cast<PHINode>(&value);
  return phi && phi->getParent() == loop_.getHeader() && changes_always(*phi);
}

// The value that comes round is computed from the old one, never the old one itself.
bool loop_places::changes_always(const PHINode& phi) const {
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
  return any_of(choices, [&](const Value* choice) { return is_computed_from(choice, phi); });
}

bool loop_places::is_computed_from(const Value* value, const PHINode& phi) const {
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

}  // namespace sb::pass
