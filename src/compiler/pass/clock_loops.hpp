// Loops that wait for a clock: while (clock64() - start < n).
//
// On the device such a loop costs its duration; run thread by thread it would cost threads times
// that. Where the loop does nothing but wait, the pass tells the engine on the back edge until when
// it will go on, so that the next reading of the thread's logical clock ends it. The loop itself
// stays: if the estimate was short, it goes round again.
#pragma once

#include <llvm/IR/Instruction.h>
#include <llvm/IR/PassManager.h>

namespace sb::pass {

// Runs on canonical code, before spin loops are looked for.
void solve_clock_loops(llvm::Module& module, llvm::FunctionAnalysisManager& analyses);

// The call reads one of the clocks.
bool reads_clock(const llvm::Instruction& inst);

}  // namespace sb::pass
