#include "compiler/pass/guard_stride.hpp"

#include <llvm/Analysis/ScalarEvolutionExpressions.h>
#include <llvm/IR/PatternMatch.h>
#include <llvm/Transforms/Utils/ScalarEvolutionExpander.h>

namespace sb::pass {

using namespace llvm;
using namespace llvm::PatternMatch;

namespace {

constexpr unsigned widest = 32;  // bits, so that nothing overflows in 64

enum class division { by_mask, of_unsigned, of_signed };

struct stride_test {
  const SCEV* start;  // of the value that counts up by one
  Value* value;
  Value* divisor;  // or mask
  division kind;
};

const SCEV* start_of(const SCEV* value, const Loop& loop, ScalarEvolution& evolution) {
  auto* counts = dyn_cast<SCEVAddRecExpr>(value);
  SCEVExpander expander(evolution, loop.getHeader()->getDataLayout(), "stride");
  bool good = counts && counts->getLoop() == &loop && counts->isAffine() &&
              counts->getStepRecurrence(evolution)->isOne() &&
              expander.isSafeToExpand(counts->getStart());
  return good ? counts->getStart() : nullptr;
}

std::optional<stride_test> stride_of(const ICmpInst& test, const Loop& loop,
                                     ScalarEvolution& evolution) {
  Value* value = nullptr;
  Value* divisor = nullptr;
  Value* left = test.getOperand(0);
  if (!test.isEquality() || !left->getType()->isIntegerTy() ||
      !loop.isLoopInvariant(test.getOperand(1))) {
    return std::nullopt;
  }
  stride_test found = {};
  if (match(left, m_And(m_Value(value), m_Value(divisor)))) {
    found.kind = division::by_mask;
    if (loop.isLoopInvariant(value)) {
      std::swap(value, divisor);
    }
    auto* mask = dyn_cast<ConstantInt>(divisor);
    if (mask && !mask->getValue().isMask()) {
      return std::nullopt;
    }
  } else if (match(left, m_URem(m_Value(value), m_Value(divisor)))) {
    found.kind = division::of_unsigned;
  } else if (match(left, m_SRem(m_Value(value), m_Value(divisor)))) {
    found.kind = division::of_signed;
  } else {
    return std::nullopt;
  }
  const SCEV* start =
      loop.isLoopInvariant(divisor) ? start_of(evolution.getSCEV(value), loop, evolution) : nullptr;
  bool is_narrow = left->getType()->getIntegerBitWidth() <= widest ||
                   (found.kind == division::by_mask && isa<ConstantInt>(divisor) &&
                    cast<ConstantInt>(divisor)->getValue().getActiveBits() < widest);
  if (!start || !is_narrow || left->getType()->getIntegerBitWidth() > 64) {
    return std::nullopt;
  }
  found.start = start;
  found.value = value;
  found.divisor = divisor;
  return found;
}

Value* defined(IRBuilder<>& builder, Value* value) {
  return isa<ConstantInt>(value) ? value : builder.CreateFreeze(value);
}

// Numbers may begin again at zero: the mask does not see it.
round_stride solve_mask(IRBuilder<>& builder, Value* start, Value* mask, Value* rest,
                        Value* rounds) {
  Type* type = mask->getType();
  Value* one = ConstantInt::get(type, 1);
  Value* is_mask = builder.CreateIsNull(builder.CreateAnd(mask, builder.CreateAdd(mask, one)));
  Value* is_inside = builder.CreateIsNull(builder.CreateAnd(rest, builder.CreateNot(mask)));
  round_stride found;
  found.valid = builder.CreateAnd(is_mask, is_inside);
  auto wide = [&](Value* value) { return builder.CreateZExt(value, builder.getInt64Ty()); };
  found.first = wide(builder.CreateAnd(builder.CreateSub(rest, start), mask));
  found.stride = builder.CreateNUWAdd(wide(mask), builder.getInt64(1));
  Value* shift = builder.CreateBinaryIntrinsic(Intrinsic::cttz, found.stride, builder.getTrue());
  Value* left = builder.CreateSub(builder.CreateAdd(rounds, wide(mask)), found.first);
  found.count = builder.CreateLShr(left, shift);
  return found;
}

// The remainder is that of a number without sign as long as the value is none below zero.
round_stride solve_remainder(IRBuilder<>& builder, Value* start, Value* divisor, Value* rest,
                             bool is_signed, Value* rounds) {
  unsigned bits = divisor->getType()->getIntegerBitWidth();
  auto wide = [&](Value* value) {
    return is_signed ? builder.CreateSExt(value, builder.getInt64Ty())
                     : builder.CreateZExt(value, builder.getInt64Ty());
  };
  start = wide(start);
  rest = wide(rest);
  Value* zero = builder.getInt64(0);
  Value* one = builder.getInt64(1);
  Value* given = wide(divisor);
  if (is_signed) {
    given = builder.CreateBinaryIntrinsic(Intrinsic::smax, given, builder.CreateNeg(given));
  }
  round_stride found;
  found.stride = builder.CreateBinaryIntrinsic(Intrinsic::umax, given, one);
  APInt most = is_signed ? APInt::getSignedMaxValue(bits) : APInt::getMaxValue(bits);
  Value* last = builder.CreateAdd(start, builder.CreateSub(rounds, one));
  Value* counts = builder.CreateAnd(
      builder.CreateICmpSGE(start, zero),
      builder.CreateICmpULE(last, ConstantInt::get(zero->getType(), most.getZExtValue())));
  // By zero there is no remainder, and none is that large.
  found.valid = builder.CreateAnd(counts, builder.CreateICmpULT(rest, given));
  Value* ahead = builder.CreateAdd(
      rest, builder.CreateSub(found.stride, builder.CreateURem(start, found.stride)));
  found.first = builder.CreateURem(ahead, found.stride);
  Value* left = builder.CreateSub(builder.CreateAdd(rounds, builder.CreateSub(found.stride, one)),
                                  found.first);
  found.count = builder.CreateUDiv(left, found.stride);
  return found;
}

}  // namespace

bool is_stride_test(const Value& condition, const Loop& loop, ScalarEvolution& evolution) {
  auto* test = dyn_cast<ICmpInst>(&condition);
  return test && stride_of(*test, loop, evolution);
}

round_stride solve_stride(ICmpInst& test, const Loop& loop, ScalarEvolution& evolution,
                          IRBuilder<>& builder, Value* rounds) {
  stride_test found = *stride_of(test, loop, evolution);
  SCEVExpander expander(evolution, loop.getHeader()->getDataLayout(), "stride");
  Value* start = defined(builder, expander.expandCodeFor(found.start, found.value->getType(),
                                                         builder.GetInsertPoint()));
  Value* divisor = defined(builder, found.divisor);
  Value* rest = defined(builder, test.getOperand(1));
  if (found.kind == division::by_mask) {
    return solve_mask(builder, start, divisor, rest, rounds);
  }
  return solve_remainder(builder, start, divisor, rest, found.kind == division::of_signed, rounds);
}

}  // namespace sb::pass
