// What a kernel does, with everything it can reach, and how its blocks can therefore be run.
#pragma once

#include <llvm/ADT/SetVector.h>
#include <llvm/IR/InstrTypes.h>
#include <llvm/IR/Module.h>

#include <vector>

namespace sb::pass {

struct kernel;

// The functions that a function reaches, itself included. An indirect call may reach every function
// of that type whose address is taken.
class call_reach {
 public:
  explicit call_reach(llvm::Module& module);
  llvm::SetVector<llvm::Function*> from(llvm::Function& function) const;
  // Those that a call may enter.
  llvm::SmallVector<llvm::Function*, 4> callees(const llvm::CallBase& call) const;

 private:
  std::vector<llvm::Function*> address_taken_;
};

// Decides mode, threads_are_alike, stores_thread_index, syncs_grid, spins and times. Runs after
// waiting and spinning loops were treated. A kernel whose threads meet gets loop mode here; whether
// its regions can be built shows later. STREAMBED_KERNELS=fibers in the environment gives every
// kernel fibers, to compare with.
void decide_mode(kernel& kernel, const call_reach& reach);

}  // namespace sb::pass
