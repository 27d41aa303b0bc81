// Timers that signal or call: alarm, setitimer, timer_create. Those of processor time are the
// system's own, by the real clock; a run that starts one says that it depends on the machine.
#include <sys/time.h>
#include <unistd.h>

#include <cerrno>
#include <csignal>
#include <ctime>

#include "interpose/hooks.hpp"
#include "interpose/signals.hpp"
#include "interpose/timer_table.hpp"

using sb::interpose::alarm_timer;
using sb::interpose::following;
using sb::interpose::following_from_now;
using sb::interpose::is_modelled_clock;
using sb::interpose::is_time;
using sb::interpose::is_timer;
using sb::interpose::set_timer;
using sb::interpose::timer;
using sb::interpose::timer_state;
using sb::interpose::timespec_of;

namespace {

constexpr std::uint64_t second_ns = 1'000'000'000, microsecond_ns = 1000;

bool is_set(const timeval& t) { return t.tv_sec != 0 || t.tv_usec != 0; }
bool is_set(const timespec& t) { return t.tv_sec != 0 || t.tv_nsec != 0; }
bool is_time(const timeval& t) { return t.tv_sec >= 0 && t.tv_usec >= 0 && t.tv_usec < 1'000'000; }

std::uint64_t ns_of(const timeval& t) {
  return static_cast<std::uint64_t>(t.tv_sec) * second_ns +
         static_cast<std::uint64_t>(t.tv_usec) * microsecond_ns;
}
timeval timeval_of(std::uint64_t ns) {
  return {static_cast<time_t>(ns / second_ns),
          static_cast<suseconds_t>(ns % second_ns / microsecond_ns)};
}
// What is left counts, be it less than a microsecond.
itimerval itimerval_of(const timer_state& s) {
  const std::uint64_t rounded = (s.left_ns + microsecond_ns - 1) / microsecond_ns * microsecond_ns;
  return {timeval_of(s.period_ns), timeval_of(rounded)};
}
itimerspec itimerspec_of(const timer_state& s) {
  return {timespec_of(s.period_ns), timespec_of(s.left_ns)};
}

// One of processor time that is stopped changes nothing.
void note_real(bool begins) {
  if (!begins) return;
  if (const auto* h = following_from_now(); h != nullptr) h->depends_on_machine();
}

int refused() {
  errno = EINVAL;
  return -1;
}

timer* own(timer_t given) { return is_timer(given) ? static_cast<timer*>(given) : nullptr; }

// The size of its stack is what the attributes of such a thread are given for.
const pthread_attr_t* copy_of(const pthread_attr_t* given) {
  auto* copy = new pthread_attr_t;
  pthread_attr_init(copy);
  std::size_t bytes = 0;
  if (given != nullptr && pthread_attr_getstacksize(given, &bytes) == 0 && bytes != 0)
    pthread_attr_setstacksize(copy, bytes);
  pthread_attr_setdetachstate(copy, PTHREAD_CREATE_DETACHED);
  return copy;
}

// False: no such way.
bool fill_in(timer& made, const sigevent* how) {
  if (how == nullptr) {
    made.whom = timer::tells::process;
    made.signal = SIGALRM;
    return true;
  }
  made.value = how->sigev_value;
  made.signal = how->sigev_signo;
  switch (how->sigev_notify) {
    case SIGEV_NONE:
      made.signal = 0;
      return true;
    case SIGEV_SIGNAL:
      made.whom = timer::tells::process;
      return made.signal > 0 && made.signal <= SIGRTMAX;
    case SIGEV_THREAD_ID:
      made.whom = timer::tells::thread;
      made.thread = how->_sigev_un._tid;
      return made.signal > 0 && made.signal <= SIGRTMAX;
    case SIGEV_THREAD:
      made.whom = timer::tells::function;
      made.signal = 0;
      made.function = how->sigev_notify_function;
      made.attributes = copy_of(how->sigev_notify_attributes);
      return true;
    default:
      return false;
  }
}

}  // namespace

