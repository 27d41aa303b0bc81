// What a command does when it runs: the engine's half of a command, self-contained, so that a call
// can be submitted now or kept in a graph and submitted many times.
#pragma once

#include <atomic>
#include <cstddef>
#include <cstdint>
#include <functional>
#include <memory>
#include <optional>
#include <span>
#include <variant>
#include <vector>

#include "base/device_abi.hpp"
#include "base/status.hpp"
#include "engine/param_block.hpp"
#include "model/command.hpp"

namespace sb::engine {

class shared_event;   // shared_event.hpp
class launch_counts;  // launch_counts.hpp

struct extent3 {
  std::uint32_t x = 1, y = 1, z = 1;
};

// Where a launch stands in the program, for messages: its line, or what called the runtime.
struct launch_place {
  const char* file = nullptr;  // lives as long as the program
  std::uint32_t line = 0;
  const void* caller = nullptr;
};

// A kernel launch. `params` is packed as kernel_info::params says and is copied at the call.
struct alignas(16) kernel_operation {
  param_block params;                        // first, for its alignment
  const abi::kernel_info* kernel = nullptr;  // of the device the stream belongs to
  extent3 grid, block;
  std::uint32_t dynamic_shared_bytes = 0;
  bool cooperative = false;
  std::optional<std::int8_t> priority;  // of this launch; without one its stream's or node's
  launch_place place;
  // Set: blocks that are samples count what they do.
  std::shared_ptr<launch_counts> counts = nullptr;
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
  device_id peer;         // direction == peer: the other device
  bool pageable = false;  // its end on the host is neither pinned nor managed
  // The snapshot of a pageable source, when one was taken; `source` points into it.
  std::shared_ptr<const void> staging;
  const void* snapshot_of = nullptr;  // with one: the program's own memory
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
  explicit event_state(std::shared_ptr<shared_event> with_others)
      : shared(std::move(with_others)) {}
  std::atomic<std::uint64_t> last_record{command_id::none_value};  // newest record submitted
  // Written by the engine when a record is reached, unless a newer one was reached before.
  std::atomic<std::uint64_t> reached_record{command_id::none_value};
  std::atomic<std::uint64_t> reached_ns{0};  // engine clock
  // An event of several processes: what the others see of it, and our newest record there.
  const std::shared_ptr<shared_event> shared;
  std::atomic<std::uint64_t> ticket{0};
  bool timed = false;  // constant once the event is made
  // Its number in the trace, once it has one; written under the engine's lock.
  static constexpr std::uint32_t no_number = 0xffffffff;
  std::atomic<std::uint32_t> traced_as{no_number};
};

struct record_operation {
  std::shared_ptr<event_state> event;
  std::uint64_t ticket = 0;  // of an event of several processes
};

// Waits for a record that another process made.
struct foreign_wait_operation {
  std::shared_ptr<shared_event> event;
  std::uint64_t ticket = 0;
};

struct wait_operation {
  command_id record;
  // In the trace: of the event, for a record that is over and known to nobody any more.
  std::uint32_t event = event_state::no_number;
};

// The value that a conditional node looks at; kernels set it.
using condition_value = std::atomic<std::uint32_t>;
struct condition_default {
  std::shared_ptr<condition_value> value;
  std::uint32_t at_launch = 0;
};

// What a marker stands for.
enum class marker_role : std::uint8_t { plain, graph_begin, graph_end, allocate, free };

// Keeps a place in the stream. `reached` (may be empty) runs when it comes to it, under no lock.
struct marker_operation {
  std::function<void()> reached;
  // What a graph launch does to its conditions before any of its nodes start.
  std::shared_ptr<const std::vector<condition_default>> defaults = nullptr;
  marker_role role = marker_role::plain;
  std::uint64_t bytes = 0;  // allocate, free
};

enum class condition_kind : std::uint8_t {
  if_,      // the first body when the value is not 0, the second, if there is one, when it is
  while_,   // the body again and again, as long as the value is not 0
  switch_,  // the body whose place the value is
};

// Decides when it comes up which graph runs, and is complete when that is.
struct graph_plan;
struct conditional_operation {
  condition_kind kind = condition_kind::if_;
  std::shared_ptr<const condition_value> value;
  std::shared_ptr<const std::vector<graph_plan>> bodies;
  // Filled in by the engine: kernels that it looks at its value after, if they do not take long.
  std::vector<command_id> rather_after;
  std::uint64_t until_ns = 0;
};

using operation =
    std::variant<marker_operation, kernel_operation, copy_operation, fill_operation, host_operation,
                 record_operation, wait_operation, foreign_wait_operation, conditional_operation>;

// One node of a graph launch.
struct graph_item {
  const operation* what = nullptr;
  device_id device;
  std::int8_t priority = 0;
  std::span<const std::uint32_t> after;  // indices of earlier items
};

// A graph that runs later, perhaps many times: owns what graph_item refers to.
struct graph_plan {
  struct item {
    operation what;
    device_id device;
    std::optional<std::int8_t> priority;  // none: that of the launch
    std::vector<std::uint32_t> after;     // indices of earlier items
  };
  std::vector<item> items;
};

}  // namespace sb::engine
