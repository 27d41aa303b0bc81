// Waits of loops that are not needed, or not in each turn.
#include <fmt/format.h>

#include <algorithm>
#include <iterator>
#include <map>
#include <optional>
#include <utility>

#include "analysis/call_rules.hpp"
#include "analysis/rules/loop_lines.hpp"
#include "analysis/rules/timed_calls.hpp"
#include "analysis/words.hpp"

namespace sb::analysis {

namespace {

// As one for each of several streams.
// What the program times stays.
void take_turn_out(const evidence& e, program& p, const repeated_call& r, std::size_t turn) {
  if (is_timed(e, r.thread, r.steps[turn])) return;
  std::vector<step>& steps = p.threads[r.thread];
  take_out(steps[r.steps[turn]]);
  for (const std::size_t i : beside(r, turn)) take_out(steps[i]);
}

// The last one stays: behind the loop the host wants the results.
void wait_behind_the_loop(const evidence& e, program& p, const repeated_call& r) {
  for (std::size_t turn = 0; turn + 1 < r.steps.size(); ++turn) take_turn_out(e, p, r, turn);
}

// Each wait is for what the one before it waited for; the last one stays as it is.
void wait_one_turn_later(const evidence& e, program& p, const repeated_call& r) {
  std::vector<step>& steps = p.threads[r.thread];
  const auto wait_for_one_of = [&](std::size_t call, std::size_t before) {
    const number waited = e.t.calls[steps[before].call].blocked_on;
    steps[call].last = waited == none ? host_wait{} : host_wait{wait_scope::operation, waited};
  };
  take_turn_out(e, p, r, 0);
  for (std::size_t turn = 1; turn + 1 < r.steps.size(); ++turn) {
    if (is_timed(e, r.thread, r.steps[turn])) continue;
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

// In the other turns the host does not wait, nor is there the copy that it waited for.
void wait_in_some_turns(const evidence& e, program& p, const repeated_call& r) {
  std::vector<step>& steps = p.threads[r.thread];
  for (std::size_t turn = 0; turn < r.steps.size(); ++turn) {
    if (is_looked_at(r, turn) || is_timed(e, r.thread, r.steps[turn])) continue;
    take_turn_out(e, p, r, turn);
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

void wait_less_in(const evidence& e, program& p, host_use use, const repeated_call& r) {
  switch (use) {
    case host_use::may_need_each_wait:
      return;
    case host_use::none:
      return wait_behind_the_loop(e, p, r);
    case host_use::other_results:
    case host_use::one_buffer:
    case host_use::in_turn:
      return wait_one_turn_later(e, p, r);
    case host_use::same_result:
      return wait_in_some_turns(e, p, r);
  }
}

}  // namespace

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

std::vector<loop_line> lines_that_wait(const evidence& e) {
  return lines_by(e, [&](const repeated_call& r) -> std::optional<loop_line> {
    const bool polled = is_polled(e, r);
    if (!only_waits(class_of(r.name)) && !polled) return std::nullopt;
    if (times_turns(e, r)) return std::nullopt;
    const host_use use = use_between_waits(e, r);
    if (use == host_use::may_need_each_wait) return std::nullopt;
    // Of several places in a turn, each has its own bytes, and may need them before the next one.
    if (use == host_use::in_turn && r.kinds > 1) return std::nullopt;
    const bool again =
        use == host_use::same_result || use == host_use::one_buffer || use == host_use::in_turn;
    if (again && sizes_differ(e, r)) return std::nullopt;
    return loop_line{.loops = {}, .what = loop_line::kind::wait, .use = use, .polled = polled};
  });
}

void wait_less(const evidence& e, program& p, const loop_line& line) {
  for (const repeated_call* r : line.loops) wait_less_in(e, p, line.use, *r);
}

std::string words_of_clock(const evidence& e, const loop_line& line) {
  const repeated_call& r = line.first();
  const std::vector<step>& steps = e.p.threads[r.thread];
  const auto reads = [&](std::size_t i) {
    return steps[i].call != none && e.t.calls[steps[i].call].behind_clock;
  };
  bool any = false;
  for (std::size_t i = r.steps.front() + 1; i <= r.steps.back(); ++i) any |= reads(i);
  return any ? " The loop reads a clock: waits directly in front of that stay, and an interval "
               "that "
               "encloses others is then one without them."
             : "";
}

std::string change_of_waits(host_use use) {
  switch (use) {
    case host_use::may_need_each_wait:
    case host_use::none:
      break;
    case host_use::other_results:
      return "Issue the next turn before waiting for this one's results: an event behind each "
             "turn, and cudaEventSynchronize one turn later (that is the cost). Not where the host "
             "makes a turn's input, or its arguments, of the results of the one before. Where it "
             "looks at them only behind the loop, wait once there.";
    case host_use::one_buffer:
      return "Let the turns use two buffers of the host in turn, with an event behind each turn, "
             "and "
             "wait by cudaEventSynchronize one turn later: the device then works on the next turn "
             "while the host looks at this one's results (that is the cost). Behind the loop, wait "
             "for the last one. Not where the host makes a turn's input, or its arguments, of the "
             "results of the one before.";
    case host_use::in_turn:
      return "The turns use several buffers of the host in turn. Where the host makes no turn's "
             "input of the results of the one before, issue the next turn before waiting for this "
             "one: an event behind each turn, and cudaEventSynchronize one turn later, before its "
             "buffers are used again. Where the host uses what several turns have brought, as "
             "behind "
             "an inner loop, wait for the last one as well.";
    case host_use::same_result:
      return fmt::format(
          "Where the result says whether to go on, copy it and look at it in every few turns only "
          "(the cost is that of every {}th), or let the device decide: a graph with a conditional "
          "node (cudaGraphCondTypeWhile) loops without the host. Where the host wants the results "
          "of all turns, give each turn a place of its own, and issue the next turn before waiting "
          "for this one, which gains less. Neither where the host makes a turn's input, or its "
          "arguments, of the result before.",
          turns_per_look);
  }
  return "Wait once, behind the loop. Where streams need each other's results, or one gives back "
         "memory that another one uses (cudaFreeAsync), order them with cudaEventRecord and "
         "cudaStreamWaitEvent instead, which do not stop the host.";
}

}  // namespace sb::analysis
