// Locks with a time limit, locks for readers and writers, spin locks, and barriers, in modelled
// time.
#include <pthread.h>

#include <cerrno>
#include <limits>
#include <map>
#include <memory>

#include "interpose/hooks.hpp"

using sb::interpose::barrier_round;
using sb::interpose::following;
using sb::interpose::looked_in_vain;
using sb::interpose::mutex_release;
using sb::interpose::never;
using sb::interpose::rwlock_release;
using sb::interpose::since_begin;
using sb::interpose::spin_release;
using sb::interpose::wait_until;

namespace {

constexpr std::size_t all = ~std::size_t{0};

// `take` is the C library's function with a time limit: it answers at once when that is over, and
// knows what would wait for itself.
template <class Lock>
int take_in_turn(const streambed_clock_hooks& h, const streambed_awaited& what, Lock* lock,
                 int (*take)(Lock*, clockid_t, const timespec*), std::uint64_t until_ns = never) {
  constexpr timespec past{}, forever{std::numeric_limits<time_t>::max(), 0};
  int result = take(lock, CLOCK_MONOTONIC, &past);
  if (result != ETIMEDOUT) return result;
  const bool decided = wait_until(h, what, lock, until_ns, [&] {
    result = take(lock, CLOCK_MONOTONIC, &past);
    return result != ETIMEDOUT;
  });
  if (decided || until_ns != never) return result;
  return take(lock, CLOCK_MONOTONIC, &forever);  // the process ends
}

// How far the threads at a barrier are. It may be destroyed as soon as one of them has left.
struct barrier_state {
  unsigned count = 0, arrived = 0;
  std::uint64_t rounds = 0;
};
struct barrier_table {
  pthread_mutex_t lock = PTHREAD_MUTEX_INITIALIZER;
  std::map<const pthread_barrier_t*, std::shared_ptr<barrier_state>> known;
};
barrier_table& barriers() {
  static auto* one = new barrier_table;  // threads may outlive the process's statics
  return *one;
}

// The table's own lock is none that the program waits for.
template <class Body>
void with_barriers(Body body) {
  SB_NEXT(pthread_mutex_lock);
  SB_NEXT(pthread_mutex_unlock);
  real_pthread_mutex_lock(&barriers().lock);
  body(barriers().known);
  real_pthread_mutex_unlock(&barriers().lock);
}

}  // namespace

SB_INTERPOSED int pthread_mutex_clocklock(pthread_mutex_t* mutex, clockid_t clock,
                                          const timespec* until) noexcept {
  SB_NEXT(pthread_mutex_clocklock);
  const auto* h = following();
  return h != nullptr ? take_in_turn(*h, mutex_release, mutex, real_pthread_mutex_clocklock,
                                     since_begin(clock, *until))
                      : real_pthread_mutex_clocklock(mutex, clock, until);
}

SB_INTERPOSED int pthread_mutex_timedlock(pthread_mutex_t* mutex, const timespec* until) noexcept {
  return pthread_mutex_clocklock(mutex, CLOCK_REALTIME, until);
}

SB_INTERPOSED int pthread_rwlock_clockrdlock(pthread_rwlock_t* lock, clockid_t clock,
                                             const timespec* until) noexcept {
  SB_NEXT(pthread_rwlock_clockrdlock);
  const auto* h = following();
  return h != nullptr ? take_in_turn(*h, rwlock_release, lock, real_pthread_rwlock_clockrdlock,
                                     since_begin(clock, *until))
                      : real_pthread_rwlock_clockrdlock(lock, clock, until);
}

SB_INTERPOSED int pthread_rwlock_clockwrlock(pthread_rwlock_t* lock, clockid_t clock,
                                             const timespec* until) noexcept {
  SB_NEXT(pthread_rwlock_clockwrlock);
  const auto* h = following();
  return h != nullptr ? take_in_turn(*h, rwlock_release, lock, real_pthread_rwlock_clockwrlock,
                                     since_begin(clock, *until))
                      : real_pthread_rwlock_clockwrlock(lock, clock, until);
}

SB_INTERPOSED int pthread_rwlock_timedrdlock(pthread_rwlock_t* lock,
                                             const timespec* until) noexcept {
  return pthread_rwlock_clockrdlock(lock, CLOCK_REALTIME, until);
}

SB_INTERPOSED int pthread_rwlock_timedwrlock(pthread_rwlock_t* lock,
                                             const timespec* until) noexcept {
  return pthread_rwlock_clockwrlock(lock, CLOCK_REALTIME, until);
}

