#include "analysis/start_gaps.hpp"

#include <algorithm>

namespace sb::analysis {

namespace {

// The median, which is then all that is left.
void settle_one(std::vector<trace::nanoseconds>& seen) {
  const auto middle = seen.begin() + static_cast<std::ptrdiff_t>(seen.size() / 2);
  std::nth_element(seen.begin(), middle, seen.end());
  seen = {*middle};
}

bool is_copy(start_class c) {
  return c == start_class::to_device || c == start_class::to_host || c == start_class::inside;
}

}  // namespace

start_class start_class_of(const command& c) {
  const bool works = c.kind == command_kind::kernel || c.kind == command_kind::fill ||
                     c.kind == command_kind::copy;
  if (!works) return start_class::other;
  if (c.kind != command_kind::copy)
    return c.order == command_order::free ? start_class::graph_node : start_class::compute;
  if (c.direction == copy_direction::host_to_device) return start_class::to_device;
  return c.direction == copy_direction::device_to_host ? start_class::to_host : start_class::inside;
}

void start_gaps::settle() {
  for (auto& [what, seen] : arrivals_) settle_one(seen);
  for (auto& [what, seen] : gaps_) settle_one(seen);
}

std::optional<start_gaps::nanoseconds> start_gaps::arrival(start_class what) const {
  if (const auto seen = arrivals_.find(what); seen != arrivals_.end()) return seen->second.front();
  if (timing_ == nullptr) return std::nullopt;
  const bool computes = what == start_class::compute || what == start_class::graph_node;
  return static_cast<nanoseconds>(computes ? timing_->kernel_submit_ns : timing_->submit_ns);
}

std::optional<start_gaps::nanoseconds> start_gaps::gap(const start_pair& pair) const {
  const auto [before, what, which] = pair;
  if (const auto seen = gaps_.find(pair); seen != gaps_.end()) return seen->second.front();
  if (timing_ == nullptr) return std::nullopt;
  const bool computed = before == start_class::compute || before == start_class::graph_node;
  if (what == start_class::graph_node)
    return static_cast<nanoseconds>(computed ? timing_->graph_gap_ns : timing_->engine_gap_ns);
  if (what == start_class::compute) {
    const double other = which == start_pair::streams::different ? timing_->wait_gap_ns : 0;
    return static_cast<nanoseconds>((computed ? timing_->kernel_gap_ns : timing_->engine_gap_ns) +
                                    other);
  }
  if (is_copy(what) && what == before) {
    return static_cast<nanoseconds>(which == start_pair::streams::same ? 0
                                                                       : timing_->copy_switch_ns);
  }
  return static_cast<nanoseconds>(timing_->engine_gap_ns);
}

}  // namespace sb::analysis
