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

std::vector<held_operation> held_by_records(const trace::trace& t) {
  std::vector<held_operation> held;
  for (const held_operation& h : held_by(t, trace::wait_cause::event)) {
    const trace::operation& o = t.operations[h.operation];
    if (o.kind == trace::operation_kind::event_wait && o.record != none) held.push_back(h);
  }
  return held;
}

std::vector<number> find_needless(const evidence& e) {
  const trace::trace& t = e.t;
  const std::vector<held_operation> held = held_by_records(t);
  if (!e.worth(total(held)) || !can_be_followed(t, e.p)) return {};

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
  std::sort(waits.begin(), waits.end());
  return waits;
}

program without(const program& p, const std::vector<number>& waits) {
  program less = p;
  for (const number wait : waits) less.tasks[wait].record = none;
  return less;
}

}  // namespace

const std::vector<number>& evidence::needless_waits() const {
  if (!needless_) needless_ = find_needless(*this);
  return *needless_;
}

void find_needless_waits(const evidence& e, findings& out) {
  const trace::trace& t = e.t;
  std::vector<number> waits = e.needless_waits();
  if (waits.empty()) return;
  std::vector<held_operation> held = held_by_records(t);
  std::erase_if(held, [&](const held_operation& h) {
    return !std::binary_search(waits.begin(), waits.end(), h.operation);
  });

  nanoseconds cost = e.gain(without(e.p, waits));
  urgent_gain urgent;
  if (!e.worth(cost)) {
    // Without the others, too, all that meets in memory keeps its order.
    std::erase_if(
        held, [&](const held_operation& h) { return !is_more_urgent(t, h.operation, h.by.from); });
    waits = operations_of(held);
    urgent = gain_of_urgent(e, without(e.p, waits), held);
    if (urgent.operation == none) return;
    cost = urgent.time;
  }

  finding f;
  f.rule = "needless-event-wait";
  f.title = fmt::format("{} wait{} for an event that the data does not need", waits.size(),
                        waits.size() == 1 ? "" : "s");
  f.why =
      "Nothing in front of the event writes memory that is used behind the wait, and nothing "
      "behind "
      "the wait writes memory that is used in front of the event.";
  if (urgent.operation != none) f.why += words_of(t, urgent);
  f.change = "Leave out the cudaStreamWaitEvent.";
  f.cost = cost;
  add_operations(t, f, waits);
  describe(t, f, held);
  out.push_back(std::move(f));
}

}  // namespace sb::analysis
