// A kernel between its submission and its last block: what the workers claim blocks from.
#pragma once

#include <atomic>
#include <cstdint>
#include <vector>

#include "base/device_abi.hpp"
#include "engine/device_runtime.hpp"
#include "engine/kernel_costs.hpp"
#include "engine/launch_counts.hpp"
#include "engine/operation.hpp"

namespace sb::engine {

struct block;
struct race_command;

struct kernel_run {
  // Constant from submission on.
  const kernel_operation* launch = nullptr;
  device_runtime* device = nullptr;
  std::uint64_t blocks = 0;
  std::uint32_t threads = 0;  // per block
  std::int32_t priority = 0;  // lower goes first
  kernel_cost* cost = nullptr;
  void* owner = nullptr;             // the operation's node
  kernel_run* next_small = nullptr;  // of those that a worker keeps for itself
  race_command* races = nullptr;
  std::uint64_t sample = ~std::uint64_t{0};  // modelled time: a block that is counted
  std::uint64_t model_ns = 0;  // when the next blocks begin, in modelled time; 0: the real clock

  // Own synchronisation.
  std::atomic<std::uint64_t> granted{0};  // blocks that may run
  std::atomic<std::uint64_t> claimed{0};  // blocks that a worker took; never above granted
  // Blocks that are over and were never granted, which the engine has not heard of.
  std::atomic<std::uint64_t> passed{0};
  std::atomic<bool> cancelled{false};      // its device failed: drop every block at the next chance
  std::atomic<std::uint64_t> in_vain{0};   // resident blocks whose last turn led nowhere
  std::atomic<std::uint64_t> block_ns{0};  // estimate of what a block costs; 0: not known

  // Guarded by the worker pool's lock.
  bool queued = false;
  std::uint64_t wave = 0;  // the most blocks that waited for workers at once
  struct block_range {
    std::uint64_t first, count;
  };
  // Blocks that a worker claimed and gave back: granted ones, and such that are to be granted anew
  // (they stay below `granted`).
  std::vector<block_range> returned, put_back;
  // Blocks that the scheduler has granted when a worker had gone ahead with them. Those of them
  // that come to their end are not taken off: then the scheduler has granted all blocks, and so all
  // that are given back are granted.
  std::uint64_t overtaken = 0;
  // Fiber-mode blocks that gave up a turn half done, and how often that happened since one of the
  // kernel's blocks began or ended. Guarded by the pool.
  std::uint32_t unfinished = 0;
  std::uint32_t turns = 0;
  std::uint64_t grid_arrived = 0;  // blocks at the grid barrier
  std::uint64_t ended = 0;         // blocks that are over: they count as arrived
  std::vector<block*> grid_waiting;
  std::uint64_t grid_ns = 0;  // modelled time: when the last of these came

  [[nodiscard]] const abi::kernel_info& info() const { return *launch->kernel; }
  [[nodiscard]] bool is_counted() const {
    return launch->counts != nullptr && info().counted != nullptr;
  }
  [[nodiscard]] const abi::kernel_info& version_for(std::uint64_t block) const {
    if (block == sample) return *info().counted;
    return is_counted() && launch->counts->is_sample(block) ? *info().counted : info();
  }

  // Takes up to `most` granted blocks; `first` is the first of them.
  std::uint64_t claim(std::uint64_t most, std::uint64_t& first) {
    std::uint64_t at = claimed.load(std::memory_order_relaxed);
    for (;;) {
      const std::uint64_t limit = granted.load(std::memory_order_acquire);
      if (at >= limit) return 0;
      const std::uint64_t n = limit - at < most ? limit - at : most;
      if (claimed.compare_exchange_weak(at, at + n, std::memory_order_relaxed)) {
        first = at;
        return n;
      }
    }
  }
  [[nodiscard]] std::uint64_t unclaimed() const {
    const std::uint64_t at = claimed.load(std::memory_order_relaxed);
    const std::uint64_t limit = granted.load(std::memory_order_relaxed);
    return limit > at ? limit - at : 0;
  }
};

}  // namespace sb::engine
