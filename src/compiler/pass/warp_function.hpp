// A region of a block as a function that runs a warp: 32 lanes, or fewer at the end of a row.
//
// Shuffles, votes and reductions that all lanes come to together become meetings: what a lane
// brings goes to memory or into a total of the warp before, and is taken from there afterwards.
#pragma once

#include "compiler/pass/kernel_discovery.hpp"
#include "compiler/pass/meetings.hpp"

namespace sb::pass {

bool has_warp_meetings(const llvm::Function& function);
bool has_warp_meetings(const llvm::BasicBlock& block);

// Turns the warp operations of one thread's code into meetings; nothing if one of them is of a kind
// that needs fibers.
std::optional<std::vector<meeting>> lower_warp_meetings(llvm::Function& function);

// A function of the same type as the region's, whose thread index is that of the warp's first lane
// and whose last argument is the number of lanes. Null if the lanes may part before they meet.
llvm::Function* build_warp_function(const kernel& kernel, llvm::Function& region);

}  // namespace sb::pass
