// Asking for memory before it is read.
//
// A loop that strides over the grid reads a piece for each block at a place far from the last one:
// the core's own prefetching sees no stream in it. The rounds that a block goes together name what
// the next one will read; before each round it is asked for, line by line.
#pragma once

#include <llvm/IR/IRBuilder.h>

namespace sb::pass {

// A thread will read this address in the next round; `threads` neighbours share a line.
void mark_ahead(llvm::IRBuilder<>& builder, llvm::Value* address, unsigned threads);

struct reads_ahead {
  llvm::Function* function = nullptr;  // asks for what one thread marked; null: nothing
  unsigned threads = 1;                // that share a line
};
// Takes the marks out of what a thread does, into a function with the same arguments.
reads_ahead split_ahead(llvm::Function& function);
void drop_marks(llvm::Function& function);

}  // namespace sb::pass
