// Launches that return when their kernel is done: CUDA_LAUNCH_BLOCKING.
#include <fmt/format.h>

#include <algorithm>
#include <utility>

#include "analysis/rules/rules.hpp"
#include "analysis/words.hpp"

namespace sb::analysis {

namespace {

bool launches(const std::string& call) {
  return (call.starts_with("cudaLaunch") && !call.starts_with("cudaLaunchHostFunc")) ||
         call.starts_with("cudaGraphLaunch");
}

}  // namespace

// Nothing else makes a launch wait for its own kernel, and it makes all of them wait.
void find_blocking_launches(const evidence& e, findings& out) {
  program changed = e.p;
  std::vector<number> calls;
  nanoseconds waited = 0;
  for (std::vector<step>& steps : changed.threads) {
    nanoseconds to_wake = 0;  // a thread whose kernel is done
    for (step& s : steps) {
      if (s.call == none) continue;
      const trace::call& c = e.t.calls[s.call];
      if (s.issues.empty() || !launches(c.name)) {
        // It had nothing to wait for, and has now.
        if (s.last.scope != wait_scope::nothing)
          s.after = std::max(s.after, std::exchange(to_wake, 0));
        continue;
      }
      bool own = false;
      for (const issue& i : s.issues) own = own || i.operation == c.blocked_on;
      if (!own) return;
      waited += c.blocked;
      calls.push_back(s.call);
      to_wake = s.after;
      do_not_wait(s);
    }
  }
  if (calls.empty()) return;
  const nanoseconds cost = e.gain(changed);
  if (!e.worth(cost)) return;

  finding f;
  f.rule = "launch-blocking";
  f.title = "Every launch waits for its kernel";
  f.why = fmt::format(
      "CUDA_LAUNCH_BLOCKING=1 is set (streambed run --launch-blocking): {} waited {} in all, the "
      "host issues nothing meanwhile, and kernels of different streams never overlap.",
      calls.size() == 1 ? "a launch" : fmt::format("{} launches", calls.size()),
      text_of_time(waited));
  f.change =
      "Unset it, other than to find the launch that a fault belongs to. What else there is to "
      "change shows in a run without it.";
  f.cost = cost;
  add_calls(e.t, f, calls);
  out.push_back(std::move(f));
}

}  // namespace sb::analysis
