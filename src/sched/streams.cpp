// Streams and dependencies: what a command waits for, and what happens when it is complete.
#include <algorithm>
#include <cassert>

#include "sched/state.hpp"

namespace sb::sched {

stream_id scheduler::impl::create_stream(device_id device, stream_kind kind, int /*priority*/) {
  // A command carries its priority itself: graph nodes may have another one than their stream.
  device_state& d = devices[device.value];
  const bool legacy = kind == stream_kind::legacy;
  if (legacy && d.legacy != none) {
    return {d.legacy};
  }
  const index i = streams.take();
  if (legacy) {
    d.legacy = i;
  }
  streams[i] = {.legacy_seen = command_id::none_value,
                .last = none,
                .last_work = none,
                .pending = 0,
                .pending_work = 0,
                .entries = {},
                .active_previous = none,
                .active_next = none,
                .busy_previous = none,
                .busy_next = none,
                .link = none,
                .device = static_cast<std::uint16_t>(device.value),
                .connection = no_connection,
                .copy_queues = {no_connection, no_connection},
                .kind = kind,
                .last_queue = queue_class::compute,
                .active = false,
                .destroyed = false};
  return {i};
}

void scheduler::impl::destroy_stream(stream_id id) {
  stream_state& s = streams[id.value];
  if (s.kind == stream_kind::legacy || s.destroyed) {
    return;
  }
  s.destroyed = true;
  release_if_drained(id.value);
}

void scheduler::impl::release_if_drained(index stream) {
  stream_state& s = streams[stream];
  if (!s.destroyed || s.pending != 0 || s.entries.waiting != none) {
    return;
  }
  if (s.active) {
    deactivate(s);
  }
  streams.give_back(stream);
}

void scheduler::impl::activate(stream_state& s, index stream) {
  device_state& d = devices[s.device];
  s.active = true;
  s.active_previous = none;
  s.active_next = d.active;
  if (d.active != none) {
    streams[d.active].active_previous = stream;
  }
  d.active = stream;
}

void scheduler::impl::deactivate(stream_state& s) {
  s.active = false;
  if (s.active_next != none) {
    streams[s.active_next].active_previous = s.active_previous;
  }
  if (s.active_previous != none) {
    streams[s.active_previous].active_next = s.active_next;
  } else {
    devices[s.device].active = s.active_next;
  }
}

void scheduler::impl::depend(index command, index on) {
  add_edge(on, command, false);
  pending_command& c = commands[command];
  ++c.unmet;
  c.behind_crowd |= commands[on].behind_crowd;
}

// CUDA: after everything earlier in the stream; the legacy stream and the blocking streams of a
// device wait for each other (ordering.tsv hold.*, legacy.*). Records and waits in the legacy
// stream count as legacy work as well (ordering.tsv legacy.eventrecord.barrier.b2,
// legacy.streamwait.barrier.b2).
void scheduler::impl::depend_on_stream(index command, stream_state& s) {
  pending_command& c = commands[command];
  device_state& d = devices[s.device];
  if (s.last != none) {
    commands[s.last].next_in_stream = command;
    ++c.unmet;
    c.behind_crowd |= commands[s.last].behind_crowd;
  }
  if (s.kind == stream_kind::legacy) {
    for (index i = d.active; i != none;) {
      stream_state& blocking = streams[i];
      if (blocking.last != none) {
        depend(command, blocking.last);
      }
      blocking.active = false;
      i = blocking.active_next;
    }
    d.active = none;
  } else if (synchronises_with_legacy(s.kind)) {
    if (d.legacy != none) {
      const index legacy = streams[d.legacy].last;
      // One edge is enough for the stream: its later commands are behind this one.
      if (legacy != none && commands[legacy].id != s.legacy_seen) {
        s.legacy_seen = commands[legacy].id;
        depend(command, legacy);
      }
    }
    if (!s.active) {
      activate(s, c.stream);
    }
  }
  s.last = command;
}

bool scheduler::impl::clear(stream_id id) const {
  constexpr int looked_at = 8;  // the next legacy command makes the list short again
  const stream_state& s = streams[id.value];
  const device_state& d = devices[s.device];
  if (s.pending != 0 || connections == 1 || d.connections_stuck == all_connections()) {
    return false;
  }
  if (s.kind == stream_kind::legacy) {
    index i = d.active;
    for (int n = 0; n < looked_at && i != none; ++n, i = streams[i].active_next) {
      if (streams[i].last != none) {
        return false;
      }
    }
    return i == none;
  }
  return !synchronises_with_legacy(s.kind) || d.legacy == none || streams[d.legacy].last == none;
}

// Notes a new command in its stream and its device.
void scheduler::impl::count(const pending_command& c, stream_state& s) {
  ++s.pending;
  take_entry(c);
  if (!makes_stream_busy(c.kind)) {
    return;
  }
  device_state& d = devices[s.device];
  if (s.pending_work++ == 0) {
    s.busy_previous = none;
    s.busy_next = d.busy;
    if (d.busy != none) {
      streams[d.busy].busy_previous = c.stream;
    }
    d.busy = c.stream;
  }
  ++d.pending_work;
  if (s.kind != stream_kind::non_blocking) {
    ++d.blocking_work;
  }
}

void scheduler::impl::uncount(index command, const pending_command& c, stream_state& s) {
  if (s.last == command) {
    s.last = none;
  }
  if (s.last_work == command) {
    s.last_work = none;
  }
  if (--s.pending == 0) {
    leave_copy_queues(s);
    if (s.connection != no_connection) {
      unbind(s);
    }
  }
  if (makes_stream_busy(c.kind)) {
    device_state& d = devices[s.device];
    --d.pending_work;
    if (s.kind != stream_kind::non_blocking) {
      --d.blocking_work;
    }
    if (--s.pending_work == 0) {
      if (s.busy_next != none) {
        streams[s.busy_next].busy_previous = s.busy_previous;
      }
      if (s.busy_previous != none) {
        streams[s.busy_previous].busy_next = s.busy_next;
      } else {
        d.busy = s.busy_next;
      }
    }
  }
}

namespace {

engine_class engine_of(const command& c, const device_limits& l) {
  if (c.kind == command_kind::fill && l.copy_engines == 0) {
    return engine_class::device_to_device;  // it takes its turn like everything else
  }
  if (c.kind != command_kind::copy) {
    return engine_class::none;
  }
  switch (c.direction) {
    case copy_direction::host_to_device:
      return engine_class::host_to_device;
    case copy_direction::device_to_host:
      return engine_class::device_to_host;
    case copy_direction::device_to_device:
    case copy_direction::peer:
      return engine_class::device_to_device;
    case copy_direction::host_to_host:
      return engine_class::none;
  }
  return engine_class::none;
}

std::uint8_t level_of(int priority) {
  return static_cast<std::uint8_t>(
      std::clamp(priority - first_priority, 0, static_cast<int>(priority_levels) - 1));
}

}  // namespace

// CUDA: a wait for an event that was never recorded enqueues nothing (ordering.tsv
// event.wait.before.record.noop). Nor does one for a record that is complete (random.tsv 316 and
// 341), but in the legacy stream it is still a point where blocking streams meet (random.tsv and
// random_conn1.tsv 131).
bool scheduler::impl::enqueues_nothing(const command& wait,
                                       std::span<const command_id> after) const {
  if (!done(wait.record) ||
      !std::all_of(after.begin(), after.end(), [&](command_id id) { return done(id); })) {
    return false;
  }
  return !wait.record.valid() || streams[wait.stream.value].kind != stream_kind::legacy;
}

command_id scheduler::impl::submit(const command& c, std::span<const command_id> after,
                                   gathering and_after) {
  const bool in_stream = c.order == command_order::in_stream;
  if (c.kind == command_kind::event_wait && in_stream && enqueues_nothing(c, after)) {
    const std::uint64_t id = ids.bind_complete();
    actions.push_back({.kind = action_kind::reached,
                       .queue = {},
                       .id = {id},
                       .waiter = {},
                       .payload = c.payload});
    return {id};
  }
  assert(c.stream.valid());
  stream_state& s = streams[c.stream.value];
  const index i = commands.take();
  pending_command& p = commands[i];
  const std::uint16_t device =
      c.device.valid() ? static_cast<std::uint16_t>(c.device.value) : s.device;
  p = {.id = ids.bind(i),
       .payload = c.payload,
       .blocks = std::max<std::uint64_t>(1, c.kernel.blocks),
       .stream = c.stream.value,
       .unmet = 0,
       .edges = none,
       .next_in_stream = none,
       .queue_next = none,
       .link = none,
       .shared_bytes = c.kernel.shared_bytes,
       .threads_per_block = static_cast<std::uint16_t>(c.kernel.threads_per_block),
       .device = device,
       .registers = static_cast<std::uint8_t>(std::min(255U, c.kernel.registers)),
       .level = level_of(c.priority),
       .kind = c.kind,
       .engine = engine_of(c, devices[device].limits),
       .queue = queue_of(c),
       .at = phase::waiting,
       .copy_queue = no_connection,
       .cooperative = c.kernel.cooperative,
       .in_stream = in_stream,
       .takes_entry = entry_of(c) != queue_class::none,
       .behind_crowd = false,
       .depends_on_crowd = false};
  const command_id id{p.id};
  time.submitted(i);

  if (in_stream) {
    if (s.last == none) {
      s.last_queue = queue_class::compute;
    }
    depend_on_stream(i, s);
    if (makes_stream_busy(c.kind)) {
      s.last_work = i;
    }
  }
  count(p, s);
  if (c.kind == command_kind::event_wait) {
    if (const index record = ids.find(c.record.value); record != none && record != i) {
      depend(i, record);
    }
  }
  for (const command_id other : after) {
    if (const index found = ids.find(other.value); found != none && found != i) {
      depend(i, found);
    }
  }
  if (!done(and_after)) {
    depend(i, and_after.place);
  }

  if (in_stream && stands_like_host_function(c)) {
    p.queue = host_function_queue(s.last_queue, p.unmet != 0);
    p.blocks = time.clock();
  } else if (p.queue != queue_class::none) {
    s.last_queue = p.queue;
  }
  enter_queue(i);
  if (p.unmet == 0) {
    p.at = phase::ready;
    dispatch(i);
    settle();
  }
  return id;
}

void scheduler::impl::resolve(index command, index by) {
  pending_command& c = commands[command];
  time.passed_on(by, command);
  if (--c.unmet != 0) {
    return;
  }
  if (c.id == command_id::none_value) {
    c.payload = 0;
    release_edges(command);
    commands.give_back(command);
    return;
  }
  c.at = phase::ready;
  push(ready, command);
}

gathering scheduler::impl::gather(std::span<const command_id> all) {
  const index i = commands.take();
  pending_command& p = commands[i];
  p = {};
  p.id = command_id::none_value;
  p.edges = none;
  time.submitted(i);
  for (const command_id id : all) {
    if (const index found = ids.find(id.value); found != none) {
      depend(i, found);
    }
  }
  if (p.unmet == 0) {
    commands.give_back(i);
    return {};
  }
  p.payload = ++gatherings;
  return {.place = i, .number = p.payload};
}

bool scheduler::impl::done(gathering all) const {
  if (all.number == 0) {
    return true;
  }
  const pending_command& p = commands[all.place];
  return p.id != command_id::none_value || p.payload != all.number;
}

// What waits for it need not any more.
void scheduler::impl::release_edges(index command) {
  const pending_command& c = commands[command];
  if (c.edges == none) {
    return;
  }
  const index last = c.edges;
  for (index e = edges[last].link;;) {
    const edge now = edges[e];
    if (now.is_waiter) {
      resolve_waiter(now.target);
    } else {
      resolve(now.target, command);
    }
    edges.give_back(e);
    if (e == last) {
      break;
    }
    e = now.link;
  }
}

// The command is complete: tells what waits for it and gives its place back.
void scheduler::impl::finish(index command) {
  pending_command& c = commands[command];
  stream_state& s = streams[c.stream];
  ids.release(c.id);
  uncount(command, c, s);
  if (c.next_in_stream != none) {
    resolve(c.next_in_stream, command);
  }
  release_edges(command);
  if (s.destroyed) {
    release_if_drained(c.stream);
  }
  commands.give_back(command);
}

}  // namespace sb::sched
