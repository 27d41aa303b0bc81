#include "compiler/pass/guard_condition.hpp"

#include <llvm/Analysis/ConstantFolding.h>
#include <llvm/IR/Instructions.h>
#include <llvm/IR/PatternMatch.h>

namespace sb::pass {

using namespace llvm;
using namespace llvm::PatternMatch;

namespace {

constexpr unsigned deepest_constant = 8;

}  // namespace

Constant* folded(Value* value, const DataLayout& layout, unsigned depth) {
  auto* inst = dyn_cast<Instruction>(value);
  if (!inst || isa<PHINode>(inst) || depth == deepest_constant) {
    return dyn_cast<Constant>(value);
  }
  SmallVector<Constant*, 4> operands;
  for (Value* operand : inst->operands()) {
    operands.push_back(folded(operand, layout, depth + 1));
    if (!operands.back()) {
      return nullptr;
    }
  }
  return ConstantFoldInstOperands(inst, operands, layout);
}

std::optional<bool> implied(Value* condition, const Value* part, bool value) {
  if (condition == part) {
    return value;
  }
  Value* one = nullptr;
  Value* other = nullptr;
  if (match(condition, m_Not(m_Value(one)))) {
    auto inside = implied(one, part, value);
    return inside ? std::optional(!*inside) : std::nullopt;
  }
  bool is_and = match(condition, m_LogicalAnd(m_Value(one), m_Value(other)));
  if (is_and || match(condition, m_LogicalOr(m_Value(one), m_Value(other)))) {
    for (Value* side : {one, other}) {
      if (auto known = implied(side, part, value); known && *known != is_and) {
        return known;
      }
    }
  }
  return std::nullopt;
}

}  // namespace sb::pass
