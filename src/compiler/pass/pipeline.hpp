// The order of the steps from clang's device module to the image's.
#pragma once

#include <llvm/IR/PassManager.h>

namespace sb::pass {

class lower_kernels : public llvm::PassInfoMixin<lower_kernels> {
 public:
  llvm::PreservedAnalyses run(llvm::Module& module, llvm::ModuleAnalysisManager& analyses);
  static bool isRequired() { return true; }
};

// What the loops over threads need before they are vectorised.
void add_loop_passes(llvm::FunctionPassManager& passes);

}  // namespace sb::pass
