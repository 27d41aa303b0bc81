// Changes to a body that make its regions simple. None of them changes what it does.
#pragma once

#include <llvm/ADT/ArrayRef.h>
#include <llvm/IR/Instructions.h>

#include "compiler/pass/uniformity.hpp"

namespace sb::pass {

// Gives every trap its own way, and writes loop variables of the threads as their start plus a sum
// that is the same for all, in the loops where the team meets.
void prepare_regions(llvm::Function& body, team team, llvm::ArrayRef<llvm::BasicBlock*> cuts);

// Whether that makes the phi such a sum, if the team meets in its loop.
bool has_common_step(const llvm::PHINode& phi, const uniformity& uniform);

}  // namespace sb::pass
