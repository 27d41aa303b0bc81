// The start of a kernel, for a row of neighbouring blocks as one wide block (joined_blocks.hpp),
// where only the rest knows its block.
//
// Sums over the grid are like that: each thread adds up what it finds with the stride of the grid,
// and then the block puts the sums together in its shared memory. A block alone reads a kibibyte
// here and one there; a row of them goes through memory as it lies. Each thread of the row leaves
// what the rest needs of it in an array, and then the blocks do their rest in turn.
#pragma once

#include "compiler/pass/kernel_discovery.hpp"

namespace sb::pass {

struct kernel_parts {
  llvm::Function* start = nullptr;  // what a thread does first; null: the kernel has no such start
  llvm::Function* rest = nullptr;
  std::vector<llvm::Type*> kept;  // from the start for the rest
};

// Two bodies of the kernel's one, which stays as it is. The start can be joined if join_blocks
// says so.
kernel_parts split_start(llvm::Function& body);
// The start has been joined: its threads know their place in the row.
void bind_start(llvm::Function& start);
// One function that runs a row through both, which run rows themselves and are gone then.
llvm::Function* put_together(const kernel& kernel, const kernel_parts& parts, llvm::Function& start,
                             llvm::Function& rest);

}  // namespace sb::pass
