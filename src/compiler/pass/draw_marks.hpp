// Which atomics of a kernel draw work: what a loop gets from a counter says whether it goes on.
//
// On a device whoever is done draws the next item, so that work spreads evenly over all threads
// that are there. Here blocks run one after the other, and the first draws everything. The counted
// version tells of each draw, and of each round of the loop by all of its threads, so that the
// model can spread what was counted (engine/drawn_work.hpp).
#pragma once

#include <llvm/IR/Function.h>

namespace sb::pass {

// Marks them. Answers whether one of the counters may be another block's as well.
bool mark_draws(llvm::Function& body);
bool is_draw(const llvm::Instruction& inst);
// The call at the beginning of a round, which has still to tell what the thread has done so far.
bool is_round(const llvm::Instruction& inst);

}  // namespace sb::pass
