// Threads that come to barriers by ways of their own, as far as the next barrier in turn:
//
//   if (t < 32) { ...; __syncthreads(); ... } else { ...; __syncthreads(); ... }
//
// A barrier opens when every thread that has not returned is at one, whichever. So each thread goes
// on from where it was until it comes to a barrier or returns, and when all have, all go on again.
// Where it was is a number in its private memory, and so is what it needs to know there.
#pragma once

#include <llvm/IR/Function.h>

#include <vector>

#include "compiler/pass/meetings.hpp"

namespace sb::pass {

// One meeting in place of all barriers; none if the body has something else that threads do
// together or wait for.
std::vector<meeting> resume_threads(llvm::Function& body);

}  // namespace sb::pass
