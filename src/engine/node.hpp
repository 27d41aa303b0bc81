// A submitted operation while the engine holds it: what a command's payload points at.
//
// A node is freed when nobody holds it: the scheduler's half (from submission to completion) counts
// one, every granted block of a kernel one more.
#pragma once

#include <atomic>
#include <cstdint>

#include "engine/kernel_run.hpp"
#include "engine/operation.hpp"
#include "model/ids.hpp"

namespace sb::engine {

struct node {
  operation what;
  command_id id;
  device_id device;
  stream_id stream;
  std::int8_t priority = 0;
  // Guarded by the engine's lock. A section: the drain in which its present body began. The marker
  // at the end of a body: its section.
  std::uint64_t body_began = 0;
  node* section = nullptr;
  kernel_run run;
  std::atomic<std::uint64_t> references{1};
  std::uint64_t blocks_left = 0;  // kernels; guarded by the engine's lock
  bool started = false;           // guarded by the engine's lock
  bool ended = false;             // completed or abandoned; guarded by the engine's lock
  // Guarded by the engine's lock: all nodes, for the end of the engine and for faults.
  node* previous = nullptr;
  node* next = nullptr;
};

}  // namespace sb::engine
