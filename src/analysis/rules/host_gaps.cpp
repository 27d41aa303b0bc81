// A device that waits for the program's own code.
#include <fmt/format.h>

#include <algorithm>

#include "analysis/plural.hpp"
#include "analysis/rules/rules.hpp"
#include "analysis/sort_stably.hpp"
#include "analysis/words.hpp"

namespace sb::analysis {

namespace {

// Code of a thread between two of its calls, as it was recorded.
struct own_code {
  std::size_t behind = 0;  // so many of its calls
  nanoseconds begin = 0, end = 0;
};

// The program as it would be if its code between calls took no time.
class without_own_code {
 public:
  explicit without_own_code(const evidence& e) : changed(e.p), e_(e), removed_(e.p.threads.size()) {
    find_idle_times();
    for (number i = 0; i < e.p.threads.size(); ++i) shorten(i);
    // Behind its last work a thread keeps the device waiting no more.
    for (std::vector<step>& steps : changed.threads)
      for (auto s = steps.begin(); s < behind_last_work(steps); ++s)
        for (thread_pause& p : s->pauses) come_sooner(p.until);
  }

  program changed;
  std::vector<number> calls;  // behind the gaps
  nanoseconds sum = 0;

 private:
  static constexpr nanoseconds least = 1000;

  static bool issues(const step& s) { return !s.issues.empty(); }
  static std::vector<step>::iterator behind_last_work(std::vector<step>& steps) {
    return std::find_if(steps.rbegin(), steps.rend(), issues).base();
  }

  struct span {
    nanoseconds begin = 0, end = 0;
  };

  void find_idle_times() {
    std::vector<span> busy;
    for (const trace::operation& o : e_.t.operations)
      if (o.engine != trace::engine_kind::none && o.started != never && o.ended != never)
        busy.push_back({o.started, o.ended});
    sort_stably(busy, [](const span& a, const span& b) { return a.begin < b.begin; });
    if (busy.empty()) return;
    begins_ = busy[0].begin;
    nanoseconds until = begins_;
    for (const span& b : busy) {
      if (b.begin > until + least) idle_.push_back({until, b.begin});
      until = std::max(until, b.end);
    }
  }

  // Before its first work a thread prepares it. That counts from when the device has had something
  // to do, until which the program begins, and if the device is idle meanwhile. By the real clock
  // nobody knows whether the thread just waited for work.
  [[nodiscard]] nanoseconds prepares_from(const step& s) const {
    if (e_.t.head.clock != trace::clock_kind::modelled) return never;
    const nanoseconds end = e_.t.calls[s.call].begin;
    const nanoseconds begin =
        std::max(begins_, s.pauses.empty() ? end - s.gap : s.pauses[0].since - s.pauses[0].before);
    const bool idle = std::any_of(idle_.begin(), idle_.end(), [&](const span& i) {
      return std::min(i.end, end) > std::max(i.begin, begin) + least;
    });
    return idle ? begins_ : never;
  }

  // From a thread's first work to its last, and before that.
  void shorten(number thread) {
    std::vector<step>& steps = changed.threads[thread];
    const auto first = std::find_if(steps.begin(), steps.end(), issues);
    for (auto s = steps.begin(); s < behind_last_work(steps); ++s) {
      if (s->call == none) continue;
      const std::size_t at = static_cast<std::size_t>(s - steps.begin());
      const nanoseconds from = s > first ? 0 : prepares_from(*s);
      nanoseconds gap = 0;
      for (const thread_pause& p : s->pauses) gap += counted(p.before, p.since, from);
      const nanoseconds begin = e_.t.calls[s->call].begin;
      gap += counted(s->gap, begin, from);
      if (gap < least) continue;
      for (thread_pause& p : s->pauses) remove(thread, at, p.before, p.since, from);
      remove(thread, at, s->gap, begin, from);
      sum += gap;
      calls.push_back(s->call);
    }
  }

  static nanoseconds counted(nanoseconds length, nanoseconds end, nanoseconds from) {
    return end > from ? std::min(length, end - from) : 0;
  }

  void remove(number thread, std::size_t at, nanoseconds& length, nanoseconds end,
              nanoseconds from) {
    const nanoseconds less = counted(length, end, from);
    if (less == 0) return;
    length -= less;
    removed_[thread].push_back({at, end - less, end});
  }

  // A thread comes sooner to what others wait for.
  void come_sooner(thread_point& p) const {
    if (p.function != none) return;
    const std::vector<step>& steps = e_.p.threads[p.thread];
    const nanoseconds since = p.calls == 0 ? 0 : e_.t.calls[steps[p.calls - 1].call].end;
    const nanoseconds moment = since + p.after;
    if (p.calls != 0 && p.calls == steps.size()) {
      p.after = std::min(p.after, waited(p.thread, since, moment));
      return;
    }
    const auto& all = removed_[p.thread];
    auto one = std::lower_bound(all.begin(), all.end(), p.calls,
                                [](const own_code& o, std::size_t n) { return o.behind < n; });
    for (; one != all.end() && one->behind == p.calls && one->begin < moment; ++one)
      p.after -= std::min(p.after, std::min(one->end, moment) - one->begin);
  }

  // Behind its last call a thread waits for others, or runs code of its own.
  [[nodiscard]] nanoseconds waited(number thread, nanoseconds begin, nanoseconds end) const {
    nanoseconds all = 0;
    for (const trace::thread_wait& w : e_.t.thread_waits)
      if (w.thread == thread && w.begin >= begin && w.end <= end) all += w.end - w.begin;
    return all;
  }

  const evidence& e_;
  nanoseconds begins_ = never;                  // the device's work
  std::vector<span> idle_;                      // since then; in their order
  std::vector<std::vector<own_code>> removed_;  // by thread, in their order
};

}  // namespace

void find_host_gaps(const evidence& e, findings& out) {
  without_own_code code(e);
  if (code.calls.empty()) return;
  const nanoseconds cost = e.gain(code.changed);
  if (!e.worth(cost)) return;

  finding f;
  f.rule = "host-gaps";
  f.title = "The device waits while the host runs the program's own code";
  f.why = fmt::format(
      "Between its calls the host took {} in {}, and had issued too little to "
      "keep the device busy meanwhile.",
      text_of_time(code.sum), plural(code.calls.size(), "gap"));
  f.change =
      "Issue the device's work before the host's own, or do the host's work in another thread: the "
      "device needs its next operation before the last one ends.";
  f.cost = cost;
  std::sort(code.calls.begin(), code.calls.end());
  add_calls(e.t, f, code.calls);
  out.push_back(std::move(f));
}

}  // namespace sb::analysis
