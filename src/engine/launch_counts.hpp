// What a launch does in terms of a device (abi::kernel_counts), from a sample of its blocks.
//
// The grid is cut into as many parts of equal size as there are samples; the block in the middle of
// each runs in the version of the kernel that counts, and stands for its part. A grid of no more
// blocks than samples is counted exactly. Blocks that are no sample run at full speed.
//
// Thread safety: add() from any thread; total() once the launch is done.
#pragma once

#include <algorithm>
#include <array>
#include <atomic>
#include <cstdint>
#include <cstring>
#include <limits>

#include "base/device_abi.hpp"

namespace sb::engine {

class launch_counts {
 public:
  static constexpr std::uint64_t usual_samples = 4;
  static constexpr std::uint64_t every_block = std::numeric_limits<std::uint64_t>::max();

  launch_counts(std::uint64_t blocks, std::uint64_t samples = usual_samples)
      : blocks_(blocks), samples_(std::clamp<std::uint64_t>(samples, 1, std::max(blocks, one))) {}

  // The first sample that is not before `block`; past the grid when there is none.
  [[nodiscard]] std::uint64_t next_sample(std::uint64_t block) const {
    std::uint64_t part = part_of(block);
    if (middle(part) < block) ++part;
    return part < samples_ ? middle(part) : every_block;
  }
  [[nodiscard]] bool is_sample(std::uint64_t block) const { return next_sample(block) == block; }

  void add(std::uint64_t block, const abi::kernel_counts& counts) {
    const std::uint64_t part = part_of(block);
    const std::uint64_t stands_for = start(part + 1) - start(part);
    std::uint64_t values[abi::kernel_count_kinds];
    std::memcpy(values, &counts, sizeof counts);
    for (std::size_t kind = 0; kind < sums_.size(); ++kind)
      sums_[kind].fetch_add(values[kind] * stands_for, std::memory_order_relaxed);
  }

  [[nodiscard]] abi::kernel_counts total() const {
    std::uint64_t values[abi::kernel_count_kinds];
    for (std::size_t kind = 0; kind < sums_.size(); ++kind)
      values[kind] = sums_[kind].load(std::memory_order_relaxed);
    abi::kernel_counts counts;
    std::memcpy(&counts, values, sizeof counts);
    return counts;
  }

 private:
  static constexpr std::uint64_t one = 1;
  using wide = unsigned __int128;

  [[nodiscard]] std::uint64_t start(std::uint64_t part) const {
    return static_cast<std::uint64_t>(wide{part} * blocks_ / samples_);
  }
  [[nodiscard]] std::uint64_t middle(std::uint64_t part) const {
    return start(part) + (start(part + 1) - start(part)) / 2;
  }
  [[nodiscard]] std::uint64_t part_of(std::uint64_t block) const {
    // The last part whose start is not behind the block.
    return static_cast<std::uint64_t>((wide{block} * samples_ + samples_ - 1) / blocks_);
  }

  std::uint64_t blocks_;
  std::uint64_t samples_;
  std::array<std::atomic<std::uint64_t>, abi::kernel_count_kinds> sums_{};
};

}  // namespace sb::engine
