// Which threads of a block have anything to do in a region: `if (threadIdx.x == 0) ...`,
// `if (threadIdx.y < 2) ...`. The others need no turn in the loops over threads.
//
// Along x only one thread is looked for: a loop over a stretch of them is what guard_splitting.hpp
// makes.
#pragma once

#include <llvm/IR/Function.h>
#include <llvm/IR/IRBuilder.h>

namespace sb::pass {

// Along one axis: the threads from `begin` to `end`, or one; null where there is no bound. Such
// values are computed before the loops, in 32 bits, and may lie beyond the block's end.
struct axis_bounds {
  llvm::Value* only = nullptr;
  llvm::Value* begin = nullptr;
  llvm::Value* end = nullptr;

  explicit operator bool() const { return only || begin || end; }
};

struct thread_bounds {
  axis_bounds axis[3];
};

// For the code of one thread, whose arguments 2 to 4 are its index; the builder stands where it is
// called with these arguments.
thread_bounds find_thread_bounds(llvm::IRBuilder<>& builder, llvm::Function& thread,
                                 llvm::ArrayRef<llvm::Value*> args);

}  // namespace sb::pass
