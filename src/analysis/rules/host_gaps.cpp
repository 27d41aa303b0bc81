// A device that waits for the program's own code.
#include <fmt/format.h>

#include <algorithm>
#include <utility>

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
  explicit without_own_code(const evidence& e)
      : changed(e.p),
        e_(e),
        needed_(e.p.threads.size()),
        last_work_(e.p.threads.size()),
        removed_(e.p.threads.size()),
        last_(e.p.threads.size(), 0) {
    for (number i = 0; i < e.p.threads.size(); ++i)
      last_work_[i] = behind_last_work(e.p.threads[i]);
    find_idle_times();
    find_needed();
    for (number i = 0; i < e.p.threads.size(); ++i) shorten(i);
    for (number i = 0; i < e.p.threads.size(); ++i) come_sooner(i);
    for (number i = 0; i < e.p.threads.size(); ++i) go_on_sooner(i);
    for (const nanoseconds last : last_) awaited += last;
  }

  program changed;
  std::vector<number> calls;  // behind the gaps
  nanoseconds sum = 0;
  std::vector<number> waiting;  // calls in front of which a thread waited for another one's code
  nanoseconds waited = 0;       // by these
  nanoseconds awaited = 0;      // that code

 private:
  static constexpr nanoseconds least = 1000;

  static bool issues(const step& s) { return !s.issues.empty(); }
  static std::size_t behind_last_work(const std::vector<step>& steps) {
    const auto last = std::find_if(steps.rbegin(), steps.rend(), issues);
    return static_cast<std::size_t>(steps.rend() - last);
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

  // How far a thread keeps the device waiting: so many steps, and pauses in front of the next one.
  struct extent {
    std::size_t steps = 0, pauses = 0;
    auto operator<=>(const extent&) const = default;
  };

  // Behind its last work a thread does so only as far as others wait for it.
  void find_needed() {
    std::vector<const thread_pause*> open;
    const auto need = [&](number thread, const extent& to) {
      extent& have = needed_[thread];
      for (; have < to; have = have.steps < to.steps ? extent{have.steps + 1} : to) {
        const std::vector<thread_pause>& pauses = pauses_before(e_.p, thread, have.steps);
        const std::size_t end = have.steps < to.steps ? pauses.size() : to.pauses;
        for (std::size_t i = have.pauses; i < end; ++i) open.push_back(&pauses[i]);
      }
    };
    for (number i = 0; i < needed_.size(); ++i) need(i, {last_work_[i]});
    while (!open.empty()) {
      const thread_point& until = open.back()->until;
      open.pop_back();
      if (until.function == none) need(until.thread, {until.calls, until.pauses});
    }
  }

  // Before its first work a thread prepares it. That counts from when the device has had something
  // to do, until which the program begins, and if the device is idle meanwhile. By the real clock
  // nobody knows whether the thread just waited for work.
  [[nodiscard]] nanoseconds prepares_from(nanoseconds begin, nanoseconds end) const {
    if (e_.t.head.clock != trace::clock_kind::modelled) return never;
    begin = std::max(begins_, begin);
    const bool idle = std::any_of(idle_.begin(), idle_.end(), [&](const span& i) {
      return std::min(i.end, end) > std::max(i.begin, begin) + least;
    });
    return idle ? begins_ : never;
  }

  // From a thread's first work on, and before that.
  void shorten(number thread) {
    std::vector<step>& steps = changed.threads[thread];
    const auto first = std::find_if(steps.begin(), steps.end(), issues);
    const extent& needed = needed_[thread];
    for (auto s = steps.begin(); s != steps.end(); ++s) {
      const std::size_t at = static_cast<std::size_t>(s - steps.begin());
      if (at >= needed.steps) break;
      if (s->call == none) continue;
      const nanoseconds begin = e_.t.calls[s->call].begin;
      const nanoseconds since =
          s->pauses.empty() ? begin - s->gap : s->pauses[0].since - s->pauses[0].before;
      const nanoseconds from = s > first ? 0 : prepares_from(since, begin);
      nanoseconds gap = 0;
      for (const thread_pause& p : s->pauses) gap += counted(p.before, p.since, from);
      gap += counted(s->gap, begin, from);
      if (gap < least) continue;
      for (thread_pause& p : s->pauses) remove(thread, at, p.before, p.since, from);
      remove(thread, at, s->gap, begin, from);
      if (at >= last_work_[thread]) {
        awaited += gap;
        continue;
      }
      sum += gap;
      calls.push_back(s->call);
    }
    std::vector<thread_pause>& pauses =
        needed.steps < steps.size() ? steps[needed.steps].pauses : changed.last_pauses[thread];
    for (std::size_t i = 0; i < needed.pauses; ++i) {
      thread_pause& p = pauses[i];
      const nanoseconds from =
          first == steps.end() ? prepares_from(p.since - p.before, p.since) : 0;
      if (counted(p.before, p.since, from) < least) continue;
      awaited += counted(p.before, p.since, from);
      remove(thread, needed.steps, p.before, p.since, from);
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

  // A thread comes sooner to what another one waits for.
  void come_sooner(number thread) {
    std::vector<step>& steps = changed.threads[thread];
    const extent& needed = needed_[thread];
    for (std::size_t at = 0; at < steps.size() && at <= needed.steps; ++at) {
      const std::size_t pauses = at < needed.steps ? steps[at].pauses.size() : needed.pauses;
      for (std::size_t i = 0; i < pauses; ++i) come_sooner(steps[at].pauses[i].until);
      if (at >= last_work_[thread] || steps[at].call == none) continue;
      const nanoseconds time = waited_for_code(steps[at]);
      if (time < least) continue;
      waiting.push_back(steps[at].call);
      waited += time;
    }
    if (needed.steps < steps.size()) return;
    for (std::size_t i = 0; i < needed.pauses; ++i)
      come_sooner(changed.last_pauses[thread][i].until);
  }

  // What it does behind the last that it is needed for begins as much sooner as that is reached,
  // and so does what others wait for there.
  void go_on_sooner(number thread) {
    std::vector<step>& steps = changed.threads[thread];
    const extent& needed = needed_[thread];
    const auto shorten = [&](nanoseconds& code) { code -= std::min(code, last_[thread]); };
    const auto pauses_at = [&](std::size_t at) -> std::vector<thread_pause>& {
      return at < steps.size() ? steps[at].pauses : changed.last_pauses[thread];
    };
    std::vector<thread_pause>& next = pauses_at(needed.steps);
    if (needed.pauses < next.size())
      shorten(next[needed.pauses].before);
    else if (needed.steps < steps.size())
      shorten(steps[needed.steps].gap);
    for (std::size_t at = needed.steps; at <= steps.size(); ++at) {
      std::vector<thread_pause>& pauses = pauses_at(at);
      for (std::size_t i = at == needed.steps ? needed.pauses : 0; i < pauses.size(); ++i)
        reach_sooner(pauses[i].until);
    }
  }

  void reach_sooner(thread_point& p) {
    if (p.function == none && extent{p.calls, p.pauses} == needed_[p.thread])
      p.after -= std::min(p.after, last_[p.thread]);
  }

  // For that of threads that issue nothing any more.
  [[nodiscard]] nanoseconds waited_for_code(const step& s) const {
    nanoseconds all = 0;
    for (const thread_pause& p : s.pauses)
      if (p.until.function == none && p.until.calls >= last_work_[p.until.thread])
        all += p.to - p.since;
    return all;
  }

  void come_sooner(thread_point& p) {
    if (p.function != none) return;
    const nanoseconds since = begin_of(p), moment = since + p.after;
    if (extent{p.calls, p.pauses} >= needed_[p.thread]) {
      const nanoseconds less = own_code_until(p, since, moment);
      if (less < least) return;
      p.after -= less;
      last_[p.thread] = std::max(last_[p.thread], less);
      return;
    }
    const auto& all = removed_[p.thread];
    auto one =
        std::lower_bound(all.begin(), all.end(), std::pair(p.calls, since),
                         [](const own_code& o, const std::pair<std::size_t, nanoseconds>& at) {
                           return std::pair(o.behind, o.end) <= at;
                         });
    for (; one != all.end() && one->behind == p.calls && one->begin < moment; ++one) {
      const nanoseconds begin = std::max(one->begin, since);
      p.after -= std::min(p.after, std::max(begin, std::min(one->end, moment)) - begin);
    }
  }

  // What the point counts from, as it was recorded.
  [[nodiscard]] nanoseconds begin_of(const thread_point& p) const {
    if (p.pauses != 0) return pauses_before(e_.p, p.thread, p.calls)[p.pauses - 1].to;
    return p.calls == 0 ? 0 : e_.t.calls[e_.p.threads[p.thread][p.calls - 1].call].end;
  }

  // Behind all that it is needed for a thread waits for others, or runs code of its own.
  [[nodiscard]] nanoseconds own_code_until(const thread_point& p, nanoseconds begin,
                                           nanoseconds end) const {
    const nanoseconds from = last_work_[p.thread] == 0 ? prepares_from(begin, end) : 0;
    const std::vector<thread_pause>& pauses = pauses_before(e_.p, p.thread, p.calls);
    nanoseconds all = 0;
    for (std::size_t i = p.pauses; i < pauses.size() && pauses[i].since < end; ++i) {
      all += counted(pauses[i].since - begin, pauses[i].since, from);
      begin = std::min(pauses[i].to, end);
    }
    return all + counted(end - begin, end, from);
  }

  const evidence& e_;
  nanoseconds begins_ = never;                  // the device's work
  std::vector<span> idle_;                      // since then; in their order
  std::vector<extent> needed_;                  // by thread
  std::vector<std::size_t> last_work_;          // by thread: so many of its steps
  std::vector<std::vector<own_code>> removed_;  // by thread, in their order
  std::vector<nanoseconds> last_;               // by thread: behind the last that it is needed for
};

// The smaller part of what the cost is of.
void add_other_code(const without_own_code& code, bool own, finding& f) {
  if (own && !code.waiting.empty() && code.awaited != 0)
    f.evidence.push_back(fmt::format(
        "in front of {} it waited {} for another thread's own code, which took {} in all",
        plural(code.waiting.size(), "call"), text_of_time(code.waited),
        text_of_time(code.awaited)));
  if (!own && !code.calls.empty())
    f.evidence.push_back(fmt::format("between its calls it took {} itself, in {}",
                                     text_of_time(code.sum), plural(code.calls.size(), "gap")));
}

}  // namespace

void find_host_gaps(const evidence& e, findings& out) {
  without_own_code code(e);
  if (code.calls.empty() && code.waiting.empty()) return;
  const nanoseconds cost = e.gain(code.changed);
  if (!e.worth(cost)) return;

  finding f;
  f.rule = "host-gaps";
  f.title = "The device waits while the host runs the program's own code";
  const bool own = !code.calls.empty() && (code.waiting.empty() || code.sum > code.awaited);
  f.why = own ? fmt::format(
                    "Between its calls the host took {} in {}, and had issued too little to "
                    "keep the device busy meanwhile.",
                    text_of_time(code.sum), plural(code.calls.size(), "gap"))
              : fmt::format(
                    "In front of {} the host waited {} for another thread's own code, which took "
                    "{} in all, and had issued too little to keep the device busy meanwhile.",
                    plural(code.waiting.size(), "call"), text_of_time(code.waited),
                    text_of_time(code.awaited));
  f.change =
      own ? "Issue the device's work before the host's own, or do the host's work in another "
            "thread: the device needs its next operation before the last one ends."
          : "Make that code shorter, begin it earlier, or divide it among more threads: the device "
            "needs its next operation before the last one ends.";
  f.cost = cost;
  std::vector<number>& calls = own ? code.calls : code.waiting;
  std::sort(calls.begin(), calls.end());
  add_calls(e.t, f, calls);
  add_other_code(code, own, f);
  out.push_back(std::move(f));
}

}  // namespace sb::analysis
