#include "compiler/pass/thread_extent.hpp"

#include <llvm/IR/Instructions.h>
#include <llvm/IR/Module.h>
#include <llvm/IR/PatternMatch.h>

#include <optional>

#include "compiler/pass/joined_blocks.hpp"
#include "compiler/pass/region_function.hpp"
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

bool is_thread_index(const Value* value, const uniformity& uniform) {
  StringRef name = builtin_name(value);
  if (uniform.of() == team::warp) {
    return name == "__sb_laneid" || name == "__sb_linear_tid" ||
           (name == "__sb_tid_x" && !uniform.warps().is_linear);
  }
  return name == "__sb_tid_x" || name == "__sb_tid_y" || name == "__sb_tid_z" ||
         name == "__sb_linear_tid";
}

// How many lanes come behind the first.
Value* later_lanes(IRBuilder<>& builder) {
  Module& module = *builder.GetInsertBlock()->getModule();
  auto lanes = builtin_function(module, warp_lanes_name, builder.getInt32Ty());
  return builder.CreateSub(builder.CreateCall(lanes), builder.getInt32(1));
}

Value* index_in_warp(IRBuilder<>& builder, Value* index, extreme which) {
  Type* type = index->getType();
  StringRef name = builtin_name(index);
  Value* first = ConstantInt::get(type, 0);
  if (name != "__sb_laneid") {
    first = builder.CreateCall(
        builtin_function(*builder.GetInsertBlock()->getModule(),
                         name == "__sb_tid_x" ? first_tid_name : first_linear_tid_name, type));
  }
  return which == extreme::first
             ? first
             : builder.CreateAdd(first, builder.CreateZExtOrTrunc(later_lanes(builder), type));
}

constexpr unsigned most_bits = 40;
constexpr unsigned block_bits = 11;  // of a size of the block
constexpr unsigned row_bits = 17;    // of joined blocks
static_assert(std::max(longest_row, longest_row_of_rows) < 1u << row_bits);

// Bits of a factor that is small and not negative: sizes of the block, constants, products of them.
std::optional<unsigned> factor_bits(const Value* value) {
  const APInt* number = nullptr;
  if (match(value, m_APInt(number))) {
    return number->isNonNegative() ? std::optional(number->getActiveBits()) : std::nullopt;
  }
  const Value* one = nullptr;
  const Value* other = nullptr;
  if (match(value, m_ZExtOrSExt(m_Value(one)))) {
    return factor_bits(one);
  }
  if (match(value, m_Mul(m_Value(one), m_Value(other)))) {
    auto first = factor_bits(one);
    auto second = first ? factor_bits(other) : std::nullopt;
    return second ? std::optional(*first + *second) : std::nullopt;
  }
  return builtin_name(value).starts_with("__sb_ntid_") ? std::optional(block_bits) : std::nullopt;
}

// The operands of a sum.
bool is_sum(const Value* value, const Value*& one, const Value*& other) {
  return match(value, m_Add(m_Value(one), m_Value(other))) ||
         match(value, m_DisjointOr(m_Value(one), m_Value(other)));
}

// Bits of the difference between two threads; nothing if it may be anything.
std::optional<unsigned> extent_bits(const Value* value, const uniformity& uniform) {
  if (uniform.is_uniform(value)) {
    return 0;
  }
  if (is_thread_index(value, uniform)) {
    return is_joined(*cast<Instruction>(value)->getFunction()) ? row_bits : block_bits;
  }
  const Value* one = nullptr;
  const Value* other = nullptr;
  if (is_sum(value, one, other)) {
    auto first = extent_bits(one, uniform);
    auto second = first ? extent_bits(other, uniform) : std::nullopt;
    return second ? std::optional(std::max(*first, *second) + 1) : std::nullopt;
  }
  if (match(value, m_Mul(m_Value(one), m_Value(other)))) {
    if (!factor_bits(one)) {
      std::swap(one, other);
    }
    auto factor = factor_bits(one);
    auto rest = factor ? extent_bits(other, uniform) : std::nullopt;
    return rest ? std::optional(*factor + *rest) : std::nullopt;
  }
  const APInt* distance = nullptr;
  if (match(value, m_Shl(m_Value(one), m_APInt(distance))) && distance->ult(most_bits)) {
    auto rest = extent_bits(one, uniform);
    return rest ? std::optional<unsigned>(*rest + distance->getZExtValue()) : std::nullopt;
  }
  return match(value, m_ZExtOrSExt(m_Value(one))) ? extent_bits(one, uniform) : std::nullopt;
}

// A factor in 64 bits, in which none wraps.
Value* wide_factor(IRBuilder<>& builder, Value* value) {
  Value* one = nullptr;
  Value* other = nullptr;
  const APInt* number = nullptr;
  if (match(value, m_APInt(number))) {
    return builder.getInt64(number->getZExtValue());
  }
  if (match(value, m_ZExtOrSExt(m_Value(one)))) {
    return wide_factor(builder, one);
  }
  if (match(value, m_Mul(m_Value(one), m_Value(other)))) {
    return builder.CreateMul(wide_factor(builder, one), wide_factor(builder, other));
  }
  return builder.CreateZExt(value, builder.getInt64Ty());
}

}  // namespace

bool grows_with_thread(const Value* value, const uniformity& uniform) {
  auto bits = extent_bits(value, uniform);
  return bits && *bits <= most_bits;
}

Value* value_in(IRBuilder<>& builder, Value* value, const uniformity& uniform, extreme which) {
  if (uniform.is_uniform(value)) {
    return value;
  }
  if (is_thread_index(value, uniform)) {
    if (uniform.of() == team::warp) {
      return index_in_warp(builder, value, which);
    }
    if (which == extreme::first) {
      return ConstantInt::get(value->getType(), 0);
    }
    Module& module = *builder.GetInsertBlock()->getModule();
    StringRef axis = builtin_name(value);
    auto size = [&](StringRef name) -> Value* {
      return builder.CreateCall(builtin_function(module, name, builder.getInt32Ty()));
    };
    Value* count =
        axis == "__sb_tid_x"   ? team_width(builder)
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

Value* extent(IRBuilder<>& builder, Value* value, const uniformity& uniform) {
  if (uniform.is_uniform(value)) {
    return builder.getInt64(0);
  }
  if (is_thread_index(value, uniform) && uniform.of() == team::warp) {
    return builder.CreateZExt(later_lanes(builder), builder.getInt64Ty());
  }
  if (is_thread_index(value, uniform)) {
    return builder.CreateZExt(value_in(builder, value, uniform, extreme::last),
                              builder.getInt64Ty());
  }
  auto* inst = cast<Instruction>(value);
  Value* one = inst->getOperand(0);
  switch (inst->getOpcode()) {
    case Instruction::Add:
    case Instruction::Or:
      return builder.CreateAdd(extent(builder, one, uniform),
                               extent(builder, inst->getOperand(1), uniform));
    case Instruction::Mul: {
      Value* other = inst->getOperand(1);
      if (!factor_bits(one)) {
        std::swap(one, other);
      }
      return builder.CreateMul(wide_factor(builder, one), extent(builder, other, uniform));
    }
    case Instruction::Shl:
      return builder.CreateShl(
          extent(builder, one, uniform),
          builder.getInt64(cast<ConstantInt>(inst->getOperand(1))->getZExtValue()));
    default:
      return extent(builder, one, uniform);
  }
}

}  // namespace sb::pass
