// Threads and what they wait for: in modelled time a waiting thread gives its turn away.
#include <cerrno>
#include <csignal>

#include <pthread.h>
#include <semaphore.h>
#include <unistd.h>

#include <array>
#include <cstdlib>
#include <map>

#include "interpose/hooks.hpp"
#include "interpose/own_threads.hpp"
#include "interpose/signals.hpp"

using sb::interpose::following;
using sb::interpose::following_from_now;
using sb::interpose::looked_in_vain;
using sb::interpose::mutex_release;
using sb::interpose::never;
using sb::interpose::semaphore_post;
using sb::interpose::since_begin;
using sb::interpose::thread_end;
using sb::interpose::wait_until;

namespace {

using routine = void* (*)(void*);

// What a new thread needs to begin with.
struct beginning {
  routine run;
  void* argument;
  const streambed_clock_hooks* hooks;  // null: a thread of the runtime
  void* self;
};

// Which of the runtime's threads a thread of the C library is. Guarded by its lock.
struct thread_table {
  pthread_mutex_t lock = PTHREAD_MUTEX_INITIALIZER;
  std::map<pthread_t, void*> known;
};
thread_table& table() {
  static auto* one = new thread_table;  // threads may outlive the process's statics
  return *one;
}

const pthread_t first_thread = pthread_self();  // loads the library

int real_lock(pthread_mutex_t* mutex) {
  SB_NEXT(pthread_mutex_lock);
  return real_pthread_mutex_lock(mutex);
}
int real_unlock(pthread_mutex_t* mutex) {
  SB_NEXT(pthread_mutex_unlock);
  return real_pthread_mutex_unlock(mutex);
}

void note(pthread_t thread, void* self) {
  real_lock(&table().lock);
  table().known[thread] = self;
  real_unlock(&table().lock);
}

void* find(pthread_t thread) {
  real_lock(&table().lock);
  const auto found = table().known.find(thread);
  void* self = found != table().known.end() ? found->second : nullptr;
  real_unlock(&table().lock);
  return self;
}

void forget(pthread_t thread) {
  real_lock(&table().lock);
  table().known.erase(thread);
  real_unlock(&table().lock);
}

// A signal is never for a thread of the runtime, not even before that could say so.
sigset_t all_but_faults() {
  sigset_t signals;
  sigfillset(&signals);
  for (const int fault : {SIGSEGV, SIGBUS, SIGFPE, SIGILL, SIGTRAP, SIGSYS, SIGABRT})
    sigdelset(&signals, fault);
  return signals;
}

void* begin(void* given) {
  const beginning b = *static_cast<beginning*>(given);
  delete static_cast<beginning*>(given);
  if (b.hooks == nullptr)
    sb::interpose::thread_is_the_runtimes() = true;
  else {
    b.hooks->adopt(b.self);
    sb::interpose::note_thread(b.self);
  }
  return b.run(b.argument);
}

// The C library does not destroy what a thread keeps in C++ when the first one leaves by
// pthread_exit or is cancelled, but keys have their end.
pthread_key_t first_ends() {
  static const pthread_key_t key = [] {
    pthread_key_t made{};
    pthread_key_create(&made, [](void*) {
      if (const auto* h = following(); h != nullptr) h->ends();
    });
    return made;
  }();
  return key;
}
void note_first() {
  if (gettid() == getpid()) pthread_setspecific(first_ends(), &table());
}

int lock_in_turn(const streambed_clock_hooks& h, pthread_mutex_t* mutex) {
  SB_NEXT(pthread_mutex_trylock);
  int result = real_pthread_mutex_trylock(mutex);
  if (result != EBUSY) return result;
  // One that the thread has itself is an error for some kinds of mutexes, at once.
  SB_NEXT(pthread_mutex_clocklock);
  constexpr timespec past{};
  const bool decided = wait_until(h, mutex_release, mutex, never, [&] {
    result = real_pthread_mutex_clocklock(mutex, CLOCK_MONOTONIC, &past);
    return result != ETIMEDOUT;
  });
  return decided ? result : real_lock(mutex);
}

// The words of a condition, and which bits of them its attribute for the monotonic clock sets.
using condition_words = std::array<unsigned, sizeof(pthread_cond_t) / sizeof(unsigned)>;
condition_words words_of(const pthread_cond_t& condition) {
  condition_words words;
  for (std::size_t i = 0; i < words.size(); ++i)
    words[i] = __atomic_load_n(reinterpret_cast<const unsigned*>(&condition) + i, __ATOMIC_RELAXED);
  return words;
}
condition_words find_monotonic_bits() {
  pthread_cond_t real{}, monotonic{};
  pthread_condattr_t attributes;
  pthread_condattr_init(&attributes);
  pthread_cond_init(&real, &attributes);
  pthread_condattr_setclock(&attributes, CLOCK_MONOTONIC);
  pthread_cond_init(&monotonic, &attributes);
  condition_words bits = words_of(monotonic);
  const condition_words others = words_of(real);
  for (std::size_t i = 0; i < bits.size(); ++i) bits[i] &= ~others[i];
  pthread_cond_destroy(&real);
  pthread_cond_destroy(&monotonic);
  pthread_condattr_destroy(&attributes);
  return bits;
}

// The clock that pthread_cond_timedwait goes by is an attribute that the C library keeps in the
// condition and tells nobody.
clockid_t clock_of(const pthread_cond_t& condition) {
  static const condition_words bits = find_monotonic_bits();
  const condition_words words = words_of(condition);
  bool any = false;
  for (std::size_t i = 0; i < bits.size(); ++i) {
    if ((words[i] & bits[i]) != bits[i]) return CLOCK_REALTIME;
    any = any || bits[i] != 0;
  }
  return any ? CLOCK_MONOTONIC : CLOCK_REALTIME;
}

// One that is cancelled has its mutex again, and has consumed no signal.
int wait_for_signal(const streambed_clock_hooks& h, pthread_cond_t* condition,
                    pthread_mutex_t* mutex, std::uint64_t until_ns) {
  pthread_testcancel();
  h.prepare(condition, until_ns, &sb::interpose::condition_signal);
  if (const int result = real_unlock(mutex); result != 0) {
    h.cancel();
    return result;
  }
  h.wake(mutex, 1);
  const int how = h.wait();
  lock_in_turn(h, mutex);
  if (how == sb::interpose::interrupted) pthread_testcancel();
  return how != 0 || until_ns == never ? 0 : ETIMEDOUT;
}

// The system ends a wait with a time limit when a handler has run, and others if it is to.
int wait_until(const streambed_clock_hooks& h, sem_t* semaphore, std::uint64_t until_ns) {
  const sb::interpose::interruptions since;
  bool is_taken = false, is_ended = false;
  const auto over = [&] {
    is_ended = until_ns == never ? since.ends_restarted() : since.any();
    is_taken = !is_ended && sem_trywait(semaphore) == 0;
    return is_ended || is_taken;
  };
  pthread_testcancel();
  if (over() || sb::interpose::wait_until(h, semaphore_post, semaphore, until_ns, over)) {
    if (is_taken) return 0;
    errno = EINTR;
    return -1;
  }
  if (until_ns == never) {  // the process ends
    SB_NEXT(sem_wait);
    return real_sem_wait(semaphore);
  }
  errno = ETIMEDOUT;
  return -1;
}

}  // namespace

