// Waits that ask the system by themselves: std::future, std::atomic::wait, latches, semaphores.
#include <linux/futex.h>
#include <sys/syscall.h>
#include <unistd.h>

#include <atomic>
#include <cerrno>
#include <cstdarg>

#include "interpose/hooks.hpp"
#include "interpose/signals.hpp"

using sb::interpose::following;
using sb::interpose::never;
using sb::interpose::ns_of;
using sb::interpose::since_begin;

namespace {

struct futex_call {
  std::uint32_t* word;
  int operation;
  std::uint32_t value;
  const timespec* timeout;  // of waits; null: none

  [[nodiscard]] int command() const { return operation & FUTEX_CMD_MASK; }
  [[nodiscard]] bool is_wait() const {
    return command() == FUTEX_WAIT || command() == FUTEX_WAIT_BITSET;
  }
  // Those that wake some and move others wake all here, which is allowed: who waits looks again.
  [[nodiscard]] std::size_t wakes() const {
    switch (command()) {
      case FUTEX_WAKE:
        return value;
      case FUTEX_WAKE_BITSET:
      case FUTEX_WAKE_OP:
      case FUTEX_REQUEUE:
      case FUTEX_CMP_REQUEUE:
        return ~std::size_t{0};
      default:
        return 0;
    }
  }
};

int fails(int error) {
  errno = error;
  return -1;
}

int wait_in_turn(const streambed_clock_hooks& h, const futex_call& call) {
  std::uint64_t until = never;
  if (call.timeout != nullptr) {
    const bool real = (call.operation & FUTEX_CLOCK_REALTIME) != 0;
    until = call.command() == FUTEX_WAIT
                ? h.now() + ns_of(*call.timeout)
                : since_begin(real ? CLOCK_REALTIME : CLOCK_MONOTONIC, *call.timeout);
  }
  h.prepare(call.word, until, &sb::interpose::memory_change);
  if (std::atomic_ref<std::uint32_t>(*call.word).load() != call.value) {
    h.cancel();
    return fails(EAGAIN);
  }
  const sb::interpose::interruptions since;
  const int how = h.wait();
  if (until == never ? since.ends_restarted() : since.any()) return fails(EINTR);
  // Without a limit, an end that nobody caused is the process's: who waits looks again.
  return how != 0 || until == never ? 0 : fails(ETIMEDOUT);
}

using system_call = long(long, ...) noexcept;
std::atomic<system_call*> found{nullptr};

// Not a variable that is made at its first use: who waits for such a one comes here.
system_call* real_syscall() {
  system_call* real = found.load(std::memory_order_acquire);
  if (real == nullptr) {
    real = sb::interpose::next<system_call>("syscall");
    found.store(real, std::memory_order_release);
  }
  return real;
}

}  // namespace

SB_INTERPOSED long syscall(long number, ...) noexcept {
  va_list list;
  va_start(list, number);
  long given[6];
  for (long& one : given) one = va_arg(list, long);
  va_end(list);
  const auto as_asked = [&] {
    return real_syscall()(number, given[0], given[1], given[2], given[3], given[4], given[5]);
  };
  if (number != SYS_futex) return as_asked();
  const futex_call call{reinterpret_cast<std::uint32_t*>(given[0]), static_cast<int>(given[1]),
                        static_cast<std::uint32_t>(given[2]),
                        reinterpret_cast<const timespec*>(given[3])};
  const auto* h = call.is_wait() || call.wakes() != 0 ? following() : nullptr;
  if (h == nullptr) return as_asked();
  if (call.is_wait()) return wait_in_turn(*h, call);
  const auto woken = static_cast<long>(h->wake(call.word, call.wakes()));
  const long others = as_asked();  // those whose time is not modelled
  return others < 0 ? others : others + woken;
}
