// The runtime's hooks, and the C library's own functions behind ours.
#pragma once

#include <dlfcn.h>
#include <pthread.h>

#include <cstdint>
#include <ctime>

#include "base/clock_hooks.hpp"

#define SB_INTERPOSED extern "C" __attribute__((visibility("default")))

namespace sb::interpose {

// The hooks when the calling thread's time is modelled; null: the C library's own function does it.
const streambed_clock_hooks* following();
// The same where the program first has to do with time or threads: the runtime begins.
const streambed_clock_hooks* following_from_now();

// Whether a runtime in modelled time has begun, or will: threads that do not follow it are its own.
bool there_is_a_runtime();

// True on threads that the runtime made.
bool& thread_is_the_runtimes();

constexpr std::uint64_t never = ~std::uint64_t{0};
constexpr int interrupted = 2;  // streambed_clock_hooks::wait

// What clocks show when the run begins: the same in every run.
inline constexpr std::uint64_t real_time_begin_s = 1'735'689'600;  // 2025-01-01
inline constexpr std::uint64_t monotonic_begin_s = 100'000;

inline std::uint64_t begin_ns(clockid_t clock) {
  const bool real = clock == CLOCK_REALTIME || clock == CLOCK_REALTIME_COARSE;
  return (real ? real_time_begin_s : monotonic_begin_s) * 1'000'000'000u;
}

inline std::uint64_t ns_of(const timespec& t) {
  return static_cast<std::uint64_t>(t.tv_sec) * 1'000'000'000u +
         static_cast<std::uint64_t>(t.tv_nsec);
}

inline timespec timespec_of(std::uint64_t ns) {
  return {static_cast<time_t>(ns / 1'000'000'000u), static_cast<long>(ns % 1'000'000'000u)};
}

// The modelled time of an absolute one.
inline std::uint64_t since_begin(clockid_t clock, const timespec& t) {
  if (t.tv_sec < 0) return 0;
  const std::uint64_t ns = ns_of(t);
  return ns > begin_ns(clock) ? ns - begin_ns(clock) : 0;
}

inline constexpr streambed_awaited condition_signal{streambed_awaits_condition, nullptr, true};
inline constexpr streambed_awaited semaphore_post{streambed_awaits_semaphore, nullptr, true};
inline constexpr streambed_awaited barrier_round{streambed_awaits_barrier, nullptr};
inline constexpr streambed_awaited thread_end{streambed_awaits_thread, nullptr, true};
inline constexpr streambed_awaited once_done{streambed_awaits_lock, nullptr};
inline constexpr streambed_awaited spin_release{streambed_awaits_lock, nullptr};
inline constexpr streambed_awaited memory_change{streambed_awaits_memory, nullptr};
// The C library notes in a lock who has it; of those that read together, nobody.
inline constexpr streambed_awaited mutex_release{
    streambed_awaits_lock,
    [](const void* key) { return static_cast<const pthread_mutex_t*>(key)->__data.__owner; }};
inline constexpr streambed_awaited rwlock_release{
    streambed_awaits_lock,
    [](const void* key) { return static_cast<const pthread_rwlock_t*>(key)->__data.__cur_writer; }};

// By a thread that did not get it and may look again.
inline void looked_in_vain(const streambed_awaited& what, const void* key) {
  if (const auto* h = following(); h != nullptr) h->looked(key, &what);
}

// Waits until `done` says that it need not, or until the time. Others may come between its look and
// the wait: they wake it then. False: the time came first, or the process ends. A wait that can be
// interrupted is one that pthread_cancel ends.
template <class Done>
bool wait_until(const streambed_clock_hooks& h, const streambed_awaited& what, const void* key,
                std::uint64_t until_ns, Done&& done) {
  for (;;) {
    h.prepare(key, until_ns, &what);
    if (done()) {
      h.cancel();
      return true;
    }
    const int how = h.wait();
    if (how == 0) return done();
    if (how == interrupted) pthread_testcancel();
  }
}

// The next definition of the function after ours.
template <class Function>
Function* next(const char* name) {
  return reinterpret_cast<Function*>(dlsym(RTLD_NEXT, name));
}
#define SB_NEXT(name) static const auto real_##name = ::sb::interpose::next<decltype(::name)>(#name)

}  // namespace sb::interpose
