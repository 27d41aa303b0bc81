// What a command does when it runs: the engine's half of a command, self-contained, so that a call
// can be submitted now or kept in a graph and submitted many times.
#pragma once

#include <atomic>
#include <cstddef>
#include <cstdint>
#include <functional>
#include <memory>
#include <variant>
#include <vector>

#include "base/device_abi.hpp"
#include "base/status.hpp"
#include "model/command.hpp"

namespace sb::engine {

struct extent3 {
  std::uint32_t x = 1, y = 1, z = 1;
};

// A kernel launch. `params` is packed as kernel_info::params says and is copied at the call.
struct kernel_operation {
  const abi::kernel_info* kernel = nullptr;  // of the device the stream belongs to
  extent3 grid, block;
  std::uint32_t dynamic_shared_bytes = 0;
  bool cooperative = false;
  std::vector<char> params;
};

// Bytes from one place to another, as up to three dimensions; a plain copy has height == depth
// == 1.
struct copy_operation {
  void* destination = nullptr;
  const void* source = nullptr;
  std::size_t width = 0, height = 1, depth = 1;  // width in bytes
  std::size_t destination_pitch = 0, source_pitch = 0;
  std::size_t destination_slice = 0, source_slice = 0;  // bytes between slices
  copy_direction direction = copy_direction::host_to_device;
  device_id peer;  // direction == peer: the other device
  // The snapshot of a pageable source, when one was taken; `source` points into it.
  std::shared_ptr<const void> staging;
};

struct fill_operation {
  void* destination = nullptr;
  std::uint32_t value = 0;
  std::uint32_t element_size = 1;                // 1, 2 or 4
  std::size_t width = 0, height = 1, depth = 1;  // width in elements
  std::size_t pitch = 0, slice = 0;              // bytes
};

// Runs on the host-function thread; gets the status of the stream's device. Destroyed before its
// completion is visible.
struct host_operation {
  std::function<void(status)> call;
};

// Shared by an event handle and the records in flight; outlives the handle.
struct event_state {
  event_state() = default;
  std::atomic<std::uint64_t> last_record{command_id::none_value};  // newest record submitted
  // Written by the engine when a record is reached, unless a newer one was reached before.
  std::atomic<std::uint64_t> reached_record{command_id::none_value};
  std::atomic<std::uint64_t> reached_ns{0};  // engine clock
};

struct record_operation {
  std::shared_ptr<event_state> event;
};

struct wait_operation {
  command_id record;
};

// Keeps a place in the stream. `reached` (may be empty) runs when it comes to it, under no lock.
struct marker_operation {
  std::function<void()> reached;
};

using operation = std::variant<marker_operation, kernel_operation, copy_operation, fill_operation,
                               host_operation, record_operation, wait_operation>;

}  // namespace sb::engine
