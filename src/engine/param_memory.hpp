// Memory for the parameters of launches that have more than fit into a command, without the heap
// being asked for each: blocks go from the thread that launches to the one that is through with
// them, and come back all at once.
//
// Thread safety: all of it. Blocks are never given back to the system: there are as many as were
// ever in use at the same time, and some at hand of each thread.
#pragma once

#include <cstddef>

namespace sb::engine {

class param_memory {
 public:
  static constexpr std::size_t block_bytes = 256, alignment = 16;

  [[nodiscard]] static char* take();
  static void give(char* block) noexcept;
};

}  // namespace sb::engine
