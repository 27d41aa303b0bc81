// A kernel with more blocks than the device holds leaves no room for others until it is nearly
// done.
#include <fmt/format.h>

#include <limits>
#include <set>

#include "analysis/plural.hpp"
#include "analysis/rules/rules.hpp"
#include "analysis/words.hpp"
#include "model/profile.hpp"

namespace sb::analysis {

namespace {

// Devices without them take a stream's priority for none.
bool has_priorities(const trace::trace& t) {
  const profile* known = find_profile(t.head.profile);
  return known == nullptr || known->device.greatest_priority < known->device.least_priority;
}

}  // namespace

void find_full_device(const evidence& e, findings& out) {
  if (!has_priorities(e.t)) return;
  constexpr double small = 0.5, full = 0.99;
  constexpr std::int8_t urgent = -5;
  std::vector<held_operation> held;
  std::set<number> streams;
  for (const held_operation& h : held_by(e.t, trace::wait_cause::device_full)) {
    const trace::operation &o = e.t.operations[h.operation], &by = e.t.operations[h.by.from];
    if (o.stream == by.stream || o.priority > by.priority ||
        share_of_device(e.t, h.operation) > small || share_of_device(e.t, h.by.from) < full) {
      continue;
    }
    streams.insert(o.stream);
    held.push_back(h);
  }
  if (held.empty()) return;
  // A priority is that of a stream: of all that is in it.
  program changed = e.p;
  for (number i = 0; i < e.t.operations.size(); ++i)
    if (streams.contains(e.t.operations[i].stream)) changed.tasks[i].what.priority = urgent;
  const nanoseconds cost = e.gain(changed);
  if (!e.worth(cost)) return;

  const number filler = held.front().by.from;
  const trace::operation& by = e.t.operations[filler];
  finding f;
  f.rule = "kernel-fills-device";
  f.title = fmt::format("{} fills the device while {} small kernel{} wait{}", name_of(e.t, filler),
                        held.size(), held.size() == 1 ? "" : "s", held.size() == 1 ? "s" : "");
  f.why = fmt::format(
      "Its {} of {} run in {}; at equal priority all of them are placed "
      "before "
      "a block of the next kernel.",
      plural(std::uint64_t{by.grid[0]} * by.grid[1] * by.grid[2], "block"),
      plural(by.block[0] * by.block[1] * by.block[2], "thread"),
      plural(e.p.tasks[filler].waves, "wave"));
  f.change =
      "Give the stream of the small kernels a higher priority (cudaStreamCreateWithPriority), "
      "issue "
      "them first, or launch the large kernel with fewer blocks that loop over its data.";
  f.cost = cost;
  add_operations(e.t, f, operations_of(held));
  describe(e.t, f, held);
  out.push_back(std::move(f));
}

}  // namespace sb::analysis
