// Calls in a loop that make the host wait: synchronisation and synchronous copies.
#include <fmt/format.h>

#include <algorithm>
#include <iterator>
#include <map>
#include <optional>
#include <utility>

#include "analysis/call_rules.hpp"
#include "analysis/pinning.hpp"
#include "analysis/rates.hpp"
#include "analysis/rules/lock_turns.hpp"
#include "analysis/rules/loop_calls.hpp"
#include "analysis/words.hpp"

namespace sb::analysis {

namespace {

// The same loop in several threads, as those of a pool: what one of them does otherwise gains
// nothing while the others go on as before.
using thread_loops = std::vector<const repeated_call*>;

std::vector<number> calls_of(const program& p, const thread_loops& loops) {
  std::vector<number> calls;
  for (const repeated_call* r : loops) {
    const std::vector<number> these = calls_of(p, *r);
    calls.insert(calls.end(), these.begin(), these.end());
  }
  std::sort(calls.begin(), calls.end());
  return calls;
}

// Loops of one line that `key` finds alike, in the order of the first. Nothing: not looked at.
template <class Key>
auto loops_by(const evidence& e, Key key) {
  using kind = typename decltype(key(e.repeated_calls().front()))::value_type;
  std::vector<std::pair<kind, thread_loops>> groups;
  for (const repeated_call& r : e.repeated_calls()) {
    const std::optional<kind> k = key(r);
    if (!k) continue;
    const auto same = std::find_if(groups.begin(), groups.end(), [&](const auto& g) {
      const repeated_call& first = *g.second.front();
      return g.first == *k && first.place == r.place && r.place != none && first.name == r.name;
    });
    if (same == groups.end())
      groups.push_back({*k, {&r}});
    else
      same->second.push_back(&r);
  }
  return groups;
}

// A lock that they hold during calls gives their turns an order of its own: a thread that waits
// less may take several in a row, before the others have work of their own. False: where it is let
// go is not known.
bool take_turns_anew(const evidence& e, const thread_loops& loops, program& changed) {
  common_lock lock;
  for (const repeated_call* r : loops) lock.threads.insert(r->thread);
  for (const repeated_call* r : loops) {
    for (const step& s : e.p.threads[r->thread]) {
      for (const thread_pause& p : s.pauses) {
        if (!is_for_lock(p) || !lock.threads.contains(p.until.thread)) continue;
        if (p.until.calls == 0 || p.until.pauses != 0 || p.until.after != 0) return false;
        lock.taken.insert(site_of(e, s));
        lock.released.insert(site_of(e, e.p.threads[p.until.thread][p.until.calls - 1]));
      }
    }
  }
  if (!lock.taken.empty()) take_anew(e, lock, lets_go::behind, 0, changed);
  return true;
}

std::string of_threads(const thread_loops& loops) {
  return loops.size() == 1 ? "" : fmt::format(" of {} threads", loops.size());
}

// As one for each of several streams.
void take_turn_out(program& p, const repeated_call& r, std::size_t turn) {
  std::vector<step>& steps = p.threads[r.thread];
  take_out(steps[r.steps[turn]]);
  for (const std::size_t i : beside(r, turn)) take_out(steps[i]);
}

// The last one stays: behind the loop the host wants the results.
void wait_behind_the_loop(program& p, const repeated_call& r) {
  for (std::size_t turn = 0; turn + 1 < r.steps.size(); ++turn) take_turn_out(p, r, turn);
}

// Each wait is for what the one before it waited for; the last one stays as it is.
void wait_one_turn_later(const trace::trace& t, program& p, const repeated_call& r) {
  std::vector<step>& steps = p.threads[r.thread];
  const auto wait_for_one_of = [&](std::size_t call, std::size_t before) {
    const number waited = t.calls[steps[before].call].blocked_on;
    steps[call].last = waited == none ? host_wait{} : host_wait{wait_scope::operation, waited};
  };
  take_turn_out(p, r, 0);
  for (std::size_t turn = 1; turn + 1 < r.steps.size(); ++turn) {
    wait_for_one_of(r.steps[turn], r.steps[turn - 1]);
    const auto these = beside(r, turn), before = beside(r, turn - 1);
    for (std::size_t i = 0; i < these.size(); ++i) {
      if (i < before.size())
        wait_for_one_of(these[i], before[i]);
      else
        take_out(steps[these[i]]);
    }
  }
}

// The stream whose work a synchronous copy belongs to: what wrote its source last, or what uses
// next what it brings.
number stream_of_data(const evidence& e, number copy) {
  constexpr std::size_t far = 256;
  const std::vector<trace::operation>& all = e.t.operations;
  const bool back = all[copy].direction == copy_direction::device_to_host;
  for (std::size_t i = 1; i < far; ++i) {
    const std::size_t other = back ? copy - i : copy + i;  // below 0: beyond the end as well
    if (other >= all.size()) break;
    if (all[other].stream < e.t.streams.size() && all[other].kind != trace::operation_kind::copy &&
        share_data(all[other], all[copy], data_view::careful)) {
      return all[other].stream;
    }
  }
  return all[copy].stream;
}

// The bytes that an operation reads or writes, where that is known.
const trace::byte_range* bytes_of(const trace::operation& o, trace::access how) {
  const auto found = std::find_if(o.ranges.begin(), o.ranges.end(),
                                  [&](const auto& one) { return one.how == how && one.exact; });
  return found == o.ranges.end() ? nullptr : &*found;
}

bool same_bytes(const trace::byte_range& a, const trace::byte_range& b) {
  return a.allocation == b.allocation && a.offset == b.offset && a.bytes == b.bytes;
}

enum class brought {
  other_bytes,    // of the device, or to it
  same_bytes,     // of the device: the host looks at them before the next turn
  to_own_places,  // the same bytes, but each turn keeps its own of them
};

// What the copies of a loop bring to the host. Where they bring it to is known of pinned memory.
brought brought_by(const evidence& e, const repeated_call& r) {
  const trace::byte_range *source = nullptr, *place = nullptr;
  bool own_places = false;
  for (const std::size_t at : r.steps) {
    for (const issue& k : e.p.threads[r.thread][at].issues) {
      const trace::operation& o = e.t.operations[k.operation];
      const trace::byte_range* const from = bytes_of(o, trace::access::read);
      const trace::byte_range* const to = bytes_of(o, trace::access::write);
      if (o.direction != copy_direction::device_to_host || from == nullptr)
        return brought::other_bytes;
      if (source == nullptr) source = from;
      if (place == nullptr) place = to;
      if (!same_bytes(*from, *source)) return brought::other_bytes;
      own_places |= to != nullptr && !same_bytes(*to, *place);
    }
  }
  if (source == nullptr) return brought::other_bytes;
  return own_places ? brought::to_own_places : brought::same_bytes;
}

// The host looks at a result in each of so many turns, and at the last one.
bool is_looked_at(const repeated_call& r, std::size_t turn) {
  return (r.steps.size() - 1 - turn) % turns_per_look == 0;
}

// The copies of a call are not made: what came behind them in its stream still does.
void leave_copies_out(const evidence& e, program& p, step& call) {
  take_out(call);
  for (const issue& k : call.issues) {
    task& copy = p.tasks[k.operation];
    copy.stream = stream_of_data(e, k.operation);
    copy.what.kind = command_kind::event_record;
    copy.start = start_rule::as_recorded;
    copy.lag = copy.duration = 0;
    copy.on_link = false;
  }
}

// In the other turns the host does not wait, nor is there the copy that it waited for.
void wait_in_some_turns(const evidence& e, program& p, const repeated_call& r) {
  std::vector<step>& steps = p.threads[r.thread];
  for (std::size_t turn = 0; turn < r.steps.size(); ++turn) {
    if (is_looked_at(r, turn)) continue;
    take_turn_out(p, r, turn);
    const std::size_t begin = turn == 0 ? 0 : r.steps[turn - 1] + 1;
    for (std::size_t i = r.steps[turn]; i-- > begin;) {
      if (steps[i].issues.empty()) continue;
      const trace::operation& o = e.t.operations[steps[i].issues.back().operation];
      if (o.kind == trace::operation_kind::copy) leave_copies_out(e, p, steps[i]);
      if (o.kind != trace::operation_kind::event_record) break;
      if (class_of(r.name) == call_class::event_wait) take_out(steps[i]);
    }
  }
}

// Most turns asked again and again until the work was done (polls.hpp).
bool is_polled(const evidence& e, const repeated_call& r) {
  if (class_of(r.name) != call_class::query) return false;
  const std::vector<step>& steps = e.p.threads[r.thread];
  const auto waited = std::count_if(r.steps.begin(), r.steps.end(), [&](std::size_t i) {
    return steps[i].last.scope != wait_scope::nothing;
  });
  return 2 * static_cast<std::size_t>(waited) > r.steps.size();
}

// What the loop launches has another grid from turn to turn: the host makes it of the result, and
// has to know that before. A turn may launch from one line several times, each with a grid of its
// own.
bool sizes_differ(const evidence& e, const repeated_call& r) {
  using launch = std::pair<number, std::size_t>;  // its line, and which one of the turn's there
  const std::vector<step>& steps = e.p.threads[r.thread];
  std::map<launch, const trace::operation*> first;
  for (std::size_t turn = 1; turn < r.steps.size(); ++turn) {
    std::map<number, std::size_t> launches;  // of the turn, by line
    for (std::size_t i = r.steps[turn - 1] + 1; i < r.steps[turn]; ++i) {
      for (const issue& k : steps[i].issues) {
        const trace::operation& o = e.t.operations[k.operation];
        const number place = place_of(e.t, k.operation);
        if (o.kind != trace::operation_kind::kernel || place == none) continue;
        const auto [at, added] = first.emplace(launch(place, launches[place]++), &o);
        if (!added && at->second->name == o.name &&
            !std::equal(std::begin(o.grid), std::end(o.grid), std::begin(at->second->grid))) {
          return true;
        }
      }
    }
  }
  return false;
}

}  // namespace

namespace {

struct kind_of_wait {
  host_use use = host_use::none;
  bool polled = false;

