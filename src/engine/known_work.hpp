// What blocks of launches did, by kernel, shape and parameters: of the launches that came last, so
// that a program whose parameters never come again does not fill the memory.
//
// Thread safety: one thread at a time.
#pragma once

#include <cstddef>
#include <cstdint>
#include <deque>
#include <memory>
#include <optional>
#include <unordered_map>
#include <vector>

#include "engine/drawn_work.hpp"
#include "engine/kernel_work.hpp"

namespace sb::engine {

struct known_work {
  block_work work;  // of a block, on average
  std::uint64_t launches = 0;

  // A launch is counted.
  void count();
  // The same of a kernel that draws its work, of which so many blocks are there at first.
  void count_draws(const resident_blocks& there);
  // Of the blocks that are granted together, those that are counted in any case.
  [[nodiscard]] std::vector<std::uint64_t> places(std::uint64_t first, std::uint64_t count,
                                                  std::uint64_t blocks) const;
  void expect() { ++missing_; }  // that a block will be noted
  void expect_one_less();        // as nothing is known of it
  [[nodiscard]] bool waits() const { return missing_ != 0; }
  void note(std::uint64_t index, std::uint64_t blocks, const abi::kernel_counts& counts,
            access_summary accesses, double l2_bytes);
  void use_samples();  // as far as there are
  void all_began() { closed_ = true; }
  [[nodiscard]] bool counts() const { return samples_ != nullptr; }

  // Blocks differ: each does what the last one before it that was counted does.
  [[nodiscard]] bool uneven() const { return !by_block_.empty(); }
  // The first one from `index` on, of `blocks`, that is counted for that; behind all if none is.
  [[nodiscard]] std::uint64_t next_counted(std::uint64_t index, std::uint64_t blocks) const;
  [[nodiscard]] const block_work& of(std::uint64_t index) const;
  // The first block behind `index` that does something else.
  [[nodiscard]] std::uint64_t next_change(std::uint64_t index) const;

 private:
  struct drawn_work {
    block_work all;  // of the block that drew it
    drawn_items items;
  };
  void use_draws();

  std::unique_ptr<work_samples> samples_;  // while blocks are missing
  std::optional<resident_blocks> drawers_;
  std::optional<drawn_work> drawn_;
  std::uint64_t blocks_ = 0;  // of the launch
  std::vector<work_samples::sample> by_block_;
  std::size_t missing_ = 0;
  bool closed_ = false;  // no more will be expected
};

class known_launches {
 public:
  static constexpr std::size_t most = 4096;
  // A new one for a key that is not known, instead of the oldest. Launches that run keep theirs.
  [[nodiscard]] std::shared_ptr<known_work> at(std::uint64_t key);
  [[nodiscard]] std::size_t size() const { return by_key_.size(); }

 private:
  std::unordered_map<std::uint64_t, std::shared_ptr<known_work>> by_key_;
  std::deque<std::uint64_t> keys_;  // the oldest first
};

}  // namespace sb::engine
