// Blocks all of whose threads pass a guard, in the version for usual blocks (usual_blocks.hpp).
//
//   s[t] = i < n ? x[i] : 0;
//
// Where the guard ends is not known before the kernel runs, so it would be a branch, and what
// stands in shared memory behind it could not be kept as values. So each block of a row is asked
// first whether all of its threads pass, and one that has others runs by itself in the version for
// any blocks.
#pragma once

#include <llvm/IR/Instructions.h>

namespace sb::pass {

// Every block of the row is asked; nobody knows yet what. False: the function has no row of blocks.
bool ask_each_block(llvm::Function& usual, llvm::Function& any);

// The question, null if there is none (any more).
llvm::CallInst* question_of(llvm::Function& usual);

// Asks for a condition, too, that is computed later in the block. False, and nothing is changed, if
// it takes more than arithmetic to know it before.
bool ask_for(llvm::CallInst& question, llvm::Value* condition);

// What was asked for until now is all.
void end_question(llvm::CallInst& question);

}  // namespace sb::pass
