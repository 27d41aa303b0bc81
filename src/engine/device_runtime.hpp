// What running kernels share on one device: its numbers, its printf buffer, its heap and its fate.
#pragma once

#include <atomic>
#include <cstdint>
#include <limits>

#include "base/status.hpp"
#include "engine/device_heap.hpp"
#include "engine/print_fifo.hpp"
#include "model/ids.hpp"

namespace sb::engine {

// Above every priority that a kernel can have (lower goes first): nobody waits.
inline constexpr std::int32_t nobody_waits = std::numeric_limits<std::int32_t>::max();

struct device_runtime {
  device_id id;
  std::uint64_t clock_khz = 1'980'000;
  std::uint32_t multiprocessors = 132;
  print_fifo prints;
  device_heap heap;
  // The first fault decides; every call on the device answers it until reset. Written under the
  // engine's lock, read anywhere.
  std::atomic<status> sticky{status::success};
  // The best priority among kernels that wait for room on the device: workers tell of a lower one's
  // blocks one by one, so that the room is seen. Written under the engine's lock, read anywhere.
  std::atomic<std::int32_t> waiting_priority{nobody_waits};
};

}  // namespace sb::engine
