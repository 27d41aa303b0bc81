// The host's waits and questions.
#include "sched/state.hpp"

namespace sb::sched {

bool scheduler::impl::idle(stream_id id) const {
  const stream_state& s = streams[id.value];
  // CUDA: a query of the legacy stream covers all blocking streams; that of a blocking stream does
  // not look at legacy work (ordering.tsv hold.*.query.*).
  return s.kind == stream_kind::legacy ? devices[s.device].blocking_work == 0 : s.pending_work == 0;
}

bool scheduler::impl::satisfied(const wait_target& t) const {
  switch (t.scope) {
    case wait_scope::command:
      return done(t.command);
    case wait_scope::stream:
      return idle(t.stream);
    case wait_scope::blocking_streams:
      return devices[t.device.value].blocking_work == 0;
    case wait_scope::device:
      break;
  }
  return devices[t.device.value].pending_work == 0;
}

void scheduler::impl::wait_for(index waiter, index command) {
  if (command != none) {
    add_edge(command, waiter, true);
    ++waiters[waiter].unmet;
  }
}

// The last legacy command is behind everything earlier in the blocking streams; what they got since
// is in the streams that are active.
void scheduler::impl::wait_for_blocking(index waiter, device_state& d) {
  if (d.legacy != none) {
    wait_for(waiter, streams[d.legacy].last);
  }
  for (index i = d.active; i != none;) {
    stream_state& s = streams[i];
    i = s.active_next;
    if (s.last == none) {
      deactivate(s);  // so that the next wait need not look at it again
    } else {
      wait_for(waiter, s.last_work);
    }
  }
}

waiter_id scheduler::impl::wait(const wait_target& t) {
  const waiter_id id{next_waiter++};
  if (satisfied(t)) {
    emit_release(id.value);
    return id;
  }
  const index w = waiters.take();
  // One more than there are commands, until all are noted.
  waiters[w] = {.id = id.value, .unmet = 1, .link = none};
  switch (t.scope) {
    case wait_scope::command:
      wait_for(w, ids.find(t.command.value));
      break;
    case wait_scope::stream: {
      stream_state& s = streams[t.stream.value];
      if (s.kind == stream_kind::legacy) {
        wait_for_blocking(w, devices[s.device]);
      } else {
        wait_for(w, s.last_work);
      }
      break;
    }
    case wait_scope::blocking_streams:
      wait_for_blocking(w, devices[t.device.value]);
      break;
    case wait_scope::device:
      for (index i = devices[t.device.value].busy; i != none; i = streams[i].busy_next) {
        wait_for(w, streams[i].last_work);
      }
      break;
  }
  resolve_waiter(w);
  return id;
}

waiter_id scheduler::impl::wait_for_room(stream_id id, queue_class queue, std::uint32_t limit) {
  const waiter_id waiter{next_waiter++};
  entry_places& places = entries_of(streams[id.value]);
  if (places.pending[static_cast<std::size_t>(queue)] < limit) {
    emit_release(waiter.value);
    return waiter;
  }
  const index w = waiters.take();
  waiters[w] = {.id = waiter.value, .unmet = limit, .link = none, .queue = queue};
  index* end = &places.waiting;
  while (*end != none) {
    end = &waiters[*end].link;
  }
  *end = w;
  return waiter;
}

void scheduler::impl::resolve_waiter(index w) {
  if (--waiters[w].unmet == 0) {
    emit_release(waiters[w].id);
    waiters.give_back(w);
  }
}

entry_places& scheduler::impl::entries_of(stream_state& s) {
  return connections == 1 ? devices[s.device].entries : s.entries;
}

void scheduler::impl::take_entry(const pending_command& c) {
  if (c.takes_entry) {
    ++entries_of(streams[c.stream]).pending[entry_queue(c)];
  }
}

void scheduler::impl::give_entry_back(pending_command& c) {
  if (!c.takes_entry) {
    return;
  }
  c.takes_entry = false;
  entry_places& places = entries_of(streams[c.stream]);
  const std::uint32_t left = --places.pending[entry_queue(c)];
  for (index* at = &places.waiting; *at != none;) {
    const index w = *at;
    if (static_cast<std::size_t>(waiters[w].queue) == entry_queue(c) && left < waiters[w].unmet) {
      *at = waiters[w].link;
      emit_release(waiters[w].id);
      waiters.give_back(w);
    } else {
      at = &waiters[w].link;
    }
  }
}

}  // namespace sb::sched
