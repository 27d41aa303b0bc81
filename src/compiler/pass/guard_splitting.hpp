// `if (i < n)` in a loop over threads: the loop is cut where the condition changes.
//
// Processors without masked memory operations cannot run a loop with such a guard as vectors. Its
// condition is true for one stretch of the threads: what lies before, inside and behind becomes a
// loop each, in which it is known. Where the index might wrap the last of the three keeps the
// condition and takes all threads.
#pragma once

#include <llvm/IR/PassManager.h>

namespace sb::pass {

class split_guards : public llvm::PassInfoMixin<split_guards> {
 public:
  llvm::PreservedAnalyses run(llvm::Function& function, llvm::FunctionAnalysisManager& analyses);
};

}  // namespace sb::pass
