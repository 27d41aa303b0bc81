// Calls that have returned and are not among the records of a trace yet. Each thread has a lane of
// its own in a mapped slot of the file, so that a call costs no lock and is there even when the
// process is killed; a full lane becomes records all at once.
//
//   slot  := lane*64
//   lane  := entry*32
//   entry := call:u32 thread:u32 name:u32 place:u32 begin:u64 end:u64 blocked:u64
//            blocked on:u32 status:u32 mark:u32 done:u32 like:u32 check:u32
//
// A call that hands an operation over is there before it does, with no end yet, and once more in
// the same place when it returns.
//
// Questions that are answered alike are one entry, which is written again with each.
//
// The mark is taken away when the call is a record; one that is both was killed in between. An
// entry whose check does not match is just being written. That, and not the order of the stores,
// tells those who look at it from elsewhere: an ordered store would make the next call wait for it.
#pragma once

#include <atomic>
#include <bit>
#include <span>

#include "trace/encoding.hpp"
#include "trace/format.hpp"
#include "trace/records.hpp"

namespace sb::trace {

inline constexpr std::size_t pending_entry_bytes = 64, pending_lane_entries = 32;
inline constexpr std::size_t pending_lane_bytes = pending_entry_bytes * pending_lane_entries;
inline constexpr std::size_t pending_lanes = block_bytes / pending_lane_bytes;
inline constexpr std::size_t pending_words = pending_entry_bytes / sizeof(std::uint64_t);
inline constexpr std::uint32_t pending_mark = 0x4c4c4143;      // "CALL"
inline constexpr std::uint32_t handed_over_mark = 0x54534f50;  // "POST": call_record::handed_over
inline constexpr std::uint32_t asked_mark = 0x534b5341;  // "ASKS": `like` is call_record::times

// A thread's own. It belongs to one writer, known by its number: the place of an old one may be
// taken.
struct pending_lane {
  std::uint64_t owner = 0;    // 0: there is none
  std::uint64_t without = 0;  // the writer that had none left
  byte* begin = nullptr;
  std::size_t count = 0;
  bool over = false;  // the thread ends
};

// The entry as words, the lower half first; files are of that order on every machine.
class pending_entry {
 public:
  static constexpr std::uint64_t both(std::uint32_t low, std::uint32_t high) {
    return low | std::uint64_t{high} << 32;
  }
  static constexpr std::uint32_t low(std::uint64_t word) {
    return static_cast<std::uint32_t>(word);
  }
  static constexpr std::uint32_t high(std::uint64_t word) {
    return static_cast<std::uint32_t>(word >> 32);
  }
  // Of all before it, the lower half of the last word included.
  static constexpr std::uint32_t check(const std::uint64_t (&words)[pending_words]) {
    std::uint64_t sum = both(low(words[pending_words - 1]), 0);
#pragma GCC unroll 8
    for (std::size_t i = 0; i + 1 < pending_words; ++i) sum = std::rotl(sum, 7) ^ words[i];
    return low(sum) ^ high(sum);
  }
  // What becomes of the check when these bits of a word change: it is linear.
  static constexpr std::uint32_t change_of_check(std::uint64_t bits, std::size_t word) {
    const std::uint64_t sum = std::rotl(bits, static_cast<int>(7 * (pending_words - 2 - word)));
    return low(sum) ^ high(sum);
  }

  static void store(byte* entry, std::size_t i, std::uint64_t word) {
    if constexpr (std::endian::native == std::endian::big) word = __builtin_bswap64(word);
    at(entry, i).store(word, std::memory_order_relaxed);
  }
  static std::uint64_t load(byte* entry, std::size_t i) {
    const std::uint64_t word = at(entry, i).load(std::memory_order_relaxed);
    return std::endian::native == std::endian::big ? __builtin_bswap64(word) : word;
  }
  static void load(byte* entry, std::uint64_t (&words)[pending_words]) {
#pragma GCC unroll 8
    for (std::size_t i = 0; i < pending_words; ++i) words[i] = load(entry, i);
  }

 private:
  static std::atomic_ref<std::uint64_t> at(byte* entry, std::size_t i) {
    return std::atomic_ref<std::uint64_t>(reinterpret_cast<std::uint64_t*>(entry)[i]);
  }
};

inline void put_pending(byte* entry, number self, const call_record& call) {
  using e = pending_entry;
  const std::uint32_t mark = call.handed_over  ? handed_over_mark
                             : call.times != 1 ? asked_mark
                                               : pending_mark;
  const std::uint32_t last = call.times != 1 ? call.times : call.like;
  std::uint64_t words[pending_words] = {
      e::both(self, call.thread),
      e::both(call.name, call.place),
      call.begin,
      call.end,
      call.blocked,
      e::both(call.blocked_on, static_cast<std::uint32_t>(call.status)),
      e::both(mark, call.done),
      last};
  words[7] = e::both(last, e::check(words));
#pragma GCC unroll 8
  for (std::size_t i = 0; i < pending_words; ++i) e::store(entry, i, words[i]);
}

// Whether it is there, and of that call.
inline bool is_pending(byte* entry, number self) {
  using e = pending_entry;
  return e::low(e::load(entry, 0)) == self && e::low(e::load(entry, 6)) != 0;
}

// What is there gets its end, and is the same in everything else.
inline void end_pending(byte* entry, nanoseconds end) {
  using e = pending_entry;
  constexpr std::size_t at = 3, last = pending_words - 1;
  const std::uint64_t changed = e::load(entry, at) ^ end;
  e::store(entry, at, end);
  e::store(entry, last, e::load(entry, last) ^ e::both(0, e::change_of_check(changed, at)));
}

inline void clear_pending(byte* entry) { pending_entry::store(entry, 6, 0); }

struct pending_call {
  number self = none;
  call_record call;
};

// Who wrote an entry knows that it is whole.
enum class written_by : std::uint8_t { another, oneself };

// False: there is none.
inline bool get_pending(const std::uint64_t (&words)[pending_words], pending_call& found,
                        written_by who = written_by::another) {
  using e = pending_entry;
  const std::uint32_t mark = e::low(words[6]);
  if (mark != pending_mark && mark != handed_over_mark && mark != asked_mark) return false;
  if (who == written_by::another && e::high(words[7]) != e::check(words)) return false;
  found.self = e::low(words[0]);
  found.call = {.thread = e::high(words[0]),
                .name = e::low(words[1]),
                .place = e::high(words[1]),
                .begin = words[2],
                .end = words[3],
                .blocked = words[4],
                .blocked_on = e::low(words[5]),
                .status = static_cast<std::int32_t>(e::high(words[5])),
                .done = e::high(words[6]),
                .like = mark == asked_mark ? none : e::low(words[7]),
                .handed_over = mark == handed_over_mark,
                .times = mark == asked_mark ? e::low(words[7]) : 1};
  return true;
}

inline bool get_pending(byte* entry, pending_call& found, written_by who = written_by::another) {
  std::uint64_t words[pending_words];
  pending_entry::load(entry, words);
  return get_pending(words, found, who);
}

// Calls `take` with every call of a slot in a file.
template <class Take>
void for_each_pending(std::span<const byte> slot, Take&& take) {
  for (; slot.size() >= pending_entry_bytes; slot = slot.subspan(pending_entry_bytes)) {
    cursor in(slot.data(), slot.data() + pending_entry_bytes);
    std::uint64_t words[pending_words];
    for (std::uint64_t& word : words) word = in.fixed<std::uint64_t>();
    if (pending_call found; get_pending(words, found)) take(found);
  }
}

}  // namespace sb::trace
