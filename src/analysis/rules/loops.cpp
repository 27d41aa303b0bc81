// Calls in a loop that make the host wait, or take long: synchronisation, synchronous copies,
// allocations.
#include <fmt/format.h>

#include <algorithm>
#include <optional>
#include <utility>

#include "analysis/call_rules.hpp"
#include "analysis/rates.hpp"
#include "analysis/rules/rules.hpp"
#include "analysis/words.hpp"

namespace sb::analysis {

namespace {

std::vector<number> calls_of(const program& p, const repeated_call& r) {
  std::vector<number> calls;
  for (const std::size_t i : r.steps) calls.push_back(p.threads[r.thread][i].call);
  return calls;
}

nanoseconds length_of(const trace::trace& t, const std::vector<number>& calls) {
  nanoseconds sum = 0;
  for (const number c : calls) sum += t.calls[c].end - t.calls[c].begin;
  return sum;
}

finding finding_of(const evidence& e, const std::vector<number>& calls, nanoseconds cost) {
  finding f;
  f.cost = cost;
  add_calls(e.t, f, calls);
  f.evidence.push_back(
      fmt::format("{} calls, {} in all", calls.size(), text_of_time(length_of(e.t, calls))));
  return f;
}

// Where the copy to the host that stands directly in front of a step writes; none when something
// else stands there.
std::optional<std::pair<number, std::uint64_t>> result_before(const evidence& e,
                                                              const std::vector<step>& steps,
                                                              std::size_t from, std::size_t wait) {
  for (std::size_t i = wait; i-- > from;) {
    for (auto k = steps[i].issues.rbegin(); k != steps[i].issues.rend(); ++k) {
      const trace::operation& o = e.t.operations[k->operation];
      if (o.kind == trace::operation_kind::event_record) continue;
      if (o.kind != trace::operation_kind::copy || o.direction != copy_direction::device_to_host) {
        return std::nullopt;
      }
      for (const trace::byte_range& r : o.ranges) {
        if (r.how == trace::access::write && r.exact) return std::pair(r.allocation, r.offset);
      }
      return std::nullopt;
    }
  }
  return std::nullopt;
}

// Each turn copies to the same bytes of the host and waits: the next one would overwrite what the
// host has not seen.
bool host_needs_each_turn(const evidence& e, const repeated_call& r) {
  const std::vector<step>& steps = e.p.threads[r.thread];
  const auto first = result_before(e, steps, r.steps[0] + 1, r.steps[1]);
  if (!first) return false;
  for (std::size_t i = 2; i < r.steps.size(); ++i) {
    if (result_before(e, steps, r.steps[i - 1] + 1, r.steps[i]) != first) return false;
  }
  return true;
}

}  // namespace

void find_waits_in_loops(const evidence& e, findings& out) {
  for (const repeated_call& r : repeated_calls(e.t, e.p)) {
    if (!only_waits(class_of(r.name))) continue;
    program changed = e.p;
    keep_data_order(e.t, changed);
    // The last one stays: behind the loop the host wants the results.
    constexpr std::size_t some = 8;
    const bool needed = host_needs_each_turn(e, r);
    for (std::size_t i = 0; i + 1 < r.steps.size(); ++i) {
      if (needed && (r.steps.size() - 1 - i) % some == 0) continue;
      take_out(changed.threads[r.thread][r.steps[i]]);
    }
    const nanoseconds cost = e.gain(changed);
    if (!e.worth(cost)) continue;
    finding f = finding_of(e, calls_of(e.p, r), cost);
    f.rule = "wait-in-loop";
    f.title = fmt::format("{} in a loop{}", r.name, needed ? ", for a result of each turn" : "");
    f.why =
        "The host waits in every turn, and the device then waits for the host to issue the next "
        "work.";
    if (needed) {
      f.change = fmt::format(
          "Look at the result in every few turns only (the cost is that of waiting in every {}th), "
          "issue the next turn before waiting for this one's result, or let the device decide: a "
          "graph with a conditional node (cudaGraphCondTypeWhile) loops without the host.",
          some);
      out.push_back(std::move(f));
      continue;
    }
    f.change =
        "Wait once, behind the loop. Where streams need each other's results, order them with "
        "cudaEventRecord and cudaStreamWaitEvent instead, which do not stop the host.";
    out.push_back(std::move(f));
  }
}

void find_copies_in_loops(const evidence& e, findings& out) {
  for (const repeated_call& r : repeated_calls(e.t, e.p)) {
    if (class_of(r.name) != call_class::copy) continue;
    program changed = e.p;
    keep_data_order(e.t, changed);
    const nanoseconds call_time = async_copy_call_time(e.t);
    std::vector<number> copies;
    for (std::size_t i = 0; i < r.steps.size(); ++i) {
      step& s = changed.threads[r.thread][r.steps[i]];
      if (s.last.scope == wait_scope::nothing) continue;
      for (const issue& k : s.issues) {
        const trace::operation& o = e.t.operations[k.operation];
        if (o.kind == trace::operation_kind::copy &&
            o.host_memory == trace::memory_kind::pageable) {
          task& what = changed.tasks[k.operation];
          what.duration = std::min(what.duration, pinned_copy_time(e.t, o));
        }
        copies.push_back(k.operation);
      }
      if (i + 1 < r.steps.size()) {
        do_not_wait(s);
        s.between = std::min(s.between, call_time);
        for (issue& k : s.issues) k.offset = std::min(k.offset, s.between);
      }
    }
    if (copies.size() < 3) continue;
    const nanoseconds cost = e.gain(changed);
    if (!e.worth(cost)) continue;
    finding f = finding_of(e, calls_of(e.p, r), cost);
    f.rule = "synchronous-copy-in-loop";
    f.title = fmt::format("{} in a loop", r.name);
    f.why = "The call returns when the copy is done: the host issues nothing else meanwhile.";
    f.change =
        "Use cudaMemcpyAsync with pinned memory in the stream that needs the data, and wait once "
        "behind the loop.";
    f.operations = copies;
    f.count = copies.size();
    out.push_back(std::move(f));
  }
}

void find_allocations_in_loops(const evidence& e, findings& out) {
  program changed = e.p;
  std::vector<number> calls;
  std::vector<std::string> names;
  for (const repeated_call& r : repeated_calls(e.t, e.p)) {
    const call_class kind = class_of(r.name);
    if (kind != call_class::allocate && kind != call_class::free) continue;
    for (std::size_t i = 1; i < r.steps.size(); ++i) {
      take_out(changed.threads[r.thread][r.steps[i]]);
    }
    const std::vector<number> these = calls_of(e.p, r);
    calls.insert(calls.end(), these.begin(), these.end());
    if (std::find(names.begin(), names.end(), r.name) == names.end()) names.push_back(r.name);
  }
  if (calls.empty()) return;
  const nanoseconds cost = e.gain(changed);
  if (!e.worth(cost)) return;
  std::sort(calls.begin(), calls.end());
  finding f = finding_of(e, calls, cost);
  f.rule = "allocation-in-loop";
  f.title = fmt::format("{} in a loop", fmt::join(names, ", "));
  f.why =
      "Allocating takes long, and cudaFree, cudaFreeHost and cudaHostUnregister wait for all work "
      "of the device first.";
  f.change =
      "Allocate before the loop and use the memory again, or use cudaMallocAsync and "
      "cudaFreeAsync, which are ordered by the stream and do not wait.";
  out.push_back(std::move(f));
}

}  // namespace sb::analysis
