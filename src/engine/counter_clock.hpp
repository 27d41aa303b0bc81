// The engine's clock for a trace, which asks several times for every operation: from the
// processor's counter where that runs evenly and is the same on all cores. What the system adds to
// it to keep step with other machines is left out.
//
// Thread safety: any thread.
#pragma once

#include <atomic>
#include <cstdint>

#include "engine/clock.hpp"

namespace sb::engine {

class counter_clock {
 public:
  counter_clock();

  // Monotonic nanoseconds, near to those of steady_ns().
  [[nodiscard]] std::uint64_t now() const {
    if (state_.load(std::memory_order_acquire) != state::counts) return ask_system();
    __extension__ using wide = __int128;
    const auto since = static_cast<std::int64_t>(ticks() - begin_ticks_);
    return begin_ns_ + static_cast<std::uint64_t>(wide{since} * scale_ >> shift);
  }
  [[nodiscard]] bool reads_the_counter() const {
    return state_.load(std::memory_order_acquire) == state::counts;
  }

 private:
  enum class state : int {
    not_looked_at,
    settling,  // how quick it is will be known a little later
    busy,      // a thread finds out
    counts,
    unusable,
  };
  static constexpr unsigned shift = 32;

  static std::uint64_t ticks() {
#if defined(__aarch64__)
    std::uint64_t now = 0;
    asm volatile("mrs %0, cntvct_el0" : "=r"(now));
    return now;
#elif defined(__x86_64__)
    return __builtin_ia32_rdtsc();
#else
    return 0;
#endif
  }
  std::uint64_t ask_system() const;
  void look(std::uint64_t now) const;

  mutable std::atomic<state> state_{state::not_looked_at};
  mutable std::atomic<std::uint64_t> settles_ns_{0};  // when it is time for that
  // Written while `state_` is busy, read by others when it counts.
  mutable std::uint64_t begin_ticks_ = 0, begin_ns_ = 0;
  mutable std::int64_t scale_ = 0;  // nanoseconds a tick, times 2^shift
};

}  // namespace sb::engine
