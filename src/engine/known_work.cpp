#include "engine/known_work.hpp"

#include <utility>

namespace sb::engine {

void known_work::count(std::size_t blocks) {
  samples_ = std::make_unique<work_samples>();
  missing_ = blocks;
}

void known_work::note(std::uint64_t index, std::uint64_t blocks, const abi::kernel_counts& counts,
                      access_summary accesses, double l2_bytes) {
  // Of an earlier launch, which had to wait until this one was counted.
  if (samples_ == nullptr) return;
  samples_->add(index, blocks, counts, std::move(accesses), l2_bytes);
  if (missing_ != 0) --missing_;
}

void known_work::use_samples() {
  if (samples_ == nullptr) return;
  work = samples_->work();
  if (missing_ == 0) samples_.reset();
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
