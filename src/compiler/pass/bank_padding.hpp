// Places in shared memory that leave one out every so often, against conflicts of banks.
//
//   #define PADDED(i) ((i) + ((i) >> 5))
//   t[PADDED(2 * i + 1)] += t[PADDED(2 * i)];
//
// A processor has no banks, and such places are not evenly apart, so that nothing becomes a vector.
// Where all that a kernel does with an array goes through the same padding, it is left out: two
// places are the same with it if they are without.
#pragma once

#include <llvm/IR/Function.h>

namespace sb::pass {

// Of a thread's body in which everything is inlined.
void drop_bank_padding(llvm::Function& body);

}  // namespace sb::pass