namespace sb::interpose {

void start_detached_thread(const streambed_clock_hooks& h, std::uint64_t ns,
                           const pthread_attr_t* attributes, void* (*run)(void*), void* argument) {
  SB_NEXT(pthread_create);
  void* self = h.announce_at(ns);
  auto* b = new beginning{run, argument, &h, self};  // the new thread's, once there is one
  const sigset_t blocked = all_but_faults();
  const other_mask inherited(&blocked);
  pthread_t made{};
  if (real_pthread_create(&made, attributes, &begin, b) == 0) return;
  h.withdraw(self);
  delete b;
}

pid_t system_number(pthread_t thread) {
  if (void* self = find(thread); self != nullptr) return number_of(self);
  return pthread_equal(thread, first_thread) != 0 ? getpid() : 0;
}

}  // namespace sb::interpose

SB_INTERPOSED int pthread_create(pthread_t* out, const pthread_attr_t* attributes, routine run,
                                 void* argument) noexcept {
  SB_NEXT(pthread_create);
  const auto* h = following_from_now();
  if (h != nullptr) note_first();  // the new one may cancel it
  void* self = h != nullptr ? h->announce() : nullptr;
  auto* b = new beginning{run, argument, h, self};  // the new thread's, once there is one
  const sigset_t blocked = all_but_faults();
  const sb::interpose::other_mask inherited(
      h == nullptr && sb::interpose::there_is_a_runtime() ? &blocked : nullptr);
  const int result = real_pthread_create(out, attributes, &begin, b);
  if (result != 0) {
    if (h != nullptr) h->withdraw(self);
    delete b;
  } else if (h != nullptr) {
    note(*out, self);
  }
  return result;
}

// Of the program's first thread: the others go on without it. What its frames and the program's own
// keys do at its end comes before.
SB_INTERPOSED void pthread_exit(void* value) {
  if (following() != nullptr) note_first();
  SB_NEXT(pthread_exit);
  real_pthread_exit(value);
  __builtin_unreachable();
}

// Others wait for their turn from here on, unless the program waits for them at its end.
SB_INTERPOSED void exit(int status) noexcept {
  if (const auto* h = following(); h != nullptr) h->exits();
  SB_NEXT(exit);
  real_exit(status);
  __builtin_unreachable();
}

