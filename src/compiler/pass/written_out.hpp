// The version of a kernel for usual blocks (usual_blocks.hpp), with everything written out that
// happens between taking a block up and being through with it: no loop is left, and what threads
// leave for each other stays in registers as far as there are any (kept_memory.hpp).
#pragma once

#include <llvm/IR/PassManager.h>

namespace sb::pass {

// Rounds that all threads go through together, so that each knows which one it is. Before the
// vectoriser.
class write_out_rounds : public llvm::PassInfoMixin<write_out_rounds> {
 public:
  llvm::PreservedAnalyses run(llvm::Function& function, llvm::FunctionAnalysisManager& analyses);
};

// The loops over threads, which are vectors by now. Versions where that cannot be done are dropped,
// and all of them where nothing shall be optimised.
class write_out_blocks : public llvm::PassInfoMixin<write_out_blocks> {
 public:
  explicit write_out_blocks(bool optimizes) : optimizes_(optimizes) {}
  llvm::PreservedAnalyses run(llvm::Module& module, llvm::ModuleAnalysisManager& analyses);

 private:
  bool optimizes_;
};

}  // namespace sb::pass
