// Waits that ask the system by themselves: std::future, std::atomic::wait, latches, semaphores.
#include <linux/futex.h>
#include <sys/syscall.h>
#include <unistd.h>

#include <atomic>
#include <cerrno>
#include <cstdarg>

#include "interpose/hooks.hpp"

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
  [[nodiscard]] bool is_wake() const {
    return command() == FUTEX_WAKE || command() == FUTEX_WAKE_BITSET;
  }
};

int fails(int error) {
  errno = error;
  return -1;
}

// Those who may change the word have no turn while this thread looks at it.
int wait_in_turn(const streambed_clock_hooks& h, const futex_call& call) {
  if (std::atomic_ref<std::uint32_t>(*call.word).load() != call.value) return fails(EAGAIN);
  std::uint64_t until = never;
  if (call.timeout != nullptr) {
    const bool real = (call.operation & FUTEX_CLOCK_REALTIME) != 0;
    until = call.command() == FUTEX_WAIT
                ? h.now() + ns_of(*call.timeout)
                : since_begin(real ? CLOCK_REALTIME : CLOCK_MONOTONIC, *call.timeout);
  }
  return h.wait(call.word, until) != 0 ? 0 : fails(ETIMEDOUT);
}

}  // namespace

SB_INTERPOSED long syscall(long number, ...) noexcept {
  SB_NEXT(syscall);
  va_list list;
  va_start(list, number);
  long given[6];
  for (long& one : given) one = va_arg(list, long);
  va_end(list);
  const auto as_asked = [&] {
    return real_syscall(number, given[0], given[1], given[2], given[3], given[4], given[5]);
  };
  if (number != SYS_futex) return as_asked();
  const futex_call call{reinterpret_cast<std::uint32_t*>(given[0]), static_cast<int>(given[1]),
                        static_cast<std::uint32_t>(given[2]),
                        reinterpret_cast<const timespec*>(given[3])};
  const auto* h = call.is_wait() || call.is_wake() ? following() : nullptr;
  if (h == nullptr) return as_asked();
  if (call.is_wait()) return wait_in_turn(*h, call);
  h->wake(call.word, call.value);
  return as_asked();  // for those whose time is not modelled
}
