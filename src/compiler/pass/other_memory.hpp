// Whether the byte ranges behind a kernel's pointer parameters are all of the memory it may touch.
#pragma once

#include <string>
#include <vector>

#include "compiler/pass/kernel_discovery.hpp"

namespace sb::pass {

struct other_memory {
  bool any = false;
  std::vector<std::string> constants;  // names of __constant__ variables, in order
};

// `any` unless everything that the (canonical) body and the functions it calls read and write is
// reached from a plain pointer parameter, is private to the thread or the block, or never changes
// while kernels run. Pointers within structures, loaded from memory or made of numbers, __device__
// and __managed__ variables, textures and calls by pointer are other ways. __constant__ variables
// are written between launches only: they are named.
other_memory other_memory_of(const kernel& kernel);

}  // namespace sb::pass
