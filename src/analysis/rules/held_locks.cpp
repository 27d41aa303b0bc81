// Threads that wait for a lock whose holder waits for the device.
#include <fmt/format.h>

#include <algorithm>
#include <map>
#include <set>
#include <string>
#include <utility>
#include <vector>

#include "analysis/call_rules.hpp"
#include "analysis/plural.hpp"
#include "analysis/rules/lock_turns.hpp"
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

// In front of which calls threads waited for locks.
std::set<call_site> sites_behind_locks(const evidence& e) {
  std::set<call_site> found;
  for (const std::vector<step>& steps : e.p.threads)
    for (const step& s : steps)
      if (std::any_of(s.pauses.begin(), s.pauses.end(), is_for_lock)) found.insert(site_of(e, s));
  return found;
}

// A copy whose call waits for the work in front of it: also an asynchronous one of pageable memory.
bool copies(const evidence& e, const step& s) {
  return std::any_of(s.issues.begin(), s.issues.end(), [&](const issue& k) {
    return e.t.operations[k.operation].kind == trace::operation_kind::copy;
  });
}

// The holder's step in which it waited for the device since it took the lock and the other thread
// waits for that; none: there is none. A lock that is let go and taken again at once wakes only one
// of those that wait for it.
std::size_t wait_of_holder(const evidence& e, const thread_pause& p,
                           const std::set<call_site>& behind_locks) {
  const std::vector<step>& steps = e.p.threads[p.until.thread];
  std::size_t found = none;
  for (std::size_t i = p.until.calls; i-- > 1;) {
    if (steps[i].call == none) continue;
    const trace::call& c = e.t.calls[steps[i].call];
    if (c.end <= p.since) break;
    if (c.blocked > 0 && (only_waits(class_of(c.name)) || copies(e, steps[i]))) found = i;
    if (behind_locks.contains(site_of(e, steps[i]))) break;
  }
  return found;
}

struct wanted_lock : common_lock {
  bool needed = false;  // something else relies on it
};

struct locked_threads {
  std::vector<number> calls;                               // that waited with the lock
  std::map<std::pair<number, number>, std::size_t> pairs;  // who waited for whom, how often
  std::vector<wanted_lock> locks;
};

wanted_lock& lock_of(std::vector<wanted_lock>& locks, number one, number other) {
  wanted_lock joined;
  joined.threads = {one, other};
  std::erase_if(locks, [&](wanted_lock& l) {
    if (!l.threads.contains(one) && !l.threads.contains(other)) return false;
    joined.threads.merge(l.threads);
    joined.taken.merge(l.taken);
    joined.released.merge(l.released);
    joined.needed |= l.needed;
    return true;
  });
  locks.push_back(std::move(joined));
  return locks.back();
}

// Waits of a step's thread for a lock whose holder waits for the device meanwhile.
void look_at(const evidence& e, number thread, std::size_t at,
             const std::set<call_site>& behind_locks, locked_threads& found) {
  for (const thread_pause& p : e.p.threads[thread][at].pauses) {
    const std::size_t wait = is_for_lock(p) ? wait_of_holder(e, p, behind_locks) : none;
    if (wait == none) continue;
    const std::vector<step>& holders = e.p.threads[p.until.thread];
    wanted_lock& lock = lock_of(found.locks, thread, p.until.thread);
    if (!are_apart(e, issued_before(e, holders, wait + 1),
                   issued_from(e, e.p.threads[thread], at))) {
      lock.needed = true;
      continue;
    }
    lock.taken.insert(site_of(e, e.p.threads[thread][at]));
    lock.released.insert(site_of(e, holders[wait]));
    found.calls.push_back(holders[wait].call);
    ++found.pairs[{thread, p.until.thread}];
  }
}

// Leaves locks out that something else relies on.
void leave_needed(const evidence& e, locked_threads& found) {
  std::set<number> needed;
  for (const wanted_lock& l : found.locks)
    if (l.needed) needed.insert(l.threads.begin(), l.threads.end());
  std::erase_if(found.locks, [](const wanted_lock& l) { return l.needed; });
  std::erase_if(found.calls, [&](number c) { return needed.contains(e.t.calls[c].thread); });
  std::erase_if(found.pairs, [&](const auto& who) { return needed.contains(who.first.first); });
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
  locked_threads found;
  const std::set<call_site> behind_locks = sites_behind_locks(e);
  for (number thread = 0; thread < e.p.threads.size(); ++thread)
    for (std::size_t i = 0; i < e.p.threads[thread].size(); ++i)
      look_at(e, thread, i, behind_locks, found);
  leave_needed(e, found);
  if (found.calls.empty()) return;
  program changed = e.p;
  // A lock is free as soon as its holder begins to wait for the device.
  for (const wanted_lock& lock : found.locks)
    take_anew(e, lock, lets_go::in_front, static_cast<number>(&lock - found.locks.data()), changed);
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
