// Faults in device code: the signals become the error of a kernel instead of the end of the
// process.
//
// A worker that runs a fiber, and a copy inside `guarded`, are device code; a signal anywhere else
// goes to the program's own handler: the one that it had before ours, or what it asked for since
// (program_sigaction).
#pragma once

#include <atomic>
#include <csetjmp>
#include <csignal>
#include <cstdint>
#include <utility>

#include "engine/block.hpp"

namespace sb::engine {

// Set in the arguments of a kernel that are pointers it must not follow: neither canonical on
// x86-64 nor within the 48 or 52 bits of aarch64, where bits 56 and up are ignored.
inline constexpr std::uint64_t barred_address = std::uint64_t{0x00f0} << 48;

// Installs the handlers, once per process.
void install_fault_handlers();

// sigaction as the program means it. Once the handlers are installed they stay, and for the signals
// of faults the call reads and writes what a fault outside of device code gets. Safe in signal
// handlers, and before any constructor ran.
int program_sigaction(int signal, const struct sigaction* action, struct sigaction* old);
[[nodiscard]] bool is_fault_signal(int signal);

// From now on the calling thread takes no signals but those of its own faults, whatever mask it has
// inherited. Answers which it blocked before.
sigset_t take_only_faults();

// The program's signals wait while its thread does what others are for.
class signals_put_off {
 public:
  signals_put_off() : before_(take_only_faults()) {}
  ~signals_put_off() { pthread_sigmask(SIG_SETMASK, &before_, nullptr); }
  signals_put_off(const signals_put_off&) = delete;
  signals_put_off& operator=(const signals_put_off&) = delete;

 private:
  sigset_t before_;
};

// A stack for signal handlers of the calling thread: the ordinary one may have overflowed.
class signal_stack {
 public:
  signal_stack();
  ~signal_stack();
  signal_stack(const signal_stack&) = delete;
  signal_stack& operator=(const signal_stack&) = delete;

 private:
  char* memory_;
  stack_t old_;
};

namespace detail {
struct guard_frame {
  sigjmp_buf jump;
  failure_record fault;
};
guard_frame*& present_guard();
}  // namespace detail

// Runs `work`, which must not own anything; answers the fault that ended it, or a success.
template <class Work>
failure_record guarded(Work&& work) {
  detail::guard_frame frame;
  detail::guard_frame*& present = detail::present_guard();
  // The handler's mask is undone by the return from the signal: none to save here.
  if (sigsetjmp(frame.jump, 0) == 0) {
    present = &frame;
    std::atomic_signal_fence(std::memory_order_seq_cst);  // the handler reads it meanwhile
    std::forward<Work>(work)();
    std::atomic_signal_fence(std::memory_order_seq_cst);
    present = nullptr;
    return {};
  }
  present = nullptr;
  return frame.fault;
}

}  // namespace sb::engine
