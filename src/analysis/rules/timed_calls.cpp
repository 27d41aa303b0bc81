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

namespace {

template <class Test>
bool in_most_turns(const repeated_call& r, Test test) {
  const auto those = std::count_if(r.steps.begin(), r.steps.end(), test);
  return 2 * static_cast<std::size_t>(those) > r.steps.size();
}

}  // namespace

bool times_turns(const evidence& e, const repeated_call& r) {
  return in_most_turns(r, [&](std::size_t i) { return is_timed(e, r.thread, i); });
}

bool measures_call(const evidence& e, const repeated_call& r) {
  const std::vector<step>& steps = e.p.threads[r.thread];
  const auto behind_clock = [&](std::size_t i) {
    return i < steps.size() && steps[i].call != none && e.t.calls[steps[i].call].behind_clock;
  };
  return in_most_turns(r, [&](std::size_t i) { return behind_clock(i) && behind_clock(i + 1); });
}

}  // namespace sb::analysis
