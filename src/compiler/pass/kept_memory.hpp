// Memory of a block that nothing else reaches, in code without branches: its elements become
// values.
#pragma once

#include <llvm/IR/Function.h>

namespace sb::pass {

struct kept_memory {
  llvm::BasicBlock* block = nullptr;  // that used it
  std::uint64_t end = 0;              // of what was used
};

// Memory of `bytes` at `base`. No block: something is done with it that has no constant place in
// it, or in more than one basic block, or it is read before it is written there; nothing is changed
// then.
kept_memory keep_in_values(llvm::Value& base, std::uint64_t bytes);

// Puts what has no effect right before what needs it first.
void compute_when_needed(llvm::BasicBlock& block);

}  // namespace sb::pass
