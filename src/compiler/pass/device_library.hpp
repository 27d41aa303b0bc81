// What device code calls by the names of the host's C library and must not get from there.
#pragma once

#include <llvm/IR/Module.h>

namespace sb::pass {

// printf, malloc, free, operator new/delete, assert, abort and traps become table calls; what a
// device cannot do (dynamic parallelism, vprintf) is reported at the caller's line.
void lower_device_library(llvm::Module& module);

// A __device__ function that is called and defined nowhere is an error, as it is for nvcc.
void report_undefined_functions(llvm::Module& module);

}  // namespace sb::pass
