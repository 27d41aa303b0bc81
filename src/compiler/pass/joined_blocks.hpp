// Neighbouring blocks along x, run as one wide block.
//
// Most threads know where they are by blockIdx.x * blockDim.x + threadIdx.x alone. If a kernel uses
// neither of the two in any other way, has no memory of the block and meets nobody, its threads
// cannot tell whether they are in one block or in the next: a row of blocks is one long loop, and a
// loop that strides over the grid goes through memory without gaps.
//
// In such a body threadIdx.x counts through the row, and blockIdx.x is that of the row's first
// block.
#pragma once

#include <llvm/IR/IRBuilder.h>

#include "compiler/pass/kernel_discovery.hpp"

namespace sb::pass {

// The longest row, in threads.
inline constexpr unsigned longest_row = 16384;
// The same where blocks have rows of threads themselves: 16 of them leave 4096 columns. A core that
// goes through shorter ones begins with new lines of memory too often.
inline constexpr unsigned longest_row_of_rows = 65536;

// Makes a joined body of the kernel's if that can be; sets row_width then, and lets rows be as
// long as is good for the caches. Before the body is divided.
bool join_blocks(kernel& kernel);
// Whether the function is such a body, or was made of one.
bool is_joined(const llvm::Function& function);
// Threads along x that the function which the builder stands in goes through: of its block, or of
// the row.
llvm::Value* team_width(llvm::IRBuilder<>& builder);

}  // namespace sb::pass
