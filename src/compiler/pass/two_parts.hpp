// A file with several kernels, optimised and made code of by two processes at the same time.
//
// The driver names a file by SB_SECOND_PART and has the object come out of standard output. Behind
// the pass, which is quick, the process divides: each of the two drops the other's kernels and goes
// on as clang does, the second with the named file as its standard output. What both reach is the
// first's: the second declares it. The driver links both objects into one image.
#pragma once

#include <llvm/IR/Module.h>
#include <llvm/IR/PassManager.h>

namespace sb::pass {

// Divides the process if there is enough to do, and nothing in the module is against it. Which part
// a kernel is in depends on the module alone, so that the same text gives the same image.
void divide_work(llvm::Module& module, llvm::FunctionAnalysisManager& analyses);

}  // namespace sb::pass
