// Locks with a time limit, locks for readers and writers, and barriers, in modelled time.
#include <pthread.h>

#include <cerrno>
#include <map>

#include "interpose/hooks.hpp"

using sb::interpose::following;
using sb::interpose::never;
using sb::interpose::since_begin;

namespace {

constexpr std::size_t all = ~std::size_t{0};

// `take` is the C library's attempt that does not wait.
template <class Lock>
int take_in_turn(const streambed_clock_hooks& h, Lock* lock, int (*take)(Lock*),
                 std::uint64_t until_ns = never) {
  for (;;) {
    const int result = take(lock);
    if (result != EBUSY) return result;
    if (h.wait(lock, until_ns) == 0) return ETIMEDOUT;
  }
}

// How far the threads at a barrier are.
struct barrier_state {
  unsigned count = 0, arrived = 0;
  std::uint64_t rounds = 0;
};
struct barrier_table {
  pthread_mutex_t lock = PTHREAD_MUTEX_INITIALIZER;
  std::map<const pthread_barrier_t*, barrier_state> known;
};
barrier_table& barriers() {
  static auto* one = new barrier_table;  // threads may outlive the process's statics
  return *one;
}

// The table's own lock is none that the program waits for.
template <class Body>
auto with_barriers(Body body) {
  SB_NEXT(pthread_mutex_lock);
  SB_NEXT(pthread_mutex_unlock);
  real_pthread_mutex_lock(&barriers().lock);
  const auto result = body(barriers().known);
  real_pthread_mutex_unlock(&barriers().lock);
  return result;
}

}  // namespace

SB_INTERPOSED int pthread_mutex_timedlock(pthread_mutex_t* mutex, const timespec* until) noexcept {
  if (const auto* h = following(); h != nullptr)
    return take_in_turn(*h, mutex, &pthread_mutex_trylock, since_begin(CLOCK_REALTIME, *until));
  SB_NEXT(pthread_mutex_timedlock);
  return real_pthread_mutex_timedlock(mutex, until);
}

SB_INTERPOSED int pthread_mutex_clocklock(pthread_mutex_t* mutex, clockid_t clock,
                                          const timespec* until) noexcept {
  if (const auto* h = following(); h != nullptr)
    return take_in_turn(*h, mutex, &pthread_mutex_trylock, since_begin(clock, *until));
  SB_NEXT(pthread_mutex_clocklock);
  return real_pthread_mutex_clocklock(mutex, clock, until);
}

SB_INTERPOSED int pthread_rwlock_rdlock(pthread_rwlock_t* lock) noexcept {
  if (const auto* h = following(); h != nullptr)
    return take_in_turn(*h, lock, &pthread_rwlock_tryrdlock);
  SB_NEXT(pthread_rwlock_rdlock);
  return real_pthread_rwlock_rdlock(lock);
}

SB_INTERPOSED int pthread_rwlock_wrlock(pthread_rwlock_t* lock) noexcept {
  if (const auto* h = following(); h != nullptr)
    return take_in_turn(*h, lock, &pthread_rwlock_trywrlock);
  SB_NEXT(pthread_rwlock_wrlock);
  return real_pthread_rwlock_wrlock(lock);
}

SB_INTERPOSED int pthread_rwlock_clockrdlock(pthread_rwlock_t* lock, clockid_t clock,
                                             const timespec* until) noexcept {
  if (const auto* h = following(); h != nullptr)
    return take_in_turn(*h, lock, &pthread_rwlock_tryrdlock, since_begin(clock, *until));
  SB_NEXT(pthread_rwlock_clockrdlock);
  return real_pthread_rwlock_clockrdlock(lock, clock, until);
}

SB_INTERPOSED int pthread_rwlock_clockwrlock(pthread_rwlock_t* lock, clockid_t clock,
                                             const timespec* until) noexcept {
  if (const auto* h = following(); h != nullptr)
    return take_in_turn(*h, lock, &pthread_rwlock_trywrlock, since_begin(clock, *until));
  SB_NEXT(pthread_rwlock_clockwrlock);
  return real_pthread_rwlock_clockwrlock(lock, clock, until);
}

SB_INTERPOSED int pthread_rwlock_timedrdlock(pthread_rwlock_t* lock,
                                             const timespec* until) noexcept {
  if (const auto* h = following(); h != nullptr)
    return take_in_turn(*h, lock, &pthread_rwlock_tryrdlock, since_begin(CLOCK_REALTIME, *until));
  SB_NEXT(pthread_rwlock_timedrdlock);
  return real_pthread_rwlock_timedrdlock(lock, until);
}

SB_INTERPOSED int pthread_rwlock_timedwrlock(pthread_rwlock_t* lock,
                                             const timespec* until) noexcept {
  if (const auto* h = following(); h != nullptr)
    return take_in_turn(*h, lock, &pthread_rwlock_trywrlock, since_begin(CLOCK_REALTIME, *until));
  SB_NEXT(pthread_rwlock_timedwrlock);
  return real_pthread_rwlock_timedwrlock(lock, until);
}

SB_INTERPOSED int pthread_rwlock_unlock(pthread_rwlock_t* lock) noexcept {
  SB_NEXT(pthread_rwlock_unlock);
  const int result = real_pthread_rwlock_unlock(lock);
  if (const auto* h = result == 0 ? following() : nullptr; h != nullptr) h->wake(lock, all);
  return result;
}

SB_INTERPOSED int pthread_barrier_init(pthread_barrier_t* barrier,
                                       const pthread_barrierattr_t* attributes,
                                       unsigned count) noexcept {
  SB_NEXT(pthread_barrier_init);
  const int result = real_pthread_barrier_init(barrier, attributes, count);
  if (result == 0)
    with_barriers([&](auto& known) {
      known[barrier] = {.count = count};
      return 0;
    });
  return result;
}

SB_INTERPOSED int pthread_barrier_destroy(pthread_barrier_t* barrier) noexcept {
  with_barriers([&](auto& known) { return known.erase(barrier); });
  SB_NEXT(pthread_barrier_destroy);
  return real_pthread_barrier_destroy(barrier);
}

SB_INTERPOSED int pthread_barrier_wait(pthread_barrier_t* barrier) noexcept {
  const auto* h = following();
  barrier_state* const state =
      h == nullptr ? nullptr : with_barriers([&](auto& known) -> barrier_state* {
        const auto found = known.find(barrier);
        return found != known.end() ? &found->second : nullptr;
      });
  if (state == nullptr) {  // as real threads, or made before this library was there
    SB_NEXT(pthread_barrier_wait);
    return real_pthread_barrier_wait(barrier);
  }
  // Only the thread whose turn it is comes here.
  if (++state->arrived == state->count) {
    state->arrived = 0;
    ++state->rounds;
    h->wake(barrier, all);
    return PTHREAD_BARRIER_SERIAL_THREAD;
  }
  for (const std::uint64_t round = state->rounds; state->rounds == round;) h->wait(barrier, never);
  return 0;
}
