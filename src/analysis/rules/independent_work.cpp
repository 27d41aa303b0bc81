// Work that follows other work only because it is in the same stream.
#include <fmt/format.h>

#include <algorithm>
#include <map>
#include <numeric>

#include "analysis/call_rules.hpp"
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

}  // namespace

void find_independent_work(const evidence& e, findings& out) {
  constexpr std::size_t streams_instead = 4;
  const std::vector<std::vector<number>> streams = by_stream(e.t);
  for (number s = 0; s < streams.size(); ++s) {
    if (streams[s].size() < 4) continue;
    const std::vector<std::vector<number>> groups = groups_of(e.t, streams[s]);
    if (groups.size() < 2) continue;
    program changed = e.p;
    for (std::size_t i = 0; i < streams_instead; ++i) {
      changed.streams.push_back({e.p.streams[s].device, stream_kind::non_blocking});
    }
    for (std::size_t i = 0; i < groups.size(); ++i) {
      for (const number o : groups[i]) {
        changed.tasks[o].stream = static_cast<number>(e.p.streams.size() + i % streams_instead);
      }
    }
    // A host that waited for the stream waits for all of them.
    for (std::vector<step>& steps : changed.threads) {
      for (step& step : steps) {
        if (step.last.scope == wait_scope::stream && step.last.target == s) {
          step.last = {wait_scope::device, e.p.streams[s].device};
        }
      }
    }
    const nanoseconds cost = e.gain(changed);
    if (!e.worth(cost)) continue;

    finding f;
    f.rule = "independent-work-in-one-stream";
    f.title = fmt::format("{} groups of operations that share no data follow each other on {}",
                          groups.size(), stream_name(e.t, s));
    f.why =
        "Work of one stream runs in the order of issue. These groups use different memory, so that "
        "copies of one could run beside kernels of another.";
    f.change = fmt::format(
        "Use several streams in turn, one group after another: with {} streams the run would be {} "
        "shorter.",
        std::min(streams_instead, groups.size()), text_of_time(cost));
    f.cost = cost;
    add_operations(e.t, f, streams[s]);
    f.evidence.push_back(fmt::format("the first group has {} operation{} and begins with {}",
                                     groups[0].size(), groups[0].size() == 1 ? "" : "s",
                                     name_of(e.t, groups[0][0])));
    out.push_back(std::move(f));
  }
}

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
        needs = share_data(e.t.operations[theirs[k]], o, data_view::likely);
      }
      for (const number d : dependent) {
        needs = needs || share_data(e.t.operations[d], o, data_view::likely);
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
      if (is_work(e.t.operations[ours[k]]) &&
          share_data(e.t.operations[ours[k]], e.t.operations[d], data_view::likely)) {
        changed.tasks[d].after.push_back(ours[k]);
        break;
      }
    }
  }
  const nanoseconds cost = e.gain(changed);
  if (!e.worth(cost)) return;

  finding f;
  f.rule = "wait-holds-later-work";
  f.title = fmt::format("{} wait{} for another stream hold work that does not need it", held.size(),
                        held.size() == 1 ? "" : "s");
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
  f.evidence.push_back(fmt::format("{} waits, {} in all", held.size(), text_of_time(total(held))));
  out.push_back(std::move(f));
}

}  // namespace sb::analysis
