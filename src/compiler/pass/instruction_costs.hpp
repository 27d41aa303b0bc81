// What an instruction becomes on a device: how many it is there, in which pipes, and how long the
// next one waits for it.
#pragma once

#include <llvm/IR/Instruction.h>

namespace sb::pass {

struct instruction_cost {
  unsigned issued = 0;  // instructions
  unsigned fp32 = 0;    // of these, by pipe; what is in none of them has one to itself
  unsigned fp64 = 0;
  unsigned logic = 0;
  unsigned special = 0;
  unsigned steps = 0;     // until its result is there, in those of an addition
  bool loads = false;     // the result comes from global memory
  bool branches = false;  // has a second way for rare values: the next of these comes after it
};

instruction_cost cost_of(const llvm::Instruction& inst);

// One that the next instruction does as well: two operations on bits, a shift or a product before a
// sum.
bool joins_its_user(const llvm::Instruction& inst);

}  // namespace sb::pass
