// Numbers that are made of a thread's place in its block and the block's size. A block has 1024
// threads at most, and 64 layers.
#pragma once

#include <llvm/IR/Value.h>

#include <cstdint>
#include <optional>

namespace sb::pass {

// What such a number is at most, if it is never negative and nothing that it is made of wraps; none
// for others.
std::optional<std::uint64_t> most_of(const llvm::Value* value, unsigned depth = 0);

}  // namespace sb::pass
