// Host functions of all streams run one at a time.
#include <fmt/format.h>

#include <set>

#include "analysis/rules/rules.hpp"

namespace sb::analysis {

void find_blocking_host_functions(const evidence& e, findings& out) {
  std::vector<held_operation> held;
  std::set<number> blockers;
  for (const trace::wait_cause cause :
       {trace::wait_cause::engine_busy, trace::wait_cause::queue_head}) {
    for (const held_operation& h : held_by(e.t, cause)) {
      const trace::operation &o = e.t.operations[h.operation], &by = e.t.operations[h.by.from];
      if (by.kind != trace::operation_kind::host_function || o.stream == by.stream) continue;
      blockers.insert(h.by.from);
      held.push_back(h);
    }
  }
  if (held.empty()) return;
  program changed = e.p;
  for (const number b : blockers) changed.tasks[b].what.kind = command_kind::section;
  const nanoseconds cost = e.gain(changed);
  if (!e.worth(cost)) return;

  finding f;
  f.rule = "blocking-host-function";
  f.title = fmt::format("{} host function{} kept other streams waiting", blockers.size(),
                        blockers.size() == 1 ? "" : "s");
  f.why =
      "Host functions and callbacks of all streams run one after another on one thread: a long one "
      "holds those of every other stream.";
  f.change =
      "Keep host functions short: let them only tell a thread of your own what to do, or wait for "
      "an "
      "event in that thread.";
  f.cost = cost;
  add_operations(e.t, f, operations_of(held));
  describe(e.t, f, held);
  out.push_back(std::move(f));
}

}  // namespace sb::analysis