  friend bool operator==(const kind_of_wait&, const kind_of_wait&) = default;
};

// Loops whose waits are not needed, or not all of them.
std::optional<kind_of_wait> kind_of(const evidence& e, const repeated_call& r) {
  const bool polled = is_polled(e, r);
  if (!only_waits(class_of(r.name)) && !polled) return std::nullopt;
  const host_use use = use_between_waits(e, r);
  if (use == host_use::may_need_each_wait) return std::nullopt;
  // Of several places in a turn, each has its own bytes, and may need them before the next one.
  if (use == host_use::in_turn && r.kinds > 1) return std::nullopt;
  const bool again = use == host_use::same_result || use == host_use::in_turn;
  if (again && sizes_differ(e, r)) return std::nullopt;
  return kind_of_wait{use, polled};
}

void wait_less(const evidence& e, program& p, host_use use, const repeated_call& r) {
  switch (use) {
    case host_use::may_need_each_wait:
      return;
    case host_use::none:
      return wait_behind_the_loop(p, r);
    case host_use::other_results:
    case host_use::in_turn:
      return wait_one_turn_later(e.t, p, r);
    case host_use::same_result:
      return wait_in_some_turns(e, p, r);
  }
}

std::string change_of_waits(host_use use) {
  switch (use) {
    case host_use::may_need_each_wait:
    case host_use::none:
      break;
    case host_use::other_results:
      return "Issue the next turn before waiting for this one's results: an event behind each "
             "turn, and cudaEventSynchronize one turn later (that is the cost). Where the host "
             "looks at them only behind the loop, wait once there.";
    case host_use::in_turn:
      return "The turns use several buffers of the host in turn. Where the host makes no turn's "
             "input of the results of the one before, issue the next turn before waiting for this "
             "one: an event behind each turn, and cudaEventSynchronize one turn later, before its "
             "buffers are used again.";
    case host_use::same_result:
      return fmt::format(
          "Copy the result and look at it in every few turns only (the cost is that of every "
          "{}th), issue the next turn before waiting for this one's result, or let the device "
          "decide: a graph with a conditional node (cudaGraphCondTypeWhile) loops without the "
          "host.",
          turns_per_look);
  }
  return "Wait once, behind the loop. Where streams need each other's results, order them with "
         "cudaEventRecord and cudaStreamWaitEvent instead, which do not stop the host.";
}

}  // namespace

void find_waits_in_loops(const evidence& e, findings& out) {
  const auto groups = loops_by(e, [&](const repeated_call& r) { return kind_of(e, r); });
  for (const auto& [kind, loops] : groups) {
    program changed = e.p;
    if (!take_turns_anew(e, loops, changed)) continue;
    const assumes_parts parts = keep_data_order(e.t, changed, e.parts());
    for (const repeated_call* r : loops) wait_less(e, changed, kind.use, *r);
    keep_pool_memory(e, changed, pool_waits::left);
    const nanoseconds cost = e.gain(changed);
    if (!e.worth(cost)) continue;
    finding f;
    add_loop(e, f, calls_of(e.p, loops), cost);
    add_assumption(f, parts);
    f.rule = "wait-in-loop";
    f.title = fmt::format("{}{} in a loop{}{}", loops.front()->name,
                          kind.polled ? " until the work is done," : "", of_threads(loops),
                          kind.use == host_use::none      ? ""
                          : kind.use == host_use::in_turn ? ", though its turns use other buffers"
                                                          : ", for a result of each turn");
    f.why =
        "The host waits in every turn, and the device then waits for the host to issue the next "
        "work.";
    f.change = change_of_waits(kind.use);
    out.push_back(std::move(f));
  }
}

namespace {

struct copies_of_loop {
  std::vector<number> all, pageable;
};

// Synchronous copies of a loop become asynchronous ones with pinned memory, in the streams of their
// data. The last one is waited for.
void make_asynchronous(const evidence& e, program& p, const repeated_call& r,
                       copies_of_loop& copies) {
  const nanoseconds call_time = async_copy_call_time(e.t);
  for (std::size_t i = 0; i < r.steps.size(); ++i) {
    step& s = p.threads[r.thread][r.steps[i]];
    if (s.last.scope == wait_scope::nothing) continue;
    for (const issue& k : s.issues) {
      const trace::operation& o = e.t.operations[k.operation];
      if (o.kind == trace::operation_kind::copy && o.host_memory == trace::memory_kind::pageable) {
        pin_memory(e.t, p, s, k.operation);
        copies.pageable.push_back(k.operation);
      }
      p.tasks[k.operation].stream = stream_of_data(e, k.operation);
      copies.all.push_back(k.operation);
    }
    if (i + 1 < r.steps.size()) {
      do_not_wait(s);
      s.between = std::min(s.between, call_time);
      for (issue& k : s.issues) k.offset = std::min(k.offset, s.between);
    }
  }
}

// Behind a copy that was over when its call returned: that it finds nothing to wait for.
void leave_wait_out(const evidence& e, std::vector<step>& steps, std::size_t at) {
  if (at >= steps.size() || steps[at].call == none) return;
  const trace::call& c = e.t.calls[steps[at].call];
  if (class_of(c.name) == call_class::stream_wait && c.blocked == 0) take_out(steps[at]);
}

void copy_in_some_turns(const evidence& e, program& p, const repeated_call& r,
                        copies_of_loop& copies) {
  std::vector<step>& steps = p.threads[r.thread];
  for (std::size_t turn = 0; turn < r.steps.size(); ++turn) {
    step& s = steps[r.steps[turn]];
    if (s.last.scope == wait_scope::nothing) continue;
    for (const issue& k : s.issues) copies.all.push_back(k.operation);
    if (is_looked_at(r, turn)) continue;
    leave_copies_out(e, p, s);
    leave_wait_out(e, steps, r.steps[turn] + 1);
  }
}

// A copy of pageable memory to the host returns when it is done, whatever its name says. A few
// bytes may be what the host looks at in each turn; where there are more, they are results, and
// pinning their memory is what helps.
bool are_looks(const evidence& e, const repeated_call& r) {
  const std::vector<step>& steps = e.p.threads[r.thread];
  return std::all_of(r.steps.begin(), r.steps.end(), [&](std::size_t i) {
    const step& s = steps[i];
    if (s.issues.size() != 1 || s.last.scope != wait_scope::operation) return false;
    const trace::operation& o = e.t.operations[s.issues[0].operation];
    return s.last.target == s.issues[0].operation && o.kind == trace::operation_kind::copy &&
           o.bytes <= few_bytes;
  });
}

std::string change_of_copies(const evidence& e, const std::string& call,
                             const copies_of_loop& copies, bool one_result) {
  if (!one_result)
    return fmt::format(
        "Use {}Async with pinned memory in the stream that needs the data, and wait where the host "
        "uses it: behind the loop, or, with buffers of the host in turn, when one of them is "
        "needed again.",
        call);
  return fmt::format(
      "Each turn brings the same {} to the host. Where they say whether to go on, copy them and "
      "look at them in every few turns only (the cost is that of every {}th), or let the device "
      "decide: a graph with a conditional node (cudaGraphCondTypeWhile) loops without the host.",
      text_of_bytes(e.t.operations[copies.all.front()].bytes), turns_per_look);
}

}  // namespace

void find_copies_in_loops(const evidence& e, findings& out) {
  const auto groups = loops_by(e, [&](const repeated_call& r) -> std::optional<bool> {
    const bool is_copy = class_of(r.name) == call_class::copy;
    if (!is_copy && !are_looks(e, r)) return std::nullopt;
    const brought what = brought_by(e, r);
    if (!is_copy && what != brought::same_bytes) return std::nullopt;
    if (what != brought::other_bytes && sizes_differ(e, r)) return std::nullopt;
    if (r.kinds > 1 && are_looks(e, r)) return std::nullopt;
    if (what == brought::same_bytes && looks_in_some_turns(e, r)) return std::nullopt;
    return what == brought::same_bytes;
  });
  for (const auto& [one_result, loops] : groups) {
    program changed = e.p;
    if (!take_turns_anew(e, loops, changed)) continue;
    const assumes_parts parts = keep_data_order(e.t, changed, e.parts());
    copies_of_loop copies;
    for (const repeated_call* r : loops)
      (one_result ? copy_in_some_turns : make_asynchronous)(e, changed, *r, copies);
    if (copies.all.size() < 3) continue;
    if (!one_result) wait_before_reuse(e.t, changed, copies.all);
    const nanoseconds pinned_already = e.gain(changed);
    if (!e.worth(pinned_already)) continue;
    const pinning pins = pinning_of(e.t, copies.pageable);
    add_pinning(e.t, changed, copies.pageable);
    const nanoseconds cost = e.gain(changed);
    const bool pays = e.worth(cost);
    finding f;
    add_loop(e, f, calls_of(e.p, loops), pays ? cost : 0);
    add_assumption(f, parts);
    f.rule = "synchronous-copy-in-loop";
    f.weight = pays ? severity::cost : severity::warning;
    f.title = fmt::format("{} in a loop{}", loops.front()->name, of_threads(loops));
    f.why = "The call returns when the copy is done: the host issues nothing else meanwhile.";
    f.change = change_of_copies(e, loops.front()->name, copies, one_result);
    if (!copies.pageable.empty())
      f.change += ' ' + (pays ? words_of(pins, cost)
                              : words_of_use(pins, pinned_already, copies.all.size()));
    f.operations = copies.all;
    f.count = copies.all.size();
    out.push_back(std::move(f));
  }
}

}  // namespace sb::analysis
