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
