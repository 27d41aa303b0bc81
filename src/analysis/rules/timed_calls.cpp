#include "analysis/rules/timed_calls.hpp"

#include <algorithm>

namespace sb::analysis {

bool is_timed(const evidence& e, number thread, std::size_t call) {
  const std::vector<step>& steps = e.p.threads[thread];
  for (std::size_t i = call + 1; i < steps.size(); ++i) {
    if (steps[i].call != none && e.t.calls[steps[i].call].behind_clock) return true;
    if (!steps[i].issues.empty()) break;
  }
  return false;
}

bool times_turns(const evidence& e, const repeated_call& r) {
  const auto timed = std::count_if(r.steps.begin(), r.steps.end(),
                                   [&](std::size_t i) { return is_timed(e, r.thread, i); });
  return 2 * static_cast<std::size_t>(timed) > r.steps.size();
}

}  // namespace sb::analysis
