// Kernels that a run loads at their first use. CUDA: that comes behind everything that is pending
// on the device then, and so do launches of all other kernels until it is over; docs/semantics.md.
//
// Which launch is the first is found anew: a change may have put another one in front.
#pragma once

#include <set>
#include <vector>

#include "analysis/program.hpp"
#include "sched/scheduler.hpp"

namespace sb::analysis {

class first_uses {
 public:
  explicit first_uses(const program& p) : program_(p), newest_(p.machine.devices.size()) {}

  // What is pending at a load, all of it and one by one.
  struct work {
    sched::gathering all;
    std::vector<command_id> commands;
  };

  // What an operation that is submitted next comes after for that; null: nothing.
  [[nodiscard]] const work* before(number operation, sched::scheduler& scheduler) {
    const task& t = program_.tasks[operation];
    if (t.what.kind != command_kind::kernel) return nullptr;
    const number device = program_.streams[t.stream].device;
    work& newest = newest_[device];
    if (t.loads != none && loaded_.insert(t.loads).second) {
      newest.commands = scheduler.pending_work({device});
      if (!newest.commands.empty()) newest.all = scheduler.gather(newest.commands);
    }
    // What was pending at an older load is pending at the newest, or over.
    if (!newest.commands.empty() && scheduler.done(newest.all)) newest.commands.clear();
    return newest.commands.empty() ? nullptr : &newest;
  }

 private:
  const program& program_;
  std::set<number> loaded_;   // task::loads
  std::vector<work> newest_;  // by device: what its newest load comes after
};

}  // namespace sb::analysis
