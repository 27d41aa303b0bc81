#include "trace/codec.hpp"

namespace sb::trace {
namespace {

template <class Enum>
Enum checked(cursor& in, unsigned value, Enum last) {
  if (value > static_cast<unsigned>(last)) in.wrong();
  return in.good() ? static_cast<Enum>(value) : Enum{};
}

// A list cannot have more entries than bytes are left.
std::size_t list_size(cursor& in, std::uint64_t count) {
  if (count > list_limit) in.wrong();
  return in.good() ? std::min<std::size_t>(count, in.left() + 1) : 0;
}

std::size_t list_size(cursor& in) { return list_size(in, in.varint()); }

void get_shape(cursor& in, launch_shape& shape) {
  for (std::uint32_t& size : shape.grid) size = in.u32();
  for (std::uint32_t& size : shape.block) size = in.u32();
  shape.shared_bytes = in.u32();
  shape.registers = in.u32();
}

byte_range get_range(cursor& in, codec_state& state) {
  byte_range range;
  const unsigned how = in.u8();
  if (how > range_part::all || (how & range_part::access) == 0) in.wrong();
  range.how = in.good() ? static_cast<access>(how & range_part::access) : access::read;
  range.exact = (how & range_part::exact) != 0;
  range.allocation = in.optional();
  if (!(how & range_part::same_offset)) state.range_offset = in.varint();
  if (!(how & range_part::same_bytes)) state.range_bytes = in.varint();
  range.offset = state.range_offset;
  range.bytes = state.range_bytes;
  return range;
}

edge get_edge(cursor& in, number self, const operation& op, nanoseconds& until,
              const codec_state& state) {
  edge wait;
  const unsigned parts = in.u8();
  wait.cause = checked(in, parts & edge_part::cause, wait_cause::loading);
  if (parts & edge_part::from) wait.from = self - in.difference(0);
  if (parts & edge_part::call) wait.call = in.difference(state.call);
  if (parts & edge_part::until_ready) {
    wait.until = op.ready;
  } else if (parts & edge_part::until_started) {
    wait.until = op.started;
  } else {
    wait.until = in.time(until);
    if (wait.until != never) until = wait.until;
  }
  return wait;
}

}  // namespace

read_call get_call(cursor& in, codec_state& state) {
  read_call found;
  call_record& call = found.call;
  const unsigned parts = in.u8();
  if (parts > call_part::all(state.version)) in.wrong();
  found.self = in.difference(state.call);
  if (!(parts & call_part::same)) {
    state.thread = in.optional();
    state.name = in.optional();
    state.place = in.optional();
  }
  call.thread = state.thread;
  call.name = state.name;
  call.place = state.place;
  call.begin = in.time(state.clock);
  call.end = in.time(call.begin);
  if (parts & call_part::blocked) call.blocked = in.varint();
  if (parts & call_part::blocked_on) call.blocked_on = in.difference(state.finished);
  if (parts & call_part::status) call.status = static_cast<std::int32_t>(unzigzag(in.varint()));
  if (parts & call_part::done) {
    call.handed_over = (parts & call_part::handed_over) != 0;
    number& last = call.handed_over ? state.submitted : state.finished;
    last = call.done = in.difference(last);
    state.like = call.like = in.difference(state.like);
  } else if (parts & call_part::handed_over) {
    in.wrong();
  }
  if (parts & call_part::times) {
    const std::uint64_t times = in.varint();
    if (times < 2 || times >= none || call.done != none) in.wrong();
    call.times = static_cast<std::uint32_t>(times);
  }
  call.behind_clock = (parts & call_part::behind_clock) != 0;
  state.call = found.self;
  state.clock = call.begin;
  return found;
}

number get_submitted(cursor& in, operation& op, codec_state& state) {
  const unsigned parts = in.fixed<std::uint16_t>();
  const number self = state.submitted = in.difference(state.submitted);
  const unsigned kinds = in.u8();
  op.kind = checked(in, kinds & 15, operation_kind::marker);
  op.first_use = (kinds & first_use_kind) != 0;
  if (op.first_use && (state.version < 14 || op.kind != operation_kind::kernel)) in.wrong();
  op.engine = checked(in, (kinds & ~first_use_kind) >> 4, engine_kind::host);
  op.device = in.optional();
  op.called = in.time(state.clock);
  const nanoseconds called = op.called == never ? state.clock : op.called;
  op.queued = in.time(called);
  if (parts & part::stream) op.stream = in.u32();
  if (parts & part::call) op.call = in.difference(state.call);
  if (parts & part::name) op.name = in.u32();
  if (parts & part::record) op.record = self - in.difference(0);
  if (parts & part::event) op.event = in.u32();
  if (parts & part::graph) op.graph = in.u32();
  if (parts & part::peer) op.peer = in.u32();
  if (parts & part::bytes) op.bytes = in.varint();
  if (parts & part::priority) op.priority = static_cast<std::int8_t>(in.u8());
  op.in_graph = (parts & part::in_graph) != 0;
  op.cooperative = (parts & part::cooperative) != 0;
  if (parts & part::copy) {
    const unsigned copy = in.u8();
    op.direction = checked(in, copy & 15, copy_direction::host_to_host);
    op.host_memory = checked(in, copy >> 4, memory_kind::pageable);
  }
  if ((parts & part::shape) && (parts & part::same_shape)) in.wrong();
  if (parts & part::shape) get_shape(in, state.shape);
  if (parts & (part::shape | part::same_shape)) copy_shape(state.shape, op);
  if (parts & part::after) {
    op.after.resize(list_size(in));
    for (number& other : op.after) other = self - in.difference(0);
  }
  if (parts & part::ranges) {
    op.ranges.resize(list_size(in));
    if (op.bytes != 0) state.range_bytes = op.bytes;
    for (byte_range& range : op.ranges) range = get_range(in, state);
  }
  if (parts & part::call) state.call = op.call;
  state.clock = called;
  return self;
}

number get_finished_number(cursor& in, codec_state& state) {
  state.finished = in.difference(state.finished);
  return state.finished;
}

void get_finished(cursor& in, number self, operation& op, codec_state& state) {
  nanoseconds base = state.clock;
  for (nanoseconds* time : {&op.ready, &op.started, &op.ended}) {
    *time = in.time(base);
    if (*time != never) base = *time;
  }
  std::uint64_t parts = in.varint();
  if (state.version < 5)  // it had no queue
    parts = (parts / 2) * finished_part::edges + parts % 2;
  if (parts & finished_part::queue) {
    const unsigned queue = in.u8();
    op.queue.kind = checked(in, queue / queue_kind_at, queue_class::device_to_host);
    op.queue.number = static_cast<std::uint8_t>(queue % queue_kind_at);
  }
  op.waits.resize(list_size(in, parts / finished_part::edges));
  nanoseconds until = op.ready != never ? op.ready : base;
  for (edge& wait : op.waits) wait = get_edge(in, self, op, until, state);
  op.status =
      (parts & finished_part::status) != 0 ? static_cast<std::int32_t>(unzigzag(in.varint())) : 0;
  state.clock = base;
}

read_repeated get_repeated(cursor& in, codec_state& state) {
  read_repeated found;
  found.first = in.difference(state.submitted);
  found.like = in.difference(state.like);
  found.call = in.difference(state.call);
  found.graph = in.optional();
  found.begin = in.time(state.clock);
  found.ends.resize(list_size(in));
  nanoseconds before = found.begin;
  if (found.ends.empty() || found.begin == never) in.wrong();
  for (nanoseconds& end : found.ends) {
    end = before + in.varint();
    if (end < before) in.wrong();
    before = end;
  }
  state.submitted = state.finished = found.first + static_cast<number>(found.ends.size()) - 1;
  state.like = found.like;
  state.call = found.call;
  state.clock = before;
  return found;
}

}  // namespace sb::trace
