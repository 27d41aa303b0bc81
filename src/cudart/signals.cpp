// sigaction and signal of the program: found before the C library's, because libcudart comes before
// it.
//
// The runtime turns faults of kernels into errors by handlers of its own. A program may install
// handlers for the same signals at any time: they are remembered here and get the faults that are
// not the device's (engine/fault.hpp). The program never sees ours.
#include <cerrno>
#include <csignal>

#include "cudart/context.hpp"
#include "engine/fault.hpp"

namespace {

using handler = void (*)(int);

handler set_handler(int signal, handler what, int flags, bool block_itself) noexcept {
  struct sigaction action{};
  struct sigaction old{};
  action.sa_handler = what;
  action.sa_flags = flags;
  sigemptyset(&action.sa_mask);
  if (block_itself) sigaddset(&action.sa_mask, signal);
  return sb::engine::program_sigaction(signal, &action, &old) == 0 ? old.sa_handler : SIG_ERR;
}

}  // namespace

SB_API int sigaction(int signal, const struct sigaction* action, struct sigaction* old) noexcept {
  return sb::engine::program_sigaction(signal, action, old);
}

SB_API handler signal(int signal, handler what) noexcept {
  // Another name of the C library's function, which knows about siginterrupt.
  if (!sb::engine::is_fault_signal(signal) || what == SIG_ERR) return ssignal(signal, what);
  return set_handler(signal, what, SA_RESTART, true);
}

// What `signal` is in strict C.
SB_API handler __sysv_signal(int signal, handler what) noexcept {
  if (what == SIG_ERR) {
    errno = EINVAL;
    return SIG_ERR;
  }
  return set_handler(signal, what, static_cast<int>(SA_RESETHAND | SA_NODEFER), false);
}

SB_API handler sysv_signal(int signal, handler what) noexcept {
  return __sysv_signal(signal, what);
}
