// Which kernels on x86-64 are made for AVX-512, where the processor has it: those with maths
// functions. Their choices (what is quick, what is rare, which polynomial) are masks in registers
// of their own, with which Black-Scholes takes half of the time. Others gain nothing by it, and
// some lose: clang 19 then gathers what lies side by side in several rows, or leaves it without
// vectors (a transposition and sums of blocks took twice as long).
#pragma once

#include <llvm/ADT/ArrayRef.h>
#include <llvm/IR/Instructions.h>

namespace sb::pass {

// Gives the functions of the module the processor that is best for them. `maths`: the calls of
// maths functions.
void choose_registers(llvm::Module& module, llvm::ArrayRef<llvm::CallBase*> maths);

}  // namespace sb::pass
