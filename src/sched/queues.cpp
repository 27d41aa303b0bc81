// Hardware queues: where streams share one, commands start in the order of their issue, and one
// that is not ready holds all later ones whatever their stream. A stream has a connection from its
// first command in a compute queue until nothing of it is pending; a queue of copies it has until
// another stream had to take that one, and its next copy goes to another queue then
// (timing/orders).
#include <algorithm>
#include <bit>
#include <utility>

#include "sched/state.hpp"

namespace sb::sched {

line* scheduler::impl::queue(const pending_command& c) {
  if (c.queue == queue_class::none) {
    return nullptr;
  }
  return &devices[streams[c.stream].device].queues[place_of(number_of(c), c.queue)];
}

hardware_queue scheduler::impl::place_of(const pending_command& c) const {
  if (c.queue == queue_class::none) return {};
  const std::uint8_t which = number_of(c);
  return which == no_connection ? hardware_queue{} : hardware_queue{c.queue, which};
}

// The connection that an idle stream takes: one that no stream has work in; or the next that
// nothing is stuck in. The bits of a connection say so.
std::uint32_t scheduler::impl::free_connection(const device_state& d) const {
  const std::uint32_t all = all_connections();
  if (const std::uint32_t unused = all & ~d.connections_used; unused != 0) {
    return static_cast<std::uint32_t>(std::countr_zero(unused));
  }
  const std::uint32_t open = all & ~d.connections_stuck;
  const std::uint32_t later = open & (all << d.connection_turn);
  return open == 0 ? 0 : static_cast<std::uint32_t>(std::countr_zero(later != 0 ? later : open));
}

namespace {

std::size_t way_of(queue_class queue) { return queue == queue_class::host_to_device ? 0 : 1; }

}  // namespace

// The next queue of copies that no stream has; or the next, whatever is stuck there.
std::uint32_t scheduler::impl::free_copy_queue(const device_state& d, queue_class queue) const {
  const std::size_t way = way_of(queue);
  const std::uint32_t all = queues_of(queue, connections);
  std::uint32_t found = d.copy_turns[way];
  for (std::uint32_t i = 0; i < all && d.copy_owners[way][found] != none; ++i) {
    found = (found + 1) % all;
  }
  return found;
}

// The queue of copies that what comes next in the stream goes to.
std::uint8_t scheduler::impl::take_copy_queue(index stream, queue_class queue) {
  const std::size_t way = way_of(queue);
  stream_state& s = streams[stream];
  if (s.copy_queues[way] != no_connection) {
    return s.copy_queues[way];
  }
  device_state& d = devices[s.device];
  const std::uint32_t taken = free_copy_queue(d, queue);
  if (const index before = std::exchange(d.copy_owners[way][taken], stream); before != none) {
    streams[before].copy_queues[way] = no_connection;
  }
  s.copy_queues[way] = static_cast<std::uint8_t>(taken);
  d.copy_turns[way] = (taken + 1) % queues_of(queue, connections);
  return s.copy_queues[way];
}

void scheduler::impl::leave_copy_queues(stream_state& s) {
  for (std::size_t way = 0; way < s.copy_queues.size(); ++way) {
    if (const std::uint8_t left = std::exchange(s.copy_queues[way], no_connection);
        left != no_connection) {
      devices[s.device].copy_owners[way][left] = none;
    }
  }
}

void scheduler::impl::bind(index stream, std::uint32_t connection) {
  stream_state& s = streams[stream];
  device_state& d = devices[s.device];
  s.connection = static_cast<std::uint8_t>(connection);
  d.connection_turn = (s.connection + 1U) % connections;
  if (d.streams_in[s.connection]++ != 0 && grace != 0 && connections != 1) {
    drop_late_sharers(d);
    d.sharers.push_back({stream, time.clock()});
  }
  d.connections_used |= 1U << s.connection;
}

void scheduler::impl::unbind(stream_state& s) {
  device_state& d = devices[s.device];
  const std::uint32_t left = std::exchange(s.connection, no_connection);
  if (--d.streams_in[left] == 0) {
    d.connections_used &= ~(1U << left);
    if (d.crowd.empty()) {
      offer_to_sharers(d, left);
    }
  }
}

bool scheduler::impl::needs_time() const {
  return grace != 0 && std::any_of(devices.begin(), devices.end(), [this](const device_state& d) {
           return connections == 1 || d.connections_used == all_connections();
         });
}

void scheduler::impl::drop_late_sharers(device_state& d) {
  while (!d.sharers.empty() && time.clock() - d.sharers.front().since > grace) {
    d.sharers.pop_front();
  }
}

// A faster machine would have had this connection unused when the first of them came.
void scheduler::impl::offer_to_sharers(device_state& d, std::uint32_t connection) {
  drop_late_sharers(d);
  while (!d.sharers.empty()) {
    const index stream = d.sharers.front().stream;
    d.sharers.pop_front();
    const stream_state& s = streams[stream];
    if (&devices[s.device] == &d && s.connection != no_connection &&
        d.streams_in[s.connection] > 1) {
      move(stream, connection);
      return;
    }
  }
}

// Takes a stream, with what of it stands in its queue, to a connection that is unused.
void scheduler::impl::move(index stream, std::uint32_t connection) {
  stream_state& s = streams[stream];
  device_state& d = devices[s.device];
  line& from = d.queues[place_of(s.connection, queue_class::compute)];
  line& to = d.queues[place_of(connection, queue_class::compute)];
  line stays;
  index before = none;
  for (index i = from.head; i != none;) {
    const index next = std::exchange(commands[i].queue_next, none);
    line& q = commands[i].stream == stream ? to : stays;
    if (tells_queues && q.tail != std::exchange(before, i)) {
      tell_new_place(commands[i], q.tail, d.last_left[connection]);
    }
    append(q, i);
    i = next;
  }
  from = stays;
  const auto note = [&](std::uint32_t which, const line& q) {
    d.connections_stuck &= ~(1U << which);
    d.connections_stuck |= (q.empty() ? 0U : 1U) << which;
    wake_head(q);
  };
  note(s.connection, from);
  note(connection, to);
  --d.streams_in[s.connection];
  ++d.streams_in[connection];
  d.connections_used |= 1U << connection;
  s.connection = static_cast<std::uint8_t>(connection);
}

// What came to the head of its queue may have been waiting for just that.
void scheduler::impl::wake_head(const line& q) {
  if (q.empty()) {
    return;
  }
  pending_command& first = commands[q.head];
  if (first.at == phase::held) {
    first.at = phase::ready;
    push(ready, q.head);
  }
}

void scheduler::impl::append(line& q, index command) {
  if (q.tail == none) {
    q.head = command;
  } else {
    commands[q.tail].queue_next = command;
  }
  q.tail = command;
}

// Whether what comes next in the stream finds a queue at once.
bool scheduler::impl::has_way_in(const stream_state& s, queue_class queue) const {
  const device_state& d = devices[s.device];
  return queue != queue_class::compute || connections == 1 || s.connection != no_connection ||
         (d.crowd.empty() && d.connections_stuck != all_connections());
}

void scheduler::impl::enter_queue(index command) {
  pending_command& c = commands[command];
  if (c.queue == queue_class::none) {
    return;
  }
  const stream_state& s = streams[c.stream];
  device_state& d = devices[s.device];
  c.depends_on_crowd = c.behind_crowd && crowded != 0;
  if (!c.depends_on_crowd && has_way_in(s, c.queue)) {
    enter_connection(command, s.connection != no_connection ? s.connection : free_connection(d));
    return;
  }
  if (d.crowd.empty()) {
    ++crowded;
  }
  c.behind_crowd = true;
  append(d.crowd, command);
}

void scheduler::impl::enter_connection(index command, std::uint32_t connection) {
  pending_command& c = commands[command];
  if (c.queue != queue_class::compute) {
    c.copy_queue = take_copy_queue(c.stream, c.queue);
  } else if (streams[c.stream].connection == no_connection) {
    bind(c.stream, connection);
  }
  line& q = *queue(c);
  tell_place(c, q.tail);
  append(q, command);
  note_stuck(c, true);
}

// What stood in front of it does not any more; `freed_by` made that possible.
void scheduler::impl::tell_new_place(const pending_command& c, index behind,
                                     std::uint64_t freed_by) {
  if (behind != none && commands[behind].stream != c.stream) {
    emit(action_kind::entered, c, commands[behind].id);
  } else {
    emit(action_kind::admitted, c, freed_by);
  }
}

void scheduler::impl::tell_place(const pending_command& c, index behind) {
  if (tells_queues && behind != none && commands[behind].stream != c.stream) {
    emit(action_kind::entered, c, commands[behind].id);
  }
}

// Where something is stuck in every connection, what a stream without one gets has to wait until
// one of them is free (crowds.tsv), or all that stood there when it came has left. Hardware: it
// goes behind one of them at once; which, and so whom it waits for when only some go on, is not
// known. None: it waits.
std::uint32_t scheduler::impl::connection_for_crowd(const device_state& d,
                                                    const pending_command& c) const {
  const stream_state& s = streams[c.stream];
  if (c.queue != queue_class::compute) {
    return 0;  // it takes no part in that
  }
  if (s.connection != no_connection) {
    return s.connection;
  }
  if (d.connections_stuck != all_connections()) {
    return free_connection(d);
  }
  for (std::uint32_t i = 0; i < connections; ++i) {
    const std::uint32_t in_turn = (d.connection_turn + i) % connections;
    const index head = d.queues[place_of(in_turn, queue_class::compute)].head;
    if (commands[head].id > c.id) {
      return in_turn;
    }
  }
  return no_connection;
}

// The first command of the crowd goes to a connection, if it may. What depends on the crowd of any
// device comes behind all of it: everything comes to its queue after what it depends on, and so no
// two queues wait for each other.
bool scheduler::impl::admit(device_state& d) {
  const index command = d.crowd.head;
  if (command == none) {
    return false;
  }
  pending_command& c = commands[command];
  if (c.depends_on_crowd &&
      std::any_of(devices.begin(), devices.end(), [&](const device_state& other) {
        return !other.crowd.empty() && commands[other.crowd.head].id < c.id;
      })) {
    return false;
  }
  const std::uint32_t connection = connection_for_crowd(d, c);
  if (connection == no_connection) {
    return false;
  }
  d.crowd.head = std::exchange(c.queue_next, none);
  if (d.crowd.empty()) {
    d.crowd.tail = none;
    --crowded;
  }
  enter_connection(command, connection);
  if (tells_queues && c.queue == queue_class::compute && at_head(command)) {
    emit(action_kind::admitted, c, d.last_left[streams[c.stream].connection]);
  }
  if (c.at == phase::held && at_head(command)) {
    c.at = phase::ready;
    push(ready, command);
  }
  return true;
}

// What came to its queue stays there only if it is stuck.
void scheduler::impl::note_stuck(const pending_command& c, bool stuck) {
  if (c.queue != queue_class::compute) {
    return;
  }
  const stream_state& s = streams[c.stream];
  std::uint32_t& bits = devices[s.device].connections_stuck;
  const std::uint32_t own = 1U << s.connection;
  bits = stuck ? bits | own : bits & ~own;
}

bool scheduler::impl::at_head(index command) {
  const pending_command& c = commands[command];
  return c.queue == queue_class::none ||
         (number_of(c) != no_connection && queue(c)->head == command);
}

// The head of a queue leaves it.
void scheduler::impl::leave_queue(index command) {
  pending_command& c = commands[command];
  line* q = queue(c);
  if (q == nullptr) {
    return;
  }
  q->head = c.queue_next;
  if (tells_queues) {
    if (c.queue == queue_class::compute) {
      devices[streams[c.stream].device].last_left[streams[c.stream].connection] = c.id;
    }
    if (crowded != 0 || !devices[streams[c.stream].device].sharers.empty() ||
        (q->head != none && commands[q->head].stream != c.stream)) {
      emit(action_kind::left, c);
    }
  }
  if (q->head == none) {
    q->tail = none;
    note_stuck(c, false);
    return;
  }
  wake_head(*q);
}

// A host function that became ready so soon after its submission that a faster device would have
// had it ready then.
bool scheduler::impl::had_nothing_to_wait_for(index command) const {
  const pending_command& c = commands[command];
  return connections == 1 && grace != 0 && c.kind == command_kind::host_function &&
         time.at(command) - c.blocks <= grace;
}

// Out of the middle of its queue. Rare, so it is looked for from the head.
void scheduler::impl::take_out_of_queue(index command) {
  line* q = queue(commands[command]);
  index previous = q->head;
  while (commands[previous].queue_next != command) {
    previous = commands[previous].queue_next;
  }
  const index next = commands[command].queue_next;
  commands[previous].queue_next = next;
  if (q->tail == command) {
    q->tail = previous;
  }
  if (tells_queues) {
    emit(action_kind::admitted, commands[command], command_id::none_value);
    if (next != none) {
      tell_new_place(commands[next], previous, commands[command].id);
    }
  }
  commands[command].queue = queue_class::none;
}

}  // namespace sb::sched
