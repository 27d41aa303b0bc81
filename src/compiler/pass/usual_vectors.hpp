// Loops over threads in the version for usual blocks (usual_blocks.hpp), as vectors wherever the
// threads' places in shared memory lie.
//
//   if (t % (2 * k) == 0) s[t] += s[t + k];
//
// To LLVM each element of a vector that lies apart from the others costs a load or a store of its
// own, and the loop is cheaper without vectors. But what the version keeps are values, and places
// that lie apart are lanes of other vectors.
#pragma once

#include <llvm/IR/PassManager.h>

namespace sb::pass {

class widen_usual_loops : public llvm::PassInfoMixin<widen_usual_loops> {
 public:
  llvm::PreservedAnalyses run(llvm::Function& function, llvm::FunctionAnalysisManager& analyses);
};

}  // namespace sb::pass
