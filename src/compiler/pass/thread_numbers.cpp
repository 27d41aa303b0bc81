#include "compiler/pass/thread_numbers.hpp"

#include <llvm/ADT/StringSwitch.h>
#include <llvm/IR/Instructions.h>
#include <llvm/IR/PatternMatch.h>
#include <llvm/Support/MathExtras.h>

namespace sb::pass {

using namespace llvm;
using namespace llvm::PatternMatch;

namespace {

// What a number of the thread or its block is at most; none for other functions.
std::optional<std::uint64_t> most_of_builtin(const Value* value) {
  auto* call = dyn_cast<CallInst>(value);
  const Function* callee = call ? call->getCalledFunction() : nullptr;
  return StringSwitch<std::optional<std::uint64_t>>(callee ? callee->getName() : "")
      .Cases("__sb_tid_x", "__sb_tid_y", "__sb_linear_tid", 1023)
      .Cases("__sb_ntid_x", "__sb_ntid_y", 1024)
      .Case("__sb_tid_z", 63)
      .Case("__sb_ntid_z", 64)
      .Cases("__sb_laneid", "__sb_warpid", 31)
      .Default(std::nullopt);
}

}  // namespace

std::optional<std::uint64_t> most_of(const Value* value, unsigned depth) {
  constexpr unsigned deepest = 8;
  const Value* one = nullptr;
  const Value* other = nullptr;
  const APInt* number = nullptr;
  const unsigned bits =
      value->getType()->isIntegerTy() ? value->getType()->getIntegerBitWidth() : 0;
  if (depth == deepest || bits < 32 || bits > 64) {
    return std::nullopt;
  }
  if (match(value, m_APInt(number))) {
    return number->isNegative() ? std::nullopt : std::optional(number->getZExtValue());
  }
  if (auto most = most_of_builtin(value)) {
    return most;
  }
  auto if_it_fits = [&](std::optional<std::uint64_t> most) {
    return most && *most <= static_cast<std::uint64_t>(maxIntN(bits)) ? most : std::nullopt;
  };
  if (match(value, m_CombineOr(m_ZExtOrSExt(m_Value(one)), m_Trunc(m_Value(one))))) {
    return if_it_fits(most_of(one, depth + 1));
  }
  if (match(value, m_Shl(m_Value(one), m_APInt(number))) && number->ult(31)) {
    auto most = most_of(one, depth + 1);
    return most && *most <= 1u << 20 ? if_it_fits(*most << number->getZExtValue()) : std::nullopt;
  }
  const bool sum = match(value, m_CombineOr(m_Add(m_Value(one), m_Value(other)),
                                            m_DisjointOr(m_Value(one), m_Value(other))));
  const bool product = !sum && match(value, m_Mul(m_Value(one), m_Value(other)));
  auto first = sum || product ? most_of(one, depth + 1) : std::nullopt;
  auto second = first ? most_of(other, depth + 1) : std::nullopt;
  if (!second) {
    return std::nullopt;
  }
  bool over = false;
  const std::uint64_t most =
      sum ? SaturatingAdd(*first, *second, &over) : SaturatingMultiply(*first, *second, &over);
  return over ? std::nullopt : if_it_fits(most);
}

}  // namespace sb::pass
