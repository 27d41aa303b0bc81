// Events that are recorded too late, and waits that come before the record they mean.
#include <fmt/format.h>

#include <algorithm>
#include <map>
#include <optional>
#include <set>
#include <string_view>

#include "analysis/device_order.hpp"
#include "analysis/rules/rules.hpp"
#include "analysis/rules/stream_lists.hpp"
#include "analysis/rules/wait_windows.hpp"
#include "analysis/sort_stably.hpp"
#include "analysis/words.hpp"

namespace sb::analysis {

namespace {

constexpr std::size_t far = 256;  // operations looked at on either side
constexpr std::size_t most_told = 3;
constexpr std::size_t most_lines = 16;  // whose order is looked at
constexpr int most_rounds = 8;          // of waits that hold only without others

bool is_work(const trace::operation& o) { return o.engine != trace::engine_kind::none; }

// Another process may record an event that it has a handle of, or that comes from there.
bool shares_events(const trace::trace& t) {
  return std::any_of(t.calls.begin(), t.calls.end(), [](const trace::call& c) {
    return c.name == "cudaIpcOpenEventHandle" || c.name == "cudaIpcGetEventHandle";
  });
}

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

// What operations touch, in short: whether another one may share data with any of them is asked of
// all at once.
class touched_memory {
 public:
  void add(const trace::operation& o) {
    anything_ |= touches_anything(o);
    for (const trace::byte_range& r : o.ranges) {
      std::uint8_t& how = how_[r.allocation];
      how = static_cast<std::uint8_t>(how | static_cast<std::uint8_t>(r.how));
    }
  }
  [[nodiscard]] bool may_share(const trace::operation& o) const {
    if (anything_ || touches_anything(o)) return true;
    return std::any_of(o.ranges.begin(), o.ranges.end(), [&](const trace::byte_range& r) {
      const auto found = how_.find(r.allocation);
      const auto writes = static_cast<std::uint8_t>(trace::access::write);
      return found != how_.end() &&
             ((found->second | static_cast<std::uint8_t>(r.how)) & writes) != 0;
    });
  }

 private:
  bool anything_ = false;
  std::map<number, std::uint8_t> how_;  // by allocation
};

// A wait for a record in front of which there is more than its stream needs.
struct late_record {
  number wait = none;
  number needed = none;    // the work in front of the record that it needs, or needs first
  nanoseconds beside = 0;  // how long the rest takes
  bool in_parts = false;   // it needs the rest later
};

class late_records {
 public:
  explicit late_records(const evidence& e) : e_(e), t_(e.t), lists_(e.t), places_(issuers(e.p)) {}

  [[nodiscard]] std::optional<late_record> look(number wait) const {
    const trace::operation& o = t_.operations[wait];
    if (o.kind != trace::operation_kind::event_wait || o.record == none ||
        t_.operations[o.record].stream >= t_.streams.size()) {
      return std::nullopt;
    }
    const std::vector<number>& theirs = in_front(wait);
    const std::vector<number>& ours = lists_.of[o.stream];
    const std::size_t end = lists_.at[o.record], at = lists_.at[wait];
    const std::size_t last = std::min(ours.size(), at + far);
    touched_memory behind;
    for (std::size_t k = at + 1; k < last; ++k) behind.add(t_.operations[ours[k]]);
    late_record found{.wait = wait};
    for (std::size_t i = end; i-- > 0 && end - i < far && found.needed == none;) {
      const trace::operation& before = t_.operations[theirs[i]];
      for (std::size_t k = behind.may_share(before) ? at + 1 : last; k < last; ++k) {
        if (share_data(before, t_.operations[ours[k]], data_view::careful)) {
          found.needed = theirs[i];
          break;
        }
      }
      if (found.needed == none) found.beside += e_.p.tasks[theirs[i]].duration;
    }
    if (found.needed == none) return std::nullopt;
    if (found.beside > 0) return found;
    const first_part part = first_part_of(e_, e_.parts(), lists_, wait);
    if (part.needed == none || part.beside == 0) return std::nullopt;
    return late_record{wait, part.needed, part.beside, true};
  }

