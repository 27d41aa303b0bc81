// Work in the legacy default stream separates the blocking streams of its device.
#include <fmt/format.h>

#include "analysis/events_instead.hpp"
#include "analysis/rules/rules.hpp"
#include "analysis/words.hpp"

namespace sb::analysis {

void find_default_stream_barrier(const evidence& e, findings& out) {
  std::vector<held_operation> held = held_by(e.t, trace::wait_cause::legacy_barrier);
  if (held.empty()) return;
  program changed = e.p;
  const assumes_parts parts = keep_data_order(e.t, changed, e.parts());
  make_non_blocking(changed);
  add_events_instead(e.t, e.p, changed);
  nanoseconds cost = e.gain(changed);
  urgent_gain urgent;
  if (!e.worth(cost)) {
    urgent = gain_of_urgent(e, changed, held);
    if (urgent.operation == none) return;
    cost = urgent.time;
    std::erase_if(held, [&](const held_operation& h) {
      return !is_more_urgent(e.t, h.operation, h.by.from);
    });
  }

  finding f;
  f.rule = "default-stream-barrier";
  f.title = fmt::format("Work on the default stream kept {} operation{} waiting", held.size(),
                        held.size() == 1 ? "" : "s");
  f.why =
      "The default stream and the streams of cudaStreamCreate wait for each other: work on it "
      "starts "
      "when everything before it on those streams is done, and they go on when it is done.";
  if (urgent.operation != none) f.why += words_of(e.t, urgent);
  f.change =
      "Create the streams with cudaStreamCreateWithFlags(&stream, cudaStreamNonBlocking), or give "
      "this work a stream of its own, and order what needs it with events. A wait of the host for "
      "one of them is then none for the other: wait for each whose results it looks at. Compiling "
      "with "
      "--default-stream per-thread also helps when several threads use the default stream.";
  f.cost = cost;
  add_operations(e.t, f, operations_of(held));
  describe(e.t, f, held);
  add_assumption(f, parts);
  out.push_back(std::move(f));
}

}  // namespace sb::analysis
