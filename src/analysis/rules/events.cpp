// Events that are recorded too late, and waits that come before the record they mean.
#include <fmt/format.h>

#include <algorithm>
#include <map>
#include <set>

#include "analysis/rules/rules.hpp"
#include "analysis/rules/stream_lists.hpp"
#include "analysis/words.hpp"

namespace sb::analysis {

namespace {

constexpr std::size_t far = 256;  // operations looked at on either side

bool is_work(const trace::operation& o) { return o.engine != trace::engine_kind::none; }

// Of the work in front of a record, the first that the stream behind a wait for it needs, when that
// needs the rest only later: `beside` is how long the rest takes. None: it needs all of it, or
// nobody knows.
struct first_part {
  number needed = none;
  nanoseconds beside = 0;
};

first_part first_part_of(const evidence& e, const allocation_parts& parts,
                         const stream_lists& lists, number wait) {
  const trace::trace& t = e.t;
  const number record = t.operations[wait].record;
  const std::vector<number>& theirs = lists.of[t.operations[record].stream];
  const std::vector<number>& ours = lists.of[t.operations[wait].stream];
  const trace::operation* first = nullptr;
  for (std::size_t k = lists.at[wait] + 1; k < std::min(ours.size(), lists.at[wait] + far); ++k) {
    const trace::operation& o = t.operations[ours[k]];
    if (!is_work(o)) continue;
    if (o.ranges.empty() || touches_anything(o)) return {};
    if (first == nullptr) first = &o;
  }
  first_part found;
  for (std::size_t i = lists.at[record];
       first != nullptr && i-- > 0 && lists.at[record] - i < far;) {
    const trace::operation& before = t.operations[theirs[i]];
    if (!is_work(before)) continue;
    if (before.ranges.empty()) return {};
    if (parts.share_data(before, *first)) {
      found.needed = theirs[i];
      return found;
    }
    found.beside += e.p.tasks[theirs[i]].duration;
  }
  return {};
}

}  // namespace

void find_late_records(const evidence& e, findings& out) {
  const trace::trace& t = e.t;
  const std::vector<held_operation> waits = held_by(t, trace::wait_cause::event);
  if (waits.empty()) return;
  const stream_lists lists(t);
  const allocation_parts& parts = e.parts();
  const std::vector<std::vector<number>>& streams = lists.of;
  const std::vector<std::size_t>& at = lists.at;

  program changed = e.p;
  std::vector<held_operation> held;
  std::vector<number> records;
  bool in_parts = false;
  for (const held_operation& h : waits) {
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
    if (needed == end) continue;
    if (beside == 0) {
      const first_part part = first_part_of(e, parts, lists, h.operation);
      if (part.needed == none || part.beside == 0) continue;
      // An event behind each part: what the data needs is all that is left of the waits for this
      // one.
      for (const number one : ours)
        if (t.operations[one].record == wait.record) changed.tasks[one].record = none;
      held.push_back({h.operation, {.from = part.needed, .cause = h.by.cause}, part.beside});
      records.push_back(wait.record);
      in_parts = true;
      continue;
    }
    changed.tasks[h.operation].record = theirs[needed];
    held.push_back({h.operation, {.from = theirs[needed], .cause = h.by.cause}, beside});
    records.push_back(wait.record);
  }
  if (held.empty()) return;
  const assumes_parts assumed = in_parts ? keep_data_order(t, changed, parts) : assumes_parts::no;
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
  if (in_parts)
    f.change +=
        " Where that uses several results one after another, record an event behind each, and wait "
        "for each in front of what uses it.";
  f.cost = cost;
  add_operations(t, f, records);
  for (std::size_t i = 0; i < std::min<std::size_t>(3, held.size()); ++i) {
    f.evidence.push_back(fmt::format("{} needs {}; {} of other work comes before the record",
                                     stream_name(t, t.operations[held[i].operation].stream),
                                     name_of(t, held[i].by.from), text_of_time(held[i].time)));
  }
  add_assumption(f, assumed);
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
