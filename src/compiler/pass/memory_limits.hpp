// How much memory of a kind a program may ask for when it is compiled.
#pragma once

#include <llvm/ADT/ArrayRef.h>
#include <llvm/IR/Module.h>

#include "compiler/pass/kernel_discovery.hpp"

namespace sb::pass {

// Errors, as ptxas has them, for kernels with more __shared__ variables than a block may have
// without asking for more at the launch, and for more __constant__ variables than there is room.
void check_limits(llvm::Module& module, llvm::ArrayRef<kernel> kernels);

}  // namespace sb::pass