  // The wait is for the work that its stream needs; in parts, there is one for each of them.
  void apply(program& p, const late_record& late) const {
    if (!late.in_parts) {
      p.tasks[late.wait].record = late.needed;
      return;
    }
    const number record = t_.operations[late.wait].record;
    const std::vector<number>& theirs = in_front(late.wait);
    const std::vector<number>& ours = lists_.of[t_.operations[late.wait].stream];
    for (const number one : ours)
      if (t_.operations[one].record == record) p.tasks[one].record = none;
    std::size_t over = 0;  // of what is in front of the record
    const std::size_t end = std::min(ours.size(), lists_.at[late.wait] + far);
    for (std::size_t k = lists_.at[late.wait] + 1; k < end; ++k) {
      std::size_t i = lists_.at[record];
      while (i > over && lists_.at[record] - i < far &&
             !e_.parts().share_data(t_.operations[theirs[i - 1]], t_.operations[ours[k]]))
        --i;
      if (i <= over || lists_.at[record] - i == far) continue;
      // The first wait and the last record are there.
      if (over > 0) add_call(p, ours[k], late.wait, &step::before);
      if (i < lists_.at[record]) add_call(p, theirs[i - 1], record, &step::after);
      over = i;
      p.tasks[ours[k]].after.push_back(theirs[i - 1]);
    }
  }

  // Nothing that meets in memory loses its order, be it by way of other streams or of the host.
  [[nodiscard]] bool keep_order(const program& changed) const {
    return keeps_order(t_, e_.parts(), device_order(t_, e_.p), device_order(t_, changed));
  }

 private:
  [[nodiscard]] const std::vector<number>& in_front(number wait) const {
    return lists_.of[t_.operations[t_.operations[wait].record].stream];
  }

  // One more call as that of an operation, before or behind the call that issues another one.
  void add_call(program& p, number beside, number like, nanoseconds step::* where) const {
    const step_place at = places_[beside], known = places_[like];
    if (at.thread == none || known.thread == none) return;
    p.threads[at.thread][at.index].*where += e_.p.threads[known.thread][known.index].own();
  }

