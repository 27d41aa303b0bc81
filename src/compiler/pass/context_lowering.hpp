// Gives every function its thread: builtins become loads from the contexts, runtime calls go
// through the table, shared variables become addresses in the block's memory.
#pragma once

#include <llvm/IR/Module.h>

#include "compiler/pass/effects.hpp"
#include "compiler/pass/kernel_discovery.hpp"
#include "compiler/pass/shared_memory.hpp"

namespace sb::pass {

// A body knows its thread by its arguments. Other functions ask the table for it (`self` slot): the
// answer is never kept in thread-local storage, because fibers move between OS threads.
void lower_context(llvm::Module& module, llvm::ArrayRef<kernel> kernels,
                   const shared_layout& layout, const call_reach& reach);

}  // namespace sb::pass
