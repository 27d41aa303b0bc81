// A mutex for sections of some hundred nanoseconds: whoever finds it taken looks again for about
// that long before the operating system is asked.
//
// Who has left something for the next holder to do need not wait for the lock when the present one
// takes notes: it looks once more when it leaves.
#pragma once

#include "engine/futex.hpp"

namespace sb::engine {

class short_lock {
 public:
  void lock() {
    if (!try_lock()) wait(taken);
  }
  bool try_lock() { return take(taken); }
  // Looks for as long as such a section takes, and asks the operating system for nothing.
  bool try_lock_soon() {
    if (try_lock()) return true;
    for (int i = 0; i < looks; ++i) {
      relax();
      if (word_.load(std::memory_order_relaxed) == free && try_lock()) return true;
    }
    return false;
  }
  void unlock() { release(std::memory_order_release); }

  // The holder takes notes until it leaves with unlock_with_note() or stops with refuse_notes():
  // both answer whether there is one.
  void lock_for_notes() {
    if (!take(taken | takes_notes)) wait(taken | takes_notes);
  }
  [[nodiscard]] bool unlock_with_note() {
    return (release(std::memory_order_acq_rel) & has_note) != 0;
  }
  [[nodiscard]] bool refuse_notes() {
    return (word_.fetch_and(~(takes_notes | has_note), std::memory_order_acq_rel) & has_note) != 0;
  }
  // Whoever holds the lock sees from then on what the caller did before. False: nobody takes notes.
  [[nodiscard]] bool leave_note() {
    std::uint32_t now = word_.load(std::memory_order_relaxed);
    while ((now & takes_notes) != 0) {
      if (word_.compare_exchange_weak(now, now | has_note, std::memory_order_release,
                                      std::memory_order_relaxed))
        return true;
    }
    return false;
  }

 private:
  static constexpr std::uint32_t free = 0, taken = 1, has_sleepers = 2, takes_notes = 4,
                                 has_note = 8;
  static constexpr int looks = 100;

  bool take(std::uint32_t as) {
    std::uint32_t expected = free;
    return word_.compare_exchange_strong(expected, as, std::memory_order_acquire,
                                         std::memory_order_relaxed);
  }
  std::uint32_t release(std::memory_order order) {
    const std::uint32_t was = word_.exchange(free, order);
    if ((was & has_sleepers) != 0) futex_wake(&word_, 1);
    return was;
  }

  void wait(std::uint32_t as) {
    for (int i = 0; i < looks; ++i) {
      relax();
      if (word_.load(std::memory_order_relaxed) == free && take(as)) return;
    }
    // Others may sleep as well: who comes from there wakes the next one when it leaves.
    for (;;) {
      std::uint32_t now = word_.load(std::memory_order_relaxed);
      if (now == free) {
        if (take(as | has_sleepers)) return;
      } else if ((now & has_sleepers) != 0 ||
                 word_.compare_exchange_weak(now, now | has_sleepers, std::memory_order_relaxed)) {
        futex_wait(word_, now | has_sleepers);
      }
    }
  }

  futex_word word_{free};
};

}  // namespace sb::engine
