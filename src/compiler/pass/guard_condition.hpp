// What is known of a condition before it is asked.
#pragma once

#include <llvm/IR/DataLayout.h>
#include <llvm/IR/Value.h>

#include <optional>

namespace sb::pass {

// The constant that the value is, whatever it takes to see it; null if it is none.
llvm::Constant* folded(llvm::Value* value, const llvm::DataLayout& layout, unsigned depth = 0);

// What a condition is if a part of it is known, where that says it.
std::optional<bool> implied(llvm::Value* condition, const llvm::Value* part, bool value);

}  // namespace sb::pass
