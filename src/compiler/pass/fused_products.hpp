// Which products are fused with the sums that they go into, as on the device: `a * b + c` rounded
// once.
//
// Said before anything else is made of the kernel, so that every version of it rounds in the same
// way, whatever its loops, vectors and blocks are. LLVM would decide when it chooses instructions:
// within a block, sums of vectors that it turned round, and on some processors whatever the product
// says of itself.
#pragma once

#include <llvm/IR/PassManager.h>

namespace sb::pass {

// As recorded on an H200 (tests/conformance/fused.cu): products of which nothing but sums is made,
// wherever these are, but for those that a loop finds made; of two the left one. No other operation
// is fused behind this.
void fuse_products(llvm::Module& module, llvm::FunctionAnalysisManager& analyses);

}  // namespace sb::pass
