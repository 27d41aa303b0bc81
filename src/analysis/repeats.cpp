#include "analysis/repeats.hpp"

#include <fmt/format.h>

#include <algorithm>
#include <map>
#include <set>
#include <span>
#include <string>

namespace sb::analysis {

namespace {

constexpr std::size_t shortest = 4;          // operations that are worth a graph
constexpr std::size_t usual = 20;            // of them, where the program says nothing
constexpr std::size_t longest_period = 512;  // that is looked for

// The one operation of a call that waits for nothing.
number only_issue(const step& s) {
  const bool waits = s.first.scope != wait_scope::nothing || s.last.scope != wait_scope::nothing;
  return s.issues.size() != 1 || waits ? none : s.issues[0].operation;
}

// Work that a graph can have.
bool is_node(const trace::operation& o) {
  if (o.in_graph) return false;
  return o.kind == trace::operation_kind::kernel || o.kind == trace::operation_kind::fill ||
         (o.kind == trace::operation_kind::copy && o.host_memory != trace::memory_kind::pageable);
}

// The same launch again: what a graph repeats are its arguments too, as far as the trace has them.
std::string words_of(const trace::operation& o, number place) {
  std::string words =
      fmt::format("{} {} {} {} {}", static_cast<int>(o.kind), o.stream, o.name, place, o.bytes);
  words += fmt::format(" {} {}", fmt::join(o.grid, "x"), fmt::join(o.block, "x"));
  for (const trace::byte_range& r : o.ranges) {
    words += fmt::format(" {}+{}", r.allocation, r.offset);
  }
  return words;
}

// Calls that follow each other, and a number for each: equal ones have the same.
struct run {
  std::vector<std::size_t> steps;
  std::vector<std::size_t> what;
  std::map<number, std::size_t> records;  // where they are
};

// The records that streams wait for, and the host does not: how many waits each of them has.
using waits_of_records = std::map<number, std::size_t>;

waits_of_records waits_by_record(const trace::trace& t, const program& p) {
  std::set<number> awaited;  // events
  for (const std::vector<step>& steps : p.threads) {
    for (const step& s : steps) {
      for (const host_wait& w : {s.first, s.last})
        if (w.scope == wait_scope::operation) awaited.insert(t.operations[w.target].event);
    }
  }
  waits_of_records waits;
  for (const task& one : p.tasks) {
    if (one.record < t.operations.size() && !awaited.contains(t.operations[one.record].event))
      ++waits[one.record];
  }
  return waits;
}

class finder {
 public:
  finder(const trace::trace& t, const program& p, number thread, sequence_streams streams,
         const waits_of_records& waits)
      : trace_(t), program_(p), steps_(p.threads[thread]), streams_(streams), waits_(waits) {}

  std::map<std::vector<std::size_t>, std::vector<std::vector<std::size_t>>> go() {
    const std::vector<run> runs = all_runs();
    std::map<std::vector<std::size_t>, std::size_t> whole;
    for (const run& r : runs) ++whole[r.what];
    for (const run& r : runs) {
      if (nodes_in(r, 0, r.steps.size()) < shortest) continue;
      if (whole[r.what] > 1) {
        add(r, 0, r.steps.size());
      } else {
        add_periods(r);
      }
    }
    return std::move(found_);
  }

 private:
  [[nodiscard]] const trace::operation& operation_of(std::size_t step) const {
    return trace_.operations[steps_[step].issues[0].operation];
  }

  std::vector<run> all_runs() {
    std::vector<run> runs;
    number stream = none;
    for (std::size_t i = 0; i < steps_.size(); ++i) {
      const number operation = only_issue(steps_[i]);
      const bool goes_on = operation != none && stream != none &&
                           go_together(stream, trace_.operations[operation].stream);
      if (operation == none || !fits(operation, goes_on ? &runs.back() : nullptr)) {
        stream = none;
        continue;
      }
      const trace::operation& o = trace_.operations[operation];
      if (!goes_on) runs.emplace_back();
      stream = o.stream;
      run& r = runs.back();
      std::string words = words_of(o, trace_.calls[steps_[i].call].place);
      if (o.kind == trace::operation_kind::event_record) r.records[operation] = r.steps.size();
      if (o.kind == trace::operation_kind::event_wait)
        words += fmt::format(" -{}", r.steps.size() - r.records[program_.tasks[operation].record]);
      r.steps.push_back(i);
      r.what.push_back(kinds_.emplace(words, kinds_.size()).first->second);
    }
    return runs;
  }

