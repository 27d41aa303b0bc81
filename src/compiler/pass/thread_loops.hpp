// Loops over the threads of a block. A failed assertion ends a thread's turn, and the block behind
// the loop.
#pragma once

#include <llvm/IR/IRBuilder.h>

#include <vector>

#include "compiler/pass/kernel_discovery.hpp"

namespace sb::pass {

// The function's arguments 2, 3 and 4 become the thread's index: the builtins that ask for it, for
// its lane, its warp or its place in the block's arrays are computed from them.
void bind_thread(llvm::Function& function);

// Calls `function` for every thread of the block, in the order of their linear index, or with
// several rows side by side where nobody can tell (row_groups.hpp). The arguments are those of the
// call but for 2, 3 and 4. The builder goes on behind the loops.
std::vector<llvm::CallInst*> call_for_threads(llvm::IRBuilder<>& builder, const kernel& kernel,
                                              llvm::Function& function,
                                              llvm::ArrayRef<llvm::Value*> args);

// Puts what is called where it is called.
void inline_all(llvm::ArrayRef<llvm::CallInst*> calls);

// The same in loops over the lanes of a warp: the last two arguments are the lane and the number of
// lanes.
void bind_lane(llvm::Function& function);

// And in a warp's function between its loops: what is the same for all lanes is that of the first.
void bind_warp(llvm::Function& function);

// Calls a warp's function for every warp of the block; rows of the block consist of whole warps, or
// there is one row only. One function is for warps of 32 lanes, the other for what is left. The
// warps of linear_warps.hpp get their first lane's linear index as argument 2, and so do their
// lanes.
std::vector<llvm::CallInst*> call_for_warps(llvm::IRBuilder<>& builder, llvm::Function& whole,
                                            llvm::Function& last,
                                            llvm::ArrayRef<llvm::Value*> args);

// The same with one function for all of them: they have 32 lanes each, or as many as are left.
enum class warp_size { whole, any };
llvm::CallInst* call_for_warps(llvm::IRBuilder<>& builder, llvm::Function& warp,
                               llvm::ArrayRef<llvm::Value*> args, warp_size size);

// Calls `function` for every lane of the calling function's warp.
llvm::CallInst* call_for_lanes(llvm::IRBuilder<>& builder, const kernel& kernel,
                               llvm::Function& function, llvm::ArrayRef<llvm::Value*> args);

}  // namespace sb::pass
