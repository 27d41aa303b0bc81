#include "compiler/pass/aligned_warps.hpp"

#include <llvm/ADT/StringSet.h>
#include <llvm/IR/Module.h>
#include <llvm/IR/PatternMatch.h>

#include "compiler/pass/linear_warps.hpp"
#include "compiler/pass/runtime_abi.hpp"

namespace sb::pass {

using namespace llvm;
using namespace llvm::PatternMatch;

namespace {

constexpr StringLiteral aligned_mark = "sb-aligned-warps";
constexpr unsigned deepest = 6;
constexpr std::uint64_t most_threads = 1024;  // of a block
static_assert(abi::few_blocks * most_threads <= std::uint64_t{1} << 31);

StringRef builtin_name(const Value* value) {
  auto* call = dyn_cast<CallBase>(value);
  const Function* callee = call ? call->getCalledFunction() : nullptr;
  return callee ? callee->getName() : StringRef();
}

const Value* plain(const Value* value) {
  while (isa<ZExtInst, SExtInst>(value)) {
    value = cast<Instruction>(value)->getOperand(0);
  }
  return value;
}

// The numbers of which it is the product.
SmallVector<const Value*, 8> factors_of(const Value* value) {
  SmallVector<const Value*, 8> factors = {plain(value)};
  for (unsigned i = 0; i < factors.size() && factors.size() < 8;) {
    const Value* one = nullptr;
    const Value* other = nullptr;
    if (match(factors[i], m_Mul(m_Value(one), m_Value(other)))) {
      factors[i] = plain(one);
      factors.push_back(plain(other));
    } else {
      ++i;
    }
  }
  return factors;
}

// The block's width, or all of its threads, times something.
bool counts_threads(const Value* value, warp_shape warps) {
  const SmallVector<const Value*, 8> factors = factors_of(value);
  auto has = [&](StringRef name) {
    return any_of(factors, [&](const Value* factor) { return builtin_name(factor) == name; });
  };
  return has("__sb_ntid_x") && (!warps.is_linear || (has("__sb_ntid_y") && (warps.is_of_one_layer ||
                                                                            has("__sb_ntid_z"))));
}

bool is_multiple(const Value* value, warp_shape warps, unsigned depth = 0) {
  const Value* one = nullptr;
  const Value* other = nullptr;
  const APInt* number = nullptr;
  if (match(value, m_APInt(number))) {
    return number->countr_zero() >= 5;
  }
  if (warps.is_aligned && counts_threads(value, warps)) {
    return true;
  }
  if (depth == deepest) {
    return false;
  }
  ++depth;
  if (match(value, m_ZExtOrSExt(m_Value(one)))) {
    return is_multiple(one, warps, depth);
  }
  if (match(value, m_Add(m_Value(one), m_Value(other)))) {
    return is_multiple(one, warps, depth) && is_multiple(other, warps, depth);
  }
  if (match(value, m_Mul(m_Value(one), m_Value(other)))) {
    return is_multiple(one, warps, depth) || is_multiple(other, warps, depth);
  }
  return match(value, m_Shl(m_Value(one), m_APInt(number))) &&
         (number->uge(5) || is_multiple(one, warps, depth));
}

bool is_of_block(const Value* value, bool or_row, unsigned depth) {
  StringRef name = builtin_name(value);
  const Value* one = nullptr;
  const Value* other = nullptr;
  if (isa<ConstantInt>(value) || name.starts_with("__sb_ctaid_") ||
      name.starts_with("__sb_nctaid_") || name.starts_with("__sb_ntid_") ||
      (or_row && (name == "__sb_tid_y" || name == "__sb_tid_z"))) {
    return true;
  }
  if (depth == deepest) {
    return false;
  }
  ++depth;
  if (match(value, m_ZExtOrSExt(m_Value(one)))) {
    return is_of_block(one, or_row, depth);
  }
  return (match(value, m_Add(m_Value(one), m_Value(other))) ||
          match(value, m_Mul(m_Value(one), m_Value(other))) ||
          match(value, m_Shl(m_Value(one), m_Value(other)))) &&
         is_of_block(one, or_row, depth) && is_of_block(other, or_row, depth);
}

}  // namespace

warp_shape warp_shape_of(const Function& function) {
  return {has_linear_warps(function), has_aligned_warps(function), is_for_one_layer(function)};
}

bool is_of_row(const Value* value, unsigned depth) { return is_of_block(value, true, depth); }

void mark_aligned_warps(Function& function) { function.addFnAttr(aligned_mark); }

bool has_aligned_warps(const Function& function) { return function.hasFnAttribute(aligned_mark); }

bool counts_whole_warps(const Value* value, warp_shape warps) {
  return is_multiple(value, warps) && is_of_block(value, !warps.is_linear, 0);
}

bool counts_threads_before(const Value* value) {
  const Value* one = nullptr;
  const APInt* number = nullptr;
  value = plain(value);
  if (match(value, m_Shl(m_Value(one), m_APInt(number)))) {
    return builtin_name(plain(one)) == "__sb_ctaid_x" && number->ule(Log2_64(most_threads));
  }
  // The block's number, and what comes to 1024 at most.
  StringSet<> seen;
  bool constant = false;
  for (const Value* factor : factors_of(value)) {
    StringRef name = builtin_name(factor);
    if (match(factor, m_APInt(number)) && number->ule(most_threads) && !constant) {
      constant = true;
    } else if ((name != "__sb_ctaid_x" && !name.starts_with("__sb_ntid_")) ||
               !seen.insert(name).second) {
      return false;
    }
  }
  return seen.contains("__sb_ctaid_x") && !(constant && seen.size() > 1);
}

Value* is_aligned(IRBuilder<>& builder) {
  Module& module = *builder.GetInsertBlock()->getModule();
  auto size = [&](StringRef name) {
    return builder.CreateCall(builtin_function(module, name, builder.getInt32Ty()));
  };
  Value* whole = builder.CreateIsNull(builder.CreateAnd(size("__sb_ntid_x"), 31));
  // No thread has a number beyond those of an int, whatever the blocks' width is.
  Value* few = builder.CreateICmpULE(size("__sb_nctaid_x"), builder.getInt32(abi::few_blocks));
  return builder.CreateAnd(whole, few, "aligned");
}

}  // namespace sb::pass
