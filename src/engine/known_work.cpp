#include "engine/known_work.hpp"

#include <algorithm>
#include <iterator>
#include <utility>

namespace sb::engine {

void known_work::count() {
  samples_ = std::make_unique<work_samples>();
  missing_ = 0;
  closed_ = false;
}

void known_work::note(std::uint64_t index, std::uint64_t blocks, const abi::kernel_counts& counts,
                      access_summary accesses, double l2_bytes) {
  // Of an earlier launch, which had to wait until this one was counted.
  if (samples_ == nullptr) return;
  samples_->add(index, blocks, counts, std::move(accesses), l2_bytes);
  expect_one_less();
}

void known_work::expect_one_less() {
  if (missing_ != 0) --missing_;
}

void known_work::use_samples() {
  if (samples_ == nullptr) return;
  work = samples_->work();
  if (uneven() || samples_->uneven()) by_block_ = samples_->all();  // for ever
  if (missing_ == 0 && closed_) samples_.reset();
}

std::uint64_t known_work::next_counted(std::uint64_t index, std::uint64_t blocks) const {
  if (samples_ == nullptr || (!uneven() && !samples_->uneven())) return ~std::uint64_t{0};
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
