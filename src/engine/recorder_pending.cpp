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
  const auto add = [&](std::uint32_t on, trace::wait_cause cause, std::uint64_t until) {
    n.recorded.edges.push_back({.from = notes_[on].operation,
                                .call = trace::none,
                                .cause = cause,
                                .until = until == trace::never ? until : since(until)});
    waits |= until == trace::never;
  };
  for (const recorded_node::wait& w : n.recorded.waits) {
    const std::uint64_t until = notes_[w.on].ended;
    if (until == trace::never || until > n.times.queued) add(w.on, w.cause, until);
  }
  if (n.recorded.ahead != no_note && n.recorded.admitted == 0 &&
      notes_[n.recorded.ahead].left_queue == trace::never)
    add(n.recorded.ahead, trace::wait_cause::queue_head, trace::never);
  std::sort(n.recorded.edges.begin(), n.recorded.edges.end(),
            [](const trace::edge& a, const trace::edge& b) { return a.until < b.until; });
  return waits;
}

void recorder::tell_pending(node* first, const sched::scheduler& queues) {
  // Who waits for a connection is held by what is stuck in all of them.
  std::unordered_map<const node*, std::uint32_t> crowds;  // their devices
  for (std::uint32_t device = 0; device < copy_engines_.size(); ++device)
    for (const std::uint64_t waits : queues.crowd({device}))
      crowds.emplace(reinterpret_cast<const node*>(waits), device);
  const auto tell_crowd = [&](node& n) {
    const auto found = crowds.find(&n);
    if (found == crowds.end()) return false;
    for (const std::uint64_t other : queues.stuck({found->second}))
      n.recorded.edges.push_back({.from = reinterpret_cast<const node*>(other)->recorded.number,
                                  .call = trace::none,
                                  .cause = trace::wait_cause::queue_head,
                                  .until = trace::never});
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
    } else if (const bool waits = tell_waits(*n); !tell_crowd(*n) && !waits) {
      told.ready = since(n->times.queued);
      for (const trace::edge& e : r.edges) told.ready = std::max(told.ready, e.until);
      // Nothing holds it but others that run.
      for (node* other = first; needs_engine(*n) && other != nullptr; other = other->next)
        if (other != n && other->recorded.began && !other->ended && needs_engine(*other) &&
            engine_key(*other) == engine_key(*n))
          r.edges.push_back({.from = other->recorded.number,
                             .call = trace::none,
                             .cause = n->as.kind == command_kind::kernel
                                          ? trace::wait_cause::device_full
                                          : trace::wait_cause::engine_busy,
                             .until = trace::never});
    }
    told.waits = {r.edges.data(), r.edges.size()};
    out_->finished(r.number, told);
  }
}

}  // namespace sb::engine
