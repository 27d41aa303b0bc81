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
};

// Both have the same fields. Written out: a comparison as one of memory would wait for stores.
template <class Shape, class OtherShape>
inline bool same_shape(const Shape& a, const OtherShape& b) {
  return ((a.grid[0] ^ b.grid[0]) | (a.grid[1] ^ b.grid[1]) | (a.grid[2] ^ b.grid[2]) |
          (a.block[0] ^ b.block[0]) | (a.block[1] ^ b.block[1]) | (a.block[2] ^ b.block[2]) |
          (a.shared_bytes ^ b.shared_bytes) | (a.registers ^ b.registers)) == 0;
}
template <class Shape, class OtherShape>
inline void copy_shape(const Shape& from, OtherShape& to) {
  for (int i = 0; i < 3; ++i) to.grid[i] = from.grid[i];
  for (int i = 0; i < 3; ++i) to.block[i] = from.block[i];
  to.shared_bytes = from.shared_bytes;
  to.registers = from.registers;
}

struct codec_state {
  std::uint32_t version = format_version;           // of the file that is read
  nanoseconds clock = 0;                            // the last time that was written
  number call = 0;                                  // the last call that was named
  number submitted = none;                          // the last operation that was submitted
  number finished = 0;                              // the last operation that was finished
  number like = 0;                                  // the last that one done in its call is like
  number thread = none, name = none, place = none;  // of the last call
  launch_shape shape;                               // of the last kernel
  std::uint64_t range_offset = 0, range_bytes = 0;  // of the last range
};

// Enough room for a record without its lists and texts.
inline constexpr std::size_t plain_record_bytes = 192;

inline std::size_t listed(std::size_t entries) { return std::min(entries, list_limit); }

inline bool same_place(const call_record& call, const codec_state& state) {
  return ((call.thread ^ state.thread) | (call.name ^ state.name) | (call.place ^ state.place)) ==
         0;
}

inline byte* put_call(byte* at, number self, const call_record& call, codec_state& state) {
  const unsigned parts =
      (call.blocked ? call_part::blocked : 0) |
      (call.blocked_on != none ? call_part::blocked_on : 0) |
      (call.status ? call_part::status : 0) | (call.done != none ? call_part::done : 0) |
      (call.handed_over ? call_part::handed_over : 0) | (call.times != 1 ? call_part::times : 0) |
      (same_place(call, state) ? call_part::same : 0) |
      (call.behind_clock ? call_part::behind_clock : 0);
  *at++ = static_cast<byte>(parts);
  at = put_difference(at, self, state.call);
  if (!(parts & call_part::same)) {
    at = put_optional(at, state.thread = call.thread);
    at = put_optional(at, state.name = call.name);
    at = put_optional(at, state.place = call.place);
  }
  at = put_time(at, call.begin, state.clock);
  at = put_time(at, call.end, call.begin);
  if (parts & call_part::blocked) at = put_varint(at, call.blocked);
  if (parts & call_part::blocked_on) at = put_difference(at, call.blocked_on, state.finished);
  if (parts & call_part::status)
    at = put_signed(at, static_cast<std::uint64_t>(std::int64_t{call.status}));
  if (parts & call_part::done) {
    number& last = call.handed_over ? state.submitted : state.finished;
    at = put_difference(at, call.done, last);
    at = put_difference(at, call.like, state.like);
    last = call.done;
    state.like = call.like;
  }
  if (parts & call_part::times) at = put_varint(at, call.times);
  state.call = self;
  state.clock = call.begin;
  return at;
}

inline byte* put_range(byte* at, const byte_range& range, codec_state& state) {
  const bool same_offset = range.offset == state.range_offset;
  const bool same_bytes = range.bytes == state.range_bytes;
  *at++ = static_cast<byte>(
      static_cast<unsigned>(range.how) | (range.exact ? range_part::exact : 0u) |
      (same_offset ? range_part::same_offset : 0u) | (same_bytes ? range_part::same_bytes : 0u));
  at = put_optional(at, range.allocation);
  if (!same_offset) at = put_varint(at, state.range_offset = range.offset);
  if (!same_bytes) at = put_varint(at, state.range_bytes = range.bytes);
  return at;
}

inline byte* put_submitted(byte* at, number self, const submitted_record& op, codec_state& state) {
  byte* const begin = at;
  unsigned parts = 0;
  // The parts stand in front; which there are is known at the end.
  at += 2;
  at = put_difference(at, self, state.submitted);
  state.submitted = self;
  *at++ = static_cast<byte>(static_cast<unsigned>(op.kind) | static_cast<unsigned>(op.engine) << 4 |
                            (op.first_use ? first_use_kind : 0u));
  at = put_optional(at, op.device);
  at = put_time(at, op.called, state.clock);
  const nanoseconds called = op.called == never ? state.clock : op.called;
  at = put_time(at, op.queued, called);
  state.clock = called;
  const auto put_number = [&](unsigned bit, number value) {
    if (value == none) return;
    parts |= bit;
    at = put_varint(at, value);
  };
  put_number(part::stream, op.stream);
  if (op.call != none) {
    parts |= part::call;
    at = put_difference(at, op.call, state.call);
    state.call = op.call;
  }
  put_number(part::name, op.name);
  if (op.record != none) {
    parts |= part::record;
    at = put_difference(at, self, op.record);
  }
  put_number(part::event, op.event);
  put_number(part::graph, op.graph);
  put_number(part::peer, op.peer);
  if (op.bytes != 0) {
    parts |= part::bytes;
    at = put_varint(at, op.bytes);
  }
  if (op.priority != 0) {
    parts |= part::priority;
    *at++ = static_cast<byte>(op.priority);
  }
  if (op.kind == operation_kind::copy) {
    parts |= part::copy;
    *at++ = static_cast<byte>(static_cast<unsigned>(op.direction) |
                              static_cast<unsigned>(op.host_memory) << 4);
  }
  if (op.kind == operation_kind::kernel) {
    if (same_shape(op, state.shape)) {
      parts |= part::same_shape;
    } else {
      parts |= part::shape;
      for (const std::uint32_t size : op.grid) at = put_varint(at, size);
      for (const std::uint32_t size : op.block) at = put_varint(at, size);
      at = put_varint(at, op.shared_bytes);
      at = put_varint(at, op.registers);
      copy_shape(op, state.shape);
    }
  }
  if (op.in_graph) parts |= part::in_graph;
  if (op.cooperative) parts |= part::cooperative;
  if (!op.after.empty()) {
    parts |= part::after;
    const std::size_t count = listed(op.after.size());
    at = put_varint(at, count);
    for (std::size_t i = 0; i < count; ++i) at = put_difference(at, self, op.after[i]);
  }
  if (!op.ranges.empty()) {
    parts |= part::ranges;
    const std::size_t count = listed(op.ranges.size());
    at = put_varint(at, count);
    if (op.bytes != 0) state.range_bytes = op.bytes;
    for (const byte_range& range : op.ranges.first(count)) at = put_range(at, range, state);
  }
  put_fixed(begin, static_cast<std::uint16_t>(parts));
  return at;
}

