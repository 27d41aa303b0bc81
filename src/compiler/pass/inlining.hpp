// Flattens device functions into kernels: the loops over a block's threads vectorise only without
// calls.
#pragma once

#include <llvm/IR/Module.h>

namespace sb::pass {

// Inlines direct calls bottom-up. What stays a call: recursion, __noinline__ where threads do not
// meet in it, function pointers and virtual functions, variadic functions, and what would make a
// function huge.
void inline_device_functions(llvm::Module& module);

}  // namespace sb::pass
