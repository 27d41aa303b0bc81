// The words of the trace file; docs/trace.md has the grammar.
#pragma once

#include <array>
#include <cstdint>

#include "trace/trace.hpp"

namespace sb::trace {

// The first byte is not text and the line ends would not survive a conversion of them.
inline constexpr std::array<std::uint8_t, 8> file_magic = {0x89, 'S',  'B',  'T',
                                                           'R',  '\r', '\n', 0x1a};
inline constexpr std::array<std::uint8_t, 8> end_magic = {'s', 'b', 't', 'r', 'e', 'n', 'd', '\n'};
inline constexpr std::uint32_t format_version = 16;
// 4 says nothing of queues, 5 nothing of locks; in 6 a call hands no operation over; 7 says nothing
// of what kernels need; in 8 nobody who holds a lock has ended; 9 says nothing of blocks;
// in 10 each question is a call; 11 does not say for what a thread waited; in 12 no wait with a
// record is told by its call; 13 does not say which launch loaded a kernel; in 14 threads wait for
// threads only; 15 does not say who read a clock.
inline constexpr std::uint32_t oldest_version = 4;

// A record's kind is stored after its body: a file that stops early has 0 there.
enum class record_kind : std::uint8_t {
  nothing_more = 0,
  name,
  place,
  device,
  stream,
  thread,
  stream_name,
  thread_name,
  allocation,
  free,
  call_begun,
  call,
  submitted,
  finished,
  range_begun,
  range_ended,
  mark,
  thread_wait,
  end,
  repeated,
  stuck,
  ends,
  needs,
  blocks,
};

// A file is a row of blocks; block_file.hpp says where each is.
inline constexpr std::size_t block_bytes = std::size_t{128} << 10;
inline constexpr std::array<std::uint8_t, 4> block_mark = {'S', 'B', 'B', 'K'};
// The last bytes of the slot of pending calls, when there was no room for more.
inline constexpr std::array<std::uint8_t, 8> cut_mark = {'S', 'B', 'C', 'U', 'T', '!', '\r', '\n'};
inline constexpr std::size_t block_header_bytes = 8;  // of all but the first: mark, number

// A record lies in one block: lists and texts that are too long for that are cut.
inline constexpr std::size_t text_limit = 32767;
inline constexpr std::size_t list_limit = 2000;
inline constexpr std::size_t list_entry_limit = 31;  // bytes of an edge or a range

// The checksum of the end record goes over everything before it, then this word and the time.
inline constexpr std::uint64_t end_word(ending how, bool deterministic) {
  return static_cast<std::uint64_t>(how) | (deterministic ? 256u : 0u);
}

// The end record has a fixed size: kind, ending, deterministic, time, checksum, end_magic.
inline constexpr std::size_t end_record_bytes = 1 + 1 + 1 + 8 + 8 + 8;

// Numbers of calls are given out when they begin, records written when they return; those of the
// operations that are done within them as well. More than this many are never open at once.
inline constexpr std::uint32_t open_calls_limit = 65536;

// Which parts a `submitted` record has.
namespace part {
inline constexpr unsigned name = 1u << 0, call = 1u << 1, record = 1u << 2, event = 1u << 3,
                          graph = 1u << 4, peer = 1u << 5, bytes = 1u << 6, shape = 1u << 7,
                          same_shape = 1u << 8, after = 1u << 9, ranges = 1u << 10,
                          in_graph = 1u << 11, cooperative = 1u << 12, priority = 1u << 13,
                          copy = 1u << 14, stream = 1u << 15;
inline constexpr unsigned all = 0xffff;
}  // namespace part

// In a `submitted` record, beside the kinds of operation and engine: the kernel was loaded for it.
inline constexpr unsigned first_use_kind = 128;

// Which parts a `call` record has.
namespace call_part {
inline constexpr unsigned blocked = 1u << 0, blocked_on = 1u << 1, status = 1u << 2, done = 1u << 3,
                          same = 1u << 4, handed_over = 1u << 5, times = 1u << 6,
                          behind_clock = 1u << 7;
// Before version 16 none has the last, and before 11 none the one in front of it.
constexpr unsigned all(std::uint32_t version) {
  return (version < 11 ? times : version < 16 ? behind_clock : 2 * behind_clock) - 1;
}
}  // namespace call_part

// The number in a `finished` record that says what follows: edges, four times, and these.
namespace finished_part {
inline constexpr unsigned status = 1u << 0, queue = 1u << 1, edges = 1u << 2;
}

// A queue: its number, and from here on its kind.
inline constexpr unsigned queue_kind_at = most_connections;

// The first byte of an edge: the cause, which ends it has, and whether it lasted until the
// operation was ready or started.
namespace edge_part {
inline constexpr unsigned cause = 0x0f, from = 1u << 4, call = 1u << 5, until_started = 1u << 6,
                          until_ready = 1u << 7;
}

// Of a `stuck` record: beside what is waited for.
inline constexpr unsigned stuck_holder_ended = 16;

// The first byte of a range: access (1 to 3), whether the bytes are exact, and what is as in the
// range before it. Before the first of an operation with a number of bytes are that many.
namespace range_part {
inline constexpr unsigned access = 0x03, exact = 1u << 2, same_offset = 1u << 3,
                          same_bytes = 1u << 4, all = 0x1f;
}

}  // namespace sb::trace
