// The version of a kernel that counts what its threads do (abi::kernel_counts).
//
// It is the kernel for one thread, run by fibers, so that it serves every kernel and its code is
// small. The engine runs it for sampled blocks only; the others stay as fast as without it. The
// counters come late (count_insertion.hpp): the optimiser works on it first as on any function.
#pragma once

#include <llvm/ADT/DenseMap.h>
#include <llvm/IR/Function.h>

#include "compiler/pass/kernel_discovery.hpp"

namespace sb::pass {

class counted_versions {
 public:
  // The counted version of the kernel, which then names it.
  kernel make(kernel& kernel);

 private:
  llvm::Function* copy(llvm::Function& function);

  llvm::DenseMap<llvm::Function*, llvm::Function*> copies_;  // of functions that stay calls
};

// Functions that count_insertion shall treat.
bool is_counted(const llvm::Function& function);
// Atomics that NVIDIA's compiler makes one for each warp.
bool is_joined(const llvm::Instruction& atomic);

}  // namespace sb::pass