  const evidence& e_;
  const trace::trace& t_;
  const stream_lists lists_;
  const std::vector<step_place> places_;
};

std::string change_of(bool whole, bool in_parts) {
  std::string change;
  if (whole)
    change =
        "Record an event right behind the work whose result the other stream uses, and let that "
        "stream wait for it. What needs the work behind that has to wait for the later event as "
        "before. ";
  if (in_parts)
    change +=
        "Where the other stream uses several results one after another, record an event behind "
        "each of them, and wait for each in front of what uses it. ";
  change.pop_back();
  return change;
}

}  // namespace

namespace {

// Of lines that nothing was found of, those first that are held longest: what the stream itself
// needs is not all that counts, nor is what stands in the record's stream.
std::vector<late_record> late_by_order(const evidence& e, const wait_windows& order,
                                       const std::vector<held_operation>& waits,
                                       const std::set<number>& found) {
  const trace::trace& t = e.t;
  struct line {
    nanoseconds held = 0;
    std::vector<number> waits;
  };
  std::map<std::pair<number, number>, line> all;
  for (const held_operation& h : waits) {
    const number place = place_of(t, h.operation);
    if (t.operations[h.operation].kind != trace::operation_kind::event_wait ||
        found.contains(place))
      continue;
    line& l = all[{place, place == none ? h.operation : none}];
    l.held += h.time;
    l.waits.push_back(h.operation);
  }
  std::vector<line> lines;
  for (auto& [place, l] : all) lines.push_back(std::move(l));
  sort_stably(lines, [](const line& a, const line& b) { return a.held > b.held; });
  if (lines.size() > most_lines) lines.resize(most_lines);
  std::vector<late_record> late;
  for (const line& l : lines) {
    const std::vector<number> needed = order.needed_by(l.waits);
    for (std::size_t i = 0; i < l.waits.size(); ++i) {
      if (needed[i] == none || !is_work(t.operations[needed[i]])) continue;
      const nanoseconds then = t.operations[needed[i]].ended;
      const nanoseconds recorded = t.operations[e.p.tasks[l.waits[i]].record].ended;
      if (recorded > then) late.push_back({l.waits[i], needed[i], recorded - then});
    }
  }
  return late;
}

// Waits of a line whose records are late.
struct late_line {
  std::vector<late_record> waits;
  bool by_order = false;
};

// Adds those with which everything keeps its order, as far as that can be followed.
void add_lines(const late_records& records, bool followed, const std::vector<late_record>& late,
               bool by_order, const trace::trace& t, program& changed,
               std::vector<late_line>& lines) {
  std::map<number, std::vector<late_record>> by_line;  // a line is changed as a whole
  for (const late_record& one : late) by_line[place_of(t, one.wait)].push_back(one);
  for (auto& [place, these] : by_line) {
    program more = changed;
    for (const late_record& one : these) records.apply(more, one);
    if (followed && !records.keep_order(more)) continue;
    changed = std::move(more);
    lines.push_back({std::move(these), by_order});
  }
}

// Of these waits.
void add_late_lines(const evidence& e, const late_records& records, bool followed,
                    const std::vector<held_operation>& waits, program& changed,
                    std::vector<late_line>& lines) {
  std::vector<late_record> late;
  for (const held_operation& h : waits)
    if (const auto one = records.look(h.operation)) late.push_back(*one);
  add_lines(records, followed, late, false, e.t, changed, lines);
  if (!followed || !e.worth(total(waits))) return;
  std::set<number> found;
  for (const late_line& l : lines) found.insert(place_of(e.t, l.waits[0].wait));
  late = late_by_order(e, wait_windows(e.t, e.p), waits, found);
  add_lines(records, followed, late, true, e.t, changed, lines);
}

// Waits that hold nothing in the run, as their streams come late to them, and do once others that
// were looked at hold less; with all of their lines.
std::vector<held_operation> held_now(const evidence& e, const program& changed,
                                     const std::vector<held_operation>& before,
                                     std::set<number>& seen) {
  for (const held_operation& h : before) seen.insert(h.operation);
  const timing now = replay(changed, record_waits::yes);
  std::map<number, held_operation> held;
  std::set<number> lines;
  for (const held_operation& h : held_by(retimed(e.t, changed, now), trace::wait_cause::event)) {
    if (e.t.operations[h.operation].kind != trace::operation_kind::event_wait ||
        seen.contains(h.operation))
      continue;
    held.emplace(h.operation, h);
    lines.insert(place_of(e.t, h.operation));
  }
  std::vector<held_operation> all;
  for (number i = 0; i < e.t.operations.size() && !held.empty(); ++i) {
    if (e.t.operations[i].kind != trace::operation_kind::event_wait || seen.contains(i) ||
        !lines.contains(place_of(e.t, i)))
      continue;
    const auto one = held.find(i);
    all.push_back(one != held.end() ? one->second : held_operation{i, {}, 0});
  }
  return all;
}

// Lines that only the order tells of are left out where as much is gained without them. They come
// last, in programs whose order can be followed.
nanoseconds keep_what_gains(const evidence& e, const late_records& records, const program& changed,
                            std::vector<late_line>& lines) {
  nanoseconds cost = e.gain(changed);
  for (std::size_t i = lines.size(); i-- > 0 && lines.size() > 1 && lines[i].by_order;) {
    std::vector<late_line> others = lines;
    others.erase(others.begin() + static_cast<std::ptrdiff_t>(i));
    program less = e.p;
    for (const late_line& l : others)
      for (const late_record& one : l.waits) records.apply(less, one);
    const nanoseconds without = e.gain(less);
    if (without < cost) continue;
    cost = without;
    lines = std::move(others);
  }
  return cost;
}

}  // namespace

void find_late_records(const evidence& e, findings& out) {
  const trace::trace& t = e.t;
  std::vector<held_operation> waits = held_by(t, trace::wait_cause::event);
  if (waits.empty()) return;
  const late_records records(e);
  const bool followed = can_be_followed(t, e.p);
  program changed = e.p;
  if (!followed) keep_data_order(t, changed, e.parts());
  std::vector<late_line> lines;
  std::set<number> seen;  // waits
  for (int round = 0; round < most_rounds && !waits.empty(); ++round) {
    const std::size_t before = lines.size();
    add_late_lines(e, records, followed, waits, changed, lines);
    if (lines.size() == before) break;
    waits = held_now(e, changed, waits, seen);
  }
  if (lines.empty()) return;
  const nanoseconds cost = keep_what_gains(e, records, changed, lines);
  if (!e.worth(cost)) return;
  std::vector<late_record> held;
  for (const late_line& l : lines) held.insert(held.end(), l.waits.begin(), l.waits.end());

  const auto parted = [](const late_record& l) { return l.in_parts; };
  const bool in_parts = std::any_of(held.begin(), held.end(), parted);
  finding f;
  f.rule = "event-recorded-late";
  f.title = fmt::format("{} event{} recorded later than the waiting stream needs", held.size(),
                        held.size() == 1 ? " is" : "s are");
  f.why =
      "An event stands for all work in front of it in its stream. Between the work whose result "
      "the "
      "other stream uses and the record there is more.";
  f.change = change_of(!std::all_of(held.begin(), held.end(), parted), in_parts);
  f.cost = cost;
  std::vector<number> of;
  for (const late_record& one : held) of.push_back(e.p.tasks[one.wait].record);
  add_operations(t, f, of);
  for (std::size_t i = 0; i < std::min<std::size_t>(3, held.size()); ++i) {
    f.evidence.push_back(fmt::format("{} needs {}{}; {} of other work comes before the record",
                                     stream_name(t, t.operations[held[i].wait].stream),
                                     name_of(t, held[i].needed), held[i].in_parts ? " first" : "",
                                     text_of_time(held[i].beside)));
  }
  if (in_parts) {
    program copy = e.p;
    add_assumption(f, keep_data_order(t, copy, e.parts()));
  }
  if (followed) add_assumption_of_times(t, f);
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
    if (o.event == none || useful.contains(place(i))) continue;
    if (first_record.contains(o.event) || !shares_events(t)) waits.push_back(i);
  }
  if (waits.empty()) return;
  const auto later =
      static_cast<std::size_t>(std::count_if(waits.begin(), waits.end(), [&](number wait) {
        return first_record.contains(t.operations[wait].event);
      }));

