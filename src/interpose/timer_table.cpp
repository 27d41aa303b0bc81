#include "interpose/timer_table.hpp"

#include <dirent.h>
#include <poll.h>
#include <unistd.h>

#include <algorithm>
#include <atomic>
#include <cstdio>
#include <cstdlib>
#include <utility>
#include <vector>

#include "interpose/own_threads.hpp"
#include "interpose/signals.hpp"

namespace sb::interpose {

namespace {

constexpr std::uint64_t call_ns = 300;       // of a call that sets a timer or looks at one
constexpr std::uint64_t shortest_ns = 1000;  // between two looks at one
constexpr int alarm_number = -1;

// Guarded by its lock.
struct timer_table {
  pthread_mutex_t lock = PTHREAD_MUTEX_INITIALIZER;
  std::list<timer> timers;
  int made = 0;
};
timer_table& table() {
  static auto* one = new timer_table;  // threads may outlive the process's statics
  return *one;
}
std::atomic<bool> in_use{false};
std::atomic<const streambed_clock_hooks*> hooks_of_timers{nullptr};

// The table's own lock is none that the program waits for.
template <class Body>
auto with_timers(Body body) {
  SB_NEXT(pthread_mutex_lock);
  SB_NEXT(pthread_mutex_unlock);
  real_pthread_mutex_lock(&table().lock);
  const auto result = body(table().timers);
  real_pthread_mutex_unlock(&table().lock);
  return result;
}

std::uint64_t next_look(const std::list<timer>& timers) {
  std::uint64_t next = never;
  for (const timer& t : timers) next = std::min(next, t.look_ns);
  return next;
}

bool sends(const timer& t) {
  return t.due_ns != never && (t.whom == timer::tells::process || t.whom == timer::tells::thread);
}

siginfo_t info_of(const timer& t) {
  siginfo_t info{};
  info.si_signo = t.signal;
  info.si_code = SI_TIMER;
  info.si_timerid = t.number;
  info.si_overrun = t.overruns;
  info.si_value = t.value;
  return info;
}

bool is_still_pending(const timer& t) {
  return t.is_pending &&
         (!t.system_has_it || system_has(t.signal, t.whom == timer::tells::thread ? t.thread : 0));
}

void accept(timer& t) {
  t.accepted_overruns = std::exchange(t.overruns, 0);
  t.is_pending = t.system_has_it = false;
}

// The signal of a timer is there once; what comes while it waits is counted.
void send_signal(const streambed_clock_hooks& h, timer& t, std::uint64_t times, std::uint64_t ns) {
  const int more = static_cast<int>(times);
  if (!t.is_alarm && is_still_pending(t)) {
    t.overruns += more;
    if (t.system_has_it && t.whom == timer::tells::process)
      count_overruns_in_system(t.signal, t.number, more);
    return;
  }
  if (t.is_pending) accept(t);
  const bool one_for_all = !t.is_alarm && t.signal < SIGRTMIN && system_has(t.signal, 0);
  t.overruns = more - 1;
  const siginfo_t info = info_of(t);
  const signal_place place = t.whom == timer::tells::process
                                 ? send_to_process(h, info, ns)
                                 : send_to_thread(h, t.thread, info, ns);
  t.is_pending = !t.is_alarm && place != signal_place::nowhere;
  t.system_has_it = place == signal_place::system;
  // Of several timers' the system would keep each, but not of those that are sent.
  if (t.system_has_it && one_for_all) h.depends_on_machine();
}

struct call_of_timer {
  void (*function)(sigval);
  sigval value;
};
void* call_function(void* given) {
  const call_of_timer what = *static_cast<call_of_timer*>(given);
  delete static_cast<call_of_timer*>(given);
  what.function(what.value);
  return nullptr;
}

void tell(const streambed_clock_hooks& h, timer& t, std::uint64_t times, std::uint64_t ns) {
  switch (t.whom) {
    case timer::tells::nobody:
      break;
    case timer::tells::process:
    case timer::tells::thread:
      send_signal(h, t, times, ns);
      break;
    case timer::tells::function:
      for (; times != 0; --times)
        start_detached_thread(h, ns, t.attributes, &call_function,
                              new call_of_timer{t.function, t.value});
      break;
    case timer::tells::file: {
      SB_NEXT(write);
      (void)!real_write(t.file, &times, sizeof times);
      h.wake_at(&file_changes, ~std::size_t{0}, ns);
      break;
    }
  }
}

// Those that are over at `ns`, in the order of their times.
void expire(std::uint64_t ns) {
  const streambed_clock_hooks& h = *hooks_of_timers.load();
  struct over {
    timer* which;
    std::uint64_t times, due_ns;
  };
  const auto found = with_timers([&](std::list<timer>& timers) {
    std::vector<over> result;
    for (timer& t : timers) {
      if (t.look_ns > ns) continue;
      const std::uint64_t due = t.due_ns;
      const std::uint64_t times = t.period_ns == 0 ? 1 : 1 + (ns - t.due_ns) / t.period_ns;
      t.due_ns = t.period_ns == 0 ? never : t.due_ns + times * t.period_ns;
      t.look_ns = t.period_ns < shortest_ns ? std::max(t.due_ns, ns + shortest_ns) : t.due_ns;
      result.push_back({&t, times, due});
    }
    std::sort(result.begin(), result.end(), [](const over& a, const over& b) {
      return a.due_ns != b.due_ns ? a.due_ns < b.due_ns : a.which->number < b.which->number;
    });
    return result;
  });
  for (const over& one : found) tell(h, *one.which, one.times, ns);
  h.call_at(with_timers([](std::list<timer>& timers) { return next_look(timers); }), &expire);
}

// What was counted of the time before does not count any more.
void empty(int file) {
  SB_NEXT(poll);
  SB_NEXT(read);
  pollfd one{file, POLLIN, 0};
  std::uint64_t count = 0;
  if (real_poll(&one, 1, 0) == 1) (void)!real_read(file, &count, sizeof count);
}

void start(const streambed_clock_hooks& h, timer& one, std::uint64_t due_ns,
           std::uint64_t period_ns) {
  hooks_of_timers.store(&h);
  if (one.whom == timer::tells::file) empty(one.file);
  const std::uint64_t next = with_timers([&](std::list<timer>& timers) {
    one.due_ns = due_ns;
    one.look_ns = one.whom == timer::tells::nobody ? never : due_ns;
    one.period_ns = due_ns == never ? 0 : period_ns;
    one.overruns = one.accepted_overruns = 0;
    return next_look(timers);
  });
  h.call_at(next, &expire);
}

timer_state state_of(const timer& t, std::uint64_t now) {
  if (t.due_ns > now) return {t.due_ns == never ? 0 : t.due_ns - now, t.period_ns};
  // One that tells nobody is not followed, and others are over in the next turn.
  if (t.period_ns == 0) return {t.whom == timer::tells::nobody ? 0u : 1u, 0};
  return {t.period_ns - (now - t.due_ns) % t.period_ns, t.period_ns};
}

// The number by which the system knows what a file counts in.
long counter_of(int file) {
  char path[64];
  std::snprintf(path, sizeof path, "/proc/self/fdinfo/%d", file);
  std::FILE* told = std::fopen(path, "re");
  if (told == nullptr) return -1;
  char line[128];
  long found = -1;
  while (std::fgets(line, sizeof line, told) != nullptr)
    if (std::sscanf(line, "eventfd-id: %ld", &found) == 1) break;
  std::fclose(told);
  return found;
}

}  // namespace

bool timers_in_use() { return in_use.load(std::memory_order_relaxed); }

bool signals_are_due() {
  return timers_in_use() && with_timers([](const std::list<timer>& timers) {
           return std::any_of(timers.begin(), timers.end(), sends);
         });
}

bool sends_one_of(const sigset_t& signals) {
  return timers_in_use() && with_timers([&](const std::list<timer>& timers) {
           return std::any_of(timers.begin(), timers.end(), [&](const timer& t) {
             return t.signal != 0 && sigismember(&signals, t.signal) == 1;
           });
         });
}

timer* make_timer(const timer& like) {
  in_use.store(true);
  return with_timers([&](std::list<timer>& timers) {
    timers.push_back(like);
    if (!like.is_alarm) timers.back().number = ++table().made;
    return &timers.back();
  });
}

bool is_timer(const void* one) {
  return timers_in_use() && with_timers([&](const std::list<timer>& timers) {
           return std::any_of(timers.begin(), timers.end(),
                              [&](const timer& t) { return &t == one && !t.is_alarm; });
         });
}

void remove_timer(const streambed_clock_hooks& h, timer* one) {
  set_timer(h, *one, 0, 0);
  with_timers([&](std::list<timer>& timers) {
    return timers.remove_if([&](const timer& t) { return &t == one; });
  });
}

timer* timer_of_file(int file) {
  const long counter = timers_in_use() ? counter_of(file) : -1;
  if (counter < 0) return nullptr;
  return with_timers([&](std::list<timer>& timers) -> timer* {
    for (timer& t : timers)
      if (t.whom == timer::tells::file && counter_of(t.file) == counter) return &t;
    return nullptr;
  });
}

bool has_other_file(const timer& one) {
  const long counter = counter_of(one.file);
  DIR* const files = opendir("/proc/self/fd");
  if (files == nullptr) return true;
  bool found = false;
  while (const dirent* each = readdir(files)) {
    const int file = std::atoi(each->d_name);
    found = found || (each->d_name[0] != '.' && file != one.file && counter_of(file) == counter);
  }
  closedir(files);
  return found;
}

timer& alarm_timer() {
  static timer* const one = make_timer(
      {.whom = timer::tells::process, .number = alarm_number, .signal = SIGALRM, .is_alarm = true});
  return *one;
}

timer_state look_at(const streambed_clock_hooks& h, const timer& one) {
  h.pass(call_ns);
  return state_of(one, h.now());
}

timer_state set_timer(const streambed_clock_hooks& h, timer& one, std::uint64_t first_ns,
                      std::uint64_t period_ns) {
  const timer_state before = look_at(h, one);
  start(h, one, first_ns == 0 ? never : h.now() + first_ns, period_ns);
  return before;
}

timer_state set_timer(const streambed_clock_hooks& h, timer& one, const itimerspec& given,
                      bool absolute) {
  const std::uint64_t period = ns_of(given.it_interval), first = ns_of(given.it_value);
  if (first == 0 || !absolute) return set_timer(h, one, first, period);
  const timer_state before = look_at(h, one);
  start(h, one, since_begin(one.clock, given.it_value), period);
  h.pass(0);  // one that is over already is so in this call
  return before;
}

bool is_of_alarm(const siginfo_t& what) { return what.si_timerid == alarm_number; }

void accepted(siginfo_t& what) {
  if (what.si_code != SI_TIMER) return;
  if (is_of_alarm(what)) {
    what.si_code = SI_KERNEL;
    what.si_timerid = what.si_overrun = 0;
    return;
  }
  with_timers([&](std::list<timer>& timers) {
    for (timer& t : timers) {
      if (t.number != what.si_timerid) continue;
      accept(t);
      what.si_overrun = t.accepted_overruns;
    }
    return 0;
  });
}

int overruns_at_acceptance(timer& one) {
  if (one.is_pending && !is_still_pending(one)) accept(one);
  return one.accepted_overruns;
}

}  // namespace sb::interpose
