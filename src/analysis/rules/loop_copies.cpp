// Copies of loops for which the host waits.
#include <fmt/format.h>

#include <algorithm>
#include <optional>

#include "analysis/call_rules.hpp"
#include "analysis/pinning.hpp"
#include "analysis/rates.hpp"
#include "analysis/rules/loop_lines.hpp"
#include "analysis/rules/timed_calls.hpp"
#include "analysis/rules/waits_give.hpp"
#include "analysis/words.hpp"

namespace sb::analysis {

namespace {

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
  // What is more than a few bytes is what the loop is there for, and no question whether to go on.
  if (source == nullptr || source->bytes > few_bytes) return brought::other_bytes;
  return own_places ? brought::to_own_places : brought::same_bytes;
}

// Synchronous copies of a loop become asynchronous ones with pinned memory, in the streams of their
// data. The last one is waited for.
void make_asynchronous(const evidence& e, program& p, const repeated_call& r,
                       changed_copies& copies) {
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
      copies.asynchronous.push_back(k.operation);
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
                        changed_copies& copies) {
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

// The host may make what it sends to the device of the result of the turn before.
bool uploads_between(const evidence& e, const repeated_call& r) {
  const std::vector<step>& steps = e.p.threads[r.thread];
  for (std::size_t i = r.steps.front(); i < r.steps.back(); ++i)
    for (const issue& k : steps[i].issues)
      if (gets_from_host(e.t, e.t.operations[k.operation])) return true;
  return false;
}

// Copies that were asynchronous are over at its end, and nothing else may say so.
bool gives_others_results(const evidence& e, const repeated_call& r) {
  const std::vector<given>& gives = e.given_by_waits(r.thread);
  return std::any_of(r.steps.begin(), r.steps.end() - 1,
                     [&](std::size_t i) { return gives[i] == given::results; });
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

}  // namespace

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

std::vector<loop_line> lines_that_copy(const evidence& e) {
  return lines_by(e, [&](const repeated_call& r) -> std::optional<loop_line> {
    const bool is_copy = class_of(r.name) == call_class::copy;
    if (!is_copy && !are_looks(e, r)) return std::nullopt;
    if (times_turns(e, r)) return std::nullopt;
    const brought what = brought_by(e, r);
    if (!is_copy && what != brought::same_bytes) return std::nullopt;
    if (what != brought::other_bytes && sizes_differ(e, r)) return std::nullopt;
    if (r.kinds > 1 && are_looks(e, r)) return std::nullopt;
    if (what == brought::same_bytes && looks_in_some_turns(e, r)) return std::nullopt;
    const bool one_result = what == brought::same_bytes;
    if (one_result && uploads_between(e, r)) return std::nullopt;
    if (gives_others_results(e, r)) return std::nullopt;
    return loop_line{.loops = {},
                     .what = one_result ? loop_line::kind::result : loop_line::kind::copy};
  });
}

void copy_less(const evidence& e, program& p, const loop_line& line, changed_copies& copies) {
  for (const repeated_call* r : line.loops)
    (line.what == loop_line::kind::result ? copy_in_some_turns : make_asynchronous)(e, p, *r,
                                                                                    copies);
}

std::string change_of_copies(const evidence& e, const loop_line& line) {
  const repeated_call& r = line.first();
  if (line.what == loop_line::kind::copy)
    return fmt::format(
        "Use {}Async with pinned memory in the stream that needs the data, and wait where the host "
        "uses it: behind the loop, or, with buffers of the host in turn, when one of them is "
        "needed again.",
        r.name);
  const std::vector<step>& steps = e.p.threads[r.thread];
  const auto copies = std::find_if(r.steps.begin(), r.steps.end(),
                                   [&](std::size_t i) { return !steps[i].issues.empty(); });
  return fmt::format(
      "Each turn brings the same {} to the host. Where they say whether to go on, copy them and "
      "look at them in every few turns only (the cost is that of every {}th), or let the device "
      "decide: a graph with a conditional node (cudaGraphCondTypeWhile) loops without the host.",
      text_of_bytes(e.t.operations[steps[*copies].issues[0].operation].bytes), turns_per_look);
}

}  // namespace sb::analysis
