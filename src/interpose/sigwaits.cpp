// Waits for signals, and signals that the program sends itself, in modelled time where timers send
// some. Others come from outside: such waits are the system's.
#include <pthread.h>
#include <unistd.h>

#include <cerrno>
#include <csignal>

#include "interpose/hooks.hpp"
#include "interpose/own_threads.hpp"
#include "interpose/signals.hpp"
#include "interpose/timer_table.hpp"

using sb::interpose::following;
using sb::interpose::interruptions;
using sb::interpose::never;
using sb::interpose::other_mask;

namespace {

enum class handlers_end_it : bool { no, yes };

// The signals are taken as the system takes them, blocked or not.
int await_signal(const streambed_clock_hooks& h, const sigset_t& signals, siginfo_t& out,
                 std::uint64_t until_ns, handlers_end_it end) {
  SB_NEXT(sigtimedwait);
  SB_NEXT(sigwaitinfo);
  sigset_t blocked;
  pthread_sigmask(SIG_BLOCK, nullptr, &blocked);
  sigorset(&blocked, &blocked, &signals);
  const other_mask waiting(&blocked);
  const interruptions since;
  const auto taken = [&] {
    constexpr timespec at_once{};
    const int signal = real_sigtimedwait(&signals, &out, &at_once);
    if (signal > 0) sb::interpose::accepted(out);
    return signal;
  };
  for (;;) {
    pthread_testcancel();
    h.prepare(&sb::interpose::signal_comes, until_ns, &sb::interpose::signal_or_file);
    if (const int signal = taken(); signal > 0) {
      h.cancel();
      return signal;
    }
    const int how = h.wait();
    if (end == handlers_end_it::yes && since.any()) {
      errno = EINTR;
      return -1;
    }
    if (how != 0) continue;
    if (until_ns == never) return real_sigwaitinfo(&signals, &out);  // the process ends
    return taken();                                                  // -1 and EAGAIN, as a rule
  }
}

const streambed_clock_hooks* following_for(const sigset_t* signals) {
  return sb::interpose::sends_one_of(*signals) ? following() : nullptr;
}

// What the calling thread sends: its own signals come at once.
siginfo_t sent_by_program(int signal, int code, sigval value) {
  siginfo_t info{};
  info.si_signo = signal;
  info.si_code = code;
  info.si_pid = getpid();
  info.si_uid = getuid();
  info.si_value = value;
  return info;
}

// The hooks when a signal to this process takes modelled time.
const streambed_clock_hooks* following_for(pid_t process, int signal) {
  if (!sb::interpose::timers_in_use() || process != getpid() || signal <= 0 || signal > SIGRTMAX)
    return nullptr;
  return following();
}

int send_to_process(const streambed_clock_hooks& h, const siginfo_t& info) {
  sb::interpose::send_to_process(h, info, h.now());
  h.pass(0);  // the calling thread's come at once
  return 0;
}

}  // namespace

SB_INTERPOSED int pause() {
  SB_NEXT(pause);
  const auto* h = sb::interpose::signals_are_due() ? following() : nullptr;
  return h != nullptr ? sb::interpose::await_handler(*h) : real_pause();
}

SB_INTERPOSED int sigsuspend(const sigset_t* mask) {
  SB_NEXT(sigsuspend);
  const auto* h = sb::interpose::signals_are_due() ? following() : nullptr;
  if (h == nullptr || sb::interpose::has_pending(*mask)) return real_sigsuspend(mask);
  const other_mask waiting(mask);
  return sb::interpose::await_handler(*h);
}

SB_INTERPOSED int sigtimedwait(const sigset_t* signals, siginfo_t* out, const timespec* limit) {
  SB_NEXT(sigtimedwait);
  const auto* h = following_for(signals);
  if (h == nullptr) return real_sigtimedwait(signals, out, limit);
  if (limit != nullptr && !sb::interpose::is_time(*limit)) {
    errno = EINVAL;
    return -1;
  }
  siginfo_t own;
  return await_signal(*h, *signals, out != nullptr ? *out : own,
                      limit != nullptr ? h->now() + sb::interpose::ns_of(*limit) : never,
                      handlers_end_it::yes);
}

SB_INTERPOSED int sigwaitinfo(const sigset_t* signals, siginfo_t* out) {
  SB_NEXT(sigwaitinfo);
  if (following_for(signals) == nullptr) return real_sigwaitinfo(signals, out);
  return sigtimedwait(signals, out, nullptr);
}

SB_INTERPOSED int sigwait(const sigset_t* signals, int* out) {
  SB_NEXT(sigwait);
  const auto* h = following_for(signals);
  if (h == nullptr) return real_sigwait(signals, out);
  siginfo_t info;
  *out = await_signal(*h, *signals, info, never, handlers_end_it::no);
  return 0;
}

SB_INTERPOSED int kill(pid_t process, int signal) noexcept {
  SB_NEXT(kill);
  const auto* h = following_for(process, signal);
  if (h == nullptr) return real_kill(process, signal);
  return send_to_process(*h, sent_by_program(signal, SI_USER, {}));
}

SB_INTERPOSED int sigqueue(pid_t process, int signal, const sigval value) noexcept {
  SB_NEXT(sigqueue);
  const auto* h = following_for(process, signal);
  if (h == nullptr) return real_sigqueue(process, signal, value);
  return send_to_process(*h, sent_by_program(signal, SI_QUEUE, value));
}

SB_INTERPOSED int pthread_kill(pthread_t thread, int signal) noexcept {
  SB_NEXT(pthread_kill);
  const pid_t id = sb::interpose::system_number(thread);
  const auto* h = id != 0 ? following_for(getpid(), signal) : nullptr;
  if (h == nullptr || id == gettid()) return real_pthread_kill(thread, signal);
  sb::interpose::send_to_thread(*h, id, sent_by_program(signal, SI_TKILL, {}), h->now());
  return 0;
}
