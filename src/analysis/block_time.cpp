#include "analysis/block_time.hpp"

#include <algorithm>
#include <cmath>

namespace sb::analysis {

namespace {

// Two things that go on beside each other, and one of them when the sum is known.
double beside(double a, double b, double norm) {
  return std::pow(std::pow(a, norm) + std::pow(b, norm), 1 / norm);
}
double without(double sum, double a, double norm) {
  return sum > a ? std::pow(std::pow(sum, norm) - std::pow(a, norm), 1 / norm) : 0;
}

// Memory hides less than pipes do.
double memory_norm(double norm) { return std::max(1.0, norm - 1); }

}  // namespace

block_time::block_time(const trace::block_needs& needs, std::uint32_t threads, std::uint64_t full,
                       std::uint32_t multiprocessors, double overlap_norm)
    : multiprocessors_(std::max(1U, multiprocessors)),
      full_(std::max<std::uint64_t>(1, full)),
      recorded_(static_cast<double>(needs.alone)),
      warps_((threads + 31) / 32),
      norm_(overlap_norm) {
  constexpr double million = 1e6;
  const double length = recorded_;
  pipes_ = length * needs.arithmetic / million;
  memory_ = length * needs.memory / million;
  const double busy = without(length, memory_for(full_), memory_norm(norm_));
  life_ = without(busy, pipes_for(full_), norm_);
}

// The multiprocessor with the most blocks is done last; few warps do not fill its schedulers.
double block_time::pipes_for(std::uint64_t blocks) const {
  const double each = std::ceil(static_cast<double>(blocks) / multiprocessors_);
  return each * pipes_ / std::clamp(warps_ * each / 4, 0.25, 1.0);
}

// A single multiprocessor gets more of the memory than its share.
double block_time::memory_for(std::uint64_t blocks) const {
  const auto n = static_cast<double>(blocks);
  const double share = n / (std::ceil(n / multiprocessors_) * multiprocessors_);
  return n / std::min(1.0, 2 * share) * memory_;
}

double block_time::together(std::uint64_t blocks) const {
  return beside(beside(pipes_for(blocks), life_, norm_), memory_for(blocks), memory_norm(norm_));
}

double block_time::alone(std::uint64_t blocks) const {
  const std::uint64_t rest = blocks % full_;
  return static_cast<double>(blocks / full_) * together(full_) + (rest == 0 ? 0 : together(rest));
}

}  // namespace sb::analysis
