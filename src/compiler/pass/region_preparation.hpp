// Changes to a body that make its regions simple. None of them changes what it does.
#pragma once

#include <llvm/IR/Instructions.h>

#include <vector>

#include "base/device_abi.hpp"

namespace sb::pass {

std::vector<llvm::Instruction*> find_barriers(llvm::Function& body);

// Makes every barrier the first instruction of its block, gives every trap its own way, and writes
// loop variables of the threads as their start plus a sum that is the same for all. Gives back the
// blocks of the barriers.
std::vector<llvm::BasicBlock*> prepare_regions(llvm::Function& body,
                                               llvm::ArrayRef<llvm::Instruction*> barriers);

// A barrier with a predicate, and the call before it that counts.
struct counted_barrier {
  llvm::CallInst* barrier;
  llvm::CallInst* tally;
  abi::barrier_kind kind;
};
std::vector<counted_barrier> count_at_barriers(llvm::ArrayRef<llvm::Instruction*> barriers);

}  // namespace sb::pass
