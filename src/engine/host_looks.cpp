// Threads that look again and again for what another one does, and let the others go first in
// between (host_clocks.hpp). Nobody says what they look for, but for locks; who ended their looks
// is told by what the others did during the last one.
#include <algorithm>
#include <utility>

#include "engine/host_clocks.hpp"
#include "engine/host_thread.hpp"

namespace sb::engine {

namespace {
constexpr char nobody_wakes{};
}  // namespace

void host_clocks::sleep(std::uint64_t ns) {
  constexpr static streambed_awaited time{streambed_awaits_memory, nullptr, true};
  wait_on(&nobody_wakes, now() + ns, &time);
}

void host_clocks::yield(std::uint64_t ns) {
  thread& me = *self();
  std::unique_lock lock(mutex_);
  if (me.at == thread::state::outside) me.ns = std::max({me.ns, latest_ns_, stepped_ns_});
  if (me.seen.count == 0) me.seen.begin_ns = me.ns;
  me.since = doings_;
  me.released_by = nullptr;
  me.ns += ns;
  if (me.begun || running_ != &me) me.at = thread::state::ready;
  me.yields = true;
  await_turn(lock, me);
  me.yields = false;
  me.looking = true;
  const bool for_lock = std::exchange(me.looked_for, nullptr) != nullptr;
  me.seen.what = std::exchange(me.looked_what, nullptr);
  me.seen.slept_ns = 0;
  me.seen.end_ns = me.ns;
  ++me.seen.count;
  const thread* other = for_lock && me.released_by != nullptr ? me.released_by : likely_doer(me);
  me.seen.ended_by = other == nullptr ? party{} : party_of(*other);
}

void host_clocks::looked(const void* key, const streambed_awaited* what) {
  thread& me = *self();
  const std::lock_guard lock(mutex_);
  me.looked_for = key;
  me.looked_what = what;
}

bool host_clocks::looks_on() {
  const thread& me = *self();
  const std::lock_guard lock(mutex_);
  return me.still_looks() && me.seen.slept_ns == 0;
}

bool host_clocks::waits_on() {
  const thread& me = *self();
  const std::lock_guard lock(mutex_);
  const auto kind_of = [](const streambed_awaited* what) {
    return what == nullptr ? streambed_awaits_memory : what->kind;
  };
  return me.still_looks() && me.seen.slept_ns == 0 && kind_of(me.seen.what) == kind_of(me.what) &&
         (me.looked_for == nullptr || me.looked_for == me.key);
}

// Those of a program that does something of its own in them have lengths of their own.
bool host_clocks::sleeps_on(std::uint64_t ns) {
  const thread& me = *self();
  const std::lock_guard lock(mutex_);
  const std::uint64_t last = me.seen.slept_ns;
  return me.still_looks() && (ns == last || ns == 2 * last);
}

bool host_clocks::has_slept() {
  const thread& me = *self();
  const std::lock_guard lock(mutex_);
  return me.seen.slept_ns != 0;
}

host_clocks::looks host_clocks::take_looks() {
  thread& me = *self();
  const std::lock_guard lock(mutex_);
  looks all = std::exchange(me.seen, {});
  if (all.count == 0) return all;
  me.looked_for = nullptr;
  me.looked_what = nullptr;
  const thread* by = std::exchange(me.released_by, nullptr);
  if (by == nullptr) return all;
  all.ended_by = party_of(*by);
  all.end_ns = std::max(all.end_ns, me.released_ns);
  return all;
}

void host_clocks::tell_lookers(const void* key, thread& by) {
  by.woke = true;
  for (auto& t : threads_) {
    if (t->looked_for != key || t.get() == &by) continue;
    t->released_by = &by;
    t->released_ns = by.ns;
  }
}

// By the time. Who had what it waited for has it still, or lets go before it looks again; what it
// finds in memory somebody may have written meanwhile. Who sleeps does not go on as soon as a lock
// is free: it is not told as waiting for that.
void host_clocks::waited_in_vain(thread& me) {
  const bool sleeps = me.key == &nobody_wakes;
  if (me.seen.count == 0) me.seen.begin_ns = me.since_ns;
  me.seen.slept_ns = sleeps ? me.ns - me.since_ns : 0;
  me.seen.end_ns = me.ns;
  ++me.seen.count;
  if (!sleeps) {
    me.looked_for = me.key;
    me.looked_what = me.what;
    me.released_by = nullptr;
  }
  me.seen.what = sleeps ? nullptr : me.looked_what;
  const bool for_lock = me.looked_what != nullptr && me.looked_what->kind == streambed_awaits_lock;
  const thread* other = for_lock || me.seen.count < 2 ? nullptr : likely_doer(me);
  me.seen.ended_by = other == nullptr ? party{} : party_of(*other);
}

// Of what happened during one look nobody knows that it was waited for, unless it is what wakes.
host_clocks::thread* host_clocks::likely_doer(const thread& looks) const {
  for (std::size_t i = last_.size(); i-- > 0;) {
    const bool wakes = i >= static_cast<std::size_t>(doing::looked_and_woke);
    if (!wakes && looks.seen.count < 2) return nullptr;
    if (last_[i].place > looks.since && last_[i].who != &looks) return last_[i].who;
  }
  return nullptr;
}

void host_clocks::turn_ends(thread& me) {
  const bool only_looked = std::exchange(me.looking, false) && me.yields;
  const bool woke = std::exchange(me.woke, false);
  const doing what = woke          ? only_looked ? doing::looked_and_woke : doing::woke
                     : only_looked ? doing::looked
                                   : doing::ran;
  last_[static_cast<std::size_t>(what)] = {&me, ++doings_};
}

}  // namespace sb::engine
