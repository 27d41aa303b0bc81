// Failed assertions of kernels that run as loops over the threads of a block.
#pragma once

#include <llvm/IR/IRBuilder.h>

namespace sb::pass {

// CUDA: every thread whose assertion fails says so. In a loop the thread must end without ending
// the others' turns: in `function`, which runs one turn, it returns behind the message. True if
// there is an assertion. Inside functions that stay calls nothing changes, the first failure there
// ends the block.
bool go_on_after_assertions(llvm::Function& function);

// Ends the block here, behind the loop, if an assertion failed in it.
void end_after_assertions(llvm::IRBuilder<>& builder);

}  // namespace sb::pass
