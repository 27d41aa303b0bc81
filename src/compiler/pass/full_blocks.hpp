// Blocks all of whose threads pass a guard have a copy of the code behind it:
//
//   if (i < n) {
//     float v = a[i];
//     for (int j = 0; j < rounds; ++j) v = v * x + y;
//     b[i] = v;
//   }
//
// Where all threads go in, they go round together, and the loop can run round by round
// (even_loops.hpp). The threads meet before the guard to find out.
#pragma once

#include <llvm/IR/Function.h>

namespace sb::pass {

// True: the body has such a copy, and a meeting more for each guard. False: it is of no more use.
bool separate_full_blocks(llvm::Function& body);

// The same where a guard stands before barriers: the threads of full blocks all come to them.
void separate_full_before_barriers(llvm::Function& body);

}  // namespace sb::pass
