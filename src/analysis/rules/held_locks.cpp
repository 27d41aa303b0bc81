// Threads that wait for a lock whose holder waits for the device.
#include <fmt/format.h>

#include <algorithm>
#include <map>
#include <utility>

#include "analysis/call_rules.hpp"
#include "analysis/plural.hpp"
#include "analysis/rules/rules.hpp"
#include "analysis/words.hpp"

namespace sb::analysis {

namespace {

// How many operations before the holder's wait, and behind the other thread's, are looked at.
constexpr std::size_t looked_at = 8;

bool is_work(const trace::operation& o) { return o.engine != trace::engine_kind::none; }

std::vector<number> issued_before(const evidence& e, const std::vector<step>& steps,
                                  std::size_t end) {
  std::vector<number> found;
  while (end-- > 0 && found.size() < looked_at)
    for (const issue& k : steps[end].issues)
      if (is_work(e.t.operations[k.operation])) found.push_back(k.operation);
  return found;
}

std::vector<number> issued_from(const evidence& e, const std::vector<step>& steps,
                                std::size_t begin) {
  std::vector<number> found;
  for (; begin < steps.size() && found.size() < looked_at; ++begin)
    for (const issue& k : steps[begin].issues)
      if (is_work(e.t.operations[k.operation])) found.push_back(k.operation);
  return found;
}

// Nothing but the lock orders the work of two threads: it is in streams of its own, on memory of
// its own, and the host fills no memory for both.
bool are_apart(const evidence& e, const std::vector<number>& ours,
               const std::vector<number>& theirs) {
  for (const number a : ours) {
    for (const number b : theirs) {
      const trace::operation &one = e.t.operations[a], &other = e.t.operations[b];
      if (one.stream == other.stream || share_data(one, other, data_view::careful) ||
          share_host_bytes(e.t, one, other))
        return false;
    }
  }
  return !ours.empty() && !theirs.empty();
}

// The holder's first step since then in which it waited for the device; none: there is none. A lock
// that is let go and taken again at once wakes only one of those that wait for it.
std::size_t wait_of_holder(const evidence& e, const thread_pause& p) {
  const std::vector<step>& steps = e.p.threads[p.until.thread];
  std::size_t found = none;
  for (std::size_t i = p.until.calls; i-- > 1;) {
    if (steps[i].call == none) continue;
    const trace::call& c = e.t.calls[steps[i].call];
    if (c.end <= p.since) break;
    if (only_waits(class_of(c.name)) && c.blocked > 0) found = i;
  }
  return found;
}

struct locked_threads {
  std::vector<number> calls;                               // that waited with the lock
  std::map<std::pair<number, number>, std::size_t> pairs;  // who waited for whom, how often
};

// The lock is free as soon as the holder begins to wait for the device. Who waits for it gets it
// then, and does not find it taken again.
void let_go(const evidence& e, number thread, std::size_t at, program& changed,
            locked_threads& found) {
  const std::vector<thread_pause>& pauses = e.p.threads[thread][at].pauses;
  std::vector<thread_pause> left;
  bool free = false;
  for (const thread_pause& p : pauses) {
    const bool lock = p.what == trace::awaited::lock;
    const bool again = lock && free && p.before == 0;
    const std::vector<step>& holders = e.p.threads[p.until.thread];
    const std::size_t wait = lock ? wait_of_holder(e, p) : none;
    if (wait != none && !again)
      free = are_apart(e, issued_before(e, holders, wait), issued_from(e, e.p.threads[thread], at));
    else
      free = again;
    if (free && wait != none) {
      found.calls.push_back(holders[wait].call);
      ++found.pairs[{thread, p.until.thread}];
    }
    if (again) continue;
    left.push_back(p);
    if (free) left.back().until = {p.until.thread, wait, 0};
  }
  changed.threads[thread][at].pauses = std::move(left);
}

nanoseconds waited(const trace::trace& t, std::pair<number, number> who) {
  nanoseconds sum = 0;
  for (const trace::thread_wait& w : t.thread_waits)
    if (w.what == trace::awaited::lock && w.thread == who.first && w.other == who.second)
      sum += w.end - w.begin;
  return sum;
}

}  // namespace

void find_held_locks(const evidence& e, findings& out) {
  program changed = e.p;
  locked_threads found;
  for (number thread = 0; thread < e.p.threads.size(); ++thread)
    for (std::size_t i = 0; i < e.p.threads[thread].size(); ++i)
      if (!e.p.threads[thread][i].pauses.empty()) let_go(e, thread, i, changed, found);
  if (found.calls.empty()) return;
  const assumes_parts parts = keep_data_order(e.t, changed, e.parts());
  const nanoseconds cost = e.gain(changed);
  if (!e.worth(cost)) return;

  std::sort(found.calls.begin(), found.calls.end());
  found.calls.erase(std::unique(found.calls.begin(), found.calls.end()), found.calls.end());
  finding f;
  f.rule = "lock-held-while-waiting";
  f.title = fmt::format("A lock is held while its thread waits for the device in {}",
                        e.t.calls[found.calls.front()].name);
  f.why =
      "Other threads wait for the lock meanwhile, and issue nothing, though their streams have "
      "work "
      "that shares no data with this.";
  f.change =
      "Release the lock before the call that waits, and take it again behind it where that is "
      "needed: hold it only while the work is issued.";
  f.cost = cost;
  add_calls(e.t, f, found.calls);
  for (const auto& [who, times] : found.pairs) {
    if (f.evidence.size() == 3) break;
    f.evidence.push_back(fmt::format("thread {} waited for a lock of thread {}: {}, {} in all",
                                     who.first, who.second, plural(times, "time"),
                                     text_of_time(waited(e.t, who))));
  }
  add_assumption(f, parts);
  out.push_back(std::move(f));
}

}  // namespace sb::analysis
