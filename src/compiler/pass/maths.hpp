// The maths functions of src/compiler/device_maths in place of the C library's, so that loops over
// threads become vectors.
//
// Two module passes. The first is behind the simplification of functions, which knows the C
// library's functions by name (a square for pow(x, 2)), and before loops become vectors. What is
// counted keeps its calls: a sine is one operation of the device. What CUDA has beyond the C
// library is called by names of ours; where such calls stay, the functions come along. The second
// comes last.
#pragma once

#include <llvm/IR/PassManager.h>

namespace sb::pass {

// Calls become arithmetic, but for the calls that handle rare arguments: those get forms for
// vectors.
class expand_maths : public llvm::PassInfoMixin<expand_maths> {
 public:
  llvm::PreservedAnalyses run(llvm::Module& module, llvm::ModuleAnalysisManager& analyses);
  static bool isRequired() { return true; }
};

// The calls for rare arguments become a test and a branch.
class finish_maths : public llvm::PassInfoMixin<finish_maths> {
 public:
  llvm::PreservedAnalyses run(llvm::Module& module, llvm::ModuleAnalysisManager& analyses);
  static bool isRequired() { return true; }
};

// sincosf(x, &s, &c), frexpf(x, &e) and modff(x, &i) as two functions each, which have no effect.
void split_results(llvm::Module& module);

}  // namespace sb::pass
