// The program's timers in modelled time: when they are over, and whom they tell.
//
// A timer that is over is told of between turns, at its time. Those that begin again more often
// than every microsecond are looked at every microsecond.
//
// Thread safety: every function may be called from any thread.
#pragma once

#include <pthread.h>
#include <sys/types.h>

#include <csignal>
#include <cstdint>
#include <ctime>
#include <list>

#include "interpose/hooks.hpp"

namespace sb::interpose {

struct timer {
  enum class tells : std::uint8_t { nobody, process, thread, function, file };
  tells whom = tells::nobody;
  clockid_t clock = CLOCK_MONOTONIC;
  int number = 0;
  int signal = 0;
  bool is_alarm = false;  // alarm and setitimer: counts no overruns
  sigval value{};
  pid_t thread = 0;
  void (*function)(sigval) = nullptr;
  const pthread_attr_t* attributes = nullptr;  // of the thread that calls it
  int file = -1;                               // that counts: an eventfd
  std::uint64_t due_ns = never, period_ns = 0;
  std::uint64_t look_ns = never;  // when that is told
  // Its signal, from its sending to its acceptance.
  bool is_pending = false, system_has_it = false;
  int overruns = 0, accepted_overruns = 0;
};

// Whether there was one ever, and whether one runs now that sends signals, or one of these.
bool timers_in_use();
bool signals_are_due();
bool sends_one_of(const sigset_t& signals);

timer* make_timer(const timer& like);  // has its number from here on
bool is_timer(const void* one);
void remove_timer(const streambed_clock_hooks& h, timer* one);
// The one whose file it is, by whatever name; null: none.
timer* timer_of_file(int file);
bool has_other_file(const timer& one);  // than the library's own name for it
timer& alarm_timer();                   // that alarm and setitimer share

struct timer_state {
  std::uint64_t left_ns = 0, period_ns = 0;  // 0: it does not run
};
// What a look at it, or setting it, answers. The first: 0 stops it.
timer_state look_at(const streambed_clock_hooks& h, const timer& one);
timer_state set_timer(const streambed_clock_hooks& h, timer& one, std::uint64_t first_ns,
                      std::uint64_t period_ns);
// The same from what programs give, which may be a time of its clock.
timer_state set_timer(const streambed_clock_hooks& h, timer& one, const itimerspec& given,
                      bool absolute);

// A signal of a timer is about to be seen by the program: so many overruns it had.
void accepted(siginfo_t& what);
bool is_of_alarm(const siginfo_t& what);  // of a timer, which may be that of alarm
int overruns_at_acceptance(timer& one);

inline bool is_modelled_clock(clockid_t clock) {
  return clock == CLOCK_REALTIME || clock == CLOCK_MONOTONIC || clock == CLOCK_BOOTTIME;
}
inline bool is_time(const timespec& t) {
  return t.tv_sec >= 0 && t.tv_nsec >= 0 && t.tv_nsec < 1'000'000'000;
}

}  // namespace sb::interpose
