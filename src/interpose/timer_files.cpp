// Timers that are files (timerfd_create): a file of the system that counts, to which a timer adds
// when it is over, so that all that can be done with a file is done by the system.
#include <fcntl.h>
#include <sys/eventfd.h>
#include <sys/timerfd.h>
#include <unistd.h>

#include <cerrno>

#include "interpose/hooks.hpp"
#include "interpose/timer_table.hpp"

using sb::interpose::following;
using sb::interpose::following_from_now;
using sb::interpose::is_modelled_clock;
using sb::interpose::is_time;
using sb::interpose::look_at;
using sb::interpose::timer;
using sb::interpose::timer_of_file;
using sb::interpose::timer_state;
using sb::interpose::timespec_of;

static_assert(int{TFD_NONBLOCK} == int{EFD_NONBLOCK} && int{TFD_CLOEXEC} == int{EFD_CLOEXEC});

namespace {

constexpr int known_flags = TFD_NONBLOCK | TFD_CLOEXEC;

// The library's own name for the file: programs that close all files begin with the low ones.
int second_name(int file) {
  constexpr int first = 1000;
  const int moved = fcntl(file, F_DUPFD_CLOEXEC, first);
  return moved >= 0 ? moved : fcntl(file, F_DUPFD_CLOEXEC, 3);
}

itimerspec itimerspec_of(const timer_state& s) {
  return {timespec_of(s.period_ns), timespec_of(s.left_ns)};
}

}  // namespace

SB_INTERPOSED int timerfd_create(__clockid_t clock, int flags) noexcept {
  const bool known = is_modelled_clock(clock) && (flags & ~known_flags) == 0;
  if (known && following_from_now() != nullptr) {
    const int file = eventfd(0, flags);
    const int own = file >= 0 ? second_name(file) : -1;
    if (own < 0) return file;
    sb::interpose::make_timer({.whom = timer::tells::file, .clock = clock, .file = own});
    return file;
  }
  SB_NEXT(timerfd_create);
  return real_timerfd_create(clock, flags);
}

SB_INTERPOSED int timerfd_settime(int file, int flags, const itimerspec* given,
                                  itimerspec* old) noexcept {
  const auto* h = following();
  timer* one = h != nullptr ? timer_of_file(file) : nullptr;
  if (one == nullptr) {
    SB_NEXT(timerfd_settime);
    const bool begins = given != nullptr && (given->it_value.tv_sec | given->it_value.tv_nsec) != 0;
    const int result = real_timerfd_settime(file, flags, given, old);
    if (const auto* real = begins && result == 0 ? following_from_now() : nullptr; real != nullptr)
      real->depends_on_machine();
    return result;
  }
  if (given == nullptr || !is_time(given->it_value) || !is_time(given->it_interval)) {
    errno = EINVAL;
    return -1;
  }
  const timer_state before = set_timer(*h, *one, *given, (flags & TFD_TIMER_ABSTIME) != 0);
  if (old != nullptr) *old = itimerspec_of(before);
  return 0;
}

SB_INTERPOSED int timerfd_gettime(int file, itimerspec* out) noexcept {
  const auto* h = following();
  const timer* one = h != nullptr ? timer_of_file(file) : nullptr;
  if (one == nullptr) {
    SB_NEXT(timerfd_gettime);
    return real_timerfd_gettime(file, out);
  }
  *out = itimerspec_of(look_at(*h, *one));
  return 0;
}

// A timer without a file to tell of it is none.
SB_INTERPOSED int close(int file) {
  SB_NEXT(close);
  const auto* h = sb::interpose::timers_in_use() ? following() : nullptr;
  timer* one = h != nullptr ? timer_of_file(file) : nullptr;
  const int result = real_close(file);
  if (one == nullptr || result != 0 || sb::interpose::has_other_file(*one)) return result;
  const int own = one->file;
  remove_timer(*h, one);
  real_close(own);
  return result;
}
