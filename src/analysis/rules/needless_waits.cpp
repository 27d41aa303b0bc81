// Waits for events that order nothing that the data needs. A wait is needless when everything that
// meets in memory, and is ordered with the wait, is ordered without it: by its stream, by other
// waits or by the host.
#include <fmt/format.h>

#include <algorithm>
#include <map>

#include "analysis/device_order.hpp"
#include "analysis/rules/rules.hpp"
#include "analysis/words.hpp"

namespace sb::analysis {

namespace {

constexpr std::size_t most_lines = 16;

}  // namespace

void find_needless_waits(const evidence& e, findings& out) {
  const trace::trace& t = e.t;
  std::vector<held_operation> held;
  for (const held_operation& h : held_by(t, trace::wait_cause::event)) {
    const trace::operation& o = t.operations[h.operation];
    if (o.kind == trace::operation_kind::event_wait && o.record != none) held.push_back(h);
  }
  if (!e.worth(total(held)) || !can_be_followed(t, e.p)) return;

  // A line is left out as a whole; without lines, one wait by itself.
  const auto line = [&](number operation) {
    const number place = place_of(t, operation);
    return place != none ? std::pair(place, none) : std::pair(none, operation);
  };
  std::map<std::pair<number, number>, nanoseconds> times;
  for (const held_operation& h : held) times[line(h.operation)] += h.time;
  std::vector<std::pair<nanoseconds, std::pair<number, number>>> lines;
  for (const auto& [place, time] : times) lines.push_back({time, place});
  std::sort(lines.begin(), lines.end(), [](const auto& a, const auto& b) {
    return a.first != b.first ? a.first > b.first : a.second < b.second;
  });
  if (lines.size() > most_lines) lines.resize(most_lines);

  program changed = e.p;
  const device_order as_it_is(t, e.p);
  std::vector<number> waits;
  for (const auto& [time, place] : lines) {
    program less = changed;
    std::vector<number> these;
    for (number i = 0; i < t.operations.size(); ++i) {
      if (t.operations[i].kind != trace::operation_kind::event_wait || line(i) != place) continue;
      less.tasks[i].record = none;
      these.push_back(i);
    }
    if (!keeps_order(t, allocation_parts(), as_it_is, device_order(t, less))) continue;
    changed = std::move(less);
    waits.insert(waits.end(), these.begin(), these.end());
  }
  if (waits.empty()) return;
  std::sort(waits.begin(), waits.end());

  const nanoseconds cost = e.gain(changed);
  if (!e.worth(cost)) return;
  std::erase_if(held, [&](const held_operation& h) {
    return !std::binary_search(waits.begin(), waits.end(), h.operation);
  });

  finding f;
  f.rule = "needless-event-wait";
  f.title = fmt::format("{} wait{} for an event that the data does not need", waits.size(),
                        waits.size() == 1 ? "" : "s");
  f.why =
      "Nothing in front of the event writes memory that is used behind the wait, and nothing "
      "behind "
      "the wait writes memory that is used in front of the event.";
  f.change = "Leave out the cudaStreamWaitEvent.";
  f.cost = cost;
  add_operations(t, f, waits);
  describe(t, f, held);
  out.push_back(std::move(f));
}

}  // namespace sb::analysis
