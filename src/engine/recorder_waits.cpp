// What operations wait for: notes of others that are pending, queues and engines.
#include <algorithm>
#include <utility>

#include "engine/recorder.hpp"

namespace sb::engine {

namespace {

// What runs operations one at a time, or as many as there is room for.
constexpr std::uint32_t multiprocessors_key = 0, host_functions_key = 1, copies_key = 2;

}  // namespace

// --- streams and queues

void recorder::add_stream(stream_id id, device_id device, stream_kind kind, int priority) {
  stream_changes_.fetch_add(1, std::memory_order_relaxed);
  if (id.value >= streams_.size()) streams_.resize(id.value + 1);
  stream_notes& s = streams_[id.value];
  if (s.last != no_note) drop(s.last);
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
    const bool pending = s.kind == stream_kind::blocking && s.last != no_note &&
                         notes_[s.last].ended == trace::never;
    if (pending && s.device == device) depend(n, s.last, trace::wait_cause::legacy_barrier);
    s.listed = pending;
    return !pending;
  });
}

// CUDA: the legacy stream and the blocking streams of a device wait for each other.
void recorder::depend_on_stream(node& n, stream_notes& s) {
  depend(n, s.last, trace::wait_cause::stream_order);
  if (s.kind == stream_kind::legacy) {
    depend_on_blocking_streams(n, s.device);
  } else if (s.kind == stream_kind::blocking) {
    if (const auto legacy = legacy_.find(s.device); legacy != legacy_.end())
      depend(n, streams_[legacy->second].last, trace::wait_cause::legacy_barrier);
    if (!std::exchange(s.listed, true)) busy_.push_back(n.as.stream.value);
  }
  keep(s.last, n.recorded.note);
}

void recorder::entered_queue(node& n, command_id behind, std::uint64_t waited_until) {
  if (n.recorded.number == trace::none) return;
  std::uint32_t found = commands_.find(behind.value);
  if (found == no_note) {
    const auto gone = std::find_if(left_.begin(), left_.end(),
                                   [&](const left_note& l) { return l.command == behind.value; });
    if (gone != left_.end()) found = gone->note;
  }
  keep(n.recorded.ahead, found);
  n.recorded.admitted = waited_until;
}

void recorder::left_queue(node& n, std::uint64_t ns) {
  if (n.recorded.number == trace::none) return;
  notes_[n.recorded.note].left_queue = ns;
  if (one_connection_) return;
  left_note& oldest = left_[left_count_++ % left_.size()];
  oldest.command = n.id.value;
  keep(oldest.note, n.recorded.note);
}

std::array<std::uint32_t, 2> recorder::engine_key(const node& n) const {
  std::array<std::uint32_t, 2> key{n.device.value, multiprocessors_key};
  if (n.as.kind == command_kind::host_function) {
    key = {0, host_functions_key};
  } else if (n.as.kind == command_kind::copy) {
    const std::uint32_t engines =
        n.device.value < copy_engines_.size() ? copy_engines_[n.device.value] : 3;
    copy_direction d =
        n.as.direction == copy_direction::peer ? copy_direction::device_to_device : n.as.direction;
    // Engines that directions share, as device_limits::copy_engines has it.
    const bool shared = engines < 2 || (engines == 2 && d == copy_direction::device_to_device);
    if (shared && d != copy_direction::host_to_host) d = copy_direction::host_to_device;
    if (engines != 0 || d == copy_direction::host_to_host)
      key[1] = copies_key + static_cast<std::uint32_t>(d);
  }
  return key;
}

std::uint32_t& recorder::last_on_engine(const node& n) {
  const std::array<std::uint32_t, 2> key = engine_key(n);
  while (key[0] >= engines_.size()) engines_.emplace_back().fill(no_note);
  return engines_[key[0]][key[1]];
}

// What had the engine that an operation could have used from `from` on.
std::uint32_t recorder::holder_of_engine(const node& n, std::uint64_t from, room on_device) {
  const std::uint32_t last = last_on_engine(n);
  if (last != no_note && notes_[last].ended > from && notes_[last].ended != trace::never)
    return last;
  if (on_device == room::found || n.device.value >= large_.size()) return no_note;
  const std::uint32_t large = large_[n.device.value].note;
  return large != no_note && notes_[large].ended == trace::never ? large : no_note;
}

void recorder::holds_device(const node& n) {
  if (n.device.value >= large_.size()) large_.resize(n.device.value + 1);
  large_kernel& known = large_[n.device.value];
  const kernel_shape& shape = n.as.kernel;
  const std::uint64_t threads = shape.blocks * shape.threads_per_block;
  if (known.note != no_note && notes_[known.note].ended == trace::never && threads <= known.threads)
    return;
  keep(known.note, n.recorded.note);
  known.threads = threads;
}

void recorder::started(node& n, std::uint64_t ns, room on_device) {
  if (n.recorded.number == trace::none || n.recorded.began) return;
  n.recorded.began = true;
  std::uint64_t ready = n.times.queued;
  const auto add = [&](std::uint32_t from, trace::wait_cause cause, std::uint64_t until) {
    n.recorded.edges.push_back({.from = notes_[from].operation,
                                .call = trace::none,
                                .cause = cause,
                                .until = since(until)});
  };
  for (const recorded_node::wait& w : n.recorded.waits) {
    const std::uint64_t until = notes_[w.on].ended;
    if (until != trace::never && until > n.times.queued) {
      add(w.on, w.cause, until);
      ready = std::max(ready, until);
    }
    drop(w.on);
  }
  n.recorded.waits.clear();
  // Few, and mostly in order: by insertion.
  for (trace::edge* e = n.recorded.edges.begin(); e != n.recorded.edges.end(); ++e)
    std::rotate(std::upper_bound(
                    n.recorded.edges.begin(), e, *e,
                    [](const trace::edge& a, const trace::edge& b) { return a.until < b.until; }),
                e, e + 1);
  n.times.ready = ready;
  std::uint64_t from = std::max(ready, n.recorded.admitted);
  if (n.recorded.ahead != no_note) {
    // Never: it was taken out of its queue, in front of which the other one still stands.
    if (const std::uint64_t left = notes_[n.recorded.ahead].left_queue; left != trace::never)
      from = std::max(from, left);
    if (from > ready) add(n.recorded.ahead, trace::wait_cause::queue_head, from);
    drop(std::exchange(n.recorded.ahead, no_note));
  }
  const bool kernel = n.as.kind == command_kind::kernel;
  if (kernel || n.as.kind == command_kind::copy || n.as.kind == command_kind::host_function) {
    const std::uint32_t holder =
        ns > from ? holder_of_engine(n, from, on_device) : std::uint32_t{no_note};
    if (holder != no_note)
      add(holder, kernel ? trace::wait_cause::device_full : trace::wait_cause::engine_busy, ns);
  }
  if (kernel) holds_device(n);
}

}  // namespace sb::engine
