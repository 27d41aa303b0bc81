// Forward progress as on Volta and later: every thread of a resident block makes progress.
//
// A loop that can only end when somebody else writes (its exit depends on a volatile load, an
// atomic, a clock, or memory behind a fence) yields on its back edge, so that other threads of the
// block and other resident blocks run. One that sleeps in between tells what it saw all the same.
// A loop that merely does atomics on its way (a histogram) does not depend on others, nor does a
// compare-and-swap that retries with the value it just saw, nor one that draws its work from a
// counter (drawn_work.hpp).
#pragma once

#include <llvm/IR/PassManager.h>

namespace sb::pass {

// Runs after solve_clock_loops.
void yield_in_spin_loops(llvm::Module& module, llvm::FunctionAnalysisManager& analyses);

}  // namespace sb::pass
