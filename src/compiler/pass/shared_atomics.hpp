// Atomic operations on shared memory, where one worker runs the whole block.
#pragma once

#include <llvm/IR/Function.h>

namespace sb::pass {

// Nobody else sees the block's shared memory, and nothing interrupts a thread of a loop: plain
// loads and stores do. For functions that run in loop mode, before shared variables become
// addresses.
void relax_shared_atomics(llvm::Function& function);

}  // namespace sb::pass
