// Timers that signal, and those that are files: the system's own, by the real clock. When they are
// over in modelled time depends on the machine, and the run says so.
#include <sys/time.h>
#include <sys/timerfd.h>
#include <unistd.h>

#include <ctime>

#include "interpose/hooks.hpp"

namespace {

bool is_set(const timeval& t) { return t.tv_sec != 0 || t.tv_usec != 0; }
bool is_set(const timespec& t) { return t.tv_sec != 0 || t.tv_nsec != 0; }

// One that is stopped changes nothing.
void note(bool begins) {
  if (!begins) return;
  if (const auto* h = sb::interpose::following_from_now(); h != nullptr) h->depends_on_machine();
}

}  // namespace

SB_INTERPOSED unsigned alarm(unsigned seconds) noexcept {
  SB_NEXT(alarm);
  note(seconds != 0);
  return real_alarm(seconds);
}

SB_INTERPOSED useconds_t ualarm(useconds_t first, useconds_t period) noexcept {
  SB_NEXT(ualarm);
  note(first != 0);
  return real_ualarm(first, period);
}

SB_INTERPOSED int setitimer(__itimer_which_t which, const itimerval* given,
                            itimerval* old) noexcept {
  SB_NEXT(setitimer);
  note(given != nullptr && is_set(given->it_value));
  return real_setitimer(which, given, old);
}

SB_INTERPOSED int timer_settime(timer_t timer, int flags, const itimerspec* given,
                                itimerspec* old) noexcept {
  SB_NEXT(timer_settime);
  note(given != nullptr && is_set(given->it_value));
  return real_timer_settime(timer, flags, given, old);
}

SB_INTERPOSED int timerfd_settime(int file, int flags, const itimerspec* given,
                                  itimerspec* old) noexcept {
  SB_NEXT(timerfd_settime);
  note(given != nullptr && is_set(given->it_value));
  return real_timerfd_settime(file, flags, given, old);
}
