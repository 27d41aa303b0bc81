// A thread of the program, as the clocks know it (host_clocks.hpp). Guarded by their lock but for
// what is atomic.
#pragma once

#include <sys/types.h>

#include <algorithm>
#include <atomic>
#include <condition_variable>
#include <cstdint>
#include <ctime>

#include "engine/host_clocks.hpp"

namespace sb::engine {

struct host_clocks::thread {
  enum class state : std::uint8_t { runs, ready, waits, outside, over };
  std::uint64_t ns = 0;
  std::uint64_t without_processor_ns = 0;  // of these, also what was before it began
  std::uint32_t number = 0;
  state at = state::ready;
  const void* key = nullptr;  // waits
  const streambed_awaited* what = nullptr;
  std::uint64_t until_ns = never;
  std::uint64_t place = 0;  // among those that wait
  std::uint64_t since_ns = 0;
  bool woken = false;
  bool interrupted = false;  // its last wait
  bool to_interrupt = false;
  std::atomic<void (*)()> deliver{nullptr};
  std::uint32_t woken_by = nobody;
  bool is_the_runtimes = false;
  origin made;
  bool begun = false;               // it has come for its first turn
  std::atomic<bool> inside{false};  // it runs, and in the runtime: not silent
  std::condition_variable turn;
  recorded_thread* recorded = nullptr;  // while it is adopted
  std::uint32_t traced = nobody;        // when it has ended: its number in the trace
  pid_t id = 0;                         // once it is adopted, as the next
  clockid_t processor_time = CLOCK_MONOTONIC;
  std::uint64_t computed_ns = 0;     // when it was looked at last
  std::uint64_t silent_ns = 0;       // without its turn: for how long
  bool woke = false;                 // in its turn: others
  bool looking = false;              // its turn began behind a look
  bool yields = false;               // it is between two looks
  looks seen;                        // written by the thread itself
  const void* looked_for = nullptr;  // in vain, since its last look; as the next
  const streambed_awaited* looked_what = nullptr;
  thread* released_by = nullptr;  // that, during its last look or behind it
  std::uint64_t released_ns = 0;
  std::uint64_t since = 0;  // doings before its last look

  // There is no more of anything else since the last of its looks than one of them takes.
  [[nodiscard]] bool still_looks() const {
    return seen.count != 0 && ns <= seen.end_ns + seen.each_ns();
  }

  [[nodiscard]] std::uint64_t processor_ns() const {
    return ns - std::min(ns, without_processor_ns);
  }
  // When it could go on.
  [[nodiscard]] std::uint64_t due() const {
    if (at == state::ready) return ns;
    return at == state::waits ? until_ns : never;
  }
  void interrupt_wait(std::uint64_t by_ns) {
    if (!to_interrupt || at != state::waits || what == nullptr || !what->is_interruptible) return;
    to_interrupt = false;
    leave_wait(by_ns);
  }
  void leave_wait(std::uint64_t by_ns) {
    interrupted = true;
    at = state::ready;
    ns = std::max(ns, by_ns);
  }
};

}  // namespace sb::engine
