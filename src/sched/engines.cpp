// What runs a command: copy engines, the thread of host functions, and (residency.cpp) the
// multiprocessors.
#include <algorithm>
#include <bit>

#include "sched/state.hpp"

namespace sb::sched {

// Works until nothing more can start. A list instead of recursion: a chain of a million records
// completes in one go.
void scheduler::impl::settle() {
  for (;;) {
    while (!ready.empty()) {
      dispatch(pop(ready));
    }
    if (touched.empty()) {
      if (crowded == 0 || !std::any_of(devices.begin(), devices.end(),
                                       [this](device_state& d) { return admit(d); })) {
        return;
      }
      continue;
    }
    device_state& d = devices[touched.back()];
    touched.pop_back();
    d.touched = false;
    arbitrate(d);
  }
}

void scheduler::impl::dispatch(index command) {
  pending_command& c = commands[command];
  time.goes_on(command);
  if (!at_head(command)) {
    if (had_nothing_to_wait_for(command)) {
      take_out_of_queue(command);
      enter_engine(command);
    } else {
      c.at = phase::held;
    }
    return;
  }
  c.at = phase::queued;
  switch (c.kind) {
    case command_kind::graph_head:
      leave_queue(command);
      [[fallthrough]];
    case command_kind::event_record:
    case command_kind::event_wait:
    case command_kind::marker:
      give_entry_back(c);
      emit(action_kind::reached, c);
      finish(command);
      return;
    case command_kind::kernel: {
      // It keeps its place in the queue until it is resident (queues.tsv conn.1.gates.enqueued).
      device_state& d = devices[c.device];
      push(d.kernels[c.level], command);
      d.kernels_mask |= 1U << c.level;
      touch(c.device);
      return;
    }
    case command_kind::copy:
    case command_kind::fill:
    case command_kind::host_function:
    case command_kind::section:
      // They leave the queue when they are ready: what runs them is not what holds the queue.
      leave_queue(command);
      enter_engine(command);
      return;
  }
}

void scheduler::impl::start(index command) {
  pending_command& c = commands[command];
  c.at = phase::started;
  time.goes_on(command);
  emit(action_kind::start, c);
  give_entry_back(c);
}

namespace {

// Which engine a device has for this: device_limits::copy_engines.
std::size_t engine_for(const device_limits& l, engine_class e) {
  if (l.copy_engines < 2 || (l.copy_engines == 2 && e == engine_class::device_to_device)) {
    return 0;
  }
  return static_cast<std::size_t>(e);
}

}  // namespace

// Fills run on the multiprocessors beside the kernels, copies between host buffers on the host, and
// a section is only a frame for other commands: none of them waits for an engine. A copy between
// devices takes the third engine of the device that its stream belongs to (documented engines, not
// recorded which). On a device without engines all of them wait for their turn with the kernels
// (residency.cpp).
void scheduler::impl::enter_engine(index command) {
  pending_command& c = commands[command];
  if (c.kind == command_kind::host_function) {
    // CUDA: host functions of all streams run one at a time (ordering.tsv hostgate.n1.hostfunc.n2).
    if (host_function_runs) {
      push(host_functions, command);
    } else {
      host_function_runs = true;
      start(command);
    }
    return;
  }
  if (c.engine == engine_class::none) {
    start(command);
    return;
  }
  device_state& d = devices[c.device];
  copy_engine& e = d.copy_engines[engine_for(d.limits, c.engine)];
  const std::size_t own = line_of(d.limits, c);
  if (d.limits.copy_engines != 0 && !e.busy && !d.touched) {
    e.busy = true;
    e.last = own == no_queue_line ? e.last : own;
    start(command);
    return;
  }
  push(e.lines[own], command);
  e.ready |= own == no_queue_line ? 0 : std::uint64_t{1} << own;
  ++e.waiting;
  if (!e.busy) {
    touch(c.device);
  }
}

std::size_t scheduler::impl::line_of(const device_limits& l, const pending_command& c) {
  const bool up = c.queue == queue_class::host_to_device;
  if (l.copy_engines == 0 || !(up || c.queue == queue_class::device_to_host)) {
    return no_queue_line;
  }
  return c.copy_queue + (up ? 0 : most_connections);
}

// An engine stays with a queue as long as that has something ready, then goes to the next one that
// has (timing/orders). What stands in no queue of copies goes before what was submitted later.
std::size_t scheduler::impl::next_line(const copy_engine& e) const {
  if (e.ready == 0) {
    return no_queue_line;
  }
  const auto later =
      static_cast<std::size_t>(std::countr_zero(std::rotr(e.ready, static_cast<int>(e.last))));
  const std::size_t found = (e.last + later) % no_queue_line;
  const index outside = e.lines[no_queue_line].head;
  return outside != none && commands[outside].id < commands[e.lines[found].head].id ? no_queue_line
                                                                                    : found;
}

void scheduler::impl::start_copies(device_state& d) {
  if (d.limits.copy_engines == 0) {
    return;
  }
  for (copy_engine& e : d.copy_engines) {
    if (e.busy || e.waiting == 0) {
      continue;
    }
    const std::size_t next = next_line(e);
    const index command = pop(e.lines[next]);
    if (next != no_queue_line) {
      e.last = next;
      e.ready &= ~(std::uint64_t{e.lines[next].empty()} << next);
    }
    e.busy = true;
    --e.waiting;
    start(command);
  }
}

void scheduler::impl::leave_engine(const pending_command& c) {
  if (c.kind == command_kind::host_function) {
    if (host_functions.empty()) {
      host_function_runs = false;
    } else {
      start(pop(host_functions));
    }
  } else if (c.engine != engine_class::none) {
    device_state& d = devices[c.device];
    d.copy_engines[engine_for(d.limits, c.engine)].busy = false;
    touch(c.device);
  }
}

void scheduler::impl::complete(command_id id, std::uint64_t took) {
  const index command = ids.find(id.value);
  if (command == none) {
    return;
  }
  pending_command& c = commands[command];
  if (c.at != phase::started) {
    return;
  }
  if (c.kind == command_kind::kernel) {
    abandon(id);
    return;
  }
  time.ended(command, took);
  leave_engine(c);
  finish(command);
  settle();
}

}  // namespace sb::sched
