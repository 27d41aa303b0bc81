// What threads at an edge do besides:
//
//   tile[ty][tx] = in[y * width + x];
//   if (threadIdx.x == 0) tile[ty][tx - 1] = in[y * width + x - 1];
//
// In one loop over the threads neither becomes vectors: the places may be the same as far as LLVM
// knows. Met before and behind the condition, all threads do the first, then few the second.
#pragma once

#include <llvm/IR/Function.h>

#include <vector>

namespace sb::pass {

// Blocks before and behind such conditions, where the threads should meet.
std::vector<llvm::BasicBlock*> find_edge_threads(llvm::Function& body);

}  // namespace sb::pass
