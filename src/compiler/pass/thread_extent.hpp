// The value that an index has in the first and in the last thread of a block, or of a
// warp.
#pragma once

#include <llvm/IR/IRBuilder.h>

#include "compiler/pass/uniformity.hpp"

namespace sb::pass {

// Whether the value grows with x, y and z of the thread, or stays, as far as nothing wraps, and the
// difference between the first and the last thread fits into 40 bits in any case.
bool grows_with_thread(const llvm::Value* value, const uniformity& uniform);

enum class extreme { first, last };
// Such a value in that thread of the team.
llvm::Value* value_in(llvm::IRBuilder<>& builder, llvm::Value* value, const uniformity& uniform,
                      extreme which);
// How much greater such a value is in the last thread than in the first, in 64 bits, if nothing
// wraps. Something wraps if the values that they really have differ by anything else.
llvm::Value* extent(llvm::IRBuilder<>& builder, llvm::Value* value, const uniformity& uniform);

}  // namespace sb::pass
