// The bodies of the records that come by the million, as bytes. What is written beside each other
// here is read in the same order in codec.cpp; docs/trace.md has the grammar.
//
// Times and numbers are differences to those of the records before, so writer and reader carry the
// same state along.
#pragma once

#include <algorithm>
#include <cstring>

#include "trace/encoding.hpp"
#include "trace/format.hpp"
#include "trace/records.hpp"

namespace sb::trace {

struct launch_shape {
  std::uint32_t grid[3] = {1, 1, 1}, block[3] = {1, 1, 1};
  std::uint32_t shared_bytes = 0, registers = 0;
  friend bool operator==(const launch_shape&, const launch_shape&) = default;
};

struct codec_state {
  nanoseconds clock = 0;  // the last time that was written
  number call = 0;        // the last call that was named
  number finished = 0;    // the last operation that was finished
  launch_shape shape;     // of the last kernel
};

// Enough room for a record without its lists and texts.
inline constexpr std::size_t plain_record_bytes = 192;

inline std::size_t listed(std::size_t entries) { return std::min(entries, list_limit); }

inline byte* put_call(byte* at, number self, const call_record& call, codec_state& state) {
  const unsigned parts = (call.blocked ? call_part::blocked : 0) |
                         (call.blocked_on != none ? call_part::blocked_on : 0) |
                         (call.status ? call_part::status : 0);
  *at++ = static_cast<byte>(parts);
  at = put_difference(at, self, state.call);
  at = put_optional(at, call.thread);
  at = put_optional(at, call.name);
  at = put_optional(at, call.place);
  at = put_time(at, call.begin, state.clock);
  at = put_time(at, call.end, call.begin);
  if (parts & call_part::blocked) at = put_varint(at, call.blocked);
  if (parts & call_part::blocked_on) at = put_difference(at, call.blocked_on, state.finished);
  if (parts & call_part::status)
    at = put_signed(at, static_cast<std::uint64_t>(std::int64_t{call.status}));
  state.call = self;
  state.clock = call.begin;
  return at;
}

inline byte* put_submitted(byte* at, number self, const submitted_record& op, codec_state& state) {
  unsigned parts = 0;
  const auto has = [&](unsigned bit, bool it_has) { parts |= it_has ? bit : 0u; };
  launch_shape shape;
  std::memcpy(shape.grid, op.grid, sizeof shape.grid);
  std::memcpy(shape.block, op.block, sizeof shape.block);
  shape.shared_bytes = op.shared_bytes;
  shape.registers = op.registers;
  has(part::name, op.name != none);
  has(part::call, op.call != none);
  has(part::record, op.record != none);
  has(part::event, op.event != none);
  has(part::graph, op.graph != none);
  has(part::peer, op.peer != none);
  has(part::bytes, op.bytes != 0);
  has(part::after, !op.after.empty());
  has(part::ranges, !op.ranges.empty());
  has(part::in_graph, op.in_graph);
  has(part::cooperative, op.cooperative);
  has(part::priority, op.priority != 0);
  has(part::copy,
      op.direction != copy_direction::host_to_device || op.host_memory != memory_kind::device);
  has(part::stream, op.stream != none);
  if (op.kind == operation_kind::kernel) {
    has(shape == state.shape ? part::same_shape : part::shape, true);
  } else {
    has(part::shape, shape != launch_shape{});
  }
  at = put_fixed(at, static_cast<std::uint16_t>(parts));
  *at++ = static_cast<byte>(static_cast<unsigned>(op.kind) | static_cast<unsigned>(op.engine) << 4);
  at = put_optional(at, op.device);
  at = put_time(at, op.called, state.clock);
  const nanoseconds called = op.called == never ? state.clock : op.called;
  at = put_time(at, op.queued, called);
  if (parts & part::stream) at = put_varint(at, op.stream);
  if (parts & part::call) at = put_difference(at, op.call, state.call);
  if (parts & part::name) at = put_varint(at, op.name);
  if (parts & part::record) at = put_difference(at, self, op.record);
  if (parts & part::event) at = put_varint(at, op.event);
  if (parts & part::graph) at = put_varint(at, op.graph);
  if (parts & part::peer) at = put_varint(at, op.peer);
  if (parts & part::bytes) at = put_varint(at, op.bytes);
  if (parts & part::priority) *at++ = static_cast<byte>(op.priority);
  if (parts & part::copy) {
    *at++ = static_cast<byte>(static_cast<unsigned>(op.direction) |
                              static_cast<unsigned>(op.host_memory) << 4);
  }
  if (parts & part::shape) {
    for (const std::uint32_t size : shape.grid) at = put_varint(at, size);
    for (const std::uint32_t size : shape.block) at = put_varint(at, size);
    at = put_varint(at, shape.shared_bytes);
    at = put_varint(at, shape.registers);
  }
  if (parts & part::after) {
    const std::size_t count = listed(op.after.size());
    at = put_varint(at, count);
    for (std::size_t i = 0; i < count; ++i) at = put_difference(at, self, op.after[i]);
  }
  if (parts & part::ranges) {
    const std::size_t count = listed(op.ranges.size());
    at = put_varint(at, count);
    for (const byte_range& range : op.ranges.first(count)) {
      *at++ = static_cast<byte>(static_cast<unsigned>(range.how) |
                                (range.exact ? range_part::exact : 0u));
      at = put_optional(at, range.allocation);
      at = put_varint(at, range.offset);
      at = put_varint(at, range.bytes);
    }
  }
  if (op.kind == operation_kind::kernel) state.shape = shape;
  if (op.call != none) state.call = op.call;
  state.clock = called;
  return at;
}

inline byte* put_finished(byte* at, number self, const finished_record& op, codec_state& state) {
  at = put_difference(at, self, state.finished);
  nanoseconds base = state.clock;
  for (const nanoseconds time : {op.ready, op.started, op.ended}) {
    at = put_time(at, time, base);
    if (time != never) base = time;
  }
  const std::size_t count = listed(op.waits.size());
  at = put_varint(at, count);
  nanoseconds until = base;
  for (const edge& wait : op.waits.first(count)) {
    *at++ = static_cast<byte>(static_cast<unsigned>(wait.cause) |
                              (wait.from != none ? edge_part::from : 0u) |
                              (wait.call != none ? edge_part::call : 0u));
    if (wait.from != none) at = put_difference(at, self, wait.from);
    if (wait.call != none) at = put_difference(at, wait.call, state.call);
    at = put_time(at, wait.until, until);
    if (wait.until != never) until = wait.until;
  }
  state.finished = self;
  state.clock = base;
  return at;
}

// The same back. They check what can be checked without the rest of the trace; the cursor says
// what was wrong. Numbers of calls and operations are left as they are.
struct read_call {
  number self = none;
  call_record call;
};
read_call get_call(cursor& in, codec_state& state);
void get_submitted(cursor& in, number self, operation& op, codec_state& state);
// Which operation it is has to be known first, and that there is one.
number get_finished_number(cursor& in, codec_state& state);
void get_finished(cursor& in, number self, operation& op, codec_state& state);

}  // namespace sb::trace
