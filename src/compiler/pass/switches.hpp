// Switches as branches: threads that part are led through one branch after the other.
#pragma once

#include <llvm/IR/Function.h>
#include <llvm/IR/Instructions.h>

namespace sb::pass {

// A branch for each place that a switch goes to. Cases with the same place share one, so that there
// is one way to it.
void lower_switches(llvm::Function& function);

// The ways of a switch to the block `end` without anything in common: what several of them lead to
// is there once for each. They begin with blocks that are entered from the switch only.
void part_ways_of(llvm::SwitchInst& choice, llvm::BasicBlock& end);

}  // namespace sb::pass
