// Code for warps whose lanes go from one instruction to the next together.
//
//   if (t < 32) {
//     volatile float* part = shared;
//     part[t] += part[t + 16];
//     part[t] += part[t + 8];
//
// It names no meeting, but a warp that comes here as a whole stays together on a device: all of its
// lanes have read before any of them writes, and all have written before the next line reads.
#pragma once

#include <llvm/IR/Function.h>

namespace sb::pass {

// Before and behind volatile stores to shared memory that all lanes of a warp come to together, in
// a kernel that also reads it so, they meet. Not where threads wait for each other in loops: what
// one of these stores may be what another waits for.
void meet_at_volatile_stores(llvm::Function& body);

}  // namespace sb::pass
