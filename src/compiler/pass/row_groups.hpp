// Rows of threads that run side by side: where a loop in the code of a thread loads what does not
// depend on its row, as the product of two tiles does, several rows share what is loaded.
#pragma once

#include <llvm/IR/Function.h>

namespace sb::pass {

inline constexpr unsigned rows_in_group = 2;

// The code of a thread (its arguments 2 and 3 are x and y) for as many threads as a group has rows:
// y is that of the first. Null where it gains nothing, or where the order of threads could be seen.
llvm::Function* for_group_of_rows(llvm::Function& thread);
bool is_for_group_of_rows(const llvm::Function& function);

}  // namespace sb::pass
