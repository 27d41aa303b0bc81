#include "analysis/thread_order.hpp"

#include <algorithm>
#include <utility>

#include "analysis/sort_stably.hpp"

namespace sb::analysis {

thread_order::thread_order(const trace::trace& recorded, const program& p)
    : recorded_(recorded), program_(p), waits_(p.threads.size()), places_(p.threads.size()) {
  std::size_t order = 0;
  for (const trace::thread_wait& w : recorded.thread_waits) {
    const bool known = w.function != none ? w.function < p.tasks.size() : w.other < waits_.size();
    if (w.thread < waits_.size() && known && w.thread != w.other && w.begin <= w.end) {
      waits_[w.thread].push_back({w, order++});
    }
  }
  for (std::vector<wait>& waits : waits_)
    sort_stably(waits, [](const wait& a, const wait& b) { return a.ends_before(b); });
  for (number thread = 0; thread < waits_.size(); ++thread) place(thread);
}

// Waits within calls are the calls' own.
void thread_order::place(number thread) {
  const std::vector<wait>& waits = waits_[thread];
  const std::vector<step>& steps = program_.threads[thread];
  nanoseconds from = 0;
  auto w = waits.begin();
  for (std::size_t step = 0; step <= steps.size(); ++step) {
    const trace::call* call = step == steps.size() ? nullptr : &recorded_.calls[steps[step].call];
    std::size_t place = 0;
    for (; w != waits.end() && (call == nullptr || w->what.end <= call->begin); ++w) {
      if (w->what.begin < from) continue;
      // A thread that begins has done nothing before.
      const bool begins = w == waits.begin() && w->what.begin == w->what.end;
      places_[thread].push_back({step, place++, begins ? 0 : w->what.begin - from, &*w});
      from = w->what.end;
    }
    if (call != nullptr) from = std::max(from, call->end);
  }
}

std::vector<thread_pause> thread_order::pauses(number thread, std::size_t step) const {
  std::vector<thread_pause> result;
  const std::vector<pause_place>& places = places_[thread];
  auto p = std::lower_bound(places.begin(), places.end(), step,
                            [](const pause_place& one, std::size_t at) { return one.step < at; });
  for (; p != places.end() && p->step == step; ++p) {
    const trace::thread_wait& w = p->what->what;
    result.push_back({p->before, point(*p->what), w.what, w.begin, w.end});
  }
  return result;
}

// How many of its calls a thread had made then.
std::size_t thread_order::calls_before(number thread, nanoseconds at) const {
  const std::vector<step>& steps = program_.threads[thread];
  const auto next = std::upper_bound(
      steps.begin(), steps.end(), at,
      [&](nanoseconds time, const step& s) { return time < recorded_.calls[s.call].end; });
  auto calls = static_cast<std::size_t>(next - steps.begin());
  // A call that takes no time may itself come behind a wait that ends then.
  const auto takes_none = [&](const trace::call& c) { return c.begin == at && c.end == at; };
  while (calls != 0 && takes_none(recorded_.calls[steps[calls - 1].call])) --calls;
  return calls;
}

// Where the other thread was when the wait ended: so long behind its last call, or behind what it
// had waited for since then, as its begin does for its maker. Each point lies behind those that end
// earlier, so that no ring of them comes up where several end at one moment.
thread_point thread_order::point(const wait& w) const {
  const nanoseconds at = w.what.end;
  if (w.what.function != none) {
    const nanoseconds begin = recorded_.operations[w.what.function].started;
    return {.after = at - std::min(at, begin), .function = w.what.function};
  }
  const number thread = w.what.other;
  thread_point p{.thread = thread, .calls = calls_before(thread, at)};
  nanoseconds from = 0;
  if (p.calls != 0) from = recorded_.calls[program_.threads[thread][p.calls - 1].call].end;
  const std::vector<pause_place>& places = places_[thread];
  auto last = std::lower_bound(
      places.begin(), places.end(), w,
      [](const pause_place& one, const wait& other) { return one.what->ends_before(other); });
  while (last != places.begin() && std::prev(last)->step > p.calls) --last;
  if (last != places.begin() && std::prev(last)->step == p.calls) {
    p.pauses = std::prev(last)->place + 1;
    from = std::prev(last)->what->what.end;
  }
  p.after = at - std::min(at, from);
  return p;
}

void leave_out_needless_pauses(program& p) {
  std::vector<std::size_t> needed(p.threads.size(), 0);
  std::vector<const thread_pause*> open;
  for (const std::vector<step>& steps : p.threads)
    for (const step& s : steps)
      for (const thread_pause& pause : s.pauses) open.push_back(&pause);
  while (!open.empty()) {
    const thread_point& until = open.back()->until;
    open.pop_back();
    if (until.function != none || until.calls != p.threads[until.thread].size()) continue;
    const std::vector<thread_pause>& pauses = p.last_pauses[until.thread];
    for (std::size_t& n = needed[until.thread]; n < until.pauses; ++n) open.push_back(&pauses[n]);
  }
  for (std::size_t thread = 0; thread < needed.size(); ++thread)
    p.last_pauses[thread].resize(needed[thread]);
}

}  // namespace sb::analysis
