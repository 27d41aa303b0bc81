// What all threads of a kernel do before one of them may have to wait for another: sums, say, which
// the block then adds to those of others under a lock. They go through it as through a kernel in
// which nobody waits.
#pragma once

#include <vector>

#include "compiler/pass/resumption.hpp"

namespace sb::pass {

struct common_start {
  llvm::Instruction* end = nullptr;       // the first one behind it; null: nothing worth while
  std::vector<meeting> barriers;          // in it, and none of the stops any more
  std::vector<llvm::BasicBlock*> rounds;  // cuts that are there for speed
};

// Changes the body of a thread, not its meaning.
common_start separate_common_start(llvm::Function& body, stops& where);

}  // namespace sb::pass
