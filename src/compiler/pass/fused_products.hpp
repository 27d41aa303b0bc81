// Which product of `a * b + c * d` is fused with the sum.
//
// LLVM decides that when it chooses instructions: the left one. Of vectors that it put together
// from neighbouring values it may have turned the sum round before, and a thread would get another
// last bit than elsewhere. So this is said before there are vectors.
#pragma once

#include <llvm/IR/PassManager.h>

namespace sb::pass {

class fuse_products : public llvm::PassInfoMixin<fuse_products> {
 public:
  llvm::PreservedAnalyses run(llvm::Function& function, llvm::FunctionAnalysisManager&);
};

}  // namespace sb::pass
