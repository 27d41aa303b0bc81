// What runs a command: copy engines, the thread of host functions, and (residency.cpp) the
// multiprocessors.
#include <algorithm>

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
  if (!at_head(command)) {
    if (had_nothing_to_wait_for(c)) {
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
  emit(action_kind::start, c);
  give_entry_back(c);
}

namespace {

// Which of the lines of copies an engine has: device_limits::copy_engines.
std::size_t line_of(const device_limits& l, engine_class e) {
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
  const std::size_t e = line_of(d.limits, c.engine);
  if (d.limits.copy_engines == 0) {
    push(d.copies[e], command);
    touch(c.device);
  } else if (d.copying[e] == 0) {
    d.copying[e] = 1;
    start(command);
  } else {
    push(d.copies[e], command);
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
    const std::size_t e = line_of(d.limits, c.engine);
    if (d.limits.copy_engines == 0) {
      d.copying[e] = 0;
      touch(c.device);
    } else if (d.copies[e].empty()) {
      d.copying[e] = 0;
    } else {
      start(pop(d.copies[e]));
    }
  }
}

void scheduler::impl::complete(command_id id) {
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
  leave_engine(c);
  finish(command);
  settle();
}

}  // namespace sb::sched
