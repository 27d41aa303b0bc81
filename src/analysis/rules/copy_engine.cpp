// There is one copy engine for each direction: a short copy waits behind a long one, or behind the
// pieces of one.
#include <fmt/format.h>

#include <algorithm>
#include <map>
#include <utility>

#include "analysis/rules/rules.hpp"

namespace sb::analysis {

namespace {

// A long copy, or one in pieces: copies of a stream that followed each other on their engine.
struct long_copy {
  number first = none;
  nanoseconds duration = 0;
  std::uint64_t bytes = 0;
};

long_copy pieces_up_to(const evidence& e, const std::vector<number>& copies, number last) {
  long_copy all{last, e.p.tasks[last].duration, e.t.operations[last].bytes};
  auto at = std::lower_bound(copies.begin(), copies.end(), last);
  while (at != copies.begin()) {
    const trace::operation &next = e.t.operations[*at], &before = e.t.operations[*--at];
    // It was called for while the one before was not over, and nothing else was on the engine
    // between them.
    const nanoseconds gap = next.started - std::min(next.started, before.ended);
    if (before.ended == never || next.started == never || next.called >= before.ended ||
        gap * 4 > next.ended - next.started) {
      break;
    }
    all.first = *at;
    all.duration += e.p.tasks[*at].duration;
    all.bytes += before.bytes;
  }
  return all;
}

// By stream and direction, in the order of issue.
std::map<std::pair<number, copy_direction>, std::vector<number>> copies_of(const trace::trace& t) {
  std::map<std::pair<number, copy_direction>, std::vector<number>> copies;
  for (number i = 0; i < t.operations.size(); ++i) {
    const trace::operation& o = t.operations[i];
    if (o.kind == trace::operation_kind::copy && !o.in_graph)
      copies[{o.stream, o.direction}].push_back(i);
  }
  return copies;
}

}  // namespace

void find_busy_copy_engine(const evidence& e, findings& out) {
  constexpr nanoseconds much_longer = 4;
  std::vector<held_operation> held;
  // What the program orders stays so: only the engine's own order is another. What may share data
  // without an order of the program's, as the parts of an arena seem to, is not put into one.
  program changed = e.p;
  std::vector<step_place> places = issuers(changed);
  const auto copies = copies_of(e.t);
  for (const held_operation& h : held_by(e.t, trace::wait_cause::engine_busy)) {
    const trace::operation &o = e.t.operations[h.operation], &by = e.t.operations[h.by.from];
    if (o.kind != trace::operation_kind::copy || by.kind != trace::operation_kind::copy ||
        o.stream == by.stream || o.in_graph) {
      continue;
    }
    const task& waiting = changed.tasks[h.operation];
    const auto stream = copies.find({by.stream, by.direction});
    if (stream == copies.end() || by.in_graph) continue;
    const long_copy holding = pieces_up_to(e, stream->second, h.by.from);
    // By the real clock one of two equal copies may take far longer.
    if (holding.duration < much_longer * waiting.duration ||
        holding.bytes < much_longer * o.bytes) {
      continue;
    }
    // Pieces of the long copy in its stream would not let the short one in: an engine works off one
    // queue before it goes to the next (docs/devices.md).
    if (issue_before(changed, places, h.operation, holding.first)) held.push_back(h);
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
