#include "analysis/rules/lock_turns.hpp"

namespace sb::analysis {

call_site site_of(const evidence& e, const step& s) {
  return s.call == none ? call_site{none, ""}
                        : call_site{e.t.calls[s.call].place, e.t.calls[s.call].name};
}

bool is_for_lock(const thread_pause& p) {
  return p.what == trace::awaited::lock && p.until.function == none;
}

void take_anew(const evidence& e, const common_lock& lock, lets_go where, number which,
               program& p) {
  for (const number thread : lock.threads) {
    std::vector<step>& steps = p.threads[thread];
    std::size_t taken = none;
    for (std::size_t i = 0; i < steps.size(); ++i) {
      const call_site site = site_of(e, steps[i]);
      if (taken == none && lock.taken.contains(site)) taken = i;
      if (taken == none || !lock.released.contains(site)) continue;
      steps[taken].takes = which;
      (where == lets_go::behind ? steps[i].lets_go_behind : steps[i].lets_go) = which;
      for (thread_pause& pause : steps[taken].pauses) {
        if (!is_for_lock(pause) || !lock.threads.contains(pause.until.thread)) continue;
        steps[taken].gap += std::exchange(pause.before, 0);
        pause.until = {};  // for nothing: others may count from its end
      }
      taken = none;
    }
  }
}

}  // namespace sb::analysis
