// Threads that run side by side.
//
// Rows: where a loop in the code of a thread loads what does not depend on its row, as the product
// of two tiles does, several rows share what is loaded.
//
// Neighbours: where each thread adds up what lies at a place of its own,
//
//   for (int x = 0; x < width; ++x) sum += in[row * width + x];
//
// its sum waits for itself in every round. Those of several threads do not wait for each other.
#pragma once

#include <llvm/ADT/SetVector.h>
#include <llvm/IR/Function.h>

namespace sb::pass {

inline constexpr unsigned rows_in_group = 2;
// As many streams as a set of a first-level cache holds lines: rows of a power of two lie in one.
inline constexpr unsigned neighbours_in_group = 4;

// The code of a thread (its arguments 2 and 3 are x and y) for as many threads as a group has rows:
// y is that of the first. Null where it gains nothing, or where the order of threads could be seen.
llvm::Function* for_group_of_rows(llvm::Function& thread);
// The same for as many neighbours along x.
llvm::Function* for_group_of_neighbours(llvm::Function& thread);
bool is_for_group(const llvm::Function& function);
void mark_as_group(llvm::Function& function);

// Nothing but loads, stores and arithmetic, of memory that is not the thread's own.
bool is_quiet(const llvm::Function& function);
// What is computed from the argument, with it.
using thread_values = llvm::SmallSetVector<llvm::Value*, 32>;
thread_values made_from(llvm::Argument& argument);

}  // namespace sb::pass
