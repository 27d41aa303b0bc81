// Graphs that are over within their launch (engine_at_once.cpp). One that is as it was the last
// time is a single record: when it began, and when each of its parts was over.
#include <algorithm>

#include "engine/at_once.hpp"
#include "engine/recorder.hpp"

namespace sb::engine {

bool recorder::graph_likeness::is(std::span<const graph_item> items) const {
  return std::equal(
      items.begin(), items.end(), parts.begin(), parts.end(),
      [](const graph_item& item, const graph_part& part) {
        const auto* k = std::get_if<kernel_operation>(item.what);
        return std::ranges::equal(item.after, part.after) &&
               (k == nullptr ? part.is_marker : !part.is_marker && part.kernel.is(*k));
      });
}

void recorder::graph_likeness::keep(std::span<const graph_item> items) {
  parts.clear();
  for (const graph_item& item : items) {
    graph_part& part = parts.emplace_back();
    part.after.assign(item.after.begin(), item.after.end());
    if (const auto* k = std::get_if<kernel_operation>(item.what)) {
      part.kernel = {.what = k->kernel, .queue = {}, .grid = k->grid, .block = k->block};
      part.kernel.keep_pointers_of(*k);
    } else {
      part.is_marker = true;
    }
  }
}

// What is in front of it holds a part that does not depend on that: one thread does them all.
void recorder::graph_edges(const graph_item& item, std::size_t at, trace::number first) {
  edges_.clear();
  after_.clear();
  const auto add = [&](std::size_t on, trace::wait_cause cause) {
    const auto number = static_cast<trace::number>(first + on);
    if (cause == trace::wait_cause::graph_edge) after_.push_back(number);
    edges_.push_back({.from = number, .call = trace::none, .cause = cause, .until = ends_[on]});
  };
  for (const std::uint32_t i : item.after) add(i + 1, trace::wait_cause::graph_edge);
  if (item.after.empty()) add(0, trace::wait_cause::graph_edge);
  std::ranges::sort(edges_, {}, &trace::edge::until);
  if (std::ranges::find(after_, first + at - 1) == after_.end())
    add(at - 1, trace::wait_cause::engine_busy);
}

// The end comes after the parts that no other comes after.
void recorder::graph_end_edges(std::span<const graph_item> done, trace::number first) {
  edges_.clear();
  after_.clear();
  for (std::size_t i = 0; i < done.size(); ++i) {
    const bool is_leaf = std::ranges::none_of(done, [&](const graph_item& other) {
      return std::ranges::find(other.after, i) != other.after.end();
    });
    if (!is_leaf) continue;
    after_.push_back(static_cast<trace::number>(first + i + 1));
    edges_.push_back({.from = after_.back(),
                      .call = trace::none,
                      .cause = trace::wait_cause::graph_edge,
                      .until = ends_[i + 1]});
  }
}

void recorder::tell_graph(const stream_notes& s, std::int8_t priority,
                          std::span<const graph_item> items, hardware_queue queue, status outcome,
                          trace::number first) {
  const recorded_call& call = present();
  trace::nanoseconds begin = call.number != trace::none ? since(call.begin_ns) : ends_.front();
  const trace::nanoseconds called = begin;
  const auto tell = [&](trace::submitted_record& r, std::size_t at, hardware_queue in,
                        status ended) {
    r.device = s.device;
    r.stream = s.number;
    r.call = call.number;
    r.called = r.queued = called;
    r.graph = graphs_;
    const trace::number self = first + static_cast<trace::number>(at);
    out_->submitted(self, r);
    out_->finished(self, {begin, begin, ends_[at], edges_, static_cast<std::int32_t>(ended), in});
    begin = ends_[at];
  };
  trace::submitted_record head;
  head.kind = trace::operation_kind::graph_begin;
  head.priority = priority;
  edges_.clear();
  tell(head, 0, queue, status::success);
  for (std::size_t i = 0; i + 2 < ends_.size(); ++i) {
    trace::submitted_record r;
    r.in_graph = true;
    r.priority = priority;
    ranges_.clear();
    graph_edges(items[i], i + 1, first);
    if (const auto* k = std::get_if<kernel_operation>(items[i].what)) {
      r.kind = trace::operation_kind::kernel;
      r.engine = trace::engine_kind::multiprocessors;
      describe_kernel(*k, shape_of(*k), r);
      add_kernel_ranges(*k);
    }
    r.after = after_;
    r.ranges = ranges_;
    tell(r, i + 1, {}, i + 3 == ends_.size() ? outcome : status::success);
  }
  trace::submitted_record tail;
  tail.kind = trace::operation_kind::graph_end;
  tail.priority = priority;
  const std::size_t last = ends_.size() - 1;
  graph_end_edges(items.first(last - 1), first);
  tail.after = after_;
  tell(tail, last, {}, status::success);
}

void recorder::graph_done_at_once(stream_id stream, std::int8_t priority,
                                  std::span<const graph_item> items,
                                  std::span<const std::uint64_t> times, status outcome) {
  stream_notes& s = streams_[stream.value];
  const recorded_call& call = present();
  ends_.clear();
  // Two looks at the processor's counter may be exchanged.
  trace::nanoseconds latest = call.number != trace::none ? since(call.begin_ns) : 0;
  for (const std::uint64_t ns : times) ends_.push_back(latest = std::max(latest, since(ns)));
  ends_.push_back(ends_.back());
  const bool has_kernel_first =
      !items.empty() && std::holds_alternative<kernel_operation>(*items.front().what);
  const hardware_queue queue =
      has_kernel_first ? next_queue(stream, queue_class::compute) : hardware_queue{};
  graph_likeness& known = graphs_known_[(items.size() * 5 ^ s.number) % graphs_known_.size()];
  const std::uint64_t changes = memory_changes_.load(std::memory_order_relaxed);
  const trace::number parts = static_cast<trace::number>(ends_.size());
  if (known.stream == s.number && known.priority == priority && known.memory == changes &&
      known.queue == queue && outcome == status::success && call.number != trace::none &&
      known.is(items)) {
    s.done = parts - 1 +
             out_->repeated({.like = known.first,
                             .call = call.number,
                             .graph = graphs_,
                             .begin = since(call.begin_ns),
                             .ends = ends_});
  } else {
    const trace::number first = out_->begin_operations(parts);
    tell_graph(s, priority, items, queue, outcome, first);
    s.done = first + parts - 1;
    known = {.stream = s.number,
             .priority = priority,
             .queue = queue,
             .memory = changes,
             .first = first,
             .parts = std::move(known.parts)};
    if (outcome == status::success)
      known.keep(items);
    else
      known.stream = trace::none;
  }
  ++graphs_;
}

}  // namespace sb::engine
