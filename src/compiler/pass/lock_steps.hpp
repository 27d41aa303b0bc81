// Where a function takes locks and gives them back, and what it does in between that only matters
// there: the holders of a lock come one after the other, however many threads want it.
//
// A lock is taken by whoever makes one number of another (an exchange, or one on a condition), or
// sees that it has come to the ticket that it drew. Whether that was meant as a lock shows when it
// is given back: the same thread writes to the same place.
#pragma once

#include <llvm/ADT/SmallVector.h>
#include <llvm/IR/IRBuilder.h>

namespace sb::pass {

struct lock_step {
  llvm::Instruction* at;
  llvm::Value* lock;    // null: a fence
  llvm::Value* ticket;  // that a load there may show
};

// In the order of each block. Empty where nothing can be taken.
llvm::SmallVector<lock_step, 8> lock_steps_of(llvm::Function& function);

// Behind the instruction: which abi::lock_event it was.
llvm::Value* event_of(const lock_step& step, llvm::IRBuilder<>& builder);

}  // namespace sb::pass
