#include "compiler/pass/shifts.hpp"

#include <llvm/Analysis/ValueTracking.h>
#include <llvm/IR/IRBuilder.h>
#include <llvm/IR/InstIterator.h>
#include <llvm/IR/IntrinsicInst.h>
#include <llvm/IR/PatternMatch.h>

namespace sb::pass {

using namespace llvm;
using namespace llvm::PatternMatch;

namespace {

constexpr unsigned amount_bits = 32;

// As much of the amount as the device looks at.
Value* seen_amount(IRBuilder<>& builder, Value* amount) {
  Value* narrow = nullptr;
  if (match(amount, m_ZExt(m_Value(narrow))) &&
      narrow->getType()->getScalarSizeInBits() == amount_bits) {
    return narrow;
  }
  Type* type = amount->getType();
  return type->getScalarSizeInBits() > amount_bits
             ? builder.CreateTrunc(amount, type->getWithNewBitWidth(amount_bits))
             : amount;
}

void clamp(BinaryOperator& shift) {
  const unsigned width = shift.getType()->getScalarSizeInBits();
  Value* amount = shift.getOperand(1);
  const DataLayout& layout = shift.getModule()->getDataLayout();
  if (computeKnownBits(amount, layout).getMaxValue().ult(width)) {
    return;
  }
  IRBuilder<> builder(&shift);
  // The result of a shift that is too far is defined, whatever it loses.
  shift.dropPoisonGeneratingFlags();
  Value* seen = seen_amount(builder, amount);
  auto number = [&](std::uint64_t value) { return ConstantInt::get(seen->getType(), value); };
  if (shift.getOpcode() == Instruction::AShr) {
    Value* most = builder.CreateBinaryIntrinsic(Intrinsic::umin, seen, number(width - 1));
    shift.setOperand(1, builder.CreateZExt(most, amount->getType()));
    return;
  }
  Value* within = builder.CreateICmpULT(seen, number(width));
  if (seen != amount && !isa<ZExtInst>(amount)) {
    shift.setOperand(1, builder.CreateAnd(amount, width - 1));
  }
  builder.SetInsertPoint(shift.getNextNode());
  Value* result = builder.CreateSelect(within, &shift, Constant::getNullValue(shift.getType()));
  shift.replaceUsesWithIf(result, [&](Use& use) { return use.getUser() != result; });
}

// (x << n) | (x >> (32 - n)), each of them clamped.
Value* rotated(BinaryOperator& both, bool left_first) {
  constexpr std::uint64_t width = 32;
  if (!both.getType()->isIntegerTy(width)) {
    return nullptr;
  }
  Value *left = both.getOperand(left_first ? 0 : 1), *right = both.getOperand(left_first ? 1 : 0);
  Value *value = nullptr, *up = nullptr, *down = nullptr;
  if (!match(left, m_Select(m_Value(), m_Shl(m_Value(value), m_Value(up)), m_Zero())) ||
      !match(right, m_Select(m_Value(), m_LShr(m_Specific(value), m_Value(down)), m_Zero())) ||
      !clamps_shift(*cast<Instruction>(left)) || !clamps_shift(*cast<Instruction>(right))) {
    return nullptr;
  }
  Value *narrow_up = up, *narrow_down = down;
  match(up, m_ZExt(m_Value(narrow_up)));
  match(down, m_ZExt(m_Value(narrow_down)));
  IRBuilder<> builder(&both);
  Intrinsic::ID which = Intrinsic::not_intrinsic;
  Value* by = nullptr;
  if (match(narrow_down, m_Sub(m_SpecificInt(width), m_Specific(narrow_up)))) {
    which = Intrinsic::fshl;
    by = up;
  } else if (match(narrow_up, m_Sub(m_SpecificInt(width), m_Specific(narrow_down)))) {
    which = Intrinsic::fshr;
    by = down;
  } else {
    return nullptr;
  }
  return builder.CreateIntrinsic(which, {both.getType()}, {value, value, by});
}

const Value* stripped(const Value* amount) {
  while (true) {
    const Value* inner = nullptr;
    if (match(amount, m_CombineOr(m_ZExt(m_Value(inner)), m_Trunc(m_Value(inner)))) ||
        match(amount, m_And(m_Value(inner), m_LowBitMask()))) {
      amount = inner;
    } else {
      return amount;
    }
  }
}

// The shift that this select takes if its amount is small enough.
const BinaryOperator* clamped_by(const SelectInst& select) {
  for (bool within : {true, false}) {
    auto* shift = dyn_cast<BinaryOperator>(within ? select.getTrueValue() : select.getFalseValue());
    CmpInst::Predicate predicate{};
    const Value* amount = nullptr;
    if (shift && shift->isLogicalShift() &&
        match(within ? select.getFalseValue() : select.getTrueValue(), m_Zero()) &&
        match(select.getCondition(), m_ICmp(predicate, m_Value(amount), m_ImmConstant())) &&
        predicate == (within ? CmpInst::ICMP_ULT : CmpInst::ICMP_UGT) &&
        stripped(amount) == stripped(shift->getOperand(1))) {
      return shift;
    }
  }
  return nullptr;
}

}  // namespace

void clamp_shifts(Module& module) {
  for (Function& function : module) {
    for (Instruction& inst : make_early_inc_range(instructions(function))) {
      if (inst.isShift()) {
        clamp(cast<BinaryOperator>(inst));
      }
    }
  }
}

PreservedAnalyses find_rotations::run(Function& function, FunctionAnalysisManager&) {
  bool found = false;
  for (Instruction& inst : make_early_inc_range(instructions(function))) {
    const unsigned opcode = inst.getOpcode();
    if (opcode != Instruction::Or && opcode != Instruction::Add) {
      continue;
    }
    auto& both = cast<BinaryOperator>(inst);
    Value* whole = rotated(both, true);
    if (!whole) {
      whole = rotated(both, false);
    }
    if (whole) {
      whole->takeName(&both);
      both.replaceAllUsesWith(whole);
      both.eraseFromParent();
      found = true;
    }
  }
  return found ? PreservedAnalyses::none() : PreservedAnalyses::all();
}

bool clamps_shift(const Instruction& inst) {
  if (auto* select = dyn_cast<SelectInst>(&inst)) {
    return clamped_by(*select) != nullptr;
  }
  auto clamping = [&](auto clamps) { return !inst.use_empty() && all_of(inst.users(), clamps); };
  if (isa<ICmpInst>(inst)) {
    return clamping([&](const User* user) {
      auto* select = dyn_cast<SelectInst>(user);
      return select && select->getCondition() == &inst && clamped_by(*select);
    });
  }
  auto* least = dyn_cast<MinMaxIntrinsic>(&inst);
  return least && least->getIntrinsicID() == Intrinsic::umin && clamping([&](const User* user) {
           if (auto* wide = dyn_cast<ZExtInst>(user); wide && wide->hasOneUse()) {
             user = wide->user_back();
           }
           auto* shift = dyn_cast<BinaryOperator>(user);
           return shift && shift->getOpcode() == Instruction::AShr &&
                  stripped(shift->getOperand(1)) == &inst;
         });
}

}  // namespace sb::pass
