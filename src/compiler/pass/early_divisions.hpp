// Divisions of what no thread of a loop changes, in a part of the loop that only some come to:
//
//   if (mask[t]) out[t] = table[a % b];
//
// They are made once, before the loop. LLVM leaves them in it, as they might fault where no thread
// comes to them, and divides for every thread again. And LLVM 19 goes wrong by them where the loop
// becomes vectors that gather: it divides if the first thread of a vector comes there, for all.
#pragma once

#include <llvm/IR/PassManager.h>

namespace sb::pass {

class divide_early : public llvm::PassInfoMixin<divide_early> {
 public:
  llvm::PreservedAnalyses run(llvm::Function& function, llvm::FunctionAnalysisManager& analyses);
};

}  // namespace sb::pass
