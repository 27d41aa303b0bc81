// Work that follows other work only because it is in the same stream.
#include <fmt/format.h>

#include <algorithm>
#include <iterator>
#include <map>
#include <numeric>
#include <optional>
#include <utility>

#include "analysis/call_rules.hpp"
#include "analysis/plural.hpp"
#include "analysis/rates.hpp"
#include "analysis/rules/moved_records.hpp"
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
  std::vector<number> operations;  // without records of events
  std::vector<std::vector<number>> groups;
  std::vector<moved_record> records{};
};

// Whether something of a group was called for before all others were over; else the host has them
// follow each other, and no stream does.
bool are_pending_together(const trace::trace& t, const divisible_stream& one) {
  std::map<number, std::size_t> group_of;  // by operation, in the order of issue
  for (std::size_t g = 0; g < one.groups.size(); ++g)
    for (const number o : one.groups[g]) group_of[o] = g;
  std::vector<nanoseconds> over(one.groups.size(), 0);
  std::size_t latest = 0, second = 0;  // of the groups so far, those that end last
  for (const auto& [operation, group] : group_of) {
    const trace::operation& o = t.operations[operation];
    const nanoseconds others = over[latest == group ? second : latest];
    if ((latest != group || second != group) && o.called < others) return true;
    over[group] = std::max(over[group], o.ended);
    if (group == latest) continue;
    if (over[group] >= over[latest])
      second = std::exchange(latest, group);
    else if (second == latest || over[group] >= over[second])
      second = group;
  }
  return false;
}

constexpr std::size_t streams_instead = 4;

// How the streams are made that the groups go to.
enum class made : std::uint8_t {
  as_theirs,     // as the one that is divided; where that is the default stream, blocking
  non_blocking,  // and the program's own too: no work of the default stream holds them any more
};

nanoseconds creation_time(const trace::trace& t) {
  if (const nanoseconds least = shortest_call(t, "cudaStreamCreate"); least != never) return least;
  return rounded_ns(call_cost_ns(timing_or_h200(t), "cudaStreamCreate"));
}

// Streams that the program made and gives nothing to: these need not be made.
std::size_t unused_streams(const evidence& e, number device) {
  std::vector<bool> used(e.t.streams.size(), false);
  for (const trace::operation& o : e.t.operations) {
    if (o.stream < used.size()) used[o.stream] = true;
  }
  std::size_t unused = 0;
  for (number i = 0; i < used.size(); ++i) {
    const program_stream& s = e.p.streams[i];
    unused += !used[i] && s.device == device && s.kind != stream_kind::legacy ? 1 : 0;
  }
  return unused;
}

// The program with the groups of these streams in streams of their own, in turn.
class division {
 public:
  division(const evidence& e, made how) : e_(e), how_(how), changed_(e.p) {
    if (how == made::as_theirs) return;
    static_cast<void>(keep_data_order(e.t, changed_, e.parts()));
    make_non_blocking(changed_);
  }

  void divide(const divisible_stream& d) {
    const program_stream old = changed_.streams[d.stream];
    const bool as_old = how_ == made::as_theirs && old.kind != stream_kind::legacy;
    const stream_kind kind = as_old                       ? old.kind
                             : how_ == made::non_blocking ? stream_kind::non_blocking
                                                          : stream_kind::blocking;
    const auto first = static_cast<number>(changed_.streams.size());
    for (std::size_t i = 0; i < streams_instead; ++i)
      changed_.streams.push_back({old.device, kind});
    for (std::size_t i = 0; i < d.groups.size(); ++i) {
      for (const number o : d.groups[i]) {
        changed_.tasks[o].stream = static_cast<number>(first + i % streams_instead);
      }
    }
    for (const moved_record& r : d.records) {
      task& record = changed_.tasks[r.record];
      record.stream = static_cast<number>(first + r.group % streams_instead);
      record.after.insert(record.after.end(), r.behind.begin(), r.behind.end());
      for (const number o : r.in_front_of) changed_.tasks[o].after.push_back(r.record);
    }
    wait_for_all(d.stream, old.device);
    std::size_t more = std::min(streams_instead, d.groups.size());
    if (old.kind != stream_kind::legacy) --more;  // the old one is one of them
    create(more, d.operations.front(), old.device);
  }

  [[nodiscard]] const program& changed() const { return changed_; }

 private:
  // A host that waited for the stream waits for all of them.
  void wait_for_all(number stream, number device) {
    for (std::vector<step>& steps : changed_.threads) {
      for (step& step : steps) {
        if (step.last.scope == wait_scope::stream && step.last.target == stream)
          step.last = {wait_scope::device, device};
      }
    }
  }

