// Places between what threads do one thing after the other: `if (i < n) y[i] = ...; i +=
// blockDim.x; if (i < n) y[i] = ...`, or the same in a loop that all go round equally often.
//
// Each such piece has a guard of its own. A loop over threads with several guards is no vector, and
// where it is one it goes to many places in turn. If the threads meet between the pieces each
// becomes a loop over threads with one guard, which is cut where that changes
// (guard_splitting.hpp). That is done where the threads have nothing to keep from one to the next.
#pragma once

#include <llvm/ADT/ArrayRef.h>
#include <llvm/IR/Function.h>

#include <vector>

namespace sb::pass {

// Blocks to begin a region with, besides those of `cuts`.
std::vector<llvm::BasicBlock*> find_seams(llvm::Function& body,
                                          llvm::ArrayRef<llvm::BasicBlock*> cuts);

}  // namespace sb::pass
