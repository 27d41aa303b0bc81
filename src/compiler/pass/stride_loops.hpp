// Loops that all threads of a block go round together as long as all of them have to.
//
//   for (int i = blockIdx.x * blockDim.x + threadIdx.x; i < n; i += step) ...
//
// Thread by thread, such a loop jumps through memory. While the condition holds for the last thread
// of the block (and nothing wraps between the first and the last), it holds for all: that many
// rounds become a loop whose condition is the same for all threads, and which the block goes round
// together. Each thread finishes what is left by itself.
#pragma once

#include <llvm/Analysis/LoopInfo.h>
#include <llvm/IR/Function.h>

#include <vector>

#include "compiler/pass/uniformity.hpp"

namespace sb::pass {

// Changes the body of a thread; its meaning stays. Gives back the first blocks of the new loops'
// bodies, where the threads should meet.
std::vector<llvm::BasicBlock*> separate_common_rounds(llvm::Function& body, team team);
// The same, of such loops only.
std::vector<llvm::BasicBlock*> separate_common_rounds(
    llvm::Function& body, team team, llvm::function_ref<bool(const llvm::Loop&)> wanted);

}  // namespace sb::pass
