// A lock for sections of some ten nanoseconds. To give it back is a store: whoever finds it taken
// looks again, then lets others run, then sleeps for moments. It asks the operating system by
// itself, because the program's own calls for waiting and yielding may be followed by the one who
// records.
#pragma once

#include <sys/syscall.h>
#include <unistd.h>

#include <atomic>
#include <ctime>

namespace sb::trace {

class record_lock {
 public:
  void lock() {
    if (taken_.exchange(true, std::memory_order_acquire)) wait();
  }
  void unlock() { taken_.store(false, std::memory_order_release); }
  // The child of a fork, where the holder does not exist.
  void reset() { unlock(); }

 private:
  static constexpr int looks = 200, yields = 20;

  void wait() {
    for (int turn = 0;; ++turn) {
      for (int i = 0; i < looks; ++i) {
        if (!taken_.load(std::memory_order_relaxed) &&
            !taken_.exchange(true, std::memory_order_acquire))
          return;
      }
      constexpr timespec moment{0, 50'000};
      if (turn < yields) {
        ::syscall(SYS_sched_yield);
      } else {
        ::syscall(SYS_nanosleep, &moment, nullptr);
      }
    }
  }

  std::atomic<bool> taken_{false};
};

}  // namespace sb::trace
