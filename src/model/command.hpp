// One unit of stream work as plain data: what the scheduler orders, the engine runs and the trace
// records.
#pragma once

#include <cstdint>

#include "model/ids.hpp"

namespace sb {

enum class command_kind : std::uint8_t {
  kernel,
  copy,
  fill,           // memset
  host_function,  // cudaLaunchHostFunc, cudaStreamAddCallback
  event_record,   // completes inside the scheduler
  event_wait,     // completes inside the scheduler
  // A stretch of a graph that is decided when it comes up: started when everything before it is
  // complete, and complete when the submitter says so. What runs in it is submitted meanwhile.
  section,
  marker,  // completes inside the scheduler: ends of graphs, stream-ordered allocation, empty nodes
  graph_head,  // completes inside the scheduler: before the nodes of a graph launch
};

enum class copy_direction : std::uint8_t {
  host_to_device,
  device_to_host,
  device_to_device,
  peer,  // between two devices
  host_to_host,
};

enum class stream_kind : std::uint8_t {
  legacy,        // one per device; waits for blocking streams and they for it
  blocking,      // cudaStreamCreate, and the per-thread default streams
  non_blocking,  // cudaStreamNonBlocking
};

// How a command relates to its stream.
enum class command_order : std::uint8_t {
  in_stream,  // after everything earlier in its stream, and the legacy rules
  free,       // only after the commands it names: a node inside a graph launch
};

struct kernel_shape {
  std::uint64_t blocks = 1;
  std::uint32_t threads_per_block = 1;
  std::uint32_t shared_bytes = 0;  // static + dynamic, per block
  std::uint32_t registers = 32;    // per thread
  bool cooperative = false;        // all blocks resident at once
};

// One line of the processor's cache: it travels from the thread that submits to the one that
// schedules.
struct command {
  command_kind kind = command_kind::marker;
  command_order order = command_order::in_stream;
  copy_direction direction = copy_direction::host_to_device;  // copies
  std::int8_t priority = 0;  // CUDA's: lower goes first; 0 for ordinary streams
  stream_id stream;
  device_id device;   // where it runs
  device_id peer;     // copies between devices: the other end
  command_id record;  // event_wait: the record that the event pointed at when the wait was called
  std::uint64_t bytes = 0;    // copies and fills
  kernel_shape kernel;        // kernels
  std::uint64_t payload = 0;  // the submitter's own; comes back with every action
};

}  // namespace sb
