// Streams that never run beside each other although nothing orders them.
#include <fmt/format.h>

#include <algorithm>
#include <set>

#include "analysis/call_rules.hpp"
#include "analysis/events_instead.hpp"
#include "analysis/rules/rules.hpp"
#include "analysis/rules/timed_calls.hpp"
#include "analysis/rules/waits_give.hpp"
#include "analysis/words.hpp"

namespace sb::analysis {

namespace {

struct stream_span {
  nanoseconds begin = never, end = 0, work = 0;
  nanoseconds warming = 0;       // of the work
  bool has_pool_memory = false;  // which other streams may get when it is given back
};

// The next work that a thread issues after a step.
number next_operation(const evidence& e, const std::vector<step>& steps, std::size_t from) {
  for (std::size_t i = from + 1; i < steps.size(); ++i) {
    for (const issue& k : steps[i].issues) {
      if (e.t.operations[k.operation].engine != trace::engine_kind::none) return k.operation;
    }
  }
  return none;
}

// Whether an operation shares data with another one, or with what comes before that in its stream.
bool needs(const evidence& e, number operation, number other) {
  constexpr number far = 256;
  const std::vector<trace::operation>& all = e.t.operations;
  const number stream = all[other].stream;
  for (number i = other + 1; i-- > 0 && other - i < far;)
    if (all[i].stream == stream && (share_data(all[i], all[operation], data_view::careful) ||
                                    share_host_bytes(e.t, all[i], all[operation])))
      return true;
  return false;
}

// The legacy stream and the blocking streams of its device wait for each other in any case.
bool are_ordered(const trace::trace& t, number a, number b) {
  const auto orders = [&](number legacy, number other) {
    return t.streams[legacy].kind == stream_kind::legacy &&
           t.streams[other].kind == stream_kind::blocking;
  };
  return t.streams[a].device == t.streams[b].device && (orders(a, b) || orders(b, a));
}

// It gets something from the host.
bool uploads(const evidence& e, number stream) {
  return std::any_of(e.t.operations.begin(), e.t.operations.end(), [&](const trace::operation& o) {
    return o.stream == stream && gets_from_host(e.t, o);
  });
}

bool is_work(const trace::operation& o) {
  return o.engine != trace::engine_kind::none && o.ended != never;
}

// Kernels in a default stream before any other stream begins, which are launched again later, are
// there to warm up: they are over before the rest begins because they are meant to be.
void add_warming(const trace::trace& t, std::vector<stream_span>& spans) {
  const auto by_default = [&](number s) { return t.streams[s].kind == stream_kind::legacy; };
  nanoseconds others = never;
  for (number s = 0; s < spans.size(); ++s)
    if (!by_default(s)) others = std::min(others, spans[s].begin);
  std::set<number> later;  // names
  for (number i = static_cast<number>(t.operations.size()); i-- > 0;) {
    const trace::operation& o = t.operations[i];
    if (!is_work(o) || o.kind != trace::operation_kind::kernel || o.stream >= spans.size())
      continue;
    if (o.started >= others)
      later.insert(o.name);
    else if (by_default(o.stream) && later.contains(o.name))
      spans[o.stream].warming += o.ended - o.started;
  }
}

}  // namespace

void find_idle_streams(const evidence& e, findings& out) {
  std::vector<stream_span> spans(e.t.streams.size());
  for (const trace::operation& o : e.t.operations) {
    if (o.stream >= spans.size()) continue;
    stream_span& s = spans[o.stream];
    s.has_pool_memory |=
        o.kind == trace::operation_kind::allocate || o.kind == trace::operation_kind::free;
    if (!is_work(o)) continue;
    s.begin = std::min(s.begin, o.started);
    s.end = std::max(s.end, o.ended);
    s.work += o.ended - o.started;
  }
  add_warming(e.t, spans);
  const std::vector<repeated_call>& loops = e.repeated_calls();
  program changed = e.p;
  const assumes_parts parts = keep_data_order(e.t, changed, e.parts());
  std::vector<number> calls;
  bool through_host = false;  // the one may need the other's results that way
  std::set<std::pair<number, number>> pairs;
  for (number thread = 0; thread < e.p.threads.size(); ++thread) {
    const std::vector<step>& steps = e.p.threads[thread];
    const std::vector<given>& gives = e.given_by_waits(thread);
    for (std::size_t i = 0; i < steps.size(); ++i) {
      if (steps[i].call == none) continue;
      const trace::call& c = e.t.calls[steps[i].call];
      if (!only_waits(class_of(c.name)) || c.blocked == 0 || c.blocked_on == none) continue;
      const bool in_loop = std::any_of(loops.begin(), loops.end(), [&](const repeated_call& r) {
        return r.thread == thread && r.place == c.place && r.name == c.name;
      });
      const number next = next_operation(e, steps, i);
      if (in_loop || next == none) continue;
      const number before = e.t.operations[c.blocked_on].stream;
      const number behind = e.t.operations[next].stream;
      const bool apart = before != behind && before < spans.size() && behind < spans.size() &&
                         spans[before].end <= spans[behind].begin &&
                         !(spans[before].has_pool_memory && spans[behind].has_pool_memory);
      if (!apart || is_timed(e, thread, i) || are_ordered(e.t, before, behind) ||
          needs(e, next, c.blocked_on))
        continue;
      through_host |= gives[i] == given::results && uploads(e, behind);
      do_not_wait(changed.threads[thread][i]);
      pairs.insert({before, behind});
      calls.push_back(steps[i].call);
    }
  }
  // Two streams gain no more by running together than the shorter one's work. What the run gains
  // beyond is the host's time for the wait itself, which is no reason to call a small kernel before
  // the work (one that warms up) a lost overlap.
  nanoseconds together = 0;
  for (const auto& [before, behind] : pairs)
    together += std::min(spans[before].work - spans[before].warming, spans[behind].work);
  if (calls.empty() || !e.worth(together)) return;
  add_events_instead(e.t, e.p, changed);
  const nanoseconds cost = e.gain(changed);
  if (!e.worth(cost)) return;

  finding f;
  f.rule = "streams-never-overlap";
  f.title = "Streams that nothing orders never ran at the same time";
  f.why = "The host waited for one of them before it issued the work of the other.";
  f.change =
      "Issue the work of all streams first and wait afterwards; an event orders two streams "
      "without stopping the host.";
  if (through_host)
    f.change +=
        " Not where the host makes what the one stream gets of what the other one has brought to "
        "it, which is not in a trace.";
  f.cost = cost;
  add_calls(e.t, f, calls);
  for (const auto& [before, behind] : pairs) {
    if (f.evidence.size() == 3) break;
    f.evidence.push_back(fmt::format(
        "{} ended {} before {} began; their work took {} and {}", stream_name(e.t, before),
        text_of_time(spans[behind].begin - spans[before].end), stream_name(e.t, behind),
        text_of_time(spans[before].work), text_of_time(spans[behind].work)));
  }
  add_assumption(f, parts);
  out.push_back(std::move(f));
}

}  // namespace sb::analysis
