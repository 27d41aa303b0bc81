// A lock for sections of some ten nanoseconds. It asks the operating system by itself, because the
// program's calls for waiting and yielding may be followed by the one who records.
#pragma once

#include <linux/futex.h>
#include <sys/syscall.h>
#include <unistd.h>

#include <atomic>
#include <cstdint>

namespace sb::trace {

class record_lock {
 public:
  void lock() {
    std::uint32_t expected = free;
    if (!word_.compare_exchange_strong(expected, taken, std::memory_order_acquire,
                                       std::memory_order_relaxed))
      wait();
  }
  void unlock() {
    if (word_.exchange(free, std::memory_order_release) == contended)
      ::syscall(SYS_futex, &word_, FUTEX_WAKE_PRIVATE, 1, nullptr, nullptr, 0);
  }
  // The child of a fork, where the holder does not exist.
  void reset() { word_.store(free, std::memory_order_relaxed); }

 private:
  static constexpr std::uint32_t free = 0, taken = 1, contended = 2;
  static constexpr int looks = 200;

  void wait() {
    for (int i = 0; i < looks; ++i) {
      std::uint32_t expected = free;
      if (word_.load(std::memory_order_relaxed) == free &&
          word_.compare_exchange_strong(expected, taken, std::memory_order_acquire,
                                        std::memory_order_relaxed))
        return;
    }
    while (word_.exchange(contended, std::memory_order_acquire) != free)
      ::syscall(SYS_futex, &word_, FUTEX_WAIT_PRIVATE, contended, nullptr, nullptr, 0);
  }

  std::atomic<std::uint32_t> word_{free};
};

}  // namespace sb::trace
