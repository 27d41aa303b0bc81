// What the writer takes. Like trace.hpp, without a string or vector: filling one allocates nothing.
// The spans need to live only during the call of the writer.
#pragma once

#include <span>

#include "trace/trace.hpp"

namespace sb::trace {

struct call_record {
  number thread = none;
  number name = none;  // writer::name
  number place = none;
  nanoseconds begin = 0, end = 0;
  nanoseconds blocked = 0;
  number blocked_on = none;
  std::int32_t status = 0;
  // An operation that was done within the call, from its beginning to its end, and is in
  // everything else as an operation before: its number (writer::begin_operation), and that one's.
  number done = none, like = none;
  // It was submitted by the call, and is not done with it: a `finished` record tells of its end.
  bool handed_over = false;
  std::uint32_t times = 1;    // trace::call; it has no operation then
  bool behind_clock = false;  // trace::call
};

// An operation as far as it is known when it comes into its stream.
struct submitted_record {
  operation_kind kind = operation_kind::marker;
  engine_kind engine = engine_kind::none;
  copy_direction direction = copy_direction::host_to_device;
  memory_kind host_memory = memory_kind::device;
  bool in_graph = false;
  bool cooperative = false;
  bool first_use = false;
  std::int8_t priority = 0;
  number device = none;
  number peer = none;
  number stream = none;
  number call = none;
  number name = none;
  number record = none;
  number event = none;
  number graph = none;
  nanoseconds called = never;
  nanoseconds queued = never;
  std::uint64_t bytes = 0;
  std::uint32_t grid[3] = {1, 1, 1}, block[3] = {1, 1, 1};
  std::uint32_t shared_bytes = 0, registers = 0;
  std::span<const number> after;
  std::span<const byte_range> ranges;
};

// And what is known later. An operation that still runs or waits when the recording ends may have
// such a record too, with `never` for what did not happen.
struct finished_record {
  nanoseconds ready = never;
  nanoseconds started = never;
  nanoseconds ended = never;
  std::span<const edge> waits;
  std::int32_t status = 0;
  hardware_queue queue = {};
};

// The same for one that is over, has not failed, and waited for nothing or just for the one before
// it in its stream, until it was ready.
struct plain_end {
  nanoseconds ready = 0, started = 0, ended = 0;
  number before = none;
  hardware_queue queue = {};
};

// Operations that were done within a call, one after another, and are in everything but their times
// as as many others in a row. Each began when the one before it ended, the first with the call.
struct repeated_record {
  number like = none;  // the first of the others
  number call = none;
  number graph = none;  // instead of theirs
  nanoseconds begin = 0;
  std::span<const nanoseconds> ends;  // at most list_limit
};

struct annotation_record {
  number thread = none;
  number domain = none, category = none, text = none;  // writer::name
  std::uint32_t colour = 0;
  nanoseconds at = 0;
};

}  // namespace sb::trace
