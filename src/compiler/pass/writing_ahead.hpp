// A loop whose rounds store whole lines of memory asks for those that the next round will store.
//
// A core that stores line after line takes them without reading them first. Where other lines are
// written in between (what is kept for later, above all) it does not, and each store waits for its
// line. Only for rounds that compute so much that the memory has time for reading the lines first.
#pragma once

#include <llvm/IR/BasicBlock.h>

namespace sb::pass {

// The block is a loop of its own.
void write_ahead(llvm::BasicBlock& loop);

}  // namespace sb::pass
