// Rows of threads that run side by side because what they store does:
//
//   if (x < width && y < height) out[x * height + y] = in[y * width + x];
//
// Threads of one row store far apart, and nothing becomes a vector. Those of one column store side
// by side: four rows together write four neighbours at a time.
#pragma once

#include <llvm/IR/Function.h>

namespace sb::pass {

inline constexpr unsigned turned_rows = 4;

// The code of a thread (its arguments 2 and 3 are x and y) for so many threads of a column: y is
// that of the first.
struct turned_group {
  llvm::Function* together = nullptr;  // null where it gains nothing, or the order could be seen
  llvm::Function* alone = nullptr;     // for those that their rows' guards do not all let through
};
turned_group for_turned_rows(llvm::Function& thread);

}  // namespace sb::pass
