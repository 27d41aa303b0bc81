// The function that the engine calls for a kernel.
#pragma once

#include <llvm/IR/DebugLoc.h>

#include "compiler/pass/kernel_discovery.hpp"

namespace sb::pass {

// An empty void(params, self) with the attributes of the kernel's body.
llvm::Function* create_entry(const kernel& kernel);
// Debuggers see the kernel as inlined into an artificial function of the same name. Gives back the
// location for what is inlined.
llvm::DebugLoc attach_debug_info(llvm::Function& entry, const kernel& kernel);

// Loop mode: the block function that became the kernel's body. Fiber mode: the body of one thread.
// The kernel has no body afterwards.
void build_entry(kernel& kernel);

}  // namespace sb::pass
