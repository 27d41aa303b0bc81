#include "compiler/pass/neighbours.hpp"

#include <llvm/IR/GetElementPtrTypeIterator.h>
#include <llvm/IR/InstrTypes.h>
#include <llvm/IR/Operator.h>
#include <llvm/IR/PatternMatch.h>

namespace sb::pass {

using namespace llvm;
using namespace llvm::PatternMatch;

namespace {

constexpr unsigned deepest_sum = 12;

// By how much a value grows from one thread to the next along x; nothing if that is not known.
std::optional<std::int64_t> growth(const Value* value, const uniformity& uniform,
                                   unsigned depth = 0) {
  // Variables of loops may come back to themselves on any way.
  if (depth == deepest_sum) {
    return std::nullopt;
  }
  ++depth;
  if (uniform.is_uniform(value)) {
    return 0;
  }
  auto* call = dyn_cast<CallBase>(value);
  if (call && call->getCalledFunction()) {
    StringRef name = call->getCalledFunction()->getName();
    return name == "__sb_tid_x"                           ? std::optional(1)
           : name == "__sb_tid_y" || name == "__sb_tid_z" ? std::optional(0)
                                                          : std::nullopt;
  }
  const Value* one = nullptr;
  const Value* other = nullptr;
  const APInt* number = nullptr;
  if (match(value, m_Add(m_Value(one), m_Value(other))) ||
      match(value, m_DisjointOr(m_Value(one), m_Value(other)))) {
    auto first = growth(one, uniform, depth);
    auto second = growth(other, uniform, depth);
    return first && second ? std::optional(*first + *second) : std::nullopt;
  }
  if (match(value, m_Mul(m_Value(one), m_APInt(number))) && number->isSignedIntN(16)) {
    auto first = growth(one, uniform, depth);
    return first ? std::optional(*first * number->getSExtValue()) : std::nullopt;
  }
  if (match(value, m_Mul(m_Value(one), m_Value(other)))) {
    return growth(one, uniform, depth) == 0 && growth(other, uniform, depth) == 0 ? std::optional(0)
                                                                                  : std::nullopt;
  }
  if (match(value, m_Shl(m_Value(one), m_APInt(number))) && number->ult(16)) {
    auto first = growth(one, uniform, depth);
    return first ? std::optional(*first << number->getZExtValue()) : std::nullopt;
  }
  if (match(value, m_ZExtOrSExt(m_Value(one)))) {
    return growth(one, uniform, depth);
  }
  if (auto* phi = dyn_cast<PHINode>(value)) {
    // A variable of a loop that grows alike for all threads.
    std::optional<std::int64_t> result;
    for (const Value* incoming : phi->incoming_values()) {
      bool steps =
          match(incoming, m_c_Add(m_Specific(phi), m_Value(one))) && uniform.is_uniform(one);
      auto first = steps ? std::nullopt : growth(incoming, uniform, depth);
      if (!steps && (!first || (result && result != first))) {
        return std::nullopt;
      }
      result = steps ? result : first;
    }
    return result;
  }
  return std::nullopt;
}

}  // namespace

std::optional<std::int64_t> distance_of_neighbours(const Value* pointer, const uniformity& uniform,
                                                   const DataLayout& layout) {
  std::int64_t distance = 0;
  while (!uniform.is_uniform(pointer)) {
    auto* address = dyn_cast<GEPOperator>(pointer);
    if (!address) {
      return std::nullopt;
    }
    for (auto index = gep_type_begin(address); index != gep_type_end(address); ++index) {
      auto step = growth(index.getOperand(), uniform);
      if (!step) {
        return std::nullopt;
      }
      distance += *step == 0
                      ? 0
                      : *step * static_cast<std::int64_t>(
                                    index.getSequentialElementStride(layout).getFixedValue());
    }
    pointer = address->getPointerOperand();
  }
  return distance;
}

}  // namespace sb::pass
