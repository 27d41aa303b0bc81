// Loops that all threads of a block go round equally often, and that are faster round by round than
// thread by thread:
//
//   for (int j = 0; j < n; ++j) sum += a[j] * b[j * width + column];
//
// Thread by thread, each sum waits for itself. Round by round, the threads' sums are vectors. The
// same goes for threads that walk down the columns of an array: thread by thread each jumps from
// row to row, round by round a row is read and written as it lies.
#pragma once

#include <llvm/IR/Function.h>

#include <vector>

namespace sb::pass {

// The first blocks of such loops, where the threads should meet.
std::vector<llvm::BasicBlock*> find_even_loops(llvm::Function& body);
// Whether there are sums in loops that all threads go round equally often, each at places of its
// own (row_groups.hpp).
bool has_sums_of_neighbours(llvm::Function& body);

}  // namespace sb::pass
