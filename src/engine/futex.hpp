// Waiting on a word of memory, the operating system's way.
#pragma once

#include <linux/futex.h>
#include <sys/syscall.h>
#include <unistd.h>

#include <atomic>
#include <cerrno>
#include <cstdint>

namespace sb::engine {

using futex_word = std::atomic<std::uint32_t>;

// Sleeps while the word holds `value`; may return early, which is no error of the caller's.
inline void futex_wait(futex_word& word, std::uint32_t value) {
  const int error_before = errno;
  ::syscall(SYS_futex, &word, FUTEX_WAIT_PRIVATE, value, nullptr, nullptr, 0);
  errno = error_before;
}
// The word itself is not looked at: it may be gone.
inline void futex_wake(futex_word* word, int count) {
  ::syscall(SYS_futex, word, FUTEX_WAKE_PRIVATE, count, nullptr, nullptr, 0);
}

// Tells the processor that this is a loop that waits.
inline void relax() {
#if defined(__aarch64__)
  asm volatile("isb" ::: "memory");
#elif defined(__x86_64__)
  __builtin_ia32_pause();
#endif
}

}  // namespace sb::engine