SB_INTERPOSED int pthread_join(pthread_t thread, void** value) {
  SB_NEXT(pthread_join);
  void* self = find(thread);
  if (const auto* h = self != nullptr ? following() : nullptr; h != nullptr) {
    pthread_testcancel();
    wait_until(*h, thread_end, self, never, [&] { return h->over(self) != 0; });
  }
  // Once it is joined, another one may have its name.
  forget(thread);
  return real_pthread_join(thread, value);
}

SB_INTERPOSED int pthread_cancel(pthread_t thread) {
  SB_NEXT(pthread_cancel);
  const int result = real_pthread_cancel(thread);
  if (const auto* h = result == 0 ? following() : nullptr; h != nullptr) h->interrupt(find(thread));
  return result;
}

SB_INTERPOSED int pthread_mutex_lock(pthread_mutex_t* mutex) noexcept {
  const auto* h = following();
  return h != nullptr ? lock_in_turn(*h, mutex) : real_lock(mutex);
}

SB_INTERPOSED int pthread_mutex_trylock(pthread_mutex_t* mutex) noexcept {
  SB_NEXT(pthread_mutex_trylock);
  const int result = real_pthread_mutex_trylock(mutex);
  if (result == EBUSY) looked_in_vain(mutex_release, mutex);
  return result;
}

// A lock that its thread has taken several times stays taken until the last of them is over.
SB_INTERPOSED int pthread_mutex_unlock(pthread_mutex_t* mutex) noexcept {
  constexpr int kinds = 3;
  const auto& data = mutex->__data;
  const bool stays = (data.__kind & kinds) == PTHREAD_MUTEX_RECURSIVE_NP && data.__count > 1;
  const int result = real_unlock(mutex);
  if (const auto* h = result == 0 && !stays ? following() : nullptr; h != nullptr)
    h->wake(mutex, 1);
  return result;
}

SB_INTERPOSED int pthread_cond_wait(pthread_cond_t* condition, pthread_mutex_t* mutex) {
  const auto* h = following();
  if (h == nullptr) {
    SB_NEXT(pthread_cond_wait);
    return real_pthread_cond_wait(condition, mutex);
  }
  return wait_for_signal(*h, condition, mutex, never);
}

SB_INTERPOSED int pthread_cond_timedwait(pthread_cond_t* condition, pthread_mutex_t* mutex,
                                         const timespec* until) {
  const auto* h = following();
  if (h == nullptr) {
    SB_NEXT(pthread_cond_timedwait);
    return real_pthread_cond_timedwait(condition, mutex, until);
  }
  return wait_for_signal(*h, condition, mutex, since_begin(clock_of(*condition), *until));
}

SB_INTERPOSED int pthread_cond_clockwait(pthread_cond_t* condition, pthread_mutex_t* mutex,
                                         clockid_t clock, const timespec* until) {
  const auto* h = following();
  if (h == nullptr) {
    SB_NEXT(pthread_cond_clockwait);
    return real_pthread_cond_clockwait(condition, mutex, clock, until);
  }
  return wait_for_signal(*h, condition, mutex, since_begin(clock, *until));
}

SB_INTERPOSED int pthread_cond_signal(pthread_cond_t* condition) noexcept {
  if (const auto* h = following(); h != nullptr) {
    h->wake(condition, 1);
    return 0;
  }
  SB_NEXT(pthread_cond_signal);
  return real_pthread_cond_signal(condition);
}

SB_INTERPOSED int pthread_cond_broadcast(pthread_cond_t* condition) noexcept {
  if (const auto* h = following(); h != nullptr) {
    h->wake(condition, ~std::size_t{0});
    return 0;
  }
  SB_NEXT(pthread_cond_broadcast);
  return real_pthread_cond_broadcast(condition);
}

SB_INTERPOSED int sem_wait(sem_t* semaphore) {
  const auto* h = following();
  if (h == nullptr) {
    SB_NEXT(sem_wait);
    return real_sem_wait(semaphore);
  }
  return wait_until(*h, semaphore, never);
}

SB_INTERPOSED int sem_timedwait(sem_t* semaphore, const timespec* until) {
  const auto* h = following();
  if (h == nullptr) {
    SB_NEXT(sem_timedwait);
    return real_sem_timedwait(semaphore, until);
  }
  return wait_until(*h, semaphore, since_begin(CLOCK_REALTIME, *until));
}

SB_INTERPOSED int sem_clockwait(sem_t* semaphore, clockid_t clock, const timespec* until) {
  const auto* h = following();
  if (h == nullptr) {
    SB_NEXT(sem_clockwait);
    return real_sem_clockwait(semaphore, clock, until);
  }
  return wait_until(*h, semaphore, since_begin(clock, *until));
}

SB_INTERPOSED int sem_post(sem_t* semaphore) noexcept {
  SB_NEXT(sem_post);
  const int result = real_sem_post(semaphore);
  if (const auto* h = result == 0 ? following() : nullptr; h != nullptr) h->wake(semaphore, 1);
  return result;
}
