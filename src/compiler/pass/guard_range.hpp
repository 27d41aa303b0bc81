// For which rounds of a loop a condition holds.
#pragma once

#include <llvm/Analysis/LoopInfo.h>
#include <llvm/Analysis/ScalarEvolution.h>
#include <llvm/IR/IRBuilder.h>

#include <optional>

namespace sb::pass {

// The rounds from `begin` to `end`, or all others. Null stands for the loop's first and last.
struct round_range {
  llvm::Value* begin = nullptr;
  llvm::Value* end = nullptr;
  bool others = false;
  llvm::Value* valid = nullptr;  // null: always. Otherwise the range means something only if true
};

// A value that counts up with the rounds and does not wrap as long as the range is valid.
struct counting_value {
  llvm::Instruction* value;
  llvm::Value* start;
  bool is_signed;
};

class guard_ranges {
 public:
  // `rounds` is how often the loop goes round, in 64 bits; the builder stands before the loop.
  guard_ranges(const llvm::Loop& loop, llvm::ScalarEvolution& evolution, llvm::IRBuilder<>& builder,
               llvm::Value* rounds)
      : loop_(loop), evolution_(evolution), builder_(builder), rounds_(rounds) {}

  // Whether a range can be given; emits nothing.
  bool can_solve(llvm::Value* condition);
  // Emits code before the loop.
  std::optional<round_range> solve(llvm::Value* condition);
  // Those that the solved conditions compare.
  llvm::ArrayRef<counting_value> counting() const { return counting_; }

 private:
  std::optional<round_range> compare(llvm::ICmpInst& test);
  round_range compare_steps(llvm::ICmpInst& test);
  round_range around_zero(llvm::Value* start, llvm::Value* limit, llvm::Type* wide);
  std::optional<round_range> both(llvm::Value* one, llvm::Value* other);
  std::optional<round_range> either(llvm::Value* one, llvm::Value* other);
  static std::optional<round_range> inverse(std::optional<round_range> range);
  llvm::Value* clamp(llvm::Value* wide);
  llvm::Value* both_valid(llvm::Value* one, llvm::Value* other);

  const llvm::Loop& loop_;
  llvm::ScalarEvolution& evolution_;
  llvm::IRBuilder<>& builder_;
  llvm::Value* rounds_;
  llvm::SmallVector<counting_value, 4> counting_;
};

}  // namespace sb::pass
