#include "trace/assembler.hpp"

#include <algorithm>

#include "trace/utf8.hpp"

namespace sb::trace {

bool assembler::check(cursor& in, number which, std::size_t count) const {
  if (which >= count) in.wrong();
  return in.good();
}

std::string assembler::name(cursor& in, number which) const {
  if (which == none || !check(in, which, result.names.size())) return {};
  return result.names[which];
}

void assembler::seen(nanoseconds time) {
  if (time != never && time > latest_) latest_ = time;
}

// Somebody names a call: it is there, though its own record comes only when it returns.
void assembler::know_call(cursor& in, number which) {
  if (which == none || !in.good()) return;
  if (which >= calls_limit_) return in.wrong();
  if (which >= result.calls.size()) {
    result.calls.resize(which + 1);
    call_states_.resize(which + 1, call_state::unknown);
  }
}

void assembler::take(record_kind kind, cursor& in) {
  switch (kind) {
    case record_kind::name: {
      const std::string_view text = in.text(text_limit);
      if (in.good()) result.names.push_back(valid_utf8(text));
      break;
    }
    case record_kind::place: {
      place found;
      found.file = name(in, in.u32());
      found.line = in.u32();
      if (in.good()) result.places.push_back(std::move(found));
      break;
    }
    case record_kind::thread: {
      host_thread found;
      found.name = name(in, in.optional());
      if (in.good()) result.threads.push_back(std::move(found));
      break;
    }
    case record_kind::stream_name: {
      const number which = in.u32();
      std::string text = name(in, in.u32());
      if (check(in, which, result.streams.size())) result.streams[which].name = std::move(text);
      break;
    }
    case record_kind::thread_name: {
      const number which = in.u32();
      std::string text = name(in, in.u32());
      if (check(in, which, result.threads.size())) result.threads[which].name = std::move(text);
      break;
    }
    case record_kind::thread_wait: {
      thread_wait found;
      found.thread = in.u32();
      found.other = state_.version >= 15 ? in.optional() : in.u32();
      found.begin = in.time(state_.clock);
      found.end = state_.clock = in.time(found.begin);
      if (state_.version >= 12) found.what = static_cast<awaited>(in.u8());
      if (state_.version >= 15) found.function = in.optional();
      if (found.what > awaited::memory) return in.wrong();
      if (!check(in, found.thread, result.threads.size())) return;
      if (found.function != none ? !check(in, found.function, result.operations.size())
                                 : !check(in, found.other, result.threads.size()))
        return;
      result.thread_waits.push_back(found);
      seen(found.end);
      break;
    }
    case record_kind::stuck:
      return take_stuck(in);
    case record_kind::needs: {
      const number which = in.u32();
      block_needs found;
      found.alone = in.varint();
      found.arithmetic = in.u32();
      found.memory = in.u32();
      if (in.good()) needs_.emplace_back(which, found);
      break;
    }
    case record_kind::blocks: {
      const number which = in.u32();
      blocks_at_end found;
      found.resident = in.varint();
      found.waiting = in.varint();
      found.in_vain = in.varint();
      if (in.good()) left_.emplace_back(which, found);
      break;
    }
    case record_kind::device:
      return take_device(in);
    case record_kind::stream:
      return take_stream(in);
    case record_kind::allocation:
      return take_allocation(in);
    case record_kind::free:
      return take_free(in);
    case record_kind::call_begun:
      return take_call(in, false);
    case record_kind::call:
      return take_call(in, true);
    case record_kind::submitted:
      return take_submitted(in);
    case record_kind::finished:
      return take_finished(in, state_);
    case record_kind::ends:
      return take_ends(in);
    case record_kind::repeated:
      return take_repeated(in);
    case record_kind::range_begun:
      return take_annotation(in, annotation::shape::range);
    case record_kind::mark:
      return take_annotation(in, annotation::shape::mark);
    case record_kind::range_ended:
      return take_end_of_range(in);
    default:
      in.wrong();
  }
}

void assembler::take_stuck(cursor& in) {
  stuck_thread found;
  found.thread = in.optional();
  found.function = in.optional();
  const unsigned kinds = in.u8();
  const unsigned what = kinds & ~stuck_holder_ended;
  found.holder_ended = what != kinds;
  found.object = in.u32();
  found.holder = in.optional();
  found.holding_function = in.optional();
  if (what > static_cast<unsigned>(awaited::memory)) return in.wrong();
  found.what = static_cast<awaited>(what);
  for (const number thread : {found.thread, found.holder})
    if (thread != none && !check(in, thread, result.threads.size())) return;
  for (const number function : {found.function, found.holding_function})
    if (function != none && !check(in, function, result.operations.size())) return;
  if (in.good()) result.stuck.push_back(found);
}

void assembler::take_device(cursor& in) {
  device found;
  found.name = name(in, in.u32());
  for (std::uint32_t* value :
       {&found.multiprocessors, &found.threads_per_multiprocessor, &found.blocks_per_multiprocessor,
        &found.shared_per_multiprocessor, &found.registers_per_multiprocessor,
        &found.reserved_shared_per_block, &found.resident_kernels, &found.copy_engines,
        &found.to_device.latency_ns, &found.to_device.bytes_per_us, &found.to_host.latency_ns,
        &found.to_host.bytes_per_us})
    *value = in.u32();
  if (in.good()) result.devices.push_back(std::move(found));
}

void assembler::take_stream(cursor& in) {
  stream found;
  found.device = in.optional();
  if (found.device != none) (void)check(in, found.device, result.devices.size());
  const unsigned kind = in.u8();
  if ((kind & 15) > static_cast<unsigned>(stream_kind::non_blocking) || kind > 31) in.wrong();
  found.kind = in.good() ? static_cast<stream_kind>(kind & 15) : stream_kind::blocking;
  found.per_thread = (kind & 16) != 0;
  found.priority = static_cast<std::int32_t>(unzigzag(in.varint()));
  found.connection = in.optional();
  found.name = name(in, in.optional());
  if (in.good()) result.streams.push_back(std::move(found));
}

void assembler::take_allocation(cursor& in) {
  allocation found;
  const unsigned kind = in.u8();
  if (kind > static_cast<unsigned>(memory_kind::pageable)) in.wrong();
  found.kind = in.good() ? static_cast<memory_kind>(kind) : memory_kind::device;
  found.device = in.optional();
  if (found.device != none) (void)check(in, found.device, result.devices.size());
  found.bytes = in.varint();
  state_.clock = found.from = in.time(state_.clock);
  found.allocated_by = in.optional();
  know_call(in, found.allocated_by);
  if (!in.good()) return;
  seen(found.from);
  result.allocations.push_back(found);
}

void assembler::take_free(cursor& in) {
  const number which = in.u32();
  state_.clock = in.time(state_.clock);
  const number call = in.optional();
  know_call(in, call);
  if (!check(in, which, result.allocations.size())) return;
  result.allocations[which].to = state_.clock;
  result.allocations[which].freed_by = call;
  seen(state_.clock);
}

void assembler::take_call(cursor& in, bool returned) {
  const auto [self, record] = get_call(in, state_);
  if (self == none) in.wrong();
  if (record.thread != none) (void)check(in, record.thread, result.threads.size());
  if (record.place != none) (void)check(in, record.place, result.places.size());
  std::string text = name(in, record.name);
  know_call(in, self);
  if (record.done != none && ((!returned && !record.handed_over) || !can_be_done(record)))
    in.wrong();
  if (!in.good()) return;
  call_state& known = call_states_[self];
  // The record of its return is the last. Before it waits, and again at the end of the recording
  // when it has handed over work, a call is told as begun.
  if (known == call_state::returned ||
      (!returned && known == call_state::begun && !record.handed_over))
    return in.wrong();
  known = returned ? call_state::returned : call_state::begun;
  keep_call(self, record, std::move(text));
  if (record.done != none) add_done(self, record);
}

operation& assembler::add_operation(number self) {
  if (self >= result.operations.size()) {
    result.operations.resize(self + 1);
    known_operations_.resize(self + 1, false);
  }
  known_operations_[self] = true;
  return result.operations[self];
}

// Somebody names an operation whose call tells of it later.
void assembler::know_operation(cursor& in, number which) {
  if (which == none || !in.good()) return;
  if (which >= calls_limit_ || (state_.version < 7 && which >= result.operations.size()))
    return in.wrong();
  if (which < result.operations.size()) return;
  result.operations.resize(which + 1);
  known_operations_.resize(which + 1, false);
}

bool assembler::can_be_done(const call_record& call) const {
  return call.like < call.done && call.done < calls_limit_ && !knows_operation(call.done) &&
         knows_operation(call.like) && call.begin <= call.end;
}

void assembler::add_done(number self, const call_record& call) {
  operation& op = add_operation(call.done);
  operation end = std::move(op);  // it may be over already
  op = result.operations[call.like];
  op.call = self;
  op.first_use = false;
  if (op.record != none) op.record = call.done - (call.like - op.record);
  op.called = op.queued = op.ready = op.started = call.begin;
  op.ended = call.end;
  op.waits.clear();
  op.status = 0;
  if (call.handed_over) take_end(op, std::move(end));
}

void assembler::take_end(operation& op, operation&& end) {
  op.ready = end.ready;
  op.started = end.started;
  op.ended = end.ended;
  op.status = end.status;
  op.queue = end.queue;
  op.waits = std::move(end.waits);
}

void assembler::take_pending(const pending_call& one) {
  const call_record& record = one.call;
  const auto exists = [](number which, std::size_t count) {
    return which == none || which < count;
  };
  if (one.self >= calls_limit_ || record.begin > record.end ||
      !exists(record.thread, result.threads.size()) ||
      !exists(record.place, result.places.size()) || !exists(record.name, result.names.size()))
    return;
  if (one.self >= result.calls.size()) {
    result.calls.resize(one.self + 1);
    call_states_.resize(one.self + 1, call_state::unknown);
  }
  call_state& known = call_states_[one.self];
  const call_state now = record.end == never ? call_state::begun : call_state::returned;
  if (known == call_state::returned) return;
  if (now > known)
    keep_call(one.self, record, record.name == none ? "" : result.names[record.name]);
  known = std::max(known, now);
  if (record.done != none && can_be_done(record)) add_done(one.self, record);
}

void assembler::keep_call(number self, const call_record& record, std::string name) {
  call& found = result.calls[self];
  found.thread = record.thread;
  found.name = std::move(name);
  found.place = record.place;
  found.begin = record.begin;
  found.end = record.end;
  found.blocked = record.blocked;
  found.blocked_on = record.blocked_on;
  found.status = record.status;
  found.times = record.times;
  found.behind_clock = record.behind_clock;
  seen(record.begin);
  seen(record.end);
}

void assembler::take_submitted(cursor& in) {
  operation op;
  const number self = get_submitted(in, op, state_);
  if (self >= calls_limit_ || knows_operation(self)) in.wrong();
  if (op.device != none) (void)check(in, op.device, result.devices.size());
  if (op.peer != none) (void)check(in, op.peer, result.devices.size());
  if (op.stream != none) (void)check(in, op.stream, result.streams.size());
  if (op.name != none) (void)check(in, op.name, result.names.size());
  if (op.record != none) (void)check(in, op.record, self);
  for (const number other : op.after) (void)check(in, other, self);
  for (const byte_range& range : op.ranges)
    if (range.allocation != none) (void)check(in, range.allocation, result.allocations.size());
  know_call(in, op.call);
  if (!in.good()) return;
  seen(op.called);
  seen(op.queued);
  add_operation(self) = std::move(op);
}

// Of several operations, with a state of their own.
void assembler::take_ends(cursor& in) {
  const std::string_view bytes = in.text(pending_lane_bytes);
  const auto* const begin = reinterpret_cast<const byte*>(bytes.data());
  cursor each(begin, begin + bytes.size());
  codec_state state;
  state.version = state_.version;
  while (each.good() && each.left() > 0) {
    if (each.u8() != static_cast<byte>(record_kind::finished)) each.wrong();
    if (each.good()) take_finished(each, state);
  }
  if (!each.good()) in.wrong();
}

void assembler::take_pending_ends(std::span<const byte> lane) {
  cursor in(lane.data(), lane.data() + lane.size());
  codec_state state;
  state.version = state_.version;
  while (in.good() && in.u8() == static_cast<byte>(record_kind::finished)) take_finished(in, state);
}

void assembler::take_finished(cursor& in, codec_state& state) {
  const number self = get_finished_number(in, state);
  if (state_.version < 7 ? !knows_operation(self) : self == none) return in.wrong();
  know_operation(in, self);
  operation found;  // a record that is cut off leaves the operation as it was
  get_finished(in, self, found, state);
  for (const edge& wait : found.waits) {
    know_operation(in, wait.from);
    know_call(in, wait.call);
  }
  if (!in.good()) return;
  operation& op = result.operations[self];
  take_end(op, std::move(found));
  for (const nanoseconds time : {op.ready, op.started, op.ended}) seen(time);
}

void assembler::take_repeated(cursor& in) {
  const read_repeated found = get_repeated(in, state_);
  const auto count = static_cast<number>(found.ends.size());
  if (found.first >= calls_limit_ || found.like >= found.first || found.first - found.like < count)
    return in.wrong();
  for (number i = 0; i < count; ++i)
    if (knows_operation(found.first + i) || !knows_operation(found.like + i)) return in.wrong();
  know_call(in, found.call);
  if (!in.good()) return;
  calls_limit_ += count;
  const number by = found.first - found.like;
  const auto is_other = [&](number which) { return which - found.like >= count; };
  nanoseconds begin = found.begin;
  for (number i = 0; i < count; ++i) {
    operation op = result.operations[found.like + i];
    op.first_use = false;
    op.call = found.call;
    if (op.graph != none) op.graph = found.graph;
    op.called = op.queued = found.begin;
    op.ready = op.started = begin;
    begin = op.ended = found.ends[i];
    op.status = 0;
    std::erase_if(op.after, is_other);
    for (number& other : op.after) other += by;
    std::erase_if(op.waits, [&](const edge& e) { return is_other(e.from); });
    for (edge& e : op.waits) {
      e.until = found.ends[e.from - found.like];
      e.from += by;
    }
    add_operation(found.first + i) = std::move(op);
  }
  seen(found.begin);
  seen(begin);
}

void assembler::take_annotation(cursor& in, annotation::shape shape) {
  annotation found;
  found.what = shape;
  found.thread = in.optional();
  if (found.thread != none) (void)check(in, found.thread, result.threads.size());
  found.domain = name(in, in.optional());
  found.category = name(in, in.optional());
  found.text = name(in, in.optional());
  found.colour = in.u32();
  state_.clock = found.begin = in.time(state_.clock);
  if (shape == annotation::shape::mark) found.end = found.begin;
  if (!in.good()) return;
  seen(found.begin);
  result.annotations.push_back(std::move(found));
}

void assembler::take_end_of_range(cursor& in) {
  const number which = in.u32();
  state_.clock = in.time(state_.clock);
  if (!check(in, which, result.annotations.size())) return;
  result.annotations[which].end = state_.clock;
  seen(state_.clock);
}

// An operation whose number was given out and that did not come into the file: those behind it
// move up.
void assembler::close_gaps() {
  if (std::find(known_operations_.begin(), known_operations_.end(), false) ==
      known_operations_.end())
    return;
  std::vector<number> moved(result.operations.size(), none);
  std::vector<operation> all;
  for (number i = 0; i < moved.size(); ++i) {
    if (!known_operations_[i]) continue;
    moved[i] = static_cast<number>(all.size());
    all.push_back(std::move(result.operations[i]));
  }
  const auto now = [&](number old) { return old < moved.size() ? moved[old] : none; };
  for (operation& op : all) {
    op.record = now(op.record);
    for (number& other : op.after) other = now(other);
    std::erase(op.after, none);
    std::erase_if(op.waits, [&](const edge& e) { return e.from != none && now(e.from) == none; });
    for (edge& e : op.waits) e.from = now(e.from);
  }
  for (call& one : result.calls) one.blocked_on = now(one.blocked_on);
  for (stuck_thread& one : result.stuck) {
    one.function = now(one.function);
    one.holding_function = now(one.holding_function);
  }
  result.operations = std::move(all);
}

void assembler::finish() {
  for (const auto& [operation, found] : needs_)
    if (operation < result.operations.size()) result.operations[operation].needs = found;
  for (const auto& [operation, found] : left_)
    if (operation < result.operations.size()) result.operations[operation].left = found;
  close_gaps();
  if (result.head.end == ending::unknown) result.end = latest_;
  for (std::size_t i = 0; i < result.calls.size(); ++i) {
    if (call_states_[i] == call_state::returned) continue;
    call& open = result.calls[i];
    open.returned = false;
    open.end = result.end;
    if (call_states_[i] == call_state::unknown)
      open.begin = never;  // its first work says when
    else if (open.begin <= open.end)
      open.blocked = open.end - open.begin;
  }
  for (const operation& op : result.operations) {
    if (op.call == none || call_states_[op.call] != call_state::unknown) continue;
    call& open = result.calls[op.call];
    open.begin = std::min(open.begin, op.called);
  }
  for (call& one : result.calls) {
    if (one.begin == never && !one.returned) one.begin = result.end;
    if (one.blocked_on >= result.operations.size()) one.blocked_on = none;
  }
}

}  // namespace sb::trace
