// The value that an index has in the first and in the last thread of a block.
#pragma once

#include <llvm/IR/IRBuilder.h>

#include "compiler/pass/uniformity.hpp"

namespace sb::pass {

// Whether the value grows with x, y and z of the thread, or stays, as far as nothing wraps.
bool grows_with_thread(const llvm::Value* value, const uniformity& uniform);

enum class extreme { first, last };
// Such a value in that thread of the block.
llvm::Value* value_in(llvm::IRBuilder<>& builder, llvm::Value* value, const uniformity& uniform,
                      extreme which);

}  // namespace sb::pass
