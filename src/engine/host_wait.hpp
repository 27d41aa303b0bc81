// A host thread that waits for the scheduler to release it: it looks for some microseconds, then
// sleeps.
#pragma once

#include <algorithm>

#include "engine/futex.hpp"

namespace sb::engine {

class host_wait {
 public:
  // By whoever holds the engine's lock. The waiter may be gone as soon as the word is set.
  void release() {
    futex_word* word = &state_;
    if (state_.exchange(released, std::memory_order_release) == asleep) futex_wake(word, 1);
  }

  // Looking pays when the device answers quickly and there is a core to spare; how long is learnt.
  // `help` does some of the work that is waited for, if there is any: false when it did nothing.
  template <class Help>
  void wait(bool may_look, Help&& help) {
    thread_local int looks = 1000;
    constexpr int least = 400, most = 2000, looks_between_helps = 16;
    if (may_look) {
      for (int i = 0; i < looks; ++i) {
        if (over()) {
          looks = std::min(looks * 2, most);
          return;
        }
        if (i % looks_between_helps == 0 && help()) i = 0;
        relax();
      }
      looks = std::max(looks / 2, least);
    }
    std::uint32_t expected = waiting;
    state_.compare_exchange_strong(expected, asleep, std::memory_order_acquire);
    while (!over()) futex_wait(state_, asleep);
  }

  // In modelled time the waiting is done elsewhere.
  void mark_released() { state_.store(released, std::memory_order_relaxed); }
  [[nodiscard]] bool is_released() const { return over(); }

  bool after_copy = false;                 // modelled time: a large copy ended the wait
  std::uint32_t released_by = 0xffffffff;  // of the trace: the operation that ended the wait

 private:
  static constexpr std::uint32_t waiting = 0, asleep = 1, released = 2;

  [[nodiscard]] bool over() const { return state_.load(std::memory_order_acquire) == released; }

  futex_word state_{waiting};
};

}  // namespace sb::engine
