// What blocks of a launch ask of the device (model/timing_profile.hpp), from two of them that were
// counted: a block alone tells what it does, two tell what they share.
#pragma once

#include <cstdint>
#include <vector>

#include "base/device_abi.hpp"
#include "engine/access_trace.hpp"
#include "model/timing_profile.hpp"

namespace sb::engine {

// A block that is alone.
[[nodiscard]] block_work work_of(const abi::kernel_counts& counts, const access_summary& accesses);

// One of `blocks`, of which these two are neighbours: what memory they touch together, and how much
// of it the device's cache of `l2_bytes` does not hold.
void spread(block_work& work, const access_summary& first, const access_summary& next,
            std::uint64_t blocks, double l2_bytes);

// The blocks of a launch that are counted: two neighbours, and two others. What a block does is
// what they do on average.
class work_samples {
 public:
  // Which of the first `blocks`, in their order.
  [[nodiscard]] static std::vector<std::uint64_t> places(std::uint64_t blocks);
  void add(std::uint64_t index, std::uint64_t blocks, const abi::kernel_counts& counts,
           access_summary accesses, double l2_bytes);
  [[nodiscard]] const block_work& work() const { return work_; }

 private:
  block_work work_;
  access_summary last_;
  static constexpr std::uint64_t none = ~std::uint64_t{1};  // no block is behind it
  std::uint64_t last_index_ = none;
  double count_ = 0;
  bool paired_ = false;
};

}  // namespace sb::engine
