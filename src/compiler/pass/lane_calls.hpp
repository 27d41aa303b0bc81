// Warp operations that lanes come to one by one: each says what it brings, and takes its result
// when all that it names have come. Where lanes of a warp may be at different places of a kernel.
#pragma once

#include <llvm/IR/IRBuilder.h>
#include <llvm/IR/Instructions.h>

namespace sb::pass {

// Whether the call can be made two.
bool is_lane_call(const llvm::CallBase& call);

// Says what the calling lane brings. True if all others have come. Who asks which lanes are where
// it is names nobody, but its place (place_numbers.hpp), and whether it has looked in vain.
llvm::Value* create_lane_comes(llvm::IRBuilderBase& builder, llvm::CallInst& call,
                               std::uint32_t place, llvm::Value* in_vain);
// The lane is at a barrier.
void create_lane_rests(llvm::IRBuilderBase& builder);
// Whether the lane still waits for others.
llvm::Value* create_lane_waits(llvm::IRBuilderBase& builder);
// In place of the call: its results.
void replace_by_lane_takes(llvm::CallInst& call);
// The thread returns: nobody waits for it any more.
void create_lane_leaves(llvm::IRBuilderBase& builder);

}  // namespace sb::pass
