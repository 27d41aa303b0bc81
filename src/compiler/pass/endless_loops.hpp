// Loops that never end and do nothing else.
#pragma once

#include <llvm/IR/PassManager.h>

namespace sb::pass {

// Behind the optimiser, to which such a loop is a place that nobody comes to: what is called there
// would go on in whatever function the linker put next. A device stays in the loop, and so do we.
class stay_in_endless_loops : public llvm::PassInfoMixin<stay_in_endless_loops> {
 public:
  static bool isRequired() { return true; }
  llvm::PreservedAnalyses run(llvm::Function& function, llvm::FunctionAnalysisManager&);
};

}  // namespace sb::pass
