// Pageable memory under asynchronous copies, and too much pinned memory.
#include <fmt/format.h>

#include <algorithm>
#include <map>

#include "analysis/call_rules.hpp"
#include "analysis/rules/rules.hpp"
#include "analysis/sort_stably.hpp"
#include "analysis/words.hpp"
#include "model/profile.hpp"

namespace sb::analysis {

namespace {

// What it takes to pin what these copies use: of each line that copies, the most that it did.
struct pinning {
  std::uint64_t bytes = 0;
  nanoseconds allocate = 0, in_place = 0;
};

pinning pinning_of(const trace::trace& t, const std::vector<number>& copies) {
  std::map<number, std::uint64_t> by_line;
  for (const number i : copies) {
    std::uint64_t& most = by_line[t.calls[t.operations[i].call].place];
    most = std::max(most, t.operations[i].bytes);
  }
  const profile* known = find_profile(t.head.profile);
  const timing_profile& timing = known == nullptr ? h200_timing() : known->timing;
  pinning p;
  for (const auto& [line, bytes] : by_line) {
    const auto n = static_cast<double>(bytes);
    p.bytes += bytes;
    p.allocate += rounded_ns(call_cost_ns(timing, "cudaMallocHost") + n / timing.pin_bytes_per_ns);
    p.in_place +=
        rounded_ns(call_cost_ns(timing, "cudaHostRegister") + n / timing.register_bytes_per_ns);
  }
  return p;
}

}  // namespace

void find_pageable_copies(const evidence& e, findings& out) {
  const std::vector<step_place> where = issuers(e.p);
  program changed = e.p;
  std::vector<number> copies;
  std::uint64_t bytes = 0;
  nanoseconds blocked = 0;
  for (number i = 0; i < e.t.operations.size(); ++i) {
    const trace::operation& o = e.t.operations[i];
    const bool pageable = o.kind == trace::operation_kind::copy && o.ended != never &&
                          o.host_memory == trace::memory_kind::pageable && o.call != none;
    if (!pageable || class_of(e.t.calls[o.call].name) != call_class::launch ||
        where[i].thread == none) {
      continue;
    }
    pin(e.t, changed, where[i], i);
    copies.push_back(i);
    bytes += o.bytes;
    blocked += e.t.calls[o.call].end - e.t.calls[o.call].begin;
  }
  if (copies.empty()) return;
  const nanoseconds cost = e.gain(changed);
  if (!e.worth(cost)) return;

  finding f;
  f.rule = "pageable-async-copy";
  f.title = fmt::format("{} asynchronous cop{} of pageable memory", copies.size(),
                        copies.size() == 1 ? "y" : "ies");
  f.why = fmt::format(
      "cudaMemcpyAsync is asynchronous only with pinned host memory. Pageable memory is copied "
      "into "
      "a buffer of the driver first: {} took {} of the host's time, and ran at the speed of that "
      "buffer.",
      text_of_bytes(bytes), text_of_time(blocked));
  const pinning pins = pinning_of(e.t, copies);
  f.change = fmt::format(
      "Allocate the host memory with cudaMallocHost, or pin it where it is with cudaHostRegister, "
      "once and outside of the loop. That takes time of its own: about {} and {} for {}{}.",
      text_of_time(pins.allocate), text_of_time(pins.in_place), text_of_bytes(pins.bytes),
      pins.allocate < cost ? ""
      : pins.in_place < cost
          ? ", of which only the latter is less than this run gains"
          : ", more than this run gains: it pays when the memory is used for longer");
  f.cost = cost;
  add_operations(e.t, f, copies);
  for (std::size_t i = 0; i < std::min<std::size_t>(2, copies.size()); ++i) {
    const trace::operation& o = e.t.operations[copies[i]];
    f.evidence.push_back(
        fmt::format("{} ran for {}; its call returned after {}", name_with_stream(e.t, copies[i]),
                    text_of_time(o.ended - o.started),
                    text_of_time(e.t.calls[o.call].end - e.t.calls[o.call].begin)));
  }
  out.push_back(std::move(f));
}

void find_much_pinned_memory(const evidence& e, findings& out) {
  if (e.t.head.host_bytes == 0) return;
  struct change {
    nanoseconds time;
    std::int64_t bytes;
    number call;
  };
  std::vector<change> changes;
  for (const trace::allocation& a : e.t.allocations) {
    if (a.kind != trace::memory_kind::pinned) continue;
    const auto bytes = static_cast<std::int64_t>(a.bytes);
    changes.push_back({a.from, bytes, a.allocated_by});
    if (a.to != 0) changes.push_back({a.to, -bytes, none});
  }
  sort_stably(changes, [](const change& a, const change& b) {
    return a.time != b.time ? a.time < b.time : a.bytes < b.bytes;
  });
  std::int64_t now = 0, most = 0;
  std::vector<number> calls, at_most;
  for (const change& c : changes) {
    now += c.bytes;
    if (c.call != none) calls.push_back(c.call);
    if (now > most) {
      most = now;
      at_most = calls;
    }
  }
  const auto pinned = static_cast<std::uint64_t>(most);
  if (pinned * 2 <= e.t.head.host_bytes) return;

  finding f;
  f.rule = "much-pinned-memory";
  f.weight = severity::warning;
  f.title = fmt::format("{} of pinned memory at once: {} % of the host's {}", text_of_bytes(pinned),
                        pinned * 100 / e.t.head.host_bytes, text_of_bytes(e.t.head.host_bytes));
  f.why = "Pinned memory cannot be swapped out, so that little is left for everything else.";
  f.change =
      "Pin only the buffers that copies use at the same time, and use them again; two or three "
      "pieces are enough for a pipeline.";
  add_calls(e.t, f, at_most);
  out.push_back(std::move(f));
}

}  // namespace sb::analysis
