// Forward progress as on Volta and later: every thread of a resident block makes progress.
//
// A loop that can only end when somebody else writes (its exit depends on a volatile load, an
// atomic, a clock, or memory behind a fence) yields on its back edge, so that other threads of the
// block and other resident blocks run. One that sleeps in between tells what it saw all the same.
// A loop that merely does atomics on its way (a histogram) does not depend on others, nor does a
// compare-and-swap that retries with the value it just saw, nor one that draws its work from a
// counter (drawn_work.hpp), nor one that looks at a new place in every turn. One that may come back
// to the same places (a probe of a hash table that begins again at its end) most often ends soon by
// itself, but may wait.
#pragma once

#include <llvm/IR/InstrTypes.h>
#include <llvm/IR/PassManager.h>

namespace sb::pass {

// Runs after solve_clock_loops.
void yield_in_spin_loops(llvm::Module& module, llvm::FunctionAnalysisManager& analyses);

// Of the calls that it inserts: the loop looks so many times at most.
bool gives_up(const llvm::CallBase& call);
// The loop looks at another place in each turn.
bool is_roaming(const llvm::CallBase& call);
void mark_roaming(llvm::CallBase& call);

}  // namespace sb::pass
