// The rules of streams and hardware queues as pure functions of plain data. Recordings named here
// are those of tests/conformance/h200.
#pragma once

#include <cstdint>

#include "model/command.hpp"

namespace sb {

// The legacy stream and blocking streams of a device wait for each other both ways; non-blocking
// streams take no part (ordering.tsv hold.*). Per-thread default streams are blocking ones.
[[nodiscard]] constexpr bool synchronises_with_legacy(stream_kind kind) {
  return kind == stream_kind::blocking;
}

// A record alone does not make its stream busy; a wait does (random.tsv, the stream queries).
[[nodiscard]] constexpr bool makes_stream_busy(command_kind kind) {
  return kind != command_kind::event_record;
}

// Complete as soon as they are reached; nothing runs for them.
[[nodiscard]] constexpr bool is_instant(command_kind kind) {
  return kind == command_kind::event_record || kind == command_kind::event_wait ||
         kind == command_kind::marker || kind == command_kind::graph_head;
}

// A connection is three queues, each worked off in the order of issue.
enum class queue_class : std::uint8_t { compute, host_to_device, device_to_host, none };
inline constexpr std::uint32_t queues_per_connection = 3;

// One of a device's queues: of kernels as many as there are connections, of copies see queues_of.
struct hardware_queue {
  queue_class kind = queue_class::none;
  std::uint8_t number = 0;

  friend constexpr bool operator==(const hardware_queue&, const hardware_queue&) = default;
};

// Host-to-device copies below this size travel with the kernels. Recorded: 16 KiB does, 32 KiB does
// not (thresholds_conn1.tsv one.behind.stuck.kernel.h2d.*); nothing is known in between.
inline constexpr std::uint64_t separate_copy_bytes = 32768;

// Pageable memory up to this size goes to the device with the command itself
// (thresholds.tsv staged.*).
inline constexpr std::uint64_t command_copy_bytes = 65536;

// The queue whose order a command keeps. A host function has none of its own: it takes the one that
// its stream used last (see host_function_queue). Records, waits and markers take no place at all.
// Graph nodes (command_order::free) take none either: documented as free of each other's order, not
// recorded. Nor do copies between host buffers, which no device queue sees.
[[nodiscard]] constexpr queue_class copy_queue(copy_direction direction, std::uint64_t bytes) {
  switch (direction) {
    case copy_direction::host_to_device:
      return bytes < separate_copy_bytes ? queue_class::compute : queue_class::host_to_device;
    case copy_direction::device_to_host:
      return queue_class::device_to_host;
    case copy_direction::device_to_device:
    case copy_direction::peer:
      return queue_class::compute;
    case copy_direction::host_to_host:
      return queue_class::none;
  }
  return queue_class::none;
}

// The launch of a graph stands where its first node would, and where a host function does when that
// is one (further_conn1.tsv onegraph.*). A head tells that node as a copy: kernels and fills as one
// within the device, host functions as one within the host, what has no place as one of no bytes.
[[nodiscard]] constexpr queue_class graph_queue(const command& head) {
  return head.bytes != 0 ? copy_queue(head.direction, head.bytes) : queue_class::none;
}
[[nodiscard]] constexpr bool stands_like_host_function(const command& c) {
  return c.kind == command_kind::host_function ||
         (c.kind == command_kind::graph_head && c.bytes != 0 &&
          c.direction == copy_direction::host_to_host);
}

[[nodiscard]] constexpr queue_class queue_of(const command& c) {
  if (c.order == command_order::free) {
    return queue_class::none;
  }
  switch (c.kind) {
    case command_kind::kernel:
    case command_kind::fill:
      return queue_class::compute;
    case command_kind::copy:
      return copy_queue(c.direction, c.bytes);
    case command_kind::host_function:
    case command_kind::event_record:
    case command_kind::event_wait:
    case command_kind::section:
    case command_kind::marker:
      return queue_class::none;
    case command_kind::graph_head:
      return graph_queue(c);
  }
  return queue_class::none;
}

// The queue in which a command takes an entry until it begins. A queue has 1021, whichever streams
// share it; the next call waits for room (pending.tsv alone.*, turns.*, pending_conn1.tsv
// streams.*). Records, waits and host functions take none, the launch of a graph takes one.
[[nodiscard]] constexpr queue_class entry_of(const command& c) {
  if (c.kind == command_kind::graph_head) {
    return queue_class::compute;
  }
  const bool work = c.kind == command_kind::kernel || c.kind == command_kind::fill ||
                    c.kind == command_kind::copy;
  return work ? queue_of(c) : queue_class::none;
}

// A host function stands in its stream's last queue, unless everything that it waits for is
// complete when it is submitted: then it takes no place (thresholds_conn1.tsv, random_conn1.tsv).
[[nodiscard]] constexpr queue_class host_function_queue(queue_class last_used, bool has_to_wait) {
  return has_to_wait ? last_used : queue_class::none;
}

// CUDA_DEVICE_MAX_CONNECTIONS goes from 1 to 32.
inline constexpr std::uint32_t most_connections = 32;
[[nodiscard]] constexpr std::uint32_t usable_connections(std::uint32_t asked) {
  return asked == 0 ? 1 : asked > most_connections ? most_connections : asked;
}

// With one connection all streams share its three queues and their entries (queues.tsv conn.1.*).
// With more, a stream that gets work takes a connection that nothing is stuck in, if there is one
// (crowds.tsv); what follows in it stays there. Copies with queues of their own then go to four for
// each direction, which streams take in turn (further.tsv copyqueues.*), or, when
// CUDA_DEVICE_MAX_CONNECTIONS is set, to as many as it says (timing/h200/orders_conn*.tsv). Eight
// that were set are taken for the eight that there are anyway.
inline constexpr std::uint32_t usual_connections = 8, usual_copy_queues = 4;
[[nodiscard]] constexpr std::uint32_t queues_of(queue_class queue, std::uint32_t connections) {
  return queue != queue_class::compute && connections == usual_connections ? usual_copy_queues
                                                                           : connections;
}

}  // namespace sb
