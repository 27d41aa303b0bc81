// Short names for the commands that tests submit.
#pragma once

#include "model/command.hpp"

namespace sb {

inline command kernel_in(stream_id s, std::uint64_t blocks = 1, std::uint32_t threads = 1) {
  command c;
  c.kind = command_kind::kernel;
  c.stream = s;
  c.kernel.blocks = blocks;
  c.kernel.threads_per_block = threads;
  return c;
}

inline command copy_in(stream_id s, copy_direction direction, std::uint64_t bytes = 4) {
  command c;
  c.kind = command_kind::copy;
  c.stream = s;
  c.direction = direction;
  c.bytes = bytes;
  return c;
}

inline command upload_in(stream_id s, std::uint64_t bytes = 4) {
  return copy_in(s, copy_direction::host_to_device, bytes);
}

inline command download_in(stream_id s, std::uint64_t bytes = 4) {
  return copy_in(s, copy_direction::device_to_host, bytes);
}

inline command of_kind_in(stream_id s, command_kind kind) {
  command c;
  c.kind = kind;
  c.stream = s;
  return c;
}

inline command fill_in(stream_id s) { return of_kind_in(s, command_kind::fill); }
inline command host_function_in(stream_id s) { return of_kind_in(s, command_kind::host_function); }
inline command record_in(stream_id s) { return of_kind_in(s, command_kind::event_record); }
inline command section_in(stream_id s) { return of_kind_in(s, command_kind::section); }
inline command marker_in(stream_id s) { return of_kind_in(s, command_kind::marker); }

inline command wait_in(stream_id s, command_id record) {
  command c = of_kind_in(s, command_kind::event_wait);
  c.record = record;
  return c;
}

// A node of a graph launched in this stream.
inline command node(command c) {
  c.order = command_order::free;
  return c;
}

}  // namespace sb
