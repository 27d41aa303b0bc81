// What blocks of a launch ask of the device (model/timing_profile.hpp), from two of them that were
// counted: a block alone tells what it does, two tell what they share.
#pragma once

#include <cstdint>
#include <utility>
#include <vector>

#include "base/device_abi.hpp"
#include "engine/access_trace.hpp"
#include "engine/lock_trace.hpp"
#include "model/timing_profile.hpp"

namespace sb::engine {

// A block that is alone.
[[nodiscard]] block_work work_of(const abi::kernel_counts& counts, const access_summary& accesses);

// One of `blocks`, of which these two are neighbours: what memory they touch together, and how much
// of it the device's cache of `l2_bytes` does not hold.
void spread(block_work& work, const access_summary& first, const access_summary& next,
            std::uint64_t blocks, double l2_bytes);

// The blocks of a launch that are counted: two neighbours, and some others. Where all do about the
// same, a block does what they do on average. Where they do not, more are counted, and a block does
// what the last one before it that was counted does.
class work_samples {
 public:
  struct sample {
    std::uint64_t index;
    block_work work;
  };

  // Which of the first `blocks`, in their order.
  [[nodiscard]] static std::vector<std::uint64_t> places(std::uint64_t blocks);
  // The first one from `index` on that is counted besides when a grid of so many is uneven. The
  // more they do, the fewer.
  [[nodiscard]] std::uint64_t next_place(std::uint64_t index, std::uint64_t blocks) const;
  void add(std::uint64_t index, std::uint64_t blocks, const abi::kernel_counts& counts,
           access_summary accesses, double l2_bytes);
  [[nodiscard]] const block_work& work() const { return work_; }
  // Whether they differ by more than the borders of a grid make.
  [[nodiscard]] bool uneven() const;
  // Each with what it shares with the others, by index.
  [[nodiscard]] std::vector<sample> all() const;

 private:
  void note_atomics(std::uint64_t index, const std::vector<std::uint64_t>& addresses);

  block_work work_;
  // Addresses of atomics that samples have, each once and with the last that had them, and after
  // how many blocks the same come again; 0: not seen.
  std::vector<std::pair<std::uint64_t, std::vector<std::uint64_t>>> atomics_;
  std::uint64_t period_ = 0;
  lock_census locks_;
  std::vector<sample> all_;
  access_summary last_;
  static constexpr std::uint64_t none = ~std::uint64_t{1};  // no block is behind it
  std::uint64_t last_index_ = none;
  double count_ = 0;
  bool paired_ = false;
};

// Of the blocks of a launch that are granted together, those that are counted in any case.
[[nodiscard]] std::vector<std::uint64_t> usual_places(std::uint64_t first, std::uint64_t count,
                                                      std::uint64_t blocks);

}  // namespace sb::engine
