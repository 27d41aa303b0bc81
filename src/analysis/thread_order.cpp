#include "analysis/thread_order.hpp"

#include <algorithm>

#include "analysis/sort_stably.hpp"

namespace sb::analysis {

thread_order::thread_order(const trace::trace& recorded, const program& p)
    : recorded_(recorded), program_(p), waits_(p.threads.size()) {
  for (const trace::thread_wait& w : recorded.thread_waits) {
    const bool known = w.function != none ? w.function < p.tasks.size() : w.other < waits_.size();
    if (w.thread < waits_.size() && known && w.thread != w.other && w.begin <= w.end) {
      waits_[w.thread].push_back(w);
    }
  }
  for (std::vector<trace::thread_wait>& waits : waits_) {
    sort_stably(waits, [](const auto& a, const auto& b) { return a.end < b.end; });
  }
}

std::vector<thread_pause> thread_order::pauses(number thread, nanoseconds& from,
                                               nanoseconds until) const {
  std::vector<thread_pause> result;
  const std::vector<trace::thread_wait>& waits = waits_[thread];
  auto w = std::lower_bound(waits.begin(), waits.end(), from,
                            [](const auto& wait, nanoseconds time) { return wait.end < time; });
  for (; w != waits.end() && w->end <= until; ++w) {
    if (w->begin < from) continue;
    // A thread that begins has done nothing before.
    const bool begins = w == waits.begin() && w->begin == w->end;
    result.push_back({begins ? 0 : w->begin - from, point(*w), w->what, w->begin});
    from = w->end;
  }
  return result;
}

thread_point thread_order::point(const trace::thread_wait& w) const {
  if (w.function == none) return point(w.other, w.end);
  const nanoseconds begin = recorded_.operations[w.function].started;
  return {.after = w.end - std::min(w.end, begin), .function = w.function};
}

// Where a thread was at that moment: so long behind the end of its last call. One that had not
// called anything was so long behind its beginning, and that is a point of its maker.
thread_point thread_order::point(number thread, nanoseconds at) const {
  nanoseconds behind = 0;
  for (std::size_t makers = 0;; ++makers) {
    const std::vector<step>& steps = program_.threads[thread];
    const auto next = std::upper_bound(
        steps.begin(), steps.end(), at,
        [&](nanoseconds time, const step& s) { return time < recorded_.calls[s.call].end; });
    const auto calls = static_cast<std::size_t>(next - steps.begin());
    if (calls != 0)
      return {thread, calls, at - recorded_.calls[std::prev(next)->call].end + behind};
    const std::vector<trace::thread_wait>& waits = waits_[thread];
    const bool made = !waits.empty() && waits[0].begin == waits[0].end && waits[0].end <= at;
    if (!made || makers == waits_.size()) return {thread, 0, at + behind};
    behind += at - waits[0].end;
    at = waits[0].end;
    thread = waits[0].other;
  }
}

}  // namespace sb::analysis
