// What running kernels share on one device: its numbers, its printf buffer, its heap and its fate.
#pragma once

#include <atomic>
#include <cstdint>

#include "base/status.hpp"
#include "engine/device_heap.hpp"
#include "engine/print_fifo.hpp"
#include "model/ids.hpp"

namespace sb::engine {

struct device_runtime {
  device_id id;
  std::uint64_t clock_khz = 1'980'000;
  std::uint32_t multiprocessors = 132;
  print_fifo prints;
  device_heap heap;
  // The first fault decides; every call on the device answers it until reset. Written under the
  // engine's lock, read anywhere.
  std::atomic<status> sticky{status::success};
};

}  // namespace sb::engine
