// A loop over threads whose variable grows by one on every way through the loop, in one place.
//
//   if (t % 2 == 0) s[t] += s[t + 1];
//
// LLVM takes t + 1 for the next thread's number where it is computed anyway, as `t | 1`, and the
// next number is then one of two values, of which it cannot tell any more that they are the same.
#pragma once

#include <llvm/Analysis/LoopInfo.h>
#include <llvm/Analysis/ScalarEvolution.h>

namespace sb::pass {

// Whether anything was changed.
bool make_steps_plain(llvm::Loop& loop);

// A loop of moderate size that counts its rounds and leaves at its end only.
bool counts_rounds(const llvm::Loop& loop, llvm::ScalarEvolution& evolution);

}  // namespace sb::pass