  finding f;
  f.rule = "wait-before-record";
  f.weight = severity::warning;
  std::string_view when = "recorded only later, or never";
  if (later == 0) when = "never recorded";
  if (later == waits.size()) when = "recorded only later";
  f.title = fmt::format("{} wait{} for an event that is {}", waits.size(),
                        waits.size() == 1 ? "" : "s", when);
  f.why =
      "cudaStreamWaitEvent looks at the last record at the moment of the call. An event that was "
      "never recorded counts as complete: the wait orders nothing.";
  f.change = "Call cudaEventRecord before cudaStreamWaitEvent.";
  add_operations(t, f, waits);
  std::set<number> told;
  for (const number wait : waits) {
    const number event = t.operations[wait].event;
    if (told.size() == most_told || !told.insert(event).second) continue;
    const auto first = first_record.find(event);
    if (first == first_record.end()) {
      f.evidence.push_back(fmt::format("event {}, for which {} waits, is never recorded", event,
                                       stream_name(t, t.operations[wait].stream)));
      continue;
    }
    const number record = first->second;
    f.evidence.push_back(fmt::format("event {} is first recorded behind the wait, on {}", event,
                                     stream_name(t, t.operations[record].stream)));
    if (const number p = place_of(t, record);
        p != none && std::find(f.places.begin(), f.places.end(), p) == f.places.end()) {
      f.places.push_back(p);
    }
  }
  out.push_back(std::move(f));
}

}  // namespace sb::analysis
