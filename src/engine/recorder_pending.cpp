// What a recording has of operations that are not over when it ends.
#include <algorithm>

#include "engine/recorder.hpp"

namespace sb::engine {

namespace {

bool needs_engine(const node& n) {
  return n.as.kind == command_kind::kernel || n.as.kind == command_kind::copy ||
         n.as.kind == command_kind::host_function;
}

}  // namespace

// The edges of an operation that did not begin. False: all that it depends on is over.
bool recorder::tell_waits(node& n) {
  bool waits = false;
  const auto add = [&](trace::number from, trace::wait_cause cause, std::uint64_t until) {
    add_edge(n, from, cause, until == trace::never ? until : since(until));
    waits |= until == trace::never;
  };
  const auto add_if_later = [&](trace::number from, trace::wait_cause cause, std::uint64_t until) {
    if (until == trace::never || until > n.times.queued) add(from, cause, until);
  };
  if (n.recorded.before != trace::none)
    add_if_later(n.recorded.before, trace::wait_cause::stream_order, n.recorded.before_ended);
  for (const recorded_waits::wait& w : n.held.waits)
    add_if_later(notes_[w.on].operation, w.cause, notes_[w.on].ended);
  if (n.held.ahead != no_note && n.held.admitted == 0 &&
      notes_[n.held.ahead].left_queue == trace::never)
    add(notes_[n.held.ahead].operation, trace::wait_cause::queue_head, trace::never);
  std::sort(n.held.edges.begin(), n.held.edges.end(),
            [](const trace::edge& a, const trace::edge& b) { return a.until < b.until; });
  return waits;
}

// How many blocks of a kernel that runs are on the device, and what of it cannot go on.
void recorder::tell_blocks(const node& n, const sched::scheduler& queues) {
  if (n.as.kind != command_kind::kernel || !n.recorded.began) return;
  const sched::scheduler::kernel_blocks blocks = queues.blocks_of(n.id);
  if (blocks.running == 0) return;
  out_->blocks(n.recorded.number, {.resident = blocks.running,
                                   .waiting = blocks.waiting,
                                   .in_vain = n.run.in_vain.load(std::memory_order_relaxed)});
}

void recorder::tell_pending(node* first, const sched::scheduler& queues) {
  // Who waits for a connection is held by what is stuck in all of them.
  std::unordered_map<const node*, std::uint32_t> crowds;  // their devices
  for (std::uint32_t device = 0; device < engines_.size(); ++device)
    for (const std::uint64_t waits : queues.crowd({device}))
      crowds.emplace(reinterpret_cast<const node*>(waits), device);
  const auto tell_crowd = [&](node& n) {
    const auto found = crowds.find(&n);
    if (found == crowds.end()) return false;
    for (const std::uint64_t other : queues.stuck({found->second}))
      add_edge(n, reinterpret_cast<const node*>(other)->recorded.number,
               trace::wait_cause::queue_head, trace::never);
    return true;
  };
  for (node* n = first; n != nullptr; n = n->next) {
    recorded_node& r = n->recorded;
    if (r.number == trace::none || n->ended) continue;
    trace::finished_record told;
    told.status = r.status;
    told.queue = r.began ? r.queue : queues.present_queue(n->id);
    if (r.began) {
      told.ready = since(n->times.ready);
      told.started = since(std::max(n->times.begin, n->times.ready));
      if ((r.parts & recorded_node::waited_for_before) != 0) add_edge_to_before(*n);
    } else if (const bool waits = tell_waits(*n); !tell_crowd(*n) && !waits) {
      told.ready = since(n->times.queued);
      for (const trace::edge& e : n->held.edges) told.ready = std::max(told.ready, e.until);
      // Nothing holds it but others that run.
      for (node* other = first; needs_engine(*n) && other != nullptr; other = other->next)
        if (other != n && other->recorded.began && !other->ended && needs_engine(*other) &&
            &last_on_engine(*other) == &last_on_engine(*n))
          add_edge(*n, other->recorded.number,
                   n->as.kind == command_kind::kernel ? trace::wait_cause::device_full
                                                      : trace::wait_cause::engine_busy,
                   trace::never);
    }
    told.waits = {n->held.edges.data(), n->held.edges.size()};
    out_->finished(r.number, told);
    tell_blocks(*n, queues);
  }
}

// A copy: whoever ends the recording is another thread.
void recorder::runs_in_call(trace::number operation) {
  recorded_thread& thread = recorded_thread::own();
  call_under_way now;
  if (operation != trace::none && thread.call.number != trace::none) {
    now = {.call = thread.call.number, .told = told_of(thread)};
    now.told.blocked_on = operation;
  }
  const std::lock_guard lock(under_way_mutex_);
  under_way_ = now;
}

void recorder::tell_call_under_way() {
  const std::lock_guard lock(under_way_mutex_);
  if (under_way_.call != trace::none) out_->blocks(under_way_.call, under_way_.told);
}

}  // namespace sb::engine
