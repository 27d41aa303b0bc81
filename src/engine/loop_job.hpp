// Blocks of a loop-mode kernel that a worker runs in one go.
#pragma once

#include <cstdint>
#include <vector>

#include "engine/block.hpp"
#include "engine/fiber.hpp"
#include "engine/kernel_run.hpp"

namespace sb::engine {

class worker_pool;

struct ending {
  std::uint64_t ns;
  std::uint64_t count;
};

// Blocks of a loop-mode kernel, run one after another on one fiber: a fault must be able to leave
// them.
struct loop_job {
  const worker_pool* pool;  // asked between two blocks whether a higher priority waits; may be null
  kernel_run* run;
  block* body;
  worker* on = nullptr;
  fiber* stack = nullptr;
  std::uint64_t first, count;
  std::uint64_t places = 0;        // not 0: blocks that were not granted, in the places of so many
  std::uint64_t started = 0;       // blocks that began
  std::uint64_t done = 0;          // of them, over now
  std::vector<ending> later = {};  // of them, over at a later time
  bool complete = false;
  bool put_off = false;  // a block failed, and the others go on for now
};

}  // namespace sb::engine
