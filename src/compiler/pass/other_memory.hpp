// Whether the byte ranges behind a kernel's pointer parameters are all of the memory it may touch.
#pragma once

#include "compiler/pass/kernel_discovery.hpp"

namespace sb::pass {

// True unless everything that the (canonical) body and the functions it calls read and write is
// reached from a plain pointer parameter, is private to the thread or the block, or never changes
// while kernels run. Pointers within structures, loaded from memory or made of numbers, __device__
// and __managed__ variables, textures and calls by pointer are other ways.
bool reaches_other_memory(const kernel& kernel);

}  // namespace sb::pass
