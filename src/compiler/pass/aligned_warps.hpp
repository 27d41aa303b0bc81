// Blocks whose width is a multiple of 32, in grids that an int can count through: the usual ones.
//
//   int row = (blockIdx.x * blockDim.x + threadIdx.x) / 32;
//   if (row < n) ... __shfl_down_sync(...)
//
// There a number like `row` is the same for all lanes of a warp, while in blocks of 48 threads it
// is not. A region with such a number has a second function for a warp, and looks at its block
// before it chooses. A kernel whose warps are resumed (resumed_threads.hpp) because of such a
// number is for such blocks as a whole, and so is one whose warps go the way that some lane says:
// there that lane exists. In functions for linear warps it is the threads of a block that are a
// multiple of 32.
#pragma once

#include <llvm/IR/IRBuilder.h>

namespace sb::pass {

// What warps are in the blocks that a function is for.
struct warp_shape {
  bool is_linear;
  bool is_aligned;
  bool is_of_one_layer = false;
};
warp_shape warp_shape_of(const llvm::Function& function);

void mark_aligned_warps(llvm::Function& function);
bool has_aligned_warps(const llvm::Function& function);

// Made of the place and size of the block and the thread's row: the same in a whole row.
bool is_of_row(const llvm::Value* value, unsigned depth = 0);
// A number that is the same for all lanes of a warp and a multiple of 32 in blocks of that kind.
bool counts_whole_warps(const llvm::Value* value, warp_shape warps);
// Such a number that cannot be negative in an aligned warp when a thread's x, or its linear index,
// is added: the threads of the blocks before this one.
bool counts_threads_before(const llvm::Value* value);

// Whether the block which the builder's function runs is such a block.
llvm::Value* is_aligned(llvm::IRBuilder<>& builder);

}  // namespace sb::pass
