// Clock reads and sleeps.
#include <cerrno>

#include <sched.h>
#include <sys/resource.h>
#include <sys/time.h>
#include <sys/times.h>
#include <unistd.h>

#include "interpose/hooks.hpp"
#include "interpose/signals.hpp"

using sb::interpose::begin_ns;
using sb::interpose::following_from_now;
using sb::interpose::ns_of;
using sb::interpose::since_begin;
using sb::interpose::sleep_in_turn;
using sb::interpose::timespec_of;

namespace {

constexpr std::uint64_t read_ns = 25;
constexpr std::uint64_t yield_ns = 1000;
constexpr std::uint64_t second_ns = 1'000'000'000;

bool is_modelled(clockid_t clock) {
  switch (clock) {
    case CLOCK_REALTIME:
    case CLOCK_REALTIME_COARSE:
    case CLOCK_MONOTONIC:
    case CLOCK_MONOTONIC_COARSE:
    case CLOCK_MONOTONIC_RAW:
    case CLOCK_BOOTTIME:
      return true;
    default:
      return false;
  }
}

bool is_processor_time(clockid_t clock) {
  return clock == CLOCK_PROCESS_CPUTIME_ID || clock == CLOCK_THREAD_CPUTIME_ID;
}

std::uint64_t processor_ns(const streambed_clock_hooks& h, bool whole_process) {
  h.reads_clock(read_ns);
  return h.processor_time(whole_process ? 1 : 0);
}

clock_t ticks(std::uint64_t ns) {
  static const auto in_a_second = static_cast<std::uint64_t>(sysconf(_SC_CLK_TCK));
  return static_cast<clock_t>(ns / (1'000'000'000u / in_a_second));
}

// As the system sees it, which sleeps for no other.
bool is_time(const timespec& t) {
  return t.tv_sec >= 0 && t.tv_nsec >= 0 && t.tv_nsec < 1'000'000'000;
}

int refused() {
  errno = EINVAL;
  return -1;
}

int interrupted_call() {
  errno = EINTR;
  return -1;
}

}  // namespace

SB_INTERPOSED int clock_gettime(clockid_t clock, timespec* out) noexcept {
  const bool processor = is_processor_time(clock);
  const auto* h = processor || is_modelled(clock) ? following_from_now() : nullptr;
  if (h == nullptr) {
    SB_NEXT(clock_gettime);
    return real_clock_gettime(clock, out);
  }
  if (processor) {
    *out = timespec_of(processor_ns(*h, clock == CLOCK_PROCESS_CPUTIME_ID));
    return 0;
  }
  h->reads_clock(read_ns);
  *out = timespec_of(begin_ns(clock) + h->now());
  return 0;
}

SB_INTERPOSED int gettimeofday(timeval* out, void* zone) noexcept {
  const auto* h = following_from_now();
  if (h == nullptr) {
    SB_NEXT(gettimeofday);
    return real_gettimeofday(out, zone);
  }
  h->reads_clock(read_ns);
  const timespec now = timespec_of(begin_ns(CLOCK_REALTIME) + h->now());
  *out = {now.tv_sec, now.tv_nsec / 1000};
  return 0;
}

SB_INTERPOSED time_t time(time_t* out) noexcept {
  const auto* h = following_from_now();
  if (h == nullptr) {
    SB_NEXT(time);
    return real_time(out);
  }
  h->reads_clock(read_ns);
  const time_t now = timespec_of(begin_ns(CLOCK_REALTIME) + h->now()).tv_sec;
  if (out != nullptr) *out = now;
  return now;
}

SB_INTERPOSED int timespec_get(timespec* out, int base) noexcept {
  const auto* h = base == TIME_UTC ? following_from_now() : nullptr;
  if (h == nullptr) {
    SB_NEXT(timespec_get);
    return real_timespec_get(out, base);
  }
  h->reads_clock(read_ns);
  *out = timespec_of(begin_ns(CLOCK_REALTIME) + h->now());
  return base;
}

SB_INTERPOSED clock_t clock() noexcept {
  const auto* h = following_from_now();
  if (h == nullptr) {
    SB_NEXT(clock);
    return real_clock();
  }
  return static_cast<clock_t>(processor_ns(*h, true) / (1'000'000'000u / CLOCKS_PER_SEC));
}

SB_INTERPOSED clock_t times(tms* out) noexcept {
  SB_NEXT(times);
  const clock_t since = real_times(out);
  const auto* h = following_from_now();
  if (h == nullptr) return since;
  const std::uint64_t computed = processor_ns(*h, true);
  if (out != nullptr) {
    out->tms_utime = ticks(computed);
    out->tms_stime = 0;
  }
  return ticks(begin_ns(CLOCK_MONOTONIC) + h->now());
}

SB_INTERPOSED int getrusage(__rusage_who_t who, rusage* out) noexcept {
  SB_NEXT(getrusage);
  const int result = real_getrusage(who, out);
  const bool whole = who == RUSAGE_SELF;
  const auto* h = result == 0 && (whole || who == RUSAGE_THREAD) ? following_from_now() : nullptr;
  if (h == nullptr) return result;
  const timespec computed = timespec_of(processor_ns(*h, whole));
  out->ru_utime = {computed.tv_sec, computed.tv_nsec / 1000};
  out->ru_stime = {};
  return 0;
}

SB_INTERPOSED int nanosleep(const timespec* wanted, timespec* left) {
  const auto* h = following_from_now();
  if (h == nullptr) {
    SB_NEXT(nanosleep);
    return real_nanosleep(wanted, left);
  }
  if (!is_time(*wanted)) return refused();
  const std::uint64_t rest = sleep_in_turn(*h, ns_of(*wanted));
  if (rest == 0) return 0;
  if (left != nullptr) *left = timespec_of(rest);
  return interrupted_call();
}

SB_INTERPOSED int clock_nanosleep(clockid_t clock, int flags, const timespec* wanted,
                                  timespec* left) {
  const auto* h = is_modelled(clock) ? following_from_now() : nullptr;
  if (h == nullptr) {
    SB_NEXT(clock_nanosleep);
    return real_clock_nanosleep(clock, flags, wanted, left);
  }
  if (!is_time(*wanted)) return EINVAL;
  const std::uint64_t now = h->now();
  const bool absolute = (flags & TIMER_ABSTIME) != 0;
  const std::uint64_t until = absolute ? since_begin(clock, *wanted) : now + ns_of(*wanted);
  if (until <= now) {
    h->pass(read_ns);
    return 0;
  }
  const std::uint64_t rest = sleep_in_turn(*h, until - now);
  if (rest != 0 && !absolute && left != nullptr) *left = timespec_of(rest);
  return rest == 0 ? 0 : EINTR;
}

SB_INTERPOSED int usleep(useconds_t wanted) {
  const auto* h = following_from_now();
  if (h == nullptr) {
    SB_NEXT(usleep);
    return real_usleep(wanted);
  }
  return sleep_in_turn(*h, std::uint64_t{wanted} * 1000) == 0 ? 0 : interrupted_call();
}

SB_INTERPOSED unsigned sleep(unsigned wanted) {
  const auto* h = following_from_now();
  if (h == nullptr) {
    SB_NEXT(sleep);
    return real_sleep(wanted);
  }
  return static_cast<unsigned>(sleep_in_turn(*h, wanted * second_ns) / second_ns);
}

SB_INTERPOSED int sched_yield() noexcept {
  const auto* h = following_from_now();
  if (h == nullptr) {
    SB_NEXT(sched_yield);
    return real_sched_yield();
  }
  h->yield(yield_ns);
  return 0;
}
