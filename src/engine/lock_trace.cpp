#include "engine/lock_trace.hpp"

#include <algorithm>
#include <cmath>
#include <iterator>
#include <numeric>
#include <utility>

namespace sb::engine {

namespace {

// What is never given back was no lock; many of these are forgotten.
constexpr std::size_t most_held = 64, most_addresses = 4096;

// Of how many places somebody picks some so often that so many different ones are seen.
double places_behind(double seen, double each, double samples, double most) {
  double low = seen, high = std::max(seen, most);
  for (int i = 0; i < 60; ++i) {
    const double middle = (low + high) / 2;
    const double expected = middle * (1 - std::pow(1 - each / middle, samples));
    (expected < seen ? low : high) = middle;
  }
  return high;
}

// They lie side by side at the same distance, the seen ones anywhere among them.
double places_between(const std::vector<std::uint64_t>& seen) {
  std::uint64_t distance = 0;
  for (const std::uint64_t one : seen) distance = std::gcd(distance, one - seen.front());
  const auto n = static_cast<double>(seen.size());
  return static_cast<double>((seen.back() - seen.front()) / distance) * (n + 1) / (n - 1);
}

}  // namespace

void lock_trace::begin(std::uint32_t threads) {
  held_.clear();
  took_.assign(threads, false);
  addresses_.clear();
  sum_ = {};
}

void lock_trace::note(std::uint32_t thread, std::uint64_t lock, abi::lock_event event,
                      const thread_spent& so_far) {
  if (event == abi::lock_event::fence) {
    for (holding& one : held_)
      if (one.thread == thread) ++one.fences;
    return;
  }
  if (event == abi::lock_event::tried) return;
  const auto mine = std::find_if(held_.begin(), held_.end(), [&](const holding& one) {
    return one.lock == lock && one.thread == thread;
  });
  if (mine == held_.end()) {
    if (event != abi::lock_event::taken) return;
    if (held_.size() == most_held) held_.erase(held_.begin());
    held_.push_back({.lock = lock, .thread = thread, .fences = 0, .since = so_far});
    return;
  }
  give_back(*mine, so_far);
  held_.erase(mine);
}

void lock_trace::give_back(const holding& one, const thread_spent& now) {
  const auto number = [](std::uint64_t n) { return static_cast<double>(n) / abi::spent_unit; };
  ++sum_.turns;
  sum_.steps += number(now.steps - one.since.steps);
  sum_.loads += number(now.loads - one.since.loads);
  sum_.fences += one.fences;
  if (!took_[one.thread]) ++sum_.threads;
  took_[one.thread] = true;
  const auto place = std::lower_bound(addresses_.begin(), addresses_.end(), one.lock);
  const bool known = place != addresses_.end() && *place == one.lock;
  if (!known && addresses_.size() < most_addresses) addresses_.insert(place, one.lock);
}

taken_locks lock_trace::locks() const {
  taken_locks all = sum_;
  all.addresses = addresses_;
  return all;
}

void lock_census::note(const std::vector<std::uint64_t>& addresses) {
  if (addresses.empty()) return;
  std::vector<std::uint64_t> all;
  std::set_union(seen_.begin(), seen_.end(), addresses.begin(), addresses.end(),
                 std::back_inserter(all));
  seen_ = std::move(all);
  taken_ += static_cast<double>(addresses.size());
  ++samples_;
}

double lock_census::in_all(std::uint64_t blocks) const {
  constexpr std::size_t enough = 4;  // to tell from where they lie
  if (seen_.empty()) return 0;
  const auto seen = static_cast<double>(seen_.size());
  const double each = taken_ / samples_, most = each * static_cast<double>(blocks);
  const double behind = seen < taken_ ? places_behind(seen, each, samples_, most) : most;
  return std::max(seen, seen_.size() < enough ? behind : std::min(behind, places_between(seen_)));
}

}  // namespace sb::engine