SB_INTERPOSED int pthread_rwlock_rdlock(pthread_rwlock_t* lock) noexcept {
  SB_NEXT(pthread_rwlock_rdlock);
  SB_NEXT(pthread_rwlock_clockrdlock);
  const auto* h = following();
  return h != nullptr ? take_in_turn(*h, rwlock_release, lock, real_pthread_rwlock_clockrdlock)
                      : real_pthread_rwlock_rdlock(lock);
}

SB_INTERPOSED int pthread_rwlock_wrlock(pthread_rwlock_t* lock) noexcept {
  SB_NEXT(pthread_rwlock_wrlock);
  SB_NEXT(pthread_rwlock_clockwrlock);
  const auto* h = following();
  return h != nullptr ? take_in_turn(*h, rwlock_release, lock, real_pthread_rwlock_clockwrlock)
                      : real_pthread_rwlock_wrlock(lock);
}

SB_INTERPOSED int pthread_rwlock_tryrdlock(pthread_rwlock_t* lock) noexcept {
  SB_NEXT(pthread_rwlock_tryrdlock);
  const int result = real_pthread_rwlock_tryrdlock(lock);
  if (result == EBUSY) looked_in_vain(rwlock_release, lock);
  return result;
}

SB_INTERPOSED int pthread_rwlock_trywrlock(pthread_rwlock_t* lock) noexcept {
  SB_NEXT(pthread_rwlock_trywrlock);
  const int result = real_pthread_rwlock_trywrlock(lock);
  if (result == EBUSY) looked_in_vain(rwlock_release, lock);
  return result;
}

SB_INTERPOSED int pthread_rwlock_unlock(pthread_rwlock_t* lock) noexcept {
  SB_NEXT(pthread_rwlock_unlock);
  const int result = real_pthread_rwlock_unlock(lock);
  if (const auto* h = result == 0 ? following() : nullptr; h != nullptr) h->wake(lock, all);
  return result;
}

SB_INTERPOSED int pthread_spin_lock(pthread_spinlock_t* lock) noexcept {
  SB_NEXT(pthread_spin_lock);
  SB_NEXT(pthread_spin_trylock);
  const auto* h = following();
  if (h == nullptr) return real_pthread_spin_lock(lock);
  const auto taken = [&] { return real_pthread_spin_trylock(lock) == 0; };
  const void* key = const_cast<const int*>(lock);
  if (taken() || wait_until(*h, spin_release, key, never, taken)) return 0;
  return real_pthread_spin_lock(lock);  // the process ends
}

SB_INTERPOSED int pthread_spin_trylock(pthread_spinlock_t* lock) noexcept {
  SB_NEXT(pthread_spin_trylock);
  const int result = real_pthread_spin_trylock(lock);
  if (result == EBUSY) looked_in_vain(spin_release, const_cast<const int*>(lock));
  return result;
}

SB_INTERPOSED int pthread_spin_unlock(pthread_spinlock_t* lock) noexcept {
  SB_NEXT(pthread_spin_unlock);
  const int result = real_pthread_spin_unlock(lock);
  if (const auto* h = following(); h != nullptr) h->wake(const_cast<const int*>(lock), 1);
  return result;
}

SB_INTERPOSED int pthread_barrier_init(pthread_barrier_t* barrier,
                                       const pthread_barrierattr_t* attributes,
                                       unsigned count) noexcept {
  SB_NEXT(pthread_barrier_init);
  const int result = real_pthread_barrier_init(barrier, attributes, count);
  if (result == 0)
    with_barriers([&](auto& known) {
      known[barrier] = std::make_shared<barrier_state>(barrier_state{.count = count});
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
  std::shared_ptr<barrier_state> state;
  std::uint64_t round = 0;
  bool is_last = false;
  if (h != nullptr)
    with_barriers([&](auto& known) {
      const auto found = known.find(barrier);
      if (found == known.end()) return;
      state = found->second;
      round = state->rounds;
      is_last = ++state->arrived == state->count;
      if (!is_last) return;
      state->arrived = 0;
      ++state->rounds;
    });
  if (!state) {  // as real threads, or made before this library was there
    SB_NEXT(pthread_barrier_wait);
    return real_pthread_barrier_wait(barrier);
  }
  if (is_last) {
    h->wake(state.get(), all);
    return PTHREAD_BARRIER_SERIAL_THREAD;
  }
  wait_until(*h, barrier_round, state.get(), never, [&] {
    bool over = false;
    with_barriers([&](auto&) { over = state->rounds != round; });
    return over;
  });
  return 0;
}
