// Threads that come to barriers by ways of their own, as far as the next barrier in turn:
//
//   if (t < 32) { ...; __syncthreads(); ... } else { ...; __syncthreads(); ... }
//
// A barrier opens when every thread that has not returned is at one, whichever. So each thread goes
// on from where it was until it comes to a barrier or returns, and when all have, all go on again.
// Where it was is a number in its private memory, and so is what it needs to know there.
//
// Where lanes shuffle or vote, too, whole warps go on so: if all lanes of a warp that have not
// returned can be shown to come to the same barriers, by what is the same for all of them.
#pragma once

#include <llvm/IR/Function.h>

#include <vector>

#include "compiler/pass/meetings.hpp"

namespace sb::pass {

struct kernel;

struct resumed_body {
  std::vector<meeting> barriers;          // none: it could not be made
  std::vector<llvm::BasicBlock*> rounds;  // cuts that are there for speed
};

// From where on threads are resumed: not where there is nothing worth while before.
enum class resumed_from { common_start, beginning };

// One meeting in place of all barriers; not if the body has something that threads wait for, or
// warp operations while lanes of a warp may be at different barriers.
resumed_body resume_threads(const kernel& kernel, resumed_from begin);

// The same, each thread for itself, where lanes may be at different places when they shuffle or
// vote: they stop there, too, until all that the operation names have come (lane_calls.hpp).
resumed_body resume_lanes(const kernel& kernel, resumed_from begin);

// Whether the function is such a body, and its warps go on together, or was made of one.
bool has_resumed_warps(const llvm::Function& function);

}  // namespace sb::pass
