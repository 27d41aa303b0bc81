// Gives counted functions (counted_version.hpp) their counters.
//
// A module pass between the simplification of functions and the optimisation of loops: there the
// code of a thread is what a compiler for a device would make of it, and nothing is vectorised yet.
#pragma once

#include <llvm/IR/PassManager.h>

namespace sb::pass {

class insert_counters : public llvm::PassInfoMixin<insert_counters> {
 public:
  llvm::PreservedAnalyses run(llvm::Module& module, llvm::ModuleAnalysisManager& analyses);
  static bool isRequired() { return true; }
};

}  // namespace sb::pass
