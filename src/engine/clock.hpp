// The engine's clock and its conversion to device cycles.
#pragma once

#include <ctime>

#include <cstdint>

namespace sb::engine {

// Monotonic nanoseconds; everything the engine stamps or waits for is in these.
inline std::uint64_t steady_ns() {
  timespec now;
  clock_gettime(CLOCK_MONOTONIC, &now);
  return static_cast<std::uint64_t>(now.tv_sec) * 1'000'000'000u +
         static_cast<std::uint64_t>(now.tv_nsec);
}

// The same for a trace, which asks several times for every operation: from the processor's counter
// where the system lets it be read. It runs evenly and is the same on all cores; what the system
// adds to it to keep step with other machines is left out.
class counter_clock {
 public:
  counter_clock() : begin_ns_(steady_ns()) {
#if defined(__aarch64__)
    std::uint64_t frequency = 0;
    asm volatile("mrs %0, cntfrq_el0" : "=r"(frequency));
    begin_ = ticks();
    scale_ = (std::uint64_t{1'000'000'000} << shift) / frequency;
#endif
  }
  [[nodiscard]] std::uint64_t now() const {
#if defined(__aarch64__)
    __extension__ using wide = unsigned __int128;
    return begin_ns_ + static_cast<std::uint64_t>(wide{ticks() - begin_} * scale_ >> shift);
#else
    return steady_ns();
#endif
  }

 private:
#if defined(__aarch64__)
  static constexpr unsigned shift = 32;
  static std::uint64_t ticks() {
    std::uint64_t now = 0;
    asm volatile("mrs %0, cntvct_el0" : "=r"(now));
    return now;
  }
  std::uint64_t begin_ = 0, scale_ = 0;
#endif
  std::uint64_t begin_ns_;
};

// Split in whole milliseconds and a rest, so that days of uptime do not overflow.
inline std::uint64_t cycles_of(std::uint64_t ns, std::uint64_t clock_khz) {
  return ns / 1'000'000 * clock_khz + ns % 1'000'000 * clock_khz / 1'000'000;
}

// The first nanosecond at which the clock shows `cycles` or more.
inline std::uint64_t ns_of(std::uint64_t cycles, std::uint64_t clock_khz) {
  return cycles / clock_khz * 1'000'000 +
         (cycles % clock_khz * 1'000'000 + clock_khz - 1) / clock_khz;
}

}  // namespace sb::engine
