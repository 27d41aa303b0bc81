// Loops over the threads of a row of blocks that add what they read to what each thread keeps.
//
// A round of a loop over the grid reads straight on there, and yet a core does not see far enough
// ahead: loading and storing what the threads keep fills its window. Such loops go several vectors
// at a time, and ask for memory a few lines ahead.
#pragma once

#include <llvm/IR/PassManager.h>

namespace sb::pass {

// Before loops become vectors.
class mark_sum_loops : public llvm::PassInfoMixin<mark_sum_loops> {
 public:
  llvm::PreservedAnalyses run(llvm::Function& function, llvm::FunctionAnalysisManager& analyses);
};

// When they are vectors.
class read_sums_ahead : public llvm::PassInfoMixin<read_sums_ahead> {
 public:
  llvm::PreservedAnalyses run(llvm::Function& function, llvm::FunctionAnalysisManager& analyses);
};

}  // namespace sb::pass
