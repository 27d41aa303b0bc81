#include "interpose/signals.hpp"

#include <pthread.h>
#include <sys/syscall.h>
#include <unistd.h>

#include <algorithm>
#include <cerrno>
#include <cstdio>
#include <cstdlib>
#include <cstring>
#include <map>
#include <vector>

#include "interpose/timer_table.hpp"

namespace sb::interpose {

void deliver_signals();

namespace {

constexpr std::size_t all = ~std::size_t{0};

struct known_thread {
  void* self;
  pid_t id;
};

// Guarded by its lock.
struct signal_table {
  pthread_mutex_t lock = PTHREAD_MUTEX_INITIALIZER;
  std::vector<known_thread> threads;                // beside the first one, as they began
  std::map<pid_t, std::vector<siginfo_t>> to_take;  // by thread
};
signal_table& table() {
  static auto* one = new signal_table;  // threads may outlive the process's statics
  return *one;
}

// The table's own lock is none that the program waits for.
template <class Body>
auto with_table(Body body) {
  SB_NEXT(pthread_mutex_lock);
  SB_NEXT(pthread_mutex_unlock);
  real_pthread_mutex_lock(&table().lock);
  const auto result = body(table());
  real_pthread_mutex_unlock(&table().lock);
  return result;
}

// A set of signals that the system tells of a thread, or with 0 of the process.
std::uint64_t signals_told(pid_t thread, const char* which) {
  char path[64];
  if (thread != 0)
    std::snprintf(path, sizeof path, "/proc/self/task/%d/status", static_cast<int>(thread));
  else
    std::snprintf(path, sizeof path, "/proc/self/status");
  std::FILE* file = std::fopen(path, "re");
  if (file == nullptr) return 0;
  char line[256];
  std::uint64_t found = 0;
  const std::size_t length = std::strlen(which);
  while (std::fgets(line, sizeof line, file) != nullptr)
    if (std::strncmp(line, which, length) == 0) found = std::strtoull(line + length, nullptr, 16);
  std::fclose(file);
  return found;
}

bool has(std::uint64_t signals, int one) { return (signals >> (one - 1) & 1) != 0; }
bool blocks(pid_t thread, int signal) { return has(signals_told(thread, "SigBlk:"), signal); }

struct sigaction action_of(int signal) {
  struct sigaction now{};
  sigaction(signal, nullptr, &now);
  return now;
}

bool is_ignored(int signal) {
  const struct sigaction now = action_of(signal);
  if (now.sa_handler == SIG_IGN) return true;
  if (now.sa_handler != SIG_DFL) return false;
  return signal == SIGCHLD || signal == SIGURG || signal == SIGWINCH || signal == SIGCONT;
}

// Only the first thread may say to the process that somebody else sent it.
void send_by_system(pid_t thread, const siginfo_t& what) {
  siginfo_t sent = what;
  const pid_t process = getpid();
  if (thread != 0) {
    if (syscall(SYS_rt_tgsigqueueinfo, process, thread, what.si_signo, &sent) != 0)
      syscall(SYS_tgkill, process, thread, what.si_signo);
  } else if (syscall(SYS_rt_sigqueueinfo, process, what.si_signo, &sent) != 0) {
    syscall(SYS_kill, process, what.si_signo);
  }
}

// A signal that waits is there once, but for those of timers, each of which has its own.
bool is_kept_once(const siginfo_t& what) {
  return what.si_signo < SIGRTMIN && (what.si_code != SI_TIMER || is_of_alarm(what));
}

// The first thread, and the others in the order in which they began.
std::vector<known_thread> living(const streambed_clock_hooks& h) {
  auto found = with_table([&](signal_table& t) {
    std::erase_if(t.threads, [&](const known_thread& one) { return h.over(one.self) != 0; });
    return t.threads;
  });
  if (h.over(nullptr) == 0) found.insert(found.begin(), {nullptr, getpid()});
  return found;
}

signal_place give(const streambed_clock_hooks& h, const known_thread& to, const siginfo_t& what,
                  std::uint64_t ns) {
  if (is_ignored(what.si_signo)) return signal_place::nowhere;
  with_table([&](signal_table& t) {
    std::vector<siginfo_t>& queue = t.to_take[to.id];
    const bool has_it = std::any_of(queue.begin(), queue.end(), [&](const siginfo_t& one) {
      return one.si_signo == what.si_signo && is_kept_once(what);
    });
    if (!has_it) queue.push_back(what);
    return 0;
  });
  if (h.divert(to.self, ns, &deliver_signals) != 0) return signal_place::thread;
  // It runs without its turn, as threads do elsewhere.
  with_table([&](signal_table& t) { return t.to_take.erase(to.id); });
  send_by_system(to.id, what);
  return signal_place::nowhere;
}

// Who waits for signals or files looks again.
signal_place leave_to_system(const streambed_clock_hooks& h, pid_t thread, const siginfo_t& what,
                             std::uint64_t ns) {
  send_by_system(thread, what);
  h.wake_at(&signal_comes, all, ns);
  h.wake_at(&file_changes, all, ns);
  return signal_place::system;
}

}  // namespace

void note_thread(void* self) {
  with_table([&](signal_table& t) {
    t.threads.push_back({self, gettid()});
    return 0;
  });
}

pid_t number_of(void* self) {
  return with_table([&](const signal_table& t) {
    const auto found = std::find_if(t.threads.rbegin(), t.threads.rend(),
                                    [&](const known_thread& one) { return one.self == self; });
    return found != t.threads.rend() ? found->id : 0;
  });
}

interruptions::counts& interruptions::ran() {
  thread_local constinit counts own;
  return own;
}

// On the thread that takes them, in its turn.
void deliver_signals() {
  const int error = errno;
  const auto mine = with_table([](signal_table& t) {
    const auto found = t.to_take.find(gettid());
    std::vector<siginfo_t> taken;
    if (found == t.to_take.end()) return taken;
    taken = std::move(found->second);
    t.to_take.erase(found);
    return taken;
  });
  for (siginfo_t what : mine) {
    accepted(what);
    const struct sigaction now = action_of(what.si_signo);
    if (now.sa_handler != SIG_DFL && now.sa_handler != SIG_IGN) {
      ++interruptions::ran().all;
      if ((now.sa_flags & SA_RESTART) == 0) ++interruptions::ran().ending;
    }
    send_by_system(gettid(), what);  // its handler runs here
  }
  errno = error;
}

signal_place send_to_process(const streambed_clock_hooks& h, const siginfo_t& what,
                             std::uint64_t ns) {
  for (const known_thread& one : living(h))
    if (!blocks(one.id, what.si_signo)) return give(h, one, what, ns);
  return leave_to_system(h, 0, what, ns);
}

signal_place send_to_thread(const streambed_clock_hooks& h, pid_t thread, const siginfo_t& what,
                            std::uint64_t ns) {
  for (const known_thread& one : living(h)) {
    if (one.id != thread) continue;
    return blocks(thread, what.si_signo) ? leave_to_system(h, thread, what, ns)
                                         : give(h, one, what, ns);
  }
  return signal_place::nowhere;
}

bool system_has(int signal, pid_t thread) {
  return has(signals_told(thread, thread != 0 ? "SigPnd:" : "ShdPnd:"), signal);
}

bool has_pending(const sigset_t& mask) {
  sigset_t waiting;
  sigpending(&waiting);
  for (int signal = 1; signal <= SIGRTMAX; ++signal)
    if (sigismember(&waiting, signal) == 1 && sigismember(&mask, signal) == 0) return true;
  return false;
}

// The system has no way to change what waits there: it is taken out and sent again.
void count_overruns_in_system(int signal, int timer, int more) {
  SB_NEXT(sigtimedwait);
  sigset_t one, before;
  sigemptyset(&one);
  sigaddset(&one, signal);
  pthread_sigmask(SIG_BLOCK, &one, &before);
  constexpr timespec at_once{};
  std::vector<siginfo_t> waiting;
  for (siginfo_t info; real_sigtimedwait(&one, &info, &at_once) == signal;) {
    if (info.si_code == SI_TIMER && info.si_timerid == timer) info.si_overrun += more;
    waiting.push_back(info);
  }
  for (const siginfo_t& info : waiting) send_by_system(0, info);
  pthread_sigmask(SIG_SETMASK, &before, nullptr);
}

int await_handler(const streambed_clock_hooks& h) {
  const interruptions since;
  while (!since.any()) {
    pthread_testcancel();
    h.prepare(&signal_comes, never, &signal_or_file);
    if (h.wait() == 0) {  // the process ends
      SB_NEXT(pause);
      return real_pause();
    }
  }
  errno = EINTR;
  return -1;
}

}  // namespace sb::interpose
