// Conditions that hold for every second, third ... round of a loop: `i % m == c`, `(i & m) == c`.
#pragma once

#include <llvm/Analysis/LoopInfo.h>
#include <llvm/Analysis/ScalarEvolution.h>
#include <llvm/IR/IRBuilder.h>

#include <optional>

namespace sb::pass {

// `count` rounds, from the round `first` on and `stride` apart, all in 64 bits.
struct round_stride {
  llvm::Value* first;
  llvm::Value* stride;
  llvm::Value* count;
  llvm::Value* valid;  // the rest means something only if true
};

// Whether these can be given for a comparison; emits nothing.
bool is_stride_test(const llvm::Value& condition, const llvm::Loop& loop,
                    llvm::ScalarEvolution& evolution);

// In which rounds what such a test compares is equal. `rounds` is how often the loop goes round, in
// 64 bits; the builder stands before the loop.
round_stride solve_stride(llvm::ICmpInst& test, const llvm::Loop& loop,
                          llvm::ScalarEvolution& evolution, llvm::IRBuilder<>& builder,
                          llvm::Value* rounds);

}  // namespace sb::pass
