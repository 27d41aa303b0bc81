// Threads that look again and again for what another one does, and let the others go first in
// between (host_clocks.hpp). Nobody says what they look for, but for locks; who ended their looks
// is told by what the others did during the last one.
#include <utility>

#include "engine/host_clocks.hpp"
#include "engine/host_thread.hpp"

namespace sb::engine {

void host_clocks::yield(std::uint64_t ns) {
  thread& me = *self();
  std::unique_lock lock(mutex_);
  if (me.at == thread::state::outside) me.ns = std::max({me.ns, latest_ns_, stepped_ns_});
  // Between looks that belong together there is less of anything else than of looking.
  if (me.seen.count == 0 || me.ns > me.seen.end_ns + ns) {
    me.seen = {};
    me.seen.begin_ns = me.ns;
  }
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

host_clocks::looks host_clocks::take_looks() { return std::exchange(self()->seen, {}); }

void host_clocks::tell_lookers(const void* key, thread& by) {
  by.woke = true;
  for (auto& t : threads_)
    if (t->yields && t->looked_for == key && t.get() != &by) t->released_by = &by;
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