  // At the beginning of the thread that uses them.
  void create(std::size_t streams, number for_operation, number device) {
    if (!reused_) reused_ = unused_streams(e_, device);
    const std::size_t there = std::min(*reused_, streams);
    *reused_ -= there;
    for (std::vector<step>& steps : changed_.threads) {
      const bool uses = std::any_of(steps.begin(), steps.end(), [&](const step& s) {
        return std::any_of(s.issues.begin(), s.issues.end(),
                           [&](const issue& i) { return i.operation == for_operation; });
      });
      if (!uses) continue;
      steps.front().gap += (streams - there) * creation_time(e_.t);
      return;
    }
  }

  const evidence& e_;
  const made how_;
  program changed_;
  std::optional<std::size_t> reused_;  // of the program's streams, those that are left
};

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

nanoseconds gain_of_dividing(const evidence& e, const std::vector<divisible_stream>& streams,
                             made how) {
  division d(e, how);
  for (const divisible_stream& one : streams) d.divide(one);
  return gain_of_streams(e, d.changed());
}

// All of the gain is that the work leaves the default stream, whose rules hold other streams: that
// is another thing to change.
bool gains_by_leaving(const evidence& e, const divisible_stream& one, made how, nanoseconds gain) {
  if (e.p.streams[one.stream].kind != stream_kind::legacy) return false;
  divisible_stream together{one.stream, one.operations, {one.operations}};
  for (const moved_record& r : one.records) together.records.push_back({.record = r.record});
  return !e.worth(gain - std::min(gain, gain_of_dividing(e, {together}, how)));
}

// The streams that are worth being divided, and what that gains. It is one thing to change, and one
// cost, in however many streams it is; streams that wait for each other gain only together.
nanoseconds find_divisible(const evidence& e, made how, std::vector<divisible_stream>& found) {
  const std::vector<std::vector<number>> streams = by_stream(e.t);
  std::vector<divisible_stream> all, best;
  nanoseconds cost = 0;
  const record_places places(e);
  for (number s = 0; s < streams.size(); ++s) {
    std::vector<number> records, work;
    std::partition_copy(
        streams[s].begin(), streams[s].end(), std::back_inserter(records), std::back_inserter(work),
        [&](number o) { return e.t.operations[o].kind == trace::operation_kind::event_record; });
    if (work.size() < 4 || are_of_one_copy_engine(e.t, work)) continue;
    divisible_stream one{s, work, groups_of(e.t, work)};
    if (one.groups.size() < 2 || !are_pending_together(e.t, one)) continue;
    one.records = places.place(s, records, one.groups);
    const nanoseconds gain = gain_of_dividing(e, {one}, how);
    if (e.worth(gain) && gains_by_leaving(e, one, how, gain)) continue;
    if (e.worth(gain)) found.push_back(one);
    if (e.worth(gain) && gain > cost) {
      cost = gain;
      best = {one};
    }
    all.push_back(std::move(one));
  }
  // Those that gain by themselves; all, where that gains more than a little beyond it.
  if (found.size() > 1) {
    if (const nanoseconds gain = gain_of_dividing(e, found, how); gain >= cost)
      cost = gain;
    else
      found = std::move(best);
  }
  if (all.size() > found.size() && all.size() > 1) {
    if (const nanoseconds gain = gain_of_dividing(e, all, how);
        gain > cost && e.worth(gain - cost)) {
      cost = gain;
      found = std::move(all);
    }
  }
  return cost;
}

// The default stream's rules hold work, and streams that they do not hold gain nothing either as
// long as the work is in one of them: both are to be changed together.
bool is_held_by_default_stream(const evidence& e) {
  if (held_by(e.t, trace::wait_cause::legacy_barrier).empty()) return false;
  return !e.worth(e.gain(division(e, made::non_blocking).changed()));
}

}  // namespace

void find_independent_work(const evidence& e, findings& out) {
  if (overlaps_enough(e.overlap)) return;
  std::vector<divisible_stream> found;
  made how = made::as_theirs;
  nanoseconds cost = find_divisible(e, how, found);
  if (found.empty() && is_held_by_default_stream(e)) {
    how = made::non_blocking;
    cost = find_divisible(e, how, found);
  }
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
  if (std::any_of(found.begin(), found.end(),
                  [](const divisible_stream& one) { return !one.records.empty(); }))
    f.change += " Record each event in the stream of the work that it stands for.";
  if (how == made::non_blocking) {
    f.title += ", with work of the default stream between them";
    f.why +=
        " The default stream and the streams of cudaStreamCreate wait for each other, so that its "
        "work separates these groups in several such streams as well.";
    f.change +=
        " They gain only if the default stream does not hold them: create all streams with "
        "cudaStreamCreateWithFlags(&stream, cudaStreamNonBlocking), or give the work of the "
        "default stream a stream of its own, and order what needs it with events.";
  }
  f.cost = cost;
  add_operations(e.t, f, operations);
  if (how == made::non_blocking) describe(e.t, f, held_by(e.t, trace::wait_cause::legacy_barrier));
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
