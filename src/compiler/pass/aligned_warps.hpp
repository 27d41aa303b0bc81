// Blocks whose width is a multiple of 32, in grids that an int can count through: the usual ones.
//
//   int row = (blockIdx.x * blockDim.x + threadIdx.x) / 32;
//   if (row < n) ... __shfl_down_sync(...)
//
// There a number like `row` is the same for all lanes of a warp, while in blocks of 48 threads it
// is not. A region with such a number has a second function for a warp, and looks at its block
// before it chooses.
#pragma once

#include <llvm/IR/IRBuilder.h>

namespace sb::pass {

void mark_aligned_warps(llvm::Function& function);
bool has_aligned_warps(const llvm::Function& function);

// Made of the place and size of the block and the thread's row: the same in a whole row.
bool is_of_row(const llvm::Value* value, unsigned depth = 0);
// Such a number that is a multiple of 32: in these blocks if they are `aligned`, else in all.
bool counts_whole_warps(const llvm::Value* value, bool aligned);
// Such a number that cannot be negative in an aligned warp when a thread's x is added: the threads
// of the blocks before this one.
bool counts_threads_before(const llvm::Value* value);

// Whether the block which the builder's function runs is such a block.
llvm::Value* is_aligned(llvm::IRBuilder<>& builder);

}  // namespace sb::pass