  // A wait for what was recorded elsewhere is none that a capture follows.
  [[nodiscard]] bool fits(number operation, const run* so_far) const {
    const trace::operation& o = trace_.operations[operation];
    if (is_node(o)) return true;
    if (streams_ != sequence_streams::joined || o.in_graph ||
        program_.streams[o.stream].kind == stream_kind::legacy)
      return false;
    if (o.kind == trace::operation_kind::event_record) return waits_.contains(operation);
    return o.kind == trace::operation_kind::event_wait && so_far != nullptr &&
           so_far->records.contains(program_.tasks[operation].record);
  }

  [[nodiscard]] bool go_together(number a, number b) const {
    if (a == b) return true;
    const program_stream &one = program_.streams[a], &other = program_.streams[b];
    return streams_ != sequence_streams::one && one.kind != stream_kind::legacy &&
           other.kind != stream_kind::legacy && one.device == other.device;
  }

  [[nodiscard]] std::size_t nodes_in(const run& r, std::size_t from, std::size_t length) const {
    const auto begin = r.steps.begin() + static_cast<std::ptrdiff_t>(from);
    return static_cast<std::size_t>(
        std::count_if(begin, begin + static_cast<std::ptrdiff_t>(length),
                      [&](std::size_t step) { return is_node(operation_of(step)); }));
  }

  // All waits for its records are in it, and no others.
  [[nodiscard]] bool is_closed(const run& r, std::size_t from, std::size_t length) const {
    std::map<number, std::size_t> open;  // by record: waits that are still to come
    for (std::size_t i = from; i < from + length; ++i) {
      const number operation = steps_[r.steps[i]].issues[0].operation;
      if (const auto waits = waits_.find(operation); waits != waits_.end()) open.insert(*waits);
      if (trace_.operations[operation].kind != trace::operation_kind::event_wait) continue;
      const auto record = open.find(program_.tasks[operation].record);
      if (record == open.end()) return false;
      --record->second;
    }
    return std::all_of(open.begin(), open.end(), [](const auto& one) { return one.second == 0; });
  }

  void add(const run& r, std::size_t from, std::size_t length) {
    if (!is_closed(r, from, length)) return;
    const auto part = [&](const std::vector<std::size_t>& all) {
      const auto begin = all.begin() + static_cast<std::ptrdiff_t>(from);
      return std::vector<std::size_t>(begin, begin + static_cast<std::ptrdiff_t>(length));
    };
    found_[part(r.what)].push_back(part(r.steps));
  }

  // The part of a run that repeats itself, cut into its turns. Turns that are too short for a graph
  // are taken together.
  void add_periods(const run& r) {
    std::size_t best = 0, from = 0, period = 0;
    for (std::size_t p = 1; p <= std::min(longest_period, r.what.size() / 2); ++p) {
      std::size_t same = 0;
      for (std::size_t i = 0; i + p < r.what.size(); ++i) {
        same = r.what[i] == r.what[i + p] ? same + 1 : 0;
        if (same >= p && same + p > best) {
          best = same + p;
          period = p;
          from = i + p + 1 - best;
        }
      }
    }
    if (period == 0) return;
    const std::size_t nodes = nodes_in(r, from, period);
    if (nodes == 0) return;
    const std::size_t length = nodes >= shortest ? period : period * ((usual + nodes - 1) / nodes);
    // A turn may begin with calls that belong to the one before.
    std::size_t first = 0;
    while (first < period && first + length <= best && !is_closed(r, from + first, length)) ++first;
    for (std::size_t i = first; i + length <= best; i += length) add(r, from + i, length);
  }

  const trace::trace& trace_;
  const program& program_;
  const std::vector<step>& steps_;
  sequence_streams streams_;
  const waits_of_records& waits_;  // of records that a capture can have
  std::map<std::string, std::size_t> kinds_;
  std::map<std::vector<std::size_t>, std::vector<std::vector<std::size_t>>> found_;
};

}  // namespace

std::vector<repeated_sequence> repeated_sequences(const trace::trace& t, const program& p,
                                                  sequence_streams streams) {
  std::vector<repeated_sequence> result;
  const bool joined = streams == sequence_streams::joined;
  const waits_of_records waits = joined ? waits_by_record(t, p) : waits_of_records();
  if (joined && waits.empty()) return result;  // that is as of several
  for (number thread = 0; thread < p.threads.size(); ++thread) {
    for (auto& [what, times] : finder(t, p, thread, streams, waits).go()) {
      if (times.size() > 1) result.push_back({thread, std::move(times)});
    }
  }
  return result;
}

}  // namespace sb::analysis
