// The width of blocks that a kernel is written for, by its shared memory.
#pragma once

#include <llvm/IR/Function.h>

#include <cstdint>

namespace sb::pass {

constexpr std::uint64_t least_width = 64, most_width = 1024;
// Whether blocks of so many threads have a version of their own.
constexpr bool is_width(std::uint64_t threads) {
  return threads >= least_width && threads <= most_width && threads % 32 == 0;
}

// The length of a shared array is a block's width as a rule. Threads that have two elements each,
// `t[2 * threadIdx.x + 1]` or `t[threadIdx.x + 256]`, would leave it in a block as wide as that:
// then it is half of it, and so on. 0 if no array has such a length, or one with a little more
// against conflicts of banks.
std::uint64_t width_by_shared_memory(llvm::Function& body);

}  // namespace sb::pass
