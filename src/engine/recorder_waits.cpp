// What operations wait for: notes of others that are pending, queues and engines.
#include <algorithm>
#include <utility>

#include "engine/recorder.hpp"

namespace sb::engine {

// --- streams and queues

void recorder::add_stream(stream_id id, device_id device, stream_kind kind, int priority) {
  constexpr std::uint32_t usual_copy_engines = 3;  // of a device that nobody told of
  stream_changes_.fetch_add(1, std::memory_order_relaxed);
  while (device.value >= engines_.size()) engines_.emplace_back(usual_copy_engines);
  if (id.value >= streams_.size()) streams_.resize(id.value + 1);
  stream_notes& s = streams_[id.value];
  s = {.device = device.value, .kind = kind, .listed = s.listed};
  if (kind == stream_kind::legacy) legacy_[device.value] = id.value;
  s.number = out_->stream({.device = device.value,
                           .kind = kind,
                           .priority = priority,
                           .connection = one_connection_ ? 0 : trace::none,
                           .name = {}});
}

// Streams that have nothing to do cost nothing: there may be thousands.
void recorder::depend_on_blocking_streams(node& n, std::uint32_t device) {
  std::erase_if(busy_, [&](std::uint32_t id) {
    stream_notes& s = streams_[id];
    const bool pending = s.kind == stream_kind::blocking && s.last != nullptr;
    if (pending && s.device == device) depend(n, s.last, trace::wait_cause::legacy_barrier);
    s.listed = pending;
    return !pending;
  });
}

// CUDA: the legacy stream and the blocking streams of a device wait for each other.
void recorder::depend_on_stream(node& n, stream_notes& s) {
  if (s.kind == stream_kind::legacy) {
    depend_on_blocking_streams(n, s.device);
  } else if (s.kind == stream_kind::blocking) {
    if (const auto legacy = legacy_.find(s.device); legacy != legacy_.end())
      depend(n, streams_[legacy->second].last, trace::wait_cause::legacy_barrier);
    if (!std::exchange(s.listed, true)) busy_.push_back(n.as.stream.value);
  }
  comes_behind(n, s);
}

void recorder::entered_queue(node& n, command_id behind, std::uint64_t waited_until) {
  if (n.recorded.number == trace::none) return;
  n.recorded.parts |= recorded_node::in_held;
  drop(std::exchange(n.held.ahead, no_note));
  n.held.admitted = waited_until;
  if (node* const found = commands_.find(behind.value)) {
    n.held.ahead = note_of(*found);
    ++notes_[n.held.ahead].references;
    return;
  }
  const auto gone = std::find_if(left_.begin(), left_.end(),
                                 [&](const left_note& l) { return l.command == behind.value; });
  if (gone == left_.end()) return;
  n.held.ahead = new_note(gone->operation);
  notes_[n.held.ahead].left_queue = gone->ns;
}

void recorder::left_queue(node& n, std::uint64_t ns) {
  if (n.recorded.number == trace::none) return;
  n.held.left_queue = ns;
  if (n.held.note != no_note) notes_[n.held.note].left_queue = ns;
  if (one_connection_) return;
  left_[left_count_++ % left_.size()] = {n.id.value, ns, n.recorded.number};
}

recorder::device_engines::device_engines(std::uint32_t copy_engines) {
  for (std::size_t i = 0; i < of_copy.size(); ++i) {
    auto d = static_cast<copy_direction>(i);
    if (d == copy_direction::peer) d = copy_direction::device_to_device;
    // Engines that directions share, as device_limits::copy_engines has it.
    const bool shared =
        copy_engines < 2 || (copy_engines == 2 && d == copy_direction::device_to_device);
    if (shared && d != copy_direction::host_to_host) d = copy_direction::host_to_device;
    const bool by_engine = copy_engines != 0 || d == copy_direction::host_to_host;
    of_copy[i] =
        by_engine ? static_cast<std::uint8_t>(copies + static_cast<unsigned>(d)) : multiprocessors;
  }
}

recorder::last_work& recorder::last_on_engine(const node& n) {
  if (n.as.kind == command_kind::host_function)
    return engines_.front().last[device_engines::host_functions];
  device_engines& on_device = engines_[n.device.value];
  return on_device.last[n.as.kind == command_kind::copy
                            ? on_device.of_copy[static_cast<unsigned>(n.as.direction)]
                            : device_engines::multiprocessors];
}

// What had the engine that an operation could have used from `from` on.
trace::number recorder::holder_of_engine(const node& n, std::uint64_t from, room on_device) {
  const last_work& last = last_on_engine(n);
  if (last.operation != trace::none && last.ended > from) return last.operation;
  if (on_device == room::found || n.device.value >= large_.size()) return trace::none;
  const node* large = large_[n.device.value].running;
  return large != nullptr ? large->recorded.number : trace::none;
}

// When what it depends on and what was in front of it in its queue let it go; with the edges to
// them.
std::uint64_t recorder::held_until(node& n, std::uint64_t& ready) {
  recorded_waits& held = n.held;
  if (ready != n.times.queued) add_edge_to_before(n);
  for (const recorded_waits::wait& w : held.waits) {
    const std::uint64_t until = notes_[w.on].ended;
    if (until != trace::never && until > n.times.queued) {
      add_edge(n, notes_[w.on].operation, w.cause, since(until));
      ready = std::max(ready, until);
    }
    drop(w.on);
  }
  held.waits.clear();
  // Few, and mostly in order: by insertion.
  for (trace::edge* e = held.edges.begin(); e != held.edges.end(); ++e)
    std::rotate(std::upper_bound(
                    held.edges.begin(), e, *e,
                    [](const trace::edge& a, const trace::edge& b) { return a.until < b.until; }),
                e, e + 1);
  std::uint64_t from = std::max(ready, held.admitted);
  if (held.ahead != no_note) {
    // Never: it was taken out of its queue, in front of which the other one still stands.
    if (const std::uint64_t left = notes_[held.ahead].left_queue; left != trace::never)
      from = std::max(from, left);
    if (from > ready)
      add_edge(n, notes_[held.ahead].operation, trace::wait_cause::queue_head, since(from));
    drop(std::exchange(held.ahead, no_note));
  }
  return from;
}

void recorder::started(node& n, std::uint64_t ns, room on_device) {
  recorded_node& r = n.recorded;
  if (r.number == trace::none || r.began) return;
  r.began = true;
  std::uint64_t ready = n.times.queued;
  if (r.before_ended != trace::never) ready = std::max(ready, r.before_ended);
  bool only_before = ready != n.times.queued;
  std::uint64_t from = ready;
  if ((r.parts & recorded_node::in_held) != 0) {
    from = held_until(n, ready);
    only_before = false;
  }
  n.times.ready = ready;
  const bool kernel = n.as.kind == command_kind::kernel;
  if (kernel || n.as.kind == command_kind::copy || n.as.kind == command_kind::host_function) {
    const trace::number holder = ns > from ? holder_of_engine(n, from, on_device) : trace::none;
    if (holder != trace::none) {
      if (std::exchange(only_before, false)) add_edge_to_before(n);
      add_edge(n, holder, kernel ? trace::wait_cause::device_full : trace::wait_cause::engine_busy,
               since(ns));
    }
  }
  if (only_before) r.parts |= recorded_node::waited_for_before;
  if (kernel) holds_device(n);
}

}  // namespace sb::engine
