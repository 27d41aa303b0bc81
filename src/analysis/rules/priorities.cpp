// A stream of high priority that waits for one of lower priority.
#include <fmt/format.h>

#include <algorithm>
#include <set>

#include "analysis/rules/rules.hpp"
#include "analysis/words.hpp"

namespace sb::analysis {

namespace {

nanoseconds last_end(const timing& t, const std::vector<number>& operations) {
  nanoseconds last = 0;
  for (const number o : operations) {
    if (t.operations[o].ended != never) last = std::max(last, t.operations[o].ended);
  }
  return last;
}

}  // namespace

void find_priority_inversion(const evidence& e, findings& out) {
  std::vector<held_operation> held;
  program changed = e.p;
  std::set<number> urgent_streams;
  const auto priority = [&](number operation) {
    return e.t.streams[e.t.operations[operation].stream].priority;
  };
  for (const trace::wait_cause cause :
       {trace::wait_cause::event, trace::wait_cause::queue_head, trace::wait_cause::engine_busy}) {
    for (const held_operation& h : held_by(e.t, cause)) {
      const trace::operation &o = e.t.operations[h.operation], &by = e.t.operations[h.by.from];
      if (o.stream == by.stream || priority(h.operation) >= priority(h.by.from)) continue;
      if (cause == trace::wait_cause::queue_head) {
        set_connections(changed, 32);
      } else if (cause == trace::wait_cause::engine_busy) {
        changed.tasks[h.operation].what.kind = command_kind::section;
      } else {
        for (number i = 0; i < changed.tasks.size(); ++i) {
          task& t = changed.tasks[i];
          if (t.stream == by.stream && i <= h.by.from) {
            t.what.priority = static_cast<std::int8_t>(
                std::min<std::int32_t>(t.what.priority, priority(h.operation)));
          }
        }
      }
      urgent_streams.insert(o.stream);
      held.push_back(h);
    }
  }
  if (held.empty()) return;
  std::vector<number> urgent;
  for (number i = 0; i < e.t.operations.size(); ++i) {
    if (urgent_streams.contains(e.t.operations[i].stream)) urgent.push_back(i);
  }
  // What a priority is for is not the end of the run but that of the urgent work.
  const timing without = replay(changed);
  const nanoseconds now = last_end(e.base, urgent), then = last_end(without, urgent);
  if (without.hung || then >= now || !e.worth(now - then)) return;

  finding f;
  f.rule = "priority-inversion";
  f.title = "Work of high priority waits for work of lower priority";
  f.why = fmt::format(
      "A priority counts only among kernels that could start. Here the urgent stream waits for "
      "another one that gets its turn late; without that its last operation would end {} earlier.",
      text_of_time(now - then));
  f.change =
      "Give the work that the urgent stream waits for the same priority, or remove what it waits "
      "for: an event, a shared hardware queue, a long copy in the same direction.";
  f.cost = now - then;
  add_operations(e.t, f, operations_of(held));
  describe(e.t, f, held);
  out.push_back(std::move(f));
}

}  // namespace sb::analysis
