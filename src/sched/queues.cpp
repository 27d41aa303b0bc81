// Hardware queues: where streams share a connection, commands of one queue start in the order of
// their issue, and one that is not ready holds all later ones whatever their stream.
#include "sched/state.hpp"

namespace sb::sched {

line* scheduler::impl::queue(const pending_command& c) {
  if (connections == 0 || c.queue == queue_class::none) {
    return nullptr;
  }
  const stream_state& s = streams[c.stream];
  return &devices[s.device]
              .queues[s.connection * queues_per_connection + static_cast<std::size_t>(c.queue)];
}

void scheduler::impl::enter_queue(index command) {
  line* q = queue(commands[command]);
  if (q == nullptr) {
    return;
  }
  if (q->tail == none) {
    q->head = command;
  } else {
    commands[q->tail].queue_next = command;
  }
  q->tail = command;
}

bool scheduler::impl::at_head(index command) {
  const line* q = queue(commands[command]);
  return q == nullptr || q->head == command;
}

// The head of a queue leaves it; the next one may have been waiting for just that.
void scheduler::impl::leave_queue(index command) {
  pending_command& c = commands[command];
  line* q = queue(c);
  if (q == nullptr) {
    return;
  }
  q->head = c.queue_next;
  if (q->head == none) {
    q->tail = none;
    return;
  }
  pending_command& next = commands[q->head];
  if (next.at == phase::held) {
    next.at = phase::ready;
    push(ready, q->head);
  }
}

// A host function that became ready so soon after its submission that a faster device would have
// had it ready then.
bool scheduler::impl::had_nothing_to_wait_for(const pending_command& c) const {
  return c.kind == command_kind::host_function && grace != 0 && now - c.blocks <= grace;
}

// Out of the middle of its queue. Rare, so it is looked for from the head.
void scheduler::impl::take_out_of_queue(index command) {
  line* q = queue(commands[command]);
  index previous = q->head;
  while (commands[previous].queue_next != command) {
    previous = commands[previous].queue_next;
  }
  commands[previous].queue_next = commands[command].queue_next;
  if (q->tail == command) {
    q->tail = previous;
  }
}

}  // namespace sb::sched
