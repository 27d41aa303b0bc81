// Calls that have returned and are not among the records of a trace yet. Each thread has a lane of
// its own in a mapped slot of the file, so that a call costs no lock and is there even when the
// process is killed; a full lane becomes records all at once.
//
//   slot  := lane*64
//   lane  := entry*32
//   entry := call:u32 thread:u32 name:u32 place:u32 begin:u64 end:u64 blocked:u64
//            blocked on:u32 status:u32 mark:u32 zero*12
//
// The mark is stored last and taken away when the call is a record; one that is both was killed in
// between.
#pragma once

#include <atomic>
#include <span>

#include "trace/encoding.hpp"
#include "trace/format.hpp"
#include "trace/records.hpp"

namespace sb::trace {

inline constexpr std::size_t pending_entry_bytes = 64, pending_lane_entries = 32;
inline constexpr std::size_t pending_lane_bytes = pending_entry_bytes * pending_lane_entries;
inline constexpr std::size_t pending_lanes = block_bytes / pending_lane_bytes;
inline constexpr std::size_t pending_mark_at = 48;
inline constexpr std::uint32_t pending_mark = 0x4c4c4143;  // "CALL"

inline void put_pending(byte* entry, number self, const call_record& call) {
  byte* at = put_fixed(entry, self);
  at = put_fixed(at, call.thread);
  at = put_fixed(at, call.name);
  at = put_fixed(at, call.place);
  at = put_fixed(at, call.begin);
  at = put_fixed(at, call.end);
  at = put_fixed(at, call.blocked);
  at = put_fixed(at, call.blocked_on);
  put_fixed(at, static_cast<std::uint32_t>(call.status));
  byte mark[sizeof pending_mark];
  put_fixed(mark, pending_mark);
  std::uint32_t stored = 0;
  std::memcpy(&stored, mark, sizeof stored);
  std::atomic_ref<std::uint32_t>(*reinterpret_cast<std::uint32_t*>(entry + pending_mark_at))
      .store(stored, std::memory_order_release);
}

inline void clear_pending(byte* entry) {
  std::atomic_ref<std::uint32_t>(*reinterpret_cast<std::uint32_t*>(entry + pending_mark_at))
      .store(0, std::memory_order_release);
}

inline bool is_pending(byte* entry) {
  return std::atomic_ref<std::uint32_t>(*reinterpret_cast<std::uint32_t*>(entry + pending_mark_at))
             .load(std::memory_order_acquire) != 0;
}

struct pending_call {
  number self = none;
  call_record call;
};

// Of an entry that has its mark.
inline pending_call get_pending(const byte* entry) {
  cursor in(entry, entry + pending_entry_bytes);
  pending_call found;
  found.self = in.fixed<std::uint32_t>();
  found.call.thread = in.fixed<std::uint32_t>();
  found.call.name = in.fixed<std::uint32_t>();
  found.call.place = in.fixed<std::uint32_t>();
  found.call.begin = in.fixed<std::uint64_t>();
  found.call.end = in.fixed<std::uint64_t>();
  found.call.blocked = in.fixed<std::uint64_t>();
  found.call.blocked_on = in.fixed<std::uint32_t>();
  found.call.status = static_cast<std::int32_t>(in.fixed<std::uint32_t>());
  return found;
}

// Calls `take` with every call of a slot.
template <class Take>
void for_each_pending(std::span<const byte> slot, Take&& take) {
  for (; slot.size() >= pending_entry_bytes; slot = slot.subspan(pending_entry_bytes)) {
    cursor in(slot.data() + pending_mark_at, slot.data() + pending_entry_bytes);
    if (in.fixed<std::uint32_t>() == pending_mark) take(get_pending(slot.data()));
  }
}

}  // namespace sb::trace
