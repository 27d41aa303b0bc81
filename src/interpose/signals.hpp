// Signals in modelled time: those of timers, and what threads of the program send each other once
// there are timers.
//
// A signal comes between turns. Who takes it is decided there: the program's first thread if it
// does not block it, else the first that was made and does not. That thread leaves its wait, sends
// the signal to itself when it has its turn and runs code of its own, and the system runs the
// handler. A signal that all block waits in the system, for sigwait, a signalfd, or for one that
// unblocks it.
#pragma once

#include <sys/types.h>

#include <csignal>
#include <cstdint>

#include "interpose/hooks.hpp"

namespace sb::interpose {

void note_thread(void* self);  // by a new thread of the program, as it begins
pid_t number_of(void* self);   // the system's; 0: it has not begun

enum class signal_place : std::uint8_t { nowhere, thread, system };

// Between turns, or by a thread that has its turn; `ns` is when. Where it is now; nowhere: it is
// ignored.
signal_place send_to_process(const streambed_clock_hooks& h, const siginfo_t& what,
                             std::uint64_t ns);
signal_place send_to_thread(const streambed_clock_hooks& h, pid_t thread, const siginfo_t& what,
                            std::uint64_t ns);
// Whether the system still has it; 0: for the process.
bool system_has(int signal, pid_t thread);
// Whether it has one for the calling thread that is not in the mask.
bool has_pending(const sigset_t& mask);
// The same signal of the process with more overruns.
void count_overruns_in_system(int signal, int timer, int more);

// What handlers did to the calling thread since this was made.
class interruptions {
 public:
  interruptions() : before_(ran()) {}
  // One has run: ends sleeps and waits for files.
  [[nodiscard]] bool any() const { return ran().all != before_.all; }
  // One has run that was installed without SA_RESTART.
  [[nodiscard]] bool ends_restarted() const { return ran().ending != before_.ending; }

 private:
  struct counts {
    std::uint64_t all = 0, ending = 0;
  };
  static counts& ran();
  friend void deliver_signals();
  counts before_;
};

// The calling thread has another mask of signals as long as this lives; null: its own.
class other_mask {
 public:
  explicit other_mask(const sigset_t* mask) : is_other_(mask != nullptr) {
    if (is_other_) pthread_sigmask(SIG_SETMASK, mask, &before_);
  }
  ~other_mask() {
    if (is_other_) pthread_sigmask(SIG_SETMASK, &before_, nullptr);
  }
  other_mask(const other_mask&) = delete;
  other_mask& operator=(const other_mask&) = delete;

 private:
  bool is_other_;
  sigset_t before_{};
};

// What threads wait on that wait for signals, and for files.
inline constexpr char signal_comes{}, file_changes{};
inline constexpr streambed_awaited signal_or_file{streambed_awaits_memory, nullptr, true};

// As the C library's sleeps, which pthread_cancel ends, and handlers of signals. What is left then.
inline std::uint64_t sleep_in_turn(const streambed_clock_hooks& h, std::uint64_t ns) {
  pthread_testcancel();
  const interruptions since;
  while ((ns = h.sleep(ns)) != 0 && !since.any()) pthread_testcancel();
  return ns;
}

// Waits until a handler has run; EINTR. For calls that have no other end.
int await_handler(const streambed_clock_hooks& h);

}  // namespace sb::interpose
