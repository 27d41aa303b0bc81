// Loops that do nothing but look at memory until somebody else has written what they wait for. How
// often they go round says nothing of what the thread does: such a loop counts as one round.
#pragma once

#include <llvm/ADT/DenseMap.h>
#include <llvm/ADT/SmallVector.h>
#include <llvm/IR/Function.h>

namespace sb::pass {

class look_loops {
 public:
  // After the calls of the engine have been lowered.
  explicit look_loops(llvm::Function& function);

  // Where what the block does is counted: the block itself; for one of such a loop, the block that
  // leads to it, or none.
  [[nodiscard]] llvm::BasicBlock* counted_in(llvm::BasicBlock& block) const;

  // Where threads go round that wait for others, and do something else on the way: of a round in
  // vain nobody knows what it counted.
  [[nodiscard]] llvm::ArrayRef<llvm::Instruction*> vague_rounds() const { return vague_; }

 private:
  llvm::DenseMap<const llvm::BasicBlock*, llvm::BasicBlock*> moved_;
  llvm::SmallVector<llvm::Instruction*, 2> vague_;
};

}  // namespace sb::pass
