#include "engine/known_work.hpp"

#include <algorithm>
#include <iterator>
#include <utility>

namespace sb::engine {

void known_work::count() {
  samples_ = std::make_unique<work_samples>();
  missing_ = 0;
  closed_ = false;
  drawers_.reset();
  drawn_.reset();
}

void known_work::count_draws(const resident_blocks& there) {
  count();
  drawers_ = there;
}

// The first block draws the work, and the last of those that are there finds nothing left.
std::vector<std::uint64_t> known_work::places(std::uint64_t first, std::uint64_t count,
                                              std::uint64_t blocks) const {
  constexpr std::uint64_t several = 3;
  if (!drawers_) return usual_places(first, count, blocks);
  if (first != 0) return {};
  if (count < several) return {0};
  return {0, count - 1};
}

void known_work::note(std::uint64_t index, std::uint64_t blocks, const abi::kernel_counts& counts,
                      access_summary accesses, double l2_bytes) {
  // Of an earlier launch, which had to wait until this one was counted.
  if (samples_ == nullptr) return;
  blocks_ = blocks;
  if (drawers_ && index == 0 && accesses.drawn.any()) {
    block_work all = work_of(counts, accesses);
    spread(all, accesses, accesses, 1, l2_bytes);
    drawn_ = {all, std::move(accesses.drawn)};
  } else {
    samples_->add(index, blocks, counts, std::move(accesses), l2_bytes);
  }
  expect_one_less();
}

void known_work::expect_one_less() {
  if (missing_ != 0) --missing_;
}

void known_work::use_samples() {
  if (samples_ == nullptr) return;
  work = samples_->work();
  if (drawers_)
    use_draws();
  else if (uneven() || samples_->uneven())
    by_block_ = samples_->all();  // for ever
  if (missing_ == 0 && closed_) samples_.reset();
}

// Blocks that come when others have ended find nothing left.
void known_work::use_draws() {
  by_block_.clear();
  if (!drawn_) return;
  block_work rest = work;
  work = spread_draws(drawn_->all, rest, drawn_->items, *drawers_);
  if (drawers_->blocks >= blocks_) return;
  if (is_left_out(drawn_->items, *drawers_)) {
    // They take the places of those that got nothing, and ask while the others still work.
    const auto there = static_cast<double>(drawers_->blocks);
    work.atomics += rest.atomics * (static_cast<double>(blocks_) - there) / there;
    rest.atomics = 0;
  }
  by_block_ = {{0, work}, {drawers_->blocks, rest}};
}

std::uint64_t known_work::next_counted(std::uint64_t index, std::uint64_t blocks) const {
  if (samples_ == nullptr || drawers_ || (!uneven() && !samples_->uneven()))
    return ~std::uint64_t{0};
  return samples_->next_place(index, blocks);
}

const block_work& known_work::of(std::uint64_t index) const {
  if (by_block_.empty()) return work;
  const auto behind =
      std::upper_bound(by_block_.begin(), by_block_.end(), index,
                       [](std::uint64_t i, const auto& sample) { return i < sample.index; });
  return behind == by_block_.begin() ? behind->work : std::prev(behind)->work;
}

std::uint64_t known_work::next_change(std::uint64_t index) const {
  const auto behind =
      std::upper_bound(by_block_.begin(), by_block_.end(), index,
                       [](std::uint64_t i, const auto& sample) { return i < sample.index; });
  return behind == by_block_.end() ? ~std::uint64_t{0} : behind->index;
}

std::shared_ptr<known_work> known_launches::at(std::uint64_t key) {
  std::shared_ptr<known_work>& found = by_key_[key];
  if (found != nullptr) return found;
  found = std::make_shared<known_work>();
  const auto fresh = found;
  keys_.push_back(key);
  if (keys_.size() > most) {
    by_key_.erase(keys_.front());
    keys_.pop_front();
  }
  return fresh;
}

}  // namespace sb::engine
