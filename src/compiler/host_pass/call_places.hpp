// Tells the runtime, before each call of the CUDA API, where the call stands in the program.
#pragma once

#include <llvm/IR/PassManager.h>

namespace sb::host_pass {

// Wants line numbers in the module. Takes them out again when they are all of its debug
// information: then nobody asked for them but nvcc itself.
struct call_places : llvm::PassInfoMixin<call_places> {
  static bool isRequired() { return true; }
  llvm::PreservedAnalyses run(llvm::Module& module, llvm::ModuleAnalysisManager&);
};

}  // namespace sb::host_pass
