// What loops over i += step look like (stride_loops.hpp).
#pragma once

#include <llvm/Analysis/LoopInfo.h>
#include <llvm/IR/Instructions.h>

#include <optional>

#include "compiler/pass/uniformity.hpp"

namespace sb::pass {

// A condition on an index, which is on its left: `i < n` or `i <= n`.
struct limit_test {
  llvm::CmpInst::Predicate predicate;
  llvm::Value* index;
  llvm::Value* limit;
};

// A loop that is entered by the same test as it goes on by.
struct stride_loop {
  llvm::Loop* loop;
  llvm::BasicBlock* guard;  // ends with the test; its other way is `after`
  llvm::BasicBlock* after;
  llvm::PHINode* index;
  llvm::Value* start;
  llvm::Value* step;
  limit_test condition;
};
std::optional<stride_loop> match_stride_loop(llvm::Loop& loop, const uniformity& uniform);

// What tells the threads apart in a loop that begins at a sum of it and of something that is the
// same for all: it grows by one from each to the next, from zero. Null for other loops.
llvm::Value* counting_thread(const stride_loop& found, const uniformity& uniform);

// A loop that writes nothing finds the limit as it was when it was entered.
//
//   for (int i = rows[r] + lane; i < rows[r + 1]; i += 32) sum += ...
void load_limit_once(llvm::Loop& loop);

}  // namespace sb::pass
