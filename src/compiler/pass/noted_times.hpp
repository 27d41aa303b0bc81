// Reads of a clock that nothing waits for, and waits that are over.
//
// To the engine, reads of the clock that follow each other closely are a loop on it, whose steps
// grow with the wait. A program that only writes down when something happened reads it as often,
// and so does one that waits for many things, one after the other, each for so long at most.
#pragma once

#include <llvm/IR/PassManager.h>

namespace sb::pass {

// Runs on canonical code, before spin loops are looked for. `body` is a whole kernel.
void note_times(llvm::Function& body, llvm::FunctionAnalysisManager& analyses);

}  // namespace sb::pass
