// A short pipeline of LLVM's own passes that brings device code into the form that the analyses
// expect, at every optimisation level.
#pragma once

#include <llvm/IR/PassManager.h>

namespace sb::pass {

// Before anything else: -O0's "do not touch" marks go, convergence is left only where it matters.
void prepare_functions(llvm::Module& module);

// Values in registers, simple control flow, loops in simplified, rotated, closed form.
void canonicalize(llvm::Module& module, llvm::FunctionAnalysisManager& analyses);

}  // namespace sb::pass
