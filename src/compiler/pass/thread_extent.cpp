#include "compiler/pass/thread_extent.hpp"

#include <llvm/IR/Instructions.h>
#include <llvm/IR/Module.h>
#include <llvm/IR/PatternMatch.h>

#include "compiler/pass/runtime_abi.hpp"

namespace sb::pass {

using namespace llvm;
using namespace llvm::PatternMatch;

namespace {

StringRef builtin_name(const Value* value) {
  auto* call = dyn_cast<CallBase>(value);
  const Function* callee = call ? call->getCalledFunction() : nullptr;
  return callee ? callee->getName() : StringRef();
}

bool is_thread_index(const Value* value) {
  StringRef name = builtin_name(value);
  return name == "__sb_tid_x" || name == "__sb_tid_y" || name == "__sb_tid_z" ||
         name == "__sb_linear_tid";
}

// Small and not negative: sizes of the block, constants, and products of them.
bool is_small_factor(const Value* value, unsigned depth = 0) {
  const APInt* number = nullptr;
  if (match(value, m_APInt(number))) {
    return number->isNonNegative() && number->getActiveBits() <= 12;
  }
  const Value* one = nullptr;
  const Value* other = nullptr;
  if (match(value, m_ZExtOrSExt(m_Value(one)))) {
    return is_small_factor(one, depth);
  }
  if (depth < 2 && match(value, m_Mul(m_Value(one), m_Value(other)))) {
    return is_small_factor(one, depth + 1) && is_small_factor(other, depth + 1);
  }
  return builtin_name(value).starts_with("__sb_ntid_");
}

// The operands of a sum.
bool is_sum(const Value* value, const Value*& one, const Value*& other) {
  return match(value, m_Add(m_Value(one), m_Value(other))) ||
         match(value, m_DisjointOr(m_Value(one), m_Value(other)));
}

}  // namespace

bool grows_with_thread(const Value* value, const uniformity& uniform) {
  if (uniform.is_uniform(value) || is_thread_index(value)) {
    return true;
  }
  const Value* one = nullptr;
  const Value* other = nullptr;
  if (is_sum(value, one, other)) {
    return grows_with_thread(one, uniform) && grows_with_thread(other, uniform);
  }
  if (match(value, m_Mul(m_Value(one), m_Value(other)))) {
    return (is_small_factor(one) && grows_with_thread(other, uniform)) ||
           (is_small_factor(other) && grows_with_thread(one, uniform));
  }
  const APInt* distance = nullptr;
  if (match(value, m_Shl(m_Value(one), m_APInt(distance)))) {
    return distance->ult(12) && grows_with_thread(one, uniform);
  }
  return match(value, m_ZExtOrSExt(m_Value(one))) && grows_with_thread(one, uniform);
}

Value* value_in(IRBuilder<>& builder, Value* value, const uniformity& uniform, extreme which) {
  if (uniform.is_uniform(value)) {
    return value;
  }
  if (is_thread_index(value)) {
    if (which == extreme::first) {
      return ConstantInt::get(value->getType(), 0);
    }
    Module& module = *builder.GetInsertBlock()->getModule();
    StringRef axis = builtin_name(value);
    auto size = [&](StringRef name) -> Value* {
      return builder.CreateCall(builtin_function(module, name, builder.getInt32Ty()));
    };
    Value* count =
        axis == "__sb_tid_x"   ? size("__sb_ntid_x")
        : axis == "__sb_tid_y" ? size("__sb_ntid_y")
        : axis == "__sb_tid_z"
            ? size("__sb_ntid_z")
            : builder.CreateMul(builder.CreateMul(size("__sb_ntid_x"), size("__sb_ntid_y")),
                                size("__sb_ntid_z"));
    return builder.CreateZExtOrTrunc(builder.CreateSub(count, builder.getInt32(1)),
                                     value->getType());
  }
  // Without the flags, which speak of the operands that it had.
  auto* inst = cast<Instruction>(value);
  Value* first = value_in(builder, inst->getOperand(0), uniform, which);
  switch (inst->getOpcode()) {
    case Instruction::Add:
    case Instruction::Or:
      return builder.CreateAdd(first, value_in(builder, inst->getOperand(1), uniform, which));
    case Instruction::Mul:
      return builder.CreateMul(first, value_in(builder, inst->getOperand(1), uniform, which));
    case Instruction::Shl:
      return builder.CreateShl(first, inst->getOperand(1));
    case Instruction::ZExt:
      return builder.CreateZExt(first, inst->getType());
    default:
      return builder.CreateSExt(first, inst->getType());
  }
}

}  // namespace sb::pass
