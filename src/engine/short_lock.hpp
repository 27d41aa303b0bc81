// A mutex for sections of some hundred nanoseconds: whoever finds it taken looks again for about
// that long before the operating system is asked.
#pragma once

#include "engine/futex.hpp"

namespace sb::engine {

class short_lock {
 public:
  void lock() {
    if (!try_lock()) wait();
  }
  bool try_lock() {
    std::uint32_t expected = free;
    return word_.compare_exchange_strong(expected, taken, std::memory_order_acquire,
                                         std::memory_order_relaxed);
  }
  void unlock() {
    if (word_.exchange(free, std::memory_order_release) == contended) futex_wake(&word_, 1);
  }

 private:
  static constexpr std::uint32_t free = 0, taken = 1, contended = 2;
  static constexpr int looks = 100;

  void wait() {
    for (int i = 0; i < looks; ++i) {
      relax();
      if (word_.load(std::memory_order_relaxed) == free && try_lock()) return;
    }
    while (word_.exchange(contended, std::memory_order_acquire) != free)
      futex_wait(word_, contended);
  }

  futex_word word_{free};
};

}  // namespace sb::engine
