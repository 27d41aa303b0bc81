#include "compiler/pass/arithmetic.hpp"

#include <llvm/IR/IRBuilder.h>
#include <llvm/IR/InstIterator.h>
#include <llvm/IR/PatternMatch.h>

#include <algorithm>

namespace sb::pass {

using namespace llvm;

namespace {

// A constant that is neither zero nor -1 in any lane divides safely.
bool divides_safely(Value* divisor) {
  const APInt* constant = nullptr;
  return PatternMatch::match(divisor, PatternMatch::m_APInt(constant)) && !constant->isZero() &&
         !constant->isAllOnes();
}

void guard_division(BinaryOperator& division) {
  Value* dividend = division.getOperand(0);
  Value* divisor = division.getOperand(1);
  if (divides_safely(divisor)) {
    return;
  }
  IRBuilder<> builder(&division);
  Type* type = division.getType();
  bool is_remainder =
      division.getOpcode() == Instruction::SRem || division.getOpcode() == Instruction::URem;
  const safe_divisor safe = divide_by(builder, division.getOpcode(), dividend, divisor);
  auto* fresh = cast<BinaryOperator>(division.clone());
  fresh->setOperand(1, safe.value);
  fresh->dropPoisonGeneratingFlags();
  builder.Insert(fresh);
  // 64-bit quotients by zero have only their lower half set: h200/faults.tsv divide.zero.
  auto ones =
      APInt::getLowBitsSet(type->getScalarSizeInBits(), std::min(32u, type->getScalarSizeInBits()));
  Value* at_zero = is_remainder ? dividend : ConstantInt::get(type, ones);
  Value* result = builder.CreateSelect(safe.was_zero, at_zero, fresh);
  result->takeName(&division);
  division.replaceAllUsesWith(result);
  division.eraseFromParent();
}

// h200/conversions.tsv
void saturate_conversion(CastInst& conversion) {
  IRBuilder<> builder(&conversion);
  Value* number = conversion.getOperand(0);
  auto which =
      conversion.getOpcode() == Instruction::FPToSI ? Intrinsic::fptosi_sat : Intrinsic::fptoui_sat;
  // The device converts to 32 bits at least; narrower types are cut off from there.
  Type* type = conversion.getType();
  Type* wide = type->getScalarSizeInBits() < 32 ? type->getWithNewBitWidth(32) : type;
  Value* result = builder.CreateIntrinsic(which, {wide, number->getType()}, {number});
  // What is no number is 0 where both have 32 bits, and the least one where either has 64.
  const unsigned bits = wide->getScalarSizeInBits();
  if (bits > 32 || number->getType()->getScalarType()->isDoubleTy()) {
    Value* least = ConstantInt::get(wide, APInt::getSignedMinValue(bits));
    result = builder.CreateSelect(builder.CreateFCmpUNO(number, number), least, result);
  }
  result = builder.CreateTrunc(result, type);
  conversion.replaceAllUsesWith(result);
  conversion.eraseFromParent();
}

}  // namespace

void lower_arithmetic(Module& module) {
  for (Function& function : module) {
    for (Instruction& inst : make_early_inc_range(instructions(function))) {
      switch (inst.getOpcode()) {
        case Instruction::SDiv:
        case Instruction::UDiv:
        case Instruction::SRem:
        case Instruction::URem:
          guard_division(cast<BinaryOperator>(inst));
          break;
        case Instruction::FPToSI:
        case Instruction::FPToUI:
          saturate_conversion(cast<CastInst>(inst));
          break;
        default:
          break;
      }
    }
  }
}

// Divided by one, the least number gives itself, and the remainder zero: what wrapping gives.
safe_divisor divide_by(IRBuilderBase& builder, unsigned operation, Value* dividend,
                       Value* divisor) {
  Type* type = divisor->getType();
  Value* zero = builder.CreateICmpEQ(divisor, Constant::getNullValue(type));
  Value* faults = zero;
  if (operation == Instruction::SDiv || operation == Instruction::SRem) {
    auto least = APInt::getSignedMinValue(type->getScalarSizeInBits());
    Value* overflows =
        builder.CreateAnd(builder.CreateICmpEQ(dividend, ConstantInt::get(type, least)),
                          builder.CreateICmpEQ(divisor, Constant::getAllOnesValue(type)));
    faults = builder.CreateOr(zero, overflows);
  }
  return {builder.CreateSelect(faults, ConstantInt::get(type, 1), divisor), zero};
}

}  // namespace sb::pass
