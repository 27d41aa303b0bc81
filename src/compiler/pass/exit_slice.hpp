// What decides in each turn of a loop whether there is another one: instructions of the loop.
#pragma once

#include <llvm/ADT/STLFunctionalExtras.h>
#include <llvm/ADT/SetVector.h>
#include <llvm/Analysis/LoopInfo.h>
#include <llvm/IR/Dominators.h>

namespace sb::pass {

using loop_slice = llvm::SmallSetVector<llvm::Instruction*, 32>;

loop_slice exit_slice(const llvm::Loop& loop, const llvm::DominatorTree& dominators);
// The same for some of the blocks that may leave it.
loop_slice exit_slice(const llvm::Loop& loop, const llvm::DominatorTree& dominators,
                      llvm::function_ref<bool(const llvm::BasicBlock&)> counts);

}  // namespace sb::pass
