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

// The comparison with the value that counts up by one on its left; nothing for others.
struct counting_test {
  const SCEVAddRecExpr* counts;
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
  SCEVExpander expander(evolution, loop.getHeader()->getDataLayout(), "guard");
  if (!counts || counts->getLoop() != &loop || !counts->isAffine() ||
      !counts->getStepRecurrence(evolution)->isOne() || !evolution.isLoopInvariant(right, &loop) ||
      !expander.isSafeToExpand(right) || !expander.isSafeToExpand(counts->getStart())) {
    return std::nullopt;
  }
  return counting_test{counts, right, predicate, value};
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
