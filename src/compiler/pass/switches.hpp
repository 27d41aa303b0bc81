// Switches as branches: threads that part are led through one branch after the other.
#pragma once

#include <llvm/IR/Function.h>
#include <llvm/IR/Instructions.h>

namespace sb::pass {

// A branch for each place that a switch goes to. Cases with the same place share one, so that there
// is one way to it.
void lower_switches(llvm::Function& function);

// What the ways of a switch may have in common: nothing, or all but loops which they would enter at
// different places.
enum class in_common { nothing, plain_ways };

// Parts the ways of a switch to the block `end`: what several of them lead to and must not have in
// common is there once for each. They begin with blocks that are entered from the switch only.
void part_ways_of(llvm::SwitchInst& choice, llvm::BasicBlock& end, in_common allowed);

// A loop of it is entered at more than one place.
bool is_tangled(llvm::Function& function);

}  // namespace sb::pass
