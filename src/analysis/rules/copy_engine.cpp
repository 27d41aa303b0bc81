// There is one copy engine for each direction: a short copy waits behind a long one.
#include <fmt/format.h>

#include "analysis/rules/rules.hpp"

namespace sb::analysis {

void find_busy_copy_engine(const evidence& e, findings& out) {
  constexpr nanoseconds much_longer = 4;
  std::vector<held_operation> held;
  // What the program orders stays so: only the engine's own order is another. What may share data
  // without an order of the program's, as the parts of an arena seem to, is not put into one.
  program changed = e.p;
  std::vector<step_place> places = issuers(changed);
  for (const held_operation& h : held_by(e.t, trace::wait_cause::engine_busy)) {
    const trace::operation &o = e.t.operations[h.operation], &by = e.t.operations[h.by.from];
    if (o.kind != trace::operation_kind::copy || by.kind != trace::operation_kind::copy ||
        o.stream == by.stream || o.in_graph) {
      continue;
    }
    const task &waiting = changed.tasks[h.operation], &holding = changed.tasks[h.by.from];
    // By the real clock one of two equal copies may take far longer.
    if (holding.duration < much_longer * waiting.duration || by.bytes < much_longer * o.bytes) {
      continue;
    }
    // Pieces of the long copy in its stream would not let the short one in: an engine works off one
    // queue before it goes to the next (docs/devices.md).
    if (issue_before(changed, places, h.operation, h.by.from)) held.push_back(h);
  }
  if (held.empty()) return;
  const nanoseconds cost = e.gain(changed);
  if (!e.worth(cost)) return;

  finding f;
  f.rule = "one-copy-engine";
  f.title = fmt::format("{} short cop{} waited behind long ones in the same direction", held.size(),
                        held.size() == 1 ? "y" : "ies");
  f.why =
      "The device has one copy engine for each direction, so copies of one direction never "
      "overlap, whatever their streams.";
  f.change = "Issue the short copies first.";
  f.cost = cost;
  add_operations(e.t, f, operations_of(held));
  describe(e.t, f, held);
  out.push_back(std::move(f));
}

}  // namespace sb::analysis