SB_INTERPOSED unsigned alarm(unsigned seconds) noexcept {
  const auto* h = following_from_now();
  if (h == nullptr) {
    SB_NEXT(alarm);
    return real_alarm(seconds);
  }
  const std::uint64_t left = set_timer(*h, alarm_timer(), seconds * second_ns, 0).left_ns;
  // As the system rounds it: to the nearest, but what runs is not 0.
  const std::uint64_t rounded = (left + second_ns / 2) / second_ns;
  return static_cast<unsigned>(left != 0 && rounded == 0 ? 1 : rounded);
}

SB_INTERPOSED useconds_t ualarm(useconds_t first, useconds_t period) noexcept {
  const auto* h = following_from_now();
  if (h == nullptr) {
    SB_NEXT(ualarm);
    return real_ualarm(first, period);
  }
  const timer_state before =
      set_timer(*h, alarm_timer(), first * microsecond_ns, period * microsecond_ns);
  return static_cast<useconds_t>((before.left_ns + microsecond_ns - 1) / microsecond_ns);
}

SB_INTERPOSED int setitimer(__itimer_which_t which, const itimerval* given,
                            itimerval* old) noexcept {
  const auto* h = which == ITIMER_REAL ? following_from_now() : nullptr;
  if (h == nullptr) {
    SB_NEXT(setitimer);
    if (which != ITIMER_REAL) note_real(given != nullptr && is_set(given->it_value));
    return real_setitimer(which, given, old);
  }
  constexpr itimerval stopped{};
  const itimerval& wanted = given != nullptr ? *given : stopped;
  if (!is_time(wanted.it_value) || !is_time(wanted.it_interval)) return refused();
  const timer_state before =
      set_timer(*h, alarm_timer(), ns_of(wanted.it_value), ns_of(wanted.it_interval));
  if (old != nullptr) *old = itimerval_of(before);
  return 0;
}

SB_INTERPOSED int getitimer(__itimer_which_t which, itimerval* out) noexcept {
  const auto* h = which == ITIMER_REAL ? following_from_now() : nullptr;
  if (h == nullptr) {
    SB_NEXT(getitimer);
    return real_getitimer(which, out);
  }
  *out = itimerval_of(look_at(*h, alarm_timer()));
  return 0;
}

SB_INTERPOSED int timer_create(clockid_t clock, sigevent* how, timer_t* out) noexcept {
  const auto* h = is_modelled_clock(clock) ? following_from_now() : nullptr;
  if (h == nullptr) {
    SB_NEXT(timer_create);
    return real_timer_create(clock, how, out);
  }
  timer wanted;
  wanted.clock = clock;
  if (!fill_in(wanted, how)) return refused();
  timer* made = make_timer(wanted);
  if (how == nullptr) made->value.sival_int = made->number;
  *out = made;
  return 0;
}

SB_INTERPOSED int timer_delete(timer_t given) noexcept {
  timer* one = own(given);
  const auto* h = one != nullptr ? following() : nullptr;
  if (h == nullptr) {
    SB_NEXT(timer_delete);
    return real_timer_delete(given);
  }
  remove_timer(*h, one);
  return 0;
}

SB_INTERPOSED int timer_settime(timer_t given, int flags, const itimerspec* wanted,
                                itimerspec* old) noexcept {
  timer* one = own(given);
  const auto* h = one != nullptr ? following() : nullptr;
  if (h == nullptr) {
    SB_NEXT(timer_settime);
    note_real(wanted != nullptr && is_set(wanted->it_value));
    return real_timer_settime(given, flags, wanted, old);
  }
  if (wanted == nullptr || !is_time(wanted->it_value) || !is_time(wanted->it_interval))
    return refused();
  const timer_state before = set_timer(*h, *one, *wanted, (flags & TIMER_ABSTIME) != 0);
  if (old != nullptr) *old = itimerspec_of(before);
  return 0;
}

SB_INTERPOSED int timer_gettime(timer_t given, itimerspec* out) noexcept {
  const timer* one = own(given);
  const auto* h = one != nullptr ? following() : nullptr;
  if (h == nullptr) {
    SB_NEXT(timer_gettime);
    return real_timer_gettime(given, out);
  }
  *out = itimerspec_of(look_at(*h, *one));
  return 0;
}

SB_INTERPOSED int timer_getoverrun(timer_t given) noexcept {
  timer* one = own(given);
  if (one == nullptr) {
    SB_NEXT(timer_getoverrun);
    return real_timer_getoverrun(given);
  }
  return overruns_at_acceptance(*one);
}
