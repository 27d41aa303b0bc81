#include "compiler/pass/aligned_warps.hpp"

#include <llvm/IR/Module.h>
#include <llvm/IR/PatternMatch.h>

#include "compiler/pass/runtime_abi.hpp"

namespace sb::pass {

using namespace llvm;
using namespace llvm::PatternMatch;

namespace {

constexpr StringLiteral aligned_mark = "sb-aligned-warps";
constexpr unsigned deepest = 6;
constexpr std::uint64_t most_threads = 1024;  // of a block

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

bool is_multiple(const Value* value, bool aligned, unsigned depth = 0) {
  const Value* one = nullptr;
  const Value* other = nullptr;
  const APInt* number = nullptr;
  if (match(value, m_APInt(number))) {
    return number->countr_zero() >= 5;
  }
  if (builtin_name(value) == "__sb_ntid_x") {
    return aligned;
  }
  if (depth == deepest) {
    return false;
  }
  ++depth;
  if (match(value, m_ZExtOrSExt(m_Value(one)))) {
    return is_multiple(one, aligned, depth);
  }
  if (match(value, m_Add(m_Value(one), m_Value(other)))) {
    return is_multiple(one, aligned, depth) && is_multiple(other, aligned, depth);
  }
  if (match(value, m_Mul(m_Value(one), m_Value(other)))) {
    return is_multiple(one, aligned, depth) || is_multiple(other, aligned, depth);
  }
  return match(value, m_Shl(m_Value(one), m_APInt(number))) &&
         (number->uge(5) || is_multiple(one, aligned, depth));
}

}  // namespace

bool is_of_row(const Value* value, unsigned depth) {
  StringRef name = builtin_name(value);
  const Value* one = nullptr;
  const Value* other = nullptr;
  if (isa<ConstantInt>(value) || name.starts_with("__sb_ctaid_") ||
      name.starts_with("__sb_nctaid_") || name.starts_with("__sb_ntid_") || name == "__sb_tid_y" ||
      name == "__sb_tid_z") {
    return true;
  }
  if (depth == deepest) {
    return false;
  }
  if (match(value, m_ZExtOrSExt(m_Value(one)))) {
    return is_of_row(one, depth + 1);
  }
  return (match(value, m_Add(m_Value(one), m_Value(other))) ||
          match(value, m_Mul(m_Value(one), m_Value(other))) ||
          match(value, m_Shl(m_Value(one), m_Value(other)))) &&
         is_of_row(one, depth + 1) && is_of_row(other, depth + 1);
}

void mark_aligned_warps(Function& function) { function.addFnAttr(aligned_mark); }

bool has_aligned_warps(const Function& function) { return function.hasFnAttribute(aligned_mark); }

bool counts_whole_warps(const Value* value, bool aligned) {
  return is_multiple(value, aligned) && is_of_row(value);
}

bool counts_threads_before(const Value* value) {
  const Value* one = nullptr;
  const Value* other = nullptr;
  const APInt* number = nullptr;
  value = plain(value);
  if (match(value, m_Shl(m_Value(one), m_APInt(number)))) {
    return builtin_name(plain(one)) == "__sb_ctaid_x" && number->ule(Log2_64(most_threads));
  }
  if (!match(value, m_Mul(m_Value(one), m_Value(other)))) {
    return false;
  }
  one = plain(one);
  other = plain(other);
  if (builtin_name(one) != "__sb_ctaid_x") {
    std::swap(one, other);
  }
  return builtin_name(one) == "__sb_ctaid_x" &&
         (builtin_name(other) == "__sb_ntid_x" ||
          (match(other, m_APInt(number)) && number->ule(most_threads)));
}

Value* is_aligned(IRBuilder<>& builder) {
  Module& module = *builder.GetInsertBlock()->getModule();
  auto size = [&](StringRef name) {
    return builder.CreateCall(builtin_function(module, name, builder.getInt32Ty()));
  };
  Value* whole = builder.CreateIsNull(builder.CreateAnd(size("__sb_ntid_x"), 31));
  // No thread has a number beyond those of an int, whatever the blocks' width is.
  Value* few = builder.CreateICmpULE(size("__sb_nctaid_x"),
                                     builder.getInt32((std::uint64_t{1} << 31) / most_threads));
  return builder.CreateAnd(whole, few, "aligned");
}

}  // namespace sb::pass
