// Pageable memory under asynchronous copies, and too much pinned memory.
#include <fmt/format.h>

#include <algorithm>

#include "analysis/call_rules.hpp"
#include "analysis/pinning.hpp"
#include "analysis/rules/rules.hpp"
#include "analysis/sort_stably.hpp"
#include "analysis/words.hpp"

namespace sb::analysis {

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
    const bool is_look = o.direction == copy_direction::device_to_host && o.bytes <= few_bytes;
    if (is_look)
      pin_memory(e.t, changed, changed.threads[where[i].thread][where[i].index], i);
    else
      pin(e.t, changed, where[i], i);
    copies.push_back(i);
    bytes += o.bytes;
    blocked += e.t.calls[o.call].end - e.t.calls[o.call].begin;
  }
  if (copies.empty()) return;
  wait_before_reuse(e.t, changed, copies);
  const nanoseconds pinned_already = e.gain(changed);
  if (!e.worth(pinned_already)) return;
  add_pinning(e.t, changed, copies);
  const nanoseconds cost = e.gain(changed);
  const bool pays = e.worth(cost);

  finding f;
  f.rule = "pageable-async-copy";
  f.weight = pays ? severity::cost : severity::warning;
  f.title = fmt::format("{} asynchronous cop{} of pageable memory", copies.size(),
                        copies.size() == 1 ? "y" : "ies");
  f.why = fmt::format(
      "cudaMemcpyAsync is asynchronous only with pinned host memory. Pageable memory is copied "
      "into "
      "a buffer of the driver first: {} took {} of the host's time, and ran at the speed of that "
      "buffer.",
      text_of_bytes(bytes), text_of_time(blocked));
  const pinning pins = pinning_of(e.t, copies);
  f.change = pays ? words_of(pins, cost) : words_of_use(pins, pinned_already, copies.size());
  f.cost = pays ? cost : 0;
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
