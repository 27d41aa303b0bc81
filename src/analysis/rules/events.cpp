// Events that are recorded too late, and waits that come before the record they mean.
#include <fmt/format.h>

#include <algorithm>
#include <map>
#include <set>

#include "analysis/rules/rules.hpp"
#include "analysis/words.hpp"

namespace sb::analysis {

void find_late_records(const evidence& e, findings& out) {
  const trace::trace& t = e.t;
  std::vector<std::vector<number>> streams(t.streams.size());
  std::vector<std::size_t> at(t.operations.size());
  for (number i = 0; i < t.operations.size(); ++i) {
    if (t.operations[i].stream >= streams.size()) continue;
    at[i] = streams[t.operations[i].stream].size();
    streams[t.operations[i].stream].push_back(i);
  }
  constexpr std::size_t far = 256;  // operations looked at on either side

  program changed = e.p;
  std::vector<held_operation> held;
  std::vector<number> records;
  for (const held_operation& h : held_by(t, trace::wait_cause::event)) {
    const trace::operation& wait = t.operations[h.operation];
    if (wait.kind != trace::operation_kind::event_wait || wait.record == none ||
        e.t.operations[wait.record].stream >= e.t.streams.size()) {
      continue;
    }
    const std::vector<number>& theirs = streams[t.operations[wait.record].stream];
    const std::vector<number>& ours = streams[wait.stream];
    const std::size_t end = at[wait.record];
    // The last operation in front of the record that someone behind the wait needs.
    std::size_t needed = end;
    nanoseconds beside = 0;  // what lies between
    for (std::size_t i = end; i-- > 0 && end - i < far && needed == end;) {
      const trace::operation& before = t.operations[theirs[i]];
      for (std::size_t k = at[h.operation] + 1; k < std::min(ours.size(), at[h.operation] + far);
           ++k) {
        if (share_data(before, t.operations[ours[k]], data_view::careful)) {
          needed = i;
          break;
        }
      }
      if (needed == end) beside += changed.tasks[theirs[i]].duration;
    }
    if (needed == end || beside == 0) continue;
    changed.tasks[h.operation].record = theirs[needed];
    held.push_back({h.operation, {.from = theirs[needed], .cause = h.by.cause}, beside});
    records.push_back(wait.record);
  }
  if (held.empty()) return;
  const nanoseconds cost = e.gain(changed);
  if (!e.worth(cost)) return;

  finding f;
  f.rule = "event-recorded-late";
  f.title = fmt::format("{} event{} recorded later than the waiting stream needs", held.size(),
                        held.size() == 1 ? " is" : "s are");
  f.why =
      "An event stands for all work in front of it in its stream. Between the work whose result "
      "the "
      "other stream uses and the record there is more.";
  f.change = "Call cudaEventRecord right behind the work whose result the other stream uses.";
  f.cost = cost;
  add_operations(t, f, records);
  for (std::size_t i = 0; i < std::min<std::size_t>(3, held.size()); ++i) {
    f.evidence.push_back(fmt::format("{} needs {}; {} of other work comes before the record",
                                     stream_name(t, t.operations[held[i].operation].stream),
                                     name_of(t, held[i].by.from), text_of_time(held[i].time)));
  }
  out.push_back(std::move(f));
}

void find_waits_before_records(const evidence& e, findings& out) {
  const trace::trace& t = e.t;
  std::map<number, number> first_record;  // by event
  for (number i = 0; i < t.operations.size(); ++i) {
    const trace::operation& o = t.operations[i];
    if (o.kind == trace::operation_kind::event_record && o.event != none)
      first_record.try_emplace(o.event, i);
  }
  // A wait for a record that is over names none either, but then there is one before it.
  const auto has_record = [&](number wait) {
    const auto first = first_record.find(t.operations[wait].event);
    return t.operations[wait].record != none ||
           (first != first_record.end() && first->second < wait);
  };
  // The first turn of a pipeline may wait for what was not recorded yet; later turns of the same
  // call do wait.
  const auto place = [&](number operation) {
    const number p = place_of(t, operation);
    return p == none ? std::pair(none, t.operations[operation].event) : std::pair(p, none);
  };
  std::set<std::pair<number, number>> useful;
  for (number i = 0; i < t.operations.size(); ++i) {
    const trace::operation& o = t.operations[i];
    if (o.kind == trace::operation_kind::event_wait && has_record(i)) useful.insert(place(i));
  }
  std::vector<number> waits;
  for (number i = 0; i < t.operations.size(); ++i) {
    const trace::operation& o = t.operations[i];
    if (o.kind != trace::operation_kind::event_wait || has_record(i)) continue;
    if (first_record.contains(o.event) && !useful.contains(place(i))) waits.push_back(i);
  }
  if (waits.empty()) return;

  finding f;
  f.rule = "wait-before-record";
  f.weight = severity::warning;
  f.title = fmt::format("{} wait{} for an event that is recorded only later", waits.size(),
                        waits.size() == 1 ? "" : "s");
  f.why =
      "cudaStreamWaitEvent looks at the last record at the moment of the call. An event that was "
      "never recorded counts as complete: the wait orders nothing.";
  f.change = "Call cudaEventRecord before cudaStreamWaitEvent.";
  add_operations(t, f, waits);
  const number record = first_record[t.operations[waits[0]].event];
  f.evidence.push_back(fmt::format("event {} is first recorded behind the wait, on {}",
                                   t.operations[waits[0]].event,
                                   stream_name(t, t.operations[record].stream)));
  if (const number p = place_of(t, record);
      p != none && std::find(f.places.begin(), f.places.end(), p) == f.places.end()) {
    f.places.push_back(p);
  }
  out.push_back(std::move(f));
}

}  // namespace sb::analysis
