// Loops over the threads of a block.
#pragma once

#include <llvm/IR/IRBuilder.h>

#include "compiler/pass/kernel_discovery.hpp"

namespace sb::pass {

// The function's arguments 2, 3 and 4 become the thread's index: the builtins that ask for it, for
// its lane, its warp or its place in the block's arrays are computed from them.
void bind_thread(llvm::Function& function);

// Calls `function` for every thread of the block, in the order of their linear index. The arguments
// are those of the call but for 2, 3 and 4. The builder goes on behind the loops.
llvm::CallInst* call_for_threads(llvm::IRBuilder<>& builder, const kernel& kernel,
                                 llvm::Function& function, llvm::ArrayRef<llvm::Value*> args);

}  // namespace sb::pass
