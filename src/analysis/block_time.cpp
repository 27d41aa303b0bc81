#include "analysis/block_time.hpp"

#include <algorithm>
#include <cmath>

namespace sb::analysis {

namespace {

// Two things that go on beside each other.
double beside(double a, double b, double norm) {
  return std::pow(std::pow(a, norm) + std::pow(b, norm), 1 / norm);
}

// Memory hides less than pipes do.
double memory_norm(double norm) { return std::max(1.0, norm - 1); }

}  // namespace

block_costs::block_costs(const timing_profile& t)
    : norm(t.overlap_norm),
      first(t.block_ns),
      later(t.block_turn_ns),
      latency(t.memory_latency_ns),
      begins(1 / t.blocks_per_ns) {}

block_time::block_time(const trace::block_needs& needs, std::uint32_t threads, std::uint64_t full,
                       std::uint64_t all, std::uint32_t multiprocessors, const block_costs& costs)
    : multiprocessors_(std::max(1U, multiprocessors)),
      full_(std::max<std::uint64_t>(1, full)),
      recorded_(static_cast<double>(needs.alone)),
      warps_((threads + 31) / 32),
      costs_(costs) {
  constexpr double million = 1e6;
  pipes_ = recorded_ * needs.arithmetic / million;
  memory_ = recorded_ * needs.memory / million;
  life_ = -1;
  fit(pieces_alone(std::max<std::uint64_t>(1, all)));
}

bool block_time::fit(const std::vector<block_piece>& pieces) {
  constexpr double near = 1e-5;
  constexpr int steps = 30;
  if (life_ >= 0 && std::abs(average(pieces) - recorded_) <= near * recorded_) return false;
  // Blocks take the longer the more they wait.
  const double before = life_;
  double least = 0, most = recorded_;
  for (int i = 0; i < steps; ++i) {
    life_ = (least + most) / 2;
    (average(pieces) < recorded_ ? least : most) = life_;
  }
  return std::abs(life_ - before) > near * recorded_;
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

double block_time::together(std::uint64_t blocks, block_turn turn) const {
  constexpr double last_load = 0.5 / 32;  // of a turn, for each warp
  const bool first = turn == block_turn::first, loads = memory_ > 0;
  const double norm = costs_.norm, pipes = pipes_for(blocks);
  const double begins = costs_.begins * static_cast<double>(blocks);
  const double last = loads ? 1 + last_load * warps_ : 1;
  const double busy = beside(pipes, life_ + (first ? costs_.first : costs_.later * last), norm);
  const double least = (first ? costs_.first : 0) + beside(begins, pipes, norm / 2);
  return (first && loads ? costs_.latency : 0) +
         std::max(least, beside(busy, memory_for(blocks), memory_norm(norm)));
}

// When it has the device to itself.
std::vector<block_piece> block_time::pieces_alone(std::uint64_t blocks) const {
  const std::uint64_t first = std::min(blocks, full_), later = blocks - first, rest = later % full_;
  std::vector<block_piece> pieces = {{first, first, block_turn::first}};
  if (later != rest) pieces.push_back({later - rest, full_, block_turn::later});
  if (rest != 0) pieces.push_back({rest, rest, block_turn::later});
  return pieces;
}

double block_time::alone(std::uint64_t blocks) const {
  double sum = 0;
  for (const block_piece& p : pieces_alone(blocks))
    sum += static_cast<double>(p.blocks / p.together) * together(p.together, p.turn);
  return sum;
}

double block_time::average(const std::vector<block_piece>& pieces) const {
  double sum = 0, blocks = 0;
  for (const block_piece& p : pieces) {
    sum += static_cast<double>(p.blocks) * together(p.together, p.turn);
    blocks += static_cast<double>(p.blocks);
  }
  return sum / std::max(1.0, blocks);
}

}  // namespace sb::analysis