inline byte* put_finished(byte* at, number self, const finished_record& op, codec_state& state) {
  at = put_difference(at, self, state.finished);
  nanoseconds base = state.clock;
  const auto put = [&](nanoseconds time) {
    at = put_time(at, time, base);
    base = time != never ? time : base;
  };
  put(op.ready);
  put(op.started);
  put(op.ended);
  const std::size_t count = listed(op.waits.size());
  const bool has_queue = op.queue.kind != queue_class::none;
  at = put_varint(at, finished_part::edges * count + (op.status != 0 ? finished_part::status : 0) +
                          (has_queue ? finished_part::queue : 0));
  if (has_queue)
    *at++ =
        static_cast<byte>(op.queue.number + queue_kind_at * static_cast<unsigned>(op.queue.kind));
  nanoseconds until = op.ready != never ? op.ready : base;
  for (const edge& wait : op.waits.first(count)) {
    const unsigned when = wait.until == op.ready     ? edge_part::until_ready
                          : wait.until == op.started ? edge_part::until_started
                                                     : 0u;
    *at++ = static_cast<byte>(static_cast<unsigned>(wait.cause) | when |
                              (wait.from != none ? edge_part::from : 0u) |
                              (wait.call != none ? edge_part::call : 0u));
    if (wait.from != none) at = put_difference(at, self, wait.from);
    if (wait.call != none) at = put_difference(at, wait.call, state.call);
    if (when) continue;
    at = put_time(at, wait.until, until);
    if (wait.until != never) until = wait.until;
  }
  if (op.status != 0) at = put_signed(at, static_cast<std::uint64_t>(std::int64_t{op.status}));
  state.finished = self;
  state.clock = base;
  return at;
}

// The same bytes for an operation that waited for nothing, or for one until it was ready, and that
// did not fail.
inline byte* put_finished(byte* at, number self, const plain_end& op, codec_state& state) {
  at = put_difference(at, self, state.finished);
  at = put_varint(at, zigzag(op.ready - state.clock) + 1);
  at = put_varint(at, zigzag(op.started - op.ready) + 1);
  at = put_varint(at, zigzag(op.ended - op.started) + 1);
  const bool waited = op.before != none;
  const bool has_queue = op.queue.kind != queue_class::none;
  *at++ = static_cast<byte>((waited ? finished_part::edges : 0) +
                            (has_queue ? finished_part::queue : 0));
  if (has_queue)
    *at++ =
        static_cast<byte>(op.queue.number + queue_kind_at * static_cast<unsigned>(op.queue.kind));
  if (waited) {
    *at++ = static_cast<byte>(static_cast<unsigned>(wait_cause::stream_order) |
                              edge_part::until_ready | edge_part::from);
    at = put_difference(at, self, op.before);
  }
  state.finished = self;
  state.clock = op.ended;
  return at;
}

inline byte* put_repeated(byte* at, number first, const repeated_record& what, codec_state& state) {
  at = put_difference(at, first, state.submitted);
  at = put_difference(at, what.like, state.like);
  at = put_difference(at, what.call, state.call);
  at = put_optional(at, what.graph);
  at = put_time(at, what.begin, state.clock);
  at = put_varint(at, what.ends.size());
  nanoseconds before = what.begin;
  for (const nanoseconds end : what.ends) {
    at = put_varint(at, end - before);
    before = end;
  }
  state.submitted = state.finished = first + static_cast<number>(what.ends.size()) - 1;
  state.like = what.like;
  state.call = what.call;
  state.clock = before;
  return at;
}

// The same back. They check what can be checked without the rest of the trace; the cursor says
// what was wrong. Numbers of calls and operations are left as they are.
struct read_call {
  number self = none;
  call_record call;
};
read_call get_call(cursor& in, codec_state& state);
number get_submitted(cursor& in, operation& op, codec_state& state);  // answers its number
// Which operation it is has to be known first, and that there is one.
number get_finished_number(cursor& in, codec_state& state);
void get_finished(cursor& in, number self, operation& op, codec_state& state);
struct read_repeated {
  number first = none, like = none, call = none, graph = none;
  nanoseconds begin = 0;
  std::vector<nanoseconds> ends;
};
read_repeated get_repeated(cursor& in, codec_state& state);

}  // namespace sb::trace
