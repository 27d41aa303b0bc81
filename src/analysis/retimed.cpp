#include "analysis/replay.hpp"

namespace sb::analysis {

namespace {

// What kept the operation's call from coming sooner: the thread's call before it, when that was
// still under way or had blocked.
void add_host_wait(const trace::trace& t, trace::operation& o) {
  if (o.call == none || !o.waits.empty()) return;
  o.waits.push_back({.from = none,
                     .call = o.call,
                     .cause = trace::wait_cause::host_call,
                     .until = t.calls[o.call].begin});
}

}  // namespace

trace::trace retimed(const trace::trace& original, const program& p, const timing& times) {
  trace::trace t = original;
  for (std::size_t thread = 0; thread < p.threads.size(); ++thread) {
    for (std::size_t i = 0; i < p.threads[thread].size(); ++i) {
      const step& s = p.threads[thread][i];
      if (s.call == none) continue;
      const call_times& from = times.steps[thread][i];
      trace::call& c = t.calls[s.call];
      c.begin = from.begin;
      c.end = from.end;
      c.blocked = from.blocked;
      c.blocked_on = from.blocked_on;
    }
  }
  for (number i = 0; i < t.operations.size(); ++i) {
    trace::operation& o = t.operations[i];
    const operation_times& from = times.operations[i];
    o.called = o.call == none ? from.queued : t.calls[o.call].begin;
    o.queued = from.queued;
    o.ready = from.ready;
    o.started = from.started;
    o.ended = from.ended;
    o.queue = from.queue;
    o.waits = times.waits.empty() ? std::vector<trace::edge>{} : times.waits[i];
    if (o.queued != never) add_host_wait(t, o);
  }
  t.end = times.end;
  return t;
}

}  // namespace sb::analysis
