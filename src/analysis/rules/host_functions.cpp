// Host functions of all streams run one at a time.
#include <fmt/format.h>

#include <algorithm>
#include <map>
#include <set>

#include "analysis/rules/rules.hpp"
#include "analysis/words.hpp"

namespace sb::analysis {

namespace {

using functions = std::set<number>;

// Of a function that only tells a thread what to do.
constexpr nanoseconds short_function = 500;

// All that the lines of these bring: none of them is long then.
functions of_same_lines(const trace::trace& t, const functions& some) {
  std::set<number> places;
  for (const number f : some) places.insert(place_of(t, f));
  functions all = some;
  for (number i = 0; i < t.operations.size(); ++i) {
    const number place = place_of(t, i);
    if (t.operations[i].kind == trace::operation_kind::host_function && place != none &&
        places.contains(place))
      all.insert(i);
  }
  return all;
}

// The next work of a function's stream brings something from the host, which the function may have
// made: it has to come behind all of that.
bool is_needed_behind(const trace::trace& t, number function) {
  for (number i = function + 1; i < t.operations.size(); ++i) {
    const trace::operation& o = t.operations[i];
    if (o.stream != t.operations[function].stream || o.engine == trace::engine_kind::none) continue;
    return o.kind == trace::operation_kind::copy && o.direction == copy_direction::host_to_device;
  }
  return false;
}

// The work of short functions is done by a thread for each stream, in turn: where the last ends.
nanoseconds end_of_work(const program& p, const functions& all, const timing& now) {
  std::map<number, nanoseconds> ends;  // by stream
  for (const number f : all) {
    if (now.operations[f].ended == never) continue;
    nanoseconds& end = ends[p.tasks[f].stream];
    const nanoseconds rest = p.tasks[f].duration - std::min(p.tasks[f].duration, short_function);
    end = std::max(end, now.operations[f].ended) + rest;
  }
  nanoseconds last = 0;
  for (const auto& [stream, end] : ends) last = std::max(last, end);
  return last + p.tail;
}

// What short functions gain: something in a hardware queue may wait for a function however short it
// is. Where others need their work, no more than each beside the others gains.
nanoseconds gain_of_short(const evidence& e, const functions& all) {
  program shortened = e.p, beside = e.p;
  for (const number f : all) {
    shortened.tasks[f].duration = std::min(shortened.tasks[f].duration, short_function);
    beside.tasks[f].what.kind = command_kind::section;
  }
  timing now = replay(shortened);
  now.end = std::max(now.end, end_of_work(e.p, all, now));
  const nanoseconds gain = e.gain(now);
  const bool needed =
      std::any_of(all.begin(), all.end(), [&](number f) { return is_needed_behind(e.t, f); });
  return needed && e.worth(gain) ? std::min(gain, e.gain(beside)) : gain;
}

// What holds another stream's work: a function, or in a hardware queue what waits behind one in its
// own stream. none: no function is there.
number function_in_front(const trace::trace& t, number held_by) {
  for (number at = held_by;;) {
    const trace::operation& o = t.operations[at];
    if (o.kind == trace::operation_kind::host_function) return at;
    if (o.waits.empty()) return none;
    const trace::edge& last = o.waits.back();
    if (last.cause != trace::wait_cause::stream_order || last.from >= at) return none;
    at = last.from;
  }
}

}  // namespace

void find_blocking_host_functions(const evidence& e, findings& out) {
  std::vector<held_operation> held;
  functions blockers;
  for (const trace::wait_cause cause :
       {trace::wait_cause::engine_busy, trace::wait_cause::queue_head}) {
    for (const held_operation& h : held_by(e.t, cause)) {
      const number function = function_in_front(e.t, h.by.from);
      if (function == none || e.t.operations[h.operation].stream == e.t.operations[function].stream)
        continue;
      blockers.insert(function);
      held.push_back(h);
    }
  }
  if (held.empty()) return;
  const nanoseconds cost = gain_of_short(e, of_same_lines(e.t, blockers));
  if (!e.worth(cost)) return;

  finding f;
  f.rule = "blocking-host-function";
  f.title = fmt::format("{} host function{} kept other streams waiting", blockers.size(),
                        blockers.size() == 1 ? "" : "s");
  f.why =
      "Host functions and callbacks of all streams run one after another on one thread: a long one "
      "holds those of every other stream.";
  f.change =
      "Keep host functions short: let them only tell a thread of your own what to do, or wait for "
      "an "
      "event in that thread.";
  f.cost = cost;
  add_operations(e.t, f, operations_of(held));
  describe(e.t, f, held);
  out.push_back(std::move(f));
}

}  // namespace sb::analysis
