// What the rules share.
#include <fmt/format.h>

#include <algorithm>
#include <map>
#include <tuple>

#include "analysis/call_rules.hpp"
#include "analysis/rules/rules.hpp"
#include "analysis/sort_stably.hpp"
#include "analysis/timed_records.hpp"
#include "analysis/words.hpp"

namespace sb::analysis {

namespace {

constexpr std::size_t most_listed = 64;        // operations and calls of a finding
constexpr std::size_t most_lines_listed = 16;  // lines of one
constexpr std::size_t most_sentences = 3;      // of evidence
constexpr std::size_t loop_from = 4;           // calls from one place
constexpr nanoseconds least_cost = 1000;

void add_place(finding& f, number place) {
  if (place != none && std::find(f.places.begin(), f.places.end(), place) == f.places.end() &&
      f.places.size() < most_lines_listed) {
    f.places.push_back(place);
  }
}

}  // namespace

// Where the replay as it is takes longer than the run did, that much of a gain is none.
nanoseconds evidence::gain(const timing& now) const {
  const nanoseconds before = std::min(base.end, t.end);
  return !base.hung && !now.hung && now.end < before ? before - now.end : 0;
}

nanoseconds evidence::gain(const program& changed) const { return gain(replay(changed)); }

bool evidence::worth(nanoseconds time) const {
  return time >= least_cost && time * 50 >= overlap.span();
}

void add_operations(const trace::trace& t, finding& f, const std::vector<number>& operations) {
  f.count = operations.size();
  for (const number o : operations) {
    add_place(f, place_of(t, o));
    if (f.operations.size() < most_listed) f.operations.push_back(o);
  }
}

void add_calls(const trace::trace& t, finding& f, const std::vector<number>& calls) {
  f.count = std::max(f.count, calls.size());
  for (const number c : calls) {
    if (c >= t.calls.size()) continue;
    add_place(f, t.calls[c].place);
    if (f.calls.size() < most_listed) f.calls.push_back(c);
  }
}

void add_assumption(finding& f, assumes_parts parts) {
  if (parts == assumes_parts::no) return;
  f.evidence.emplace_back(
      "launches of one kernel with pointers to different places of an allocation are taken to use "
      "different parts of it");
}

void add_assumption_of_times(const trace::trace& t, finding& f) {
  if (!reads_times(t)) return;
  f.evidence.emplace_back(
      "cudaEventElapsedTime is taken to read events that no stream waits for, and what these "
      "enclose stays as it is");
}

std::vector<held_operation> held_by(const trace::trace& t, trace::wait_cause cause) {
  // It waits for an engine, or for room, when its queue has let it go.
  const auto comes_behind_queue = [](trace::wait_cause other) {
    return other == trace::wait_cause::engine_busy || other == trace::wait_cause::device_full;
  };
  std::vector<held_operation> held;
  for (number i = 0; i < t.operations.size(); ++i) {
    const trace::operation& o = t.operations[i];
    if (o.queued == never || o.stream >= t.streams.size()) continue;
    const trace::edge* last = nullptr;
    nanoseconds others = o.queued;
    for (const trace::edge& e : o.waits) {
      if (e.cause == cause && e.from < t.operations.size() &&
          t.operations[e.from].stream < t.streams.size()) {
        if (last == nullptr || e.until >= last->until) last = &e;
      } else if (e.cause != trace::wait_cause::host_call &&
                 !(cause == trace::wait_cause::queue_head && comes_behind_queue(e.cause))) {
        others = std::max(others, e.until);
      }
    }
    if (last != nullptr && last->until != never && last->until > others) {
      held.push_back({i, *last, last->until - others});
    }
  }
  return held;
}

nanoseconds total(const std::vector<held_operation>& held) {
  nanoseconds sum = 0;
  for (const held_operation& h : held) sum += h.time;
  return sum;
}

std::vector<number> operations_of(const std::vector<held_operation>& held) {
  std::vector<number> operations;
  for (const held_operation& h : held) operations.push_back(h.operation);
  return operations;
}

void describe(const trace::trace& t, finding& f, const std::vector<held_operation>& held) {
  struct sum {
    std::string text;
    nanoseconds time = 0;
    std::size_t times = 0;
  };
  std::vector<sum> sums;
  std::map<std::string, std::size_t> places;
  constexpr std::size_t looked_at = 10000;  // enough to see what is usual
  for (std::size_t i = 0; i < std::min(held.size(), looked_at); ++i) {
    const held_operation& h = held[i];
    const std::string where = h.by.cause == trace::wait_cause::queue_head
                                  ? " in " + text_of(t.operations[h.operation].queue)
                                  : "";
    const std::string text = fmt::format("{} waited{} for {}", name_with_stream(t, h.operation),
                                         where, name_with_stream(t, h.by.from));
    const auto [place, added] = places.emplace(text, sums.size());
    if (added) sums.push_back({text});
    sums[place->second].time += h.time;
    ++sums[place->second].times;
  }
  sort_stably(sums, [](const sum& a, const sum& b) { return a.time > b.time; });
  for (std::size_t i = 0; i < std::min(sums.size(), most_sentences); ++i) {
    f.evidence.push_back(sums[i].times == 1
                             ? fmt::format("{}: {}", sums[i].text, text_of_time(sums[i].time))
                             : fmt::format("{}: {} times, {} in all", sums[i].text, sums[i].times,
                                           text_of_time(sums[i].time)));
  }
}

namespace {

// What a thread does between two of its calls: a loop does the same again and again.
struct turn_body {
  std::string calls;
  bool issues = false, computes = false;
};

// As often as it likes: an inner loop may have more turns in one of these than in another.
turn_body body_between(const trace::trace& t, const std::vector<step>& steps, std::size_t from,
                       std::size_t to) {
  turn_body body;
  std::string last;
  for (std::size_t i = from + 1; i < to; ++i) {
    if (steps[i].call == none) continue;
    std::string one = t.calls[steps[i].call].name;
    for (const issue& k : steps[i].issues) {
      const trace::operation& o = t.operations[k.operation];
      if (o.name < t.names.size()) one += t.names[o.name];
      body.issues = true;
      body.computes |= o.kind == trace::operation_kind::kernel ||
                       o.kind == trace::operation_kind::fill ||
                       o.kind == trace::operation_kind::host_function;
    }
    one += ';';
    if (one != last) body.calls += one;
    last = std::move(one);
  }
  return body;
}

// A function that several places call makes its calls from one line as well. It is taken for a loop
// when there is work between the calls, and a wait has any; others have work that is not the like
// of theirs, as the copies of arrays one after another.
bool is_turn(const turn_body& body, call_class of) {
  return only_waits(of) || of == call_class::query ? body.issues : body.computes;
}

// Calls of one place are a loop when most of its turns come again: those of a function that a turn
// calls from several places, as a check behind each launch, are of so many kinds, and as many may
// stand directly behind one another.
bool is_loop(const trace::trace& t, const std::vector<step>& steps, repeated_call& group) {
  constexpr std::size_t most_kinds = 16;
  std::map<std::string, std::size_t> bodies;
  std::size_t in_a_row = 0;
  for (std::size_t i = 0; i + 1 < group.steps.size(); ++i) {
    const turn_body body = body_between(t, steps, group.steps[i], group.steps[i + 1]);
    if (is_turn(body, class_of(group.name)))
      ++bodies[body.calls];
    else if (body.calls.empty())
      ++in_a_row;
  }
  std::size_t kinds = 0, turns = 0;
  for (const auto& [body, times] : bodies) {
    if (times + 1 < loop_from) continue;
    ++kinds;
    turns += times;
  }
  group.kinds = kinds;
  const std::size_t bodies_in_all =
      group.steps.size() - 1 - std::min(in_a_row, turns * (most_kinds - 1));
  return kinds != 0 && kinds <= most_kinds && 2 * turns >= bodies_in_all;
}

// Where the line of a call is not known, calls of one name are taken for a loop as long as what
// lies between them stays the same: the longest such part.
void keep_equal_turns(const trace::trace& t, const std::vector<step>& steps, repeated_call& group) {
  std::size_t best = 0, best_length = 0, begin = 0;
  std::string last;
  for (std::size_t i = 0; i + 1 < group.steps.size(); ++i) {
    std::string body = body_between(t, steps, group.steps[i], group.steps[i + 1]).calls;
    if (i == 0 || body != last) begin = i;
    last = std::move(body);
    if (i + 2 - begin > best_length) {
      best = begin;
      best_length = i + 2 - begin;
    }
  }
  const std::size_t end =
      best + best_length < group.steps.size() ? group.steps[best + best_length] : steps.size();
  group.steps = {group.steps.begin() + static_cast<std::ptrdiff_t>(best),
                 group.steps.begin() + static_cast<std::ptrdiff_t>(best + best_length)};
  std::erase_if(group.beside, [&](std::size_t i) { return i < group.steps.front() || i >= end; });
}

std::vector<repeated_call> find_repeated_calls(const trace::trace& t, const program& p) {
  std::vector<repeated_call> result;
  for (number thread = 0; thread < p.threads.size(); ++thread) {
    std::map<std::pair<number, std::string>, repeated_call> groups;
    std::map<std::pair<number, std::string>, std::size_t> last_issues;
    std::size_t issues = 0;  // calls that gave work to a stream, up to here
    for (std::size_t i = 0; i < p.threads[thread].size(); ++i) {
      const step& s = p.threads[thread][i];
      if (s.call != none) {
        const trace::call& c = t.calls[s.call];
        const std::pair key{c.place, c.name};
        repeated_call& group = groups[key];
        if (group.steps.empty() || issues > last_issues[key]) {
          group.thread = thread;
          group.place = c.place;
          group.name = c.name;
          group.steps.push_back(i);
        } else {
          group.beside.push_back(i);
        }
        last_issues[key] = issues;
      }
      issues += s.issues.empty() ? 0 : 1;
    }
    for (auto& [key, group] : groups) {
      if (group.place == none && group.steps.size() >= loop_from) {
        keep_equal_turns(t, p.threads[thread], group);
      }
      if (group.steps.size() >= loop_from && is_loop(t, p.threads[thread], group))
        result.push_back(std::move(group));
    }
  }
  return result;
}

}  // namespace

const allocation_parts& evidence::parts() const {
  if (!parts_) parts_.emplace(t);
  return *parts_;
}

const std::vector<repeated_call>& evidence::repeated_calls() const {
  if (!repeated_) repeated_ = find_repeated_calls(t, p);
  return *repeated_;
}

}  // namespace sb::analysis
