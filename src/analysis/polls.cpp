#include "analysis/polls.hpp"

#include <algorithm>
#include <span>

#include "analysis/call_rules.hpp"
#include "analysis/sort_stably.hpp"

namespace sb::analysis {

using trace::nanoseconds;
using trace::never;
using trace::none;
using trace::number;

namespace {

constexpr std::int32_t not_ready = 600;  // cudaErrorNotReady

bool is_query(const trace::call& c) { return c.returned && class_of(c.name) == call_class::query; }

// What the loop ended with: of what it looked at, the operation that was over last.
number waited_for(const trace::trace& t, std::span<const number> looks, nanoseconds end) {
  number last = none;
  for (const number look : looks) {
    const number operation = t.calls[look].blocked_on;
    if (operation >= t.operations.size()) continue;
    const nanoseconds ended = t.operations[operation].ended;
    if (ended == never || ended > end || ended <= t.calls[looks.front()].begin) continue;
    if (last == none || ended > t.operations[last].ended) last = operation;
  }
  return last;
}

// Equal ones are one call.
std::uint64_t looks_of(const trace::trace& t, std::span<const number> calls) {
  std::uint64_t looks = 0;
  for (const number c : calls) looks += t.calls[c].times;
  return looks;
}

void join(trace::trace& t, std::span<const number> looks, number last) {
  const number operation = waited_for(t, looks, t.calls[last].end);
  if (operation == none) return;
  trace::call& first = t.calls[looks.front()];
  first.end = t.calls[last].end;
  first.status = t.calls[last].status;
  first.blocked_on = operation;
  first.blocked = t.operations[operation].ended - first.begin;
  const auto drop = [&](number call) {
    t.calls[call].thread = none;
    t.calls[call].end = t.calls[call].begin;
  };
  for (const number look : looks.subspan(1)) drop(look);
  if (last != looks.back()) drop(last);
}

}  // namespace

bool is_vain_question(const trace::call& c) { return c.status == not_ready && is_query(c); }

std::optional<trace::trace> with_polls_as_waits(const trace::trace& recorded) {
  if (std::none_of(recorded.calls.begin(), recorded.calls.end(), is_vain_question))
    return std::nullopt;
  trace::trace t = recorded;
  std::vector<std::vector<number>> threads(t.threads.size());
  for (number i = 0; i < t.calls.size(); ++i)
    if (t.calls[i].thread < threads.size()) threads[t.calls[i].thread].push_back(i);
  for (std::vector<number>& calls : threads) {
    sort_stably(calls, [&](number a, number b) { return t.calls[a].begin < t.calls[b].begin; });
    for (std::size_t at = 0; at < calls.size();) {
      std::size_t end = at;
      while (end < calls.size() && is_vain_question(t.calls[calls[end]])) ++end;
      const bool answered = end < calls.size() && is_query(t.calls[calls[end]]);
      const auto looks = std::span<const number>(calls).subspan(at, end - at);
      if (looks_of(t, looks) >= least_looks) join(t, looks, calls[answered ? end : end - 1]);
      at = std::max(end, at + 1);
    }
  }
  return t;
}

}  // namespace sb::analysis
