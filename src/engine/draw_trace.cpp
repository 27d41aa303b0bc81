#include "engine/draw_trace.hpp"

#include <algorithm>

#include "base/device_abi.hpp"

namespace sb::engine {

namespace {

constexpr std::uint32_t lanes_of_warp = 32;
// Instructions of threads: what takes this machine part of a second.
constexpr std::uint64_t most_counted = 100'000'000 * abi::spent_unit;

// Counters of several functions may be behind each other.
std::uint64_t less(std::uint64_t now, std::uint64_t before) { return now - std::min(now, before); }

thread_spent since(const thread_spent& now, const thread_spent& before) {
  return {less(now.issued, before.issued), less(now.steps, before.steps),
          less(now.loads, before.loads)};
}

void raise(thread_spent& to, const thread_spent& one) {
  to.issued = std::max(to.issued, one.issued);
  to.steps = std::max(to.steps, one.steps);
  to.loads = std::max(to.loads, one.loads);
}

void raise(std::vector<thread_spent>& rounds, std::size_t at, const thread_spent& one) {
  if (rounds.size() <= at) rounds.resize(at + 1);
  raise(rounds[at], one);
}

thread_spent sum(const std::vector<thread_spent>& rounds) {
  thread_spent result;
  for (const thread_spent& one : rounds) {
    result.issued += one.issued;
    result.steps += one.steps;
    result.loads += one.loads;
  }
  return result;
}

}  // namespace

void draw_trace::begin(std::uint32_t threads) {
  threads_.assign(threads, {});
  warps_.assign((threads + lanes_of_warp - 1) / lanes_of_warp, {});
  drawing_ = 0;
  counter_ = nullptr;
  moved_ = 0;
  counted_ = 0;
  told_ = false;
}

void draw_trace::went_round(std::uint32_t thread, const thread_spent& so_far) {
  state& t = threads_[thread];
  const thread_spent round = since(so_far, t.at);
  raise(warps_[thread / lanes_of_warp], t.rounds, round);
  t.at = so_far;
  ++t.rounds;
  counted_ += round.issued;
}

draw_trace::outcome draw_trace::note(std::uint32_t thread, bool shared, const draw& draw) {
  if (threads_[thread].draws++ == 0) ++drawing_;
  if (shared) return outcome::more;
  if (counter_ == nullptr) {
    counter_ = draw.counter;
    first_value_ = draw.value;
  }
  if (counter_ == draw.counter && draw.step != 0) {
    const auto way = static_cast<std::int64_t>(draw.value - first_value_);
    moved_ = std::max(moved_, static_cast<double>(way) / static_cast<double>(draw.step) + 1);
  }
  if (told_ || counted_ < most_counted) return outcome::more;
  told_ = true;
  return outcome::enough;
}

draw_trace::rounds draw_trace::rounds_of(std::uint32_t first,
                                         std::span<const thread_spent> lanes) const {
  rounds all = warps_[first / lanes_of_warp];
  for (std::size_t i = 0; i < lanes.size(); ++i) {
    const state& t = threads_[first + i];
    if (t.rounds != 0) raise(all, t.rounds, since(lanes[i], t.at));
  }
  return all;
}

draw_trace::rounds draw_trace::rounds_of_block(std::span<const thread_spent> all) const {
  rounds result;
  for (std::uint32_t first = 0; first < all.size(); first += lanes_of_warp) {
    const auto count = std::min<std::size_t>(lanes_of_warp, all.size() - first);
    const rounds warp = rounds_of(first, all.subspan(first, count));
    for (std::size_t i = 0; i < warp.size(); ++i) raise(result, i, warp[i]);
  }
  return result;
}

thread_spent draw_trace::warp(std::uint32_t first, std::span<const thread_spent> lanes) const {
  thread_spent result = sum(rounds_of(first, lanes));
  for (std::size_t i = 0; i < lanes.size(); ++i)
    if (threads_[first + i].rounds == 0) raise(result, lanes[i]);
  return result;
}

thread_spent draw_trace::block(std::span<const thread_spent> all) const {
  return drawing_ == 1 ? sum(rounds_of_block(all)) : thread_spent{};
}

drawn_items draw_trace::items(std::span<const thread_spent> all) const {
  drawn_items result;
  if (counter_ == nullptr) return result;
  std::vector<rounds> drawers;
  std::vector<std::size_t> counts;  // items of each: of its draws one was in vain
  for (std::uint32_t first = 0; first < all.size(); first += lanes_of_warp) {
    const auto count = std::min<std::size_t>(lanes_of_warp, all.size() - first);
    std::uint32_t draws = 0;
    for (std::size_t i = 0; i < count; ++i) draws = std::max(draws, threads_[first + i].draws);
    if (draws == 0) continue;
    result.waits += draws;
    drawers.push_back(drawing_ == 1 ? rounds_of_block(all)
                                    : rounds_of(first, all.subspan(first, count)));
    // A draw before the loop may be the last.
    const std::size_t rounds = drawers.back().size();
    counts.push_back(std::min<std::size_t>(draws, std::max<std::size_t>(1, rounds)) - 1);
  }
  double all_of_them = 0, most = 0;
  for (std::size_t d = 0; d < drawers.size(); ++d) {
    double own = 0;
    for (std::size_t i = 1; i <= counts[d]; ++i) own += static_cast<double>(drawers[d][i].issued);
    all_of_them += own;
    most = std::max(most, own);
  }
  if (all_of_them > 0) result.longest = most / (all_of_them / static_cast<double>(drawers.size()));
  const std::size_t longest = counts.empty() ? 0 : *std::max_element(counts.begin(), counts.end());
  for (std::size_t i = 1; i <= longest; ++i)
    for (std::size_t d = 0; d < drawers.size(); ++d)
      if (i <= counts[d])
        result.lengths.push_back(static_cast<double>(drawers[d][i].issued) / abi::spent_unit);
  result.drawers = static_cast<std::uint32_t>(drawers.size());
  result.threads = drawing_;
  for (const state& t : threads_) result.draws += t.draws;
  result.moved = std::max(moved_, result.draws);
  return result;
}

}  // namespace sb::engine
