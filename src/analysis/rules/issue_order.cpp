// The order in which the host issues work can make streams wait for each other that nothing else
// orders: engines and hardware queues take what comes first.
#include <fmt/format.h>

#include <algorithm>

#include "analysis/rules/rules.hpp"

namespace sb::analysis {

void find_issue_order(const evidence& e, findings& out) {
  std::vector<held_operation> held;
  for (const trace::wait_cause cause :
       {trace::wait_cause::queue_head, trace::wait_cause::engine_busy,
        trace::wait_cause::device_full}) {
    for (const held_operation& h : held_by(e.t, cause)) {
      if (e.t.operations[h.operation].stream != e.t.operations[h.by.from].stream) {
        held.push_back(h);
      }
    }
  }
  if (held.empty()) return;

  nanoseconds best = 0;
  issue_order which = issue_order::breadth_first;
  for (const issue_order order : {issue_order::breadth_first, issue_order::depth_first}) {
    program changed = e.p;
    // All that another order can gain is that kernels pass each other. With a guess of the parts of
    // an allocation that they use, the gain would be a guess as well.
    keep_data_order(e.t, changed, allocation_parts());
    reorder(changed, order);
    if (const nanoseconds cost = e.gain(changed); cost > best) {
      best = cost;
      which = order;
    }
  }
  if (!e.worth(best)) return;

  finding f;
  f.rule = "issue-order";
  const bool breadth = which == issue_order::breadth_first;
  f.title = "The order of issue makes streams wait for each other";
  f.why = fmt::format(
      "Operations that have to wait are issued in front of operations of other streams that could "
      "start, and what comes first in a queue or on an engine goes first. Issued {} the run would "
      "be "
      "shorter.",
      breadth ? "breadth first" : "depth first");
  f.change = breadth ? "Issue breadth first: the first operation of every stream, then the second "
                       "of every stream, and so on."
                     : "Issue depth first: everything of one stream, then everything of the next.";
  f.cost = best;
  std::vector<number> operations = operations_of(held);
  std::sort(operations.begin(), operations.end());
  operations.erase(std::unique(operations.begin(), operations.end()), operations.end());
  add_operations(e.t, f, operations);
  describe(e.t, f, held);
  out.push_back(std::move(f));
}

}  // namespace sb::analysis
