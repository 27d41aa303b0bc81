#include "compiler/pass/guard_range.hpp"

#include <llvm/Analysis/ScalarEvolutionExpressions.h>
#include <llvm/IR/PatternMatch.h>
#include <llvm/Transforms/Utils/ScalarEvolutionExpander.h>

namespace sb::pass {

using namespace llvm;
using namespace llvm::PatternMatch;

namespace {

// A block's threads, and those of a row of blocks, are counted in so many.
constexpr unsigned counter_bits = 32;
// With rounds and steps up to the one, starts and limits up to the other, 64 bits are enough.
constexpr std::int64_t most_of_a_factor = std::int64_t{1} << 31;
constexpr std::int64_t most_of_a_sum = std::int64_t{1} << 61;

// The comparison with the value that grows by the same in every round on its left; nothing for
// others.
struct counting_test {
  const SCEVAddRecExpr* counts;
  const SCEV* step;
  const SCEV* limit;
  CmpInst::Predicate predicate;
  Value* value;
};

std::optional<counting_test> counting_side(const ICmpInst& test, const Loop& loop,
                                           ScalarEvolution& evolution) {
  if (!test.getOperand(0)->getType()->isIntegerTy() ||
      test.getOperand(0)->getType()->getIntegerBitWidth() > 64) {
    return std::nullopt;
  }
  const SCEV* left = evolution.getSCEV(test.getOperand(0));
  const SCEV* right = evolution.getSCEV(test.getOperand(1));
  CmpInst::Predicate predicate = test.getPredicate();
  Value* value = test.getOperand(0);
  if (evolution.isLoopInvariant(left, &loop)) {
    std::swap(left, right);
    value = test.getOperand(1);
    predicate = CmpInst::getSwappedPredicate(predicate);
  }
  auto* counts = dyn_cast<SCEVAddRecExpr>(left);
  if (counts && !counts->getStepRecurrence(evolution)->isOne() && test.isEquality()) {
    return std::nullopt;
  }
  SCEVExpander expander(evolution, loop.getHeader()->getDataLayout(), "guard");
  if (!counts || counts->getLoop() != &loop || !counts->isAffine() ||
      !evolution.isLoopInvariant(right, &loop) || !expander.isSafeToExpand(right) ||
      !expander.isSafeToExpand(counts->getStart()) ||
      !expander.isSafeToExpand(counts->getStepRecurrence(evolution))) {
    return std::nullopt;
  }
  return counting_test{counts, counts->getStepRecurrence(evolution), right, predicate, value};
}

// Something less a number.
bool is_shifted_down(const SCEV* value) {
  auto* sum = dyn_cast<SCEVAddExpr>(value);
  auto* number = sum ? dyn_cast<SCEVConstant>(sum->getOperand(0)) : nullptr;
  return number && number->getAPInt().isNegative();
}

// `i < 1 || i >= 257` is `i - 257 < -256` to LLVM, unsigned: what is not in a stretch.
bool is_most_numbers(const SCEV* limit) {
  auto* number = dyn_cast<SCEVConstant>(limit);
  return number && number->getAPInt().isNegative();
}

}  // namespace

bool guard_ranges::can_solve(Value* condition) {
  if (loop_.isLoopInvariant(condition)) {
    return true;
  }
  Value* one = nullptr;
  Value* other = nullptr;
  if (match(condition, m_Not(m_Value(one)))) {
    return can_solve(one);
  }
  if (match(condition, m_LogicalAnd(m_Value(one), m_Value(other))) ||
      match(condition, m_LogicalOr(m_Value(one), m_Value(other)))) {
    return can_solve(one) && can_solve(other);
  }
  auto* test = dyn_cast<ICmpInst>(condition);
  return test && counting_side(*test, loop_, evolution_);
}

std::optional<round_range> guard_ranges::solve(Value* condition) {
  if (loop_.isLoopInvariant(condition)) {
    // All rounds or none.
    round_range range;
    range.end =
        builder_.CreateSelect(builder_.CreateFreeze(condition), rounds_, builder_.getInt64(0));
    return range;
  }
  Value* one = nullptr;
  Value* other = nullptr;
  if (match(condition, m_Not(m_Value(one)))) {
    return inverse(solve(one));
  }
  if (match(condition, m_LogicalAnd(m_Value(one), m_Value(other)))) {
    return both(one, other);
  }
  if (match(condition, m_LogicalOr(m_Value(one), m_Value(other)))) {
    return either(one, other);
  }
  auto* test = dyn_cast<ICmpInst>(condition);
  return test ? compare(*test) : std::nullopt;
}

Value* guard_ranges::clamp(Value* wide) {
  Type* type = wide->getType();
  Value* none = ConstantInt::get(type, 0);
  Value* all = builder_.CreateZExt(rounds_, type);
  wide = builder_.CreateBinaryIntrinsic(Intrinsic::smax, wide, none);
  wide = builder_.CreateBinaryIntrinsic(Intrinsic::smin, wide, all);
  return builder_.CreateTrunc(wide, builder_.getInt64Ty());
}

Value* guard_ranges::both_valid(Value* one, Value* other) {
  return !one ? other : !other ? one : builder_.CreateAnd(one, other);
}

std::optional<round_range> guard_ranges::compare(ICmpInst& test) {
  auto found = counting_side(test, loop_, evolution_);
  if (!found) {
    return std::nullopt;
  }
  if (!found->step->isOne()) {
    return compare_steps(test);
  }
  unsigned bits = test.getOperand(0)->getType()->getIntegerBitWidth();
  // Twice as wide, in which nothing overflows.
  Type* wide = builder_.getIntNTy(bits <= 32 ? 64 : 128);
  SCEVExpander expander(evolution_, loop_.getHeader()->getDataLayout(), "guard");
  Instruction* at = &*builder_.GetInsertPoint();
  Type* type = test.getOperand(0)->getType();
  Value* start = builder_.CreateFreeze(
      expander.expandCodeFor(found->counts->getStart(), type, at->getIterator()));
  Value* limit =
      builder_.CreateFreeze(expander.expandCodeFor(found->limit, type, at->getIterator()));
  bool is_signed = CmpInst::isSigned(found->predicate);
  auto widen = [&](Value* value) {
    return is_signed ? builder_.CreateSExt(value, wide) : builder_.CreateZExt(value, wide);
  };
  Value* from = widen(start);
  Value* distance = builder_.CreateSub(widen(limit), from);
  Value* one = ConstantInt::get(wide, 1);
  round_range range;
  if (CmpInst::isEquality(found->predicate) && bits >= counter_bits) {
    // No number comes twice, even if the numbers begin again in between.
    distance = builder_.CreateZExt(builder_.CreateSub(limit, start), wide);
    range.begin = clamp(distance);
    range.end = clamp(builder_.CreateAdd(distance, one));
    range.others = found->predicate == CmpInst::ICMP_NE;
    return range;
  }
  if (found->predicate == CmpInst::ICMP_ULT && is_shifted_down(found->counts->getStart())) {
    if (!is_most_numbers(found->limit)) {
      return around_zero(start, limit, wide);
    }
    return inverse(around_zero(builder_.CreateSub(start, limit), builder_.CreateNeg(limit), wide));
  }
  switch (found->predicate) {
    case CmpInst::ICMP_SLT:
    case CmpInst::ICMP_ULT:
      range.end = clamp(distance);
      break;
    case CmpInst::ICMP_SLE:
    case CmpInst::ICMP_ULE:
      range.end = clamp(builder_.CreateAdd(distance, one));
      break;
    case CmpInst::ICMP_SGT:
    case CmpInst::ICMP_UGT:
      range.begin = clamp(builder_.CreateAdd(distance, one));
      break;
    case CmpInst::ICMP_SGE:
    case CmpInst::ICMP_UGE:
      range.begin = clamp(distance);
      break;
    case CmpInst::ICMP_NE:
      range.others = true;
      [[fallthrough]];
    case CmpInst::ICMP_EQ:
      range.begin = clamp(distance);
      range.end = clamp(builder_.CreateAdd(distance, one));
      break;
    default:
      return std::nullopt;
  }
  if (auto* value = dyn_cast<Instruction>(found->value); value && !isa<PHINode>(value)) {
    counting_.push_back({value, start, is_signed});
  }
  auto flag = is_signed ? SCEV::FlagNSW : SCEV::FlagNUW;
  if (!found->counts->getNoWrapFlags(flag)) {
    Value* last = builder_.CreateAdd(
        from, builder_.CreateSub(builder_.CreateZExtOrTrunc(rounds_, wide), one));
    APInt most = is_signed ? APInt::getSignedMaxValue(bits) : APInt::getMaxValue(bits);
    range.valid =
        builder_.CreateICmpSLE(last, ConstantInt::get(wide, most.zext(wide->getIntegerBitWidth())));
  }
  return range;
}

// `c * i < n`: up to the quotient.
round_range guard_ranges::compare_steps(ICmpInst& test) {
  auto found = counting_side(test, loop_, evolution_);
  CmpInst::Predicate predicate = found->predicate;
  Type* type = test.getOperand(0)->getType();
  unsigned bits = type->getIntegerBitWidth();
  SCEVExpander expander(evolution_, loop_.getHeader()->getDataLayout(), "guard");
  auto before = [&](const SCEV* value) {
    return builder_.CreateFreeze(expander.expandCodeFor(value, type, builder_.GetInsertPoint()));
  };
  Type* wide = builder_.getInt64Ty();
  bool is_signed = CmpInst::isSigned(predicate);
  auto widen = [&](Value* value) {
    return is_signed ? builder_.CreateSExt(value, wide) : builder_.CreateZExt(value, wide);
  };
  auto number = [&](std::int64_t value) { return builder_.getInt64(static_cast<uint64_t>(value)); };
  Value* from = widen(before(found->counts->getStart()));
  Value* limit = widen(before(found->limit));
  Value* step = builder_.CreateSExt(before(found->step), wide);
  bool falls = evolution_.isKnownNegative(found->step);
  if (falls) {
    step = builder_.CreateNeg(step);
  }
  round_range range;
  range.valid =
      builder_.CreateAnd(builder_.CreateAnd(builder_.CreateICmpSGT(step, number(0)),
                                            builder_.CreateICmpSLE(step, number(most_of_a_factor))),
                         builder_.CreateICmpULE(rounds_, number(most_of_a_factor)));
  if (bits > counter_bits) {
    auto is_small = [&](Value* value) {
      return builder_.CreateAnd(builder_.CreateICmpSLE(value, number(most_of_a_sum)),
                                builder_.CreateICmpSGE(value, number(-most_of_a_sum)));
    };
    range.valid = builder_.CreateAnd(range.valid, is_small(from));
    range.valid = builder_.CreateAnd(range.valid, is_small(limit));
  }
  // Neither the last value nor one before it is another number than this says.
  Value* way = builder_.CreateMul(step, builder_.CreateSub(rounds_, number(1)));
  Value* last = falls ? builder_.CreateSub(from, way) : builder_.CreateAdd(from, way);
  APInt least = is_signed ? APInt::getSignedMinValue(bits) : APInt(bits, 0);
  APInt most = is_signed ? APInt::getSignedMaxValue(bits) : APInt::getMaxValue(bits);
  if (bits <= counter_bits) {
    auto extreme = [&](const APInt& value) {
      return number(is_signed ? value.getSExtValue() : static_cast<int64_t>(value.getZExtValue()));
    };
    Value* inside = falls ? builder_.CreateICmpSGE(last, extreme(least))
                          : builder_.CreateICmpSLE(last, extreme(most));
    range.valid = builder_.CreateAnd(range.valid, inside);
  } else if (!is_signed) {
    range.valid = builder_.CreateAnd(range.valid, builder_.CreateICmpSGE(from, number(0)));
    range.valid = builder_.CreateAnd(range.valid, builder_.CreateICmpSGE(limit, number(0)));
    range.valid = builder_.CreateAnd(range.valid, builder_.CreateICmpSGE(last, number(0)));
  }
  // How many values come before the first that is at the limit, or past it.
  Value* distance = falls ? builder_.CreateSub(from, limit) : builder_.CreateSub(limit, from);
  predicate = falls ? CmpInst::getSwappedPredicate(predicate) : predicate;
  bool past = predicate == CmpInst::ICMP_SLE || predicate == CmpInst::ICMP_ULE ||
              predicate == CmpInst::ICMP_SGT || predicate == CmpInst::ICMP_UGT;
  distance = past ? builder_.CreateAdd(distance, number(1)) : distance;
  distance = builder_.CreateBinaryIntrinsic(Intrinsic::smax, distance, number(0));
  step = builder_.CreateBinaryIntrinsic(Intrinsic::smax, step, number(1));
  Value* before_limit =
      builder_.CreateUDiv(builder_.CreateAdd(distance, builder_.CreateSub(step, number(1))), step);
  bool below = predicate == CmpInst::ICMP_SLT || predicate == CmpInst::ICMP_ULT ||
               predicate == CmpInst::ICMP_SLE || predicate == CmpInst::ICMP_ULE;
  (below ? range.end : range.begin) = clamp(before_limit);
  return range;
}

// `i - 1 < n`, unsigned: the value may begin below zero, and then holds from zero on. The range
// comes again only after all other numbers.
round_range guard_ranges::around_zero(Value* start, Value* limit, Type* wide) {
  unsigned bits = start->getType()->getIntegerBitWidth();
  auto widen = [&](Value* value) { return builder_.CreateZExt(value, wide); };
  Value* numbers = ConstantInt::get(wide, APInt::getOneBitSet(wide->getIntegerBitWidth(), bits));
  Value* none = ConstantInt::get(wide, 0);
  round_range range;
  Value* inside = builder_.CreateICmpULT(start, limit);
  range.begin =
      clamp(builder_.CreateSelect(inside, none, builder_.CreateSub(numbers, widen(start))));
  range.end = clamp(widen(builder_.CreateSub(limit, start)));
  // An empty range has its end where it begins.
  range.end = builder_.CreateBinaryIntrinsic(Intrinsic::umax, range.begin, range.end);
  range.valid = builder_.CreateICmpULE(
      builder_.CreateAdd(builder_.CreateZExtOrTrunc(rounds_, wide), widen(limit)), numbers);
  return range;
}

std::optional<round_range> guard_ranges::inverse(std::optional<round_range> range) {
  if (!range) {
    return range;
  }
  if (!range->others && !range->begin && range->end) {
    std::swap(range->begin, range->end);
  } else if (!range->others && range->begin && !range->end) {
    std::swap(range->begin, range->end);
  } else {
    range->others = !range->others;
  }
  return range;
}

std::optional<round_range> guard_ranges::both(Value* one, Value* other) {
  auto a = solve(one);
  auto b = solve(other);
  if (!a || !b || a->others || b->others) {
    return std::nullopt;
  }
  round_range range;
  range.begin = !a->begin   ? b->begin
                : !b->begin ? a->begin
                            : builder_.CreateBinaryIntrinsic(Intrinsic::umax, a->begin, b->begin);
  range.end = !a->end   ? b->end
              : !b->end ? a->end
                        : builder_.CreateBinaryIntrinsic(Intrinsic::umin, a->end, b->end);
  range.valid = both_valid(a->valid, b->valid);
  return range;
}

// Not (neither).
std::optional<round_range> guard_ranges::either(Value* one, Value* other) {
  auto a = inverse(solve(one));
  auto b = inverse(solve(other));
  if (!a || !b || a->others || b->others) {
    return std::nullopt;
  }
  round_range range;
  range.begin = !a->begin   ? b->begin
                : !b->begin ? a->begin
                            : builder_.CreateBinaryIntrinsic(Intrinsic::umax, a->begin, b->begin);
  range.end = !a->end   ? b->end
              : !b->end ? a->end
                        : builder_.CreateBinaryIntrinsic(Intrinsic::umin, a->end, b->end);
  range.valid = both_valid(a->valid, b->valid);
  return inverse(range);
}

}  // namespace sb::pass
