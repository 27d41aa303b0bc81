// The function that the engine calls for a kernel.
#pragma once

#include "compiler/pass/kernel_discovery.hpp"

namespace sb::pass {

// Loop mode: loops over z, y, x around the inlined body. Fiber mode: the body of one thread.
// The kernel's body is gone afterwards.
void build_entry(kernel& kernel);

}  // namespace sb::pass
