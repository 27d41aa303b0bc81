// Work that follows other work only because it is in the same stream.
#include <fmt/format.h>

#include <algorithm>
#include <map>
#include <numeric>

#include "analysis/call_rules.hpp"
#include "analysis/plural.hpp"
#include "analysis/rules/rules.hpp"
#include "analysis/words.hpp"

namespace sb::analysis {

namespace {

constexpr std::size_t looked_at = 2000;  // operations of a stream: pairs of them are compared

bool is_work(const trace::operation& o) { return o.engine != trace::engine_kind::none; }

bool is_unknown(const trace::operation& o) { return o.ranges.empty() || touches_anything(o); }

std::vector<std::vector<number>> by_stream(const trace::trace& t) {
  std::vector<std::vector<number>> streams(t.streams.size());
  for (number i = 0; i < t.operations.size(); ++i) {
    const trace::operation& o = t.operations[i];
    if (o.stream < streams.size() && o.ended != never) streams[o.stream].push_back(i);
  }
  return streams;
}

// cudaMemcpy and its like take no stream.
bool has_no_stream(const trace::trace& t, const trace::operation& o) {
  return o.call < t.calls.size() && class_of(t.calls[o.call].name) == call_class::copy;
}

// Groups of operations that share data, in the order of their first one. Empty when it is not known
// of all of them what they touch, or when something else orders them.
std::vector<std::vector<number>> groups_of(const trace::trace& t,
                                           const std::vector<number>& operations) {
  if (operations.size() > looked_at) return {};
  std::vector<std::size_t> leader(operations.size());
  std::iota(leader.begin(), leader.end(), std::size_t{0});
  const auto find = [&](std::size_t i) {
    while (leader[i] != i) i = leader[i] = leader[leader[i]];
    return i;
  };
  for (std::size_t i = 0; i < operations.size(); ++i) {
    const trace::operation& o = t.operations[operations[i]];
    if (!is_work(o) || o.in_graph || is_unknown(o) || has_no_stream(t, o)) return {};
    for (std::size_t k = 0; k < i; ++k) {
      if (share_data(t.operations[operations[k]], o, data_view::likely)) leader[find(i)] = find(k);
    }
  }
  std::map<std::size_t, std::vector<number>> groups;
  for (std::size_t i = 0; i < operations.size(); ++i) groups[find(i)].push_back(operations[i]);
  std::vector<std::vector<number>> result;
  for (auto& [first, group] : groups) result.push_back(std::move(group));
  return result;
}

// Copies of one direction take turns on their engine, in however many streams.
bool are_of_one_copy_engine(const trace::trace& t, const std::vector<number>& operations) {
  return std::all_of(operations.begin(), operations.end(), [&](number o) {
    const trace::operation &one = t.operations[o], &first = t.operations[operations.front()];
    return one.kind == trace::operation_kind::copy && one.engine == first.engine &&
           one.device == first.device;
  });
}

// A stream with groups that share no data.
struct divisible_stream {
  number stream = none;
  std::vector<number> operations;
  std::vector<std::vector<number>> groups;
};

constexpr std::size_t streams_instead = 4;

// The groups go to streams of their own, in turn.
void divide(const evidence& e, program& p, const divisible_stream& d) {
  const program_stream old = p.streams[d.stream];
  const auto first = static_cast<number>(p.streams.size());
  for (std::size_t i = 0; i < streams_instead; ++i) {
    p.streams.push_back({old.device, stream_kind::non_blocking});
  }
  for (std::size_t i = 0; i < d.groups.size(); ++i) {
    for (const number o : d.groups[i]) {
      p.tasks[o].stream = static_cast<number>(first + i % streams_instead);
    }
  }
  // A host that waited for the stream waits for all of them.
  for (std::vector<step>& steps : p.threads) {
    for (step& step : steps) {
      if (step.last.scope == wait_scope::stream && step.last.target == d.stream) {
        step.last = {wait_scope::device, e.p.streams[d.stream].device};
      }
    }
  }
}

// The time that the busiest engine needs: streams make no run shorter than that.
nanoseconds least_of(const overlap_facts& o) {
  return o.engines.empty() ? 0 : o.engines[o.busiest].least;
}

// Nearly all that could run at once did: what is left is smaller than what a replay leaves out.
bool overlaps_enough(const overlap_facts& o) {
  constexpr double enough = 0.95;
  const nanoseconds least = least_of(o);
  if (o.serial <= o.busy || o.serial <= least) return false;
  return static_cast<double>(o.serial - o.busy) >= enough * static_cast<double>(o.serial - least);
}

nanoseconds gain_of_streams(const evidence& e, const program& changed) {
  const nanoseconds most = e.overlap.span() - std::min(e.overlap.span(), least_of(e.overlap));
  return std::min(e.gain(changed), most);
}

nanoseconds gain_of_dividing(const evidence& e, const std::vector<divisible_stream>& streams) {
  program changed = e.p;
  for (const divisible_stream& one : streams) divide(e, changed, one);
  return gain_of_streams(e, changed);
}

// All of the gain is that the work leaves the default stream, whose rules hold other streams: that
// is another thing to change.
bool gains_by_leaving(const evidence& e, const divisible_stream& one, nanoseconds gain) {
  if (e.p.streams[one.stream].kind != stream_kind::legacy) return false;
  const divisible_stream together{one.stream, one.operations, {one.operations}};
  return !e.worth(gain - std::min(gain, gain_of_dividing(e, {together})));
}

// The streams that are worth being divided, and what that gains. It is one thing to change, and one
// cost, in however many streams it is; streams that wait for each other gain only together.
nanoseconds find_divisible(const evidence& e, std::vector<divisible_stream>& found) {
  const std::vector<std::vector<number>> streams = by_stream(e.t);
  std::vector<divisible_stream> all, best;
  nanoseconds cost = 0;
  for (number s = 0; s < streams.size(); ++s) {
    if (streams[s].size() < 4 || are_of_one_copy_engine(e.t, streams[s])) continue;
    divisible_stream one{s, streams[s], groups_of(e.t, streams[s])};
    if (one.groups.size() < 2) continue;
    const nanoseconds gain = gain_of_dividing(e, {one});
    if (e.worth(gain) && gains_by_leaving(e, one, gain)) continue;
    if (e.worth(gain)) found.push_back(one);
    if (e.worth(gain) && gain > cost) {
      cost = gain;
      best = {one};
    }
    all.push_back(std::move(one));
  }
  // Those that gain by themselves; all, where that gains more than a little beyond it.
  if (found.size() > 1) {
    if (const nanoseconds gain = gain_of_dividing(e, found); gain >= cost)
      cost = gain;
    else
      found = std::move(best);
  }
  if (all.size() > found.size() && all.size() > 1) {
    if (const nanoseconds gain = gain_of_dividing(e, all); gain > cost && e.worth(gain - cost)) {
      cost = gain;
      found = std::move(all);
    }
  }
  return cost;
}

}  // namespace

void find_independent_work(const evidence& e, findings& out) {
  if (overlaps_enough(e.overlap)) return;
  std::vector<divisible_stream> found;
  const nanoseconds cost = find_divisible(e, found);
  if (found.empty()) return;

  std::size_t groups = 0;
  std::vector<number> operations;
  std::vector<std::string> names;
  for (const divisible_stream& one : found) {
    groups += one.groups.size();
    operations.insert(operations.end(), one.operations.begin(), one.operations.end());
    names.push_back(stream_name(e.t, one.stream));
  }
  finding f;
  f.rule = "independent-work-in-one-stream";
  f.title = found.size() == 1
                ? fmt::format("{} groups of operations that share no data follow each other on {}",
                              groups, names[0])
                : fmt::format(
                      "{} groups of operations that share no data follow each other on {} "
                      "streams",
                      groups, found.size());
  f.why =
      "Work of one stream runs in the order of issue. These groups use different memory, so that "
      "one could run beside another.";
  f.change = fmt::format(
      "Use {}several streams in turn, one group after another: with {} streams{} the run would be "
      "{} shorter.",
      found.size() == 1 ? "" : "for each of them ",
      std::min(streams_instead, found[0].groups.size()), found.size() == 1 ? "" : " for each",
      text_of_time(cost));
  f.cost = cost;
  add_operations(e.t, f, operations);
  if (found.size() > 1) {
    constexpr std::size_t most_names = 8;
    const bool more = names.size() > most_names;
    if (more) names.resize(most_names);
    f.evidence.push_back(
        fmt::format("the streams are {}{}", fmt::join(names, ", "), more ? ", …" : ""));
  }
  const std::vector<number>& first = found[0].groups[0];
  f.evidence.push_back(fmt::format("the first group has {} operation{} and begins with {}",
                                   first.size(), first.size() == 1 ? "" : "s",
                                   name_of(e.t, first[0])));
  out.push_back(std::move(f));
}

namespace {

// Of a kernel and a copy it is not likely that they use different bytes because the copy begins
// behind the kernel's pointer: only where the kernel has parts of the allocation.
bool may_share(const evidence& e, number a, number b) {
  const trace::operation &one = e.t.operations[a], &other = e.t.operations[b];
  const bool kernels =
      one.kind == trace::operation_kind::kernel && other.kind == trace::operation_kind::kernel;
  return kernels ? share_data(one, other, data_view::likely) : e.parts().share_data(one, other);
}

}  // namespace

// A stream waits for another one by an event; what comes next needs that, but what comes after does
// not, and waits all the same.
void find_waits_that_hold_others(const evidence& e, findings& out) {
  const std::vector<std::vector<number>> streams = by_stream(e.t);
  std::vector<std::size_t> at(e.t.operations.size(), 0);
  for (const std::vector<number>& operations : streams) {
    for (std::size_t i = 0; i < operations.size(); ++i) at[operations[i]] = i;
  }
  constexpr std::size_t far = 64;

  program changed = e.p;
  std::vector<held_operation> held;
  std::vector<number> moved;
  for (const held_operation& h : held_by(e.t, trace::wait_cause::event)) {
    const trace::operation& wait = e.t.operations[h.operation];
    if (wait.kind != trace::operation_kind::event_wait || wait.record == none ||
        e.t.operations[wait.record].stream >= e.t.streams.size()) {
      continue;
    }
    const number other = e.t.operations[wait.record].stream;
    if (other == wait.stream) continue;
    const std::vector<number>& ours = streams[wait.stream];
    // What follows the wait and is of one piece with what it waited for.
    std::vector<number> dependent;
    bool free_work_behind = false;
    for (std::size_t i = at[h.operation] + 1;
         i < ours.size() && i < at[h.operation] + far && !free_work_behind; ++i) {
      const trace::operation& o = e.t.operations[ours[i]];
      if (!is_work(o)) break;
      if (is_unknown(o)) break;
      bool needs = false;
      const std::vector<number>& theirs = streams[other];
      const std::size_t end = at[wait.record];
      for (std::size_t k = end; k-- > 0 && end - k < far && !needs;) {
        needs = may_share(e, theirs[k], ours[i]);
      }
      for (const number d : dependent) {
        needs = needs || may_share(e, d, ours[i]);
      }
      if (needs) {
        dependent.push_back(ours[i]);
      } else {
        free_work_behind = true;
      }
    }
    if (dependent.empty() || !free_work_behind) continue;
    for (const number d : dependent) {
      changed.tasks[d].stream = other;
      moved.push_back(d);
    }
    // The wait has nothing left to hold.
    changed.tasks[h.operation].record = none;
    held.push_back(h);
  }
  if (held.empty()) return;
  // In its new stream a moved operation still follows what it followed in the old one.
  for (const number d : moved) {
    const std::vector<number>& ours = streams[e.t.operations[d].stream];
    for (std::size_t k = at[d], n = 0; k-- > 0 && n < far; ++n) {
      if (is_work(e.t.operations[ours[k]]) && may_share(e, ours[k], d)) {
        changed.tasks[d].after.push_back(ours[k]);
        break;
      }
    }
  }
  const nanoseconds cost = e.gain(changed);
  if (!e.worth(cost)) return;

  finding f;
  f.rule = "wait-holds-later-work";
  f.title = fmt::format("{} for another stream hold{} work that does not need it",
                        plural(held.size(), "wait"), held.size() == 1 ? "s" : "");
  f.why = fmt::format(
      "{} waits for {} because of {}. Everything behind it in its stream waits too, although it "
      "uses "
      "other memory.",
      stream_name(e.t, e.t.operations[held[0].operation].stream),
      stream_name(e.t, e.t.operations[held[0].by.from].stream), name_of(e.t, moved[0]));
  f.change = fmt::format(
      "Issue {} on the stream it waits for, {}, or on one of its own, and drop the wait: the other "
      "work then runs beside it.",
      name_of(e.t, moved[0]), stream_name(e.t, e.t.operations[held[0].by.from].stream));
  f.cost = cost;
  add_operations(e.t, f, moved);
  f.evidence.push_back(
      fmt::format("{}, {} in all", plural(held.size(), "wait"), text_of_time(total(held))));
  out.push_back(std::move(f));
}

}  // namespace sb::analysis
