// `if (x == 0) a; else if (x == 31) b;`, and the switch that LLVM makes of two ifs: the ways behind
// each other, as `if (x == 0) a; if (x == 31) b;`.
//
// A thread takes one of them in any case. Between them all threads can meet (seams.hpp).
#pragma once

#include <llvm/IR/Function.h>

namespace sb::pass {

// Where threads part at the value of a number, and do nothing but load and store until they come
// together again.
void put_ways_in_turn(llvm::Function& body);

}  // namespace sb::pass
