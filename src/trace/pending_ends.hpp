// Ends of operations that are not among the records of a trace yet. They have the first lane of the
// slot that calls are in (pending_calls.hpp), and become one record when it is full.
//
//   lane := 'SBENDS' 0d 0a (finished kind, body of a `finished` record)* 0
//
// Numbers and times are differences to those before in the same lane, and to 0 in the first, so
// that nobody else's records count. As elsewhere the kind of each is stored after its body.
//
// Thread safety: one thread at a time.
#pragma once

#include <algorithm>
#include <array>
#include <atomic>
#include <cstring>
#include <span>

#include "trace/codec.hpp"
#include "trace/pending_calls.hpp"

namespace sb::trace {

inline constexpr std::array<byte, 8> ends_mark = {'S', 'B', 'E', 'N', 'D', 'S', '\r', '\n'};

class pending_ends {
 public:
  // `lane` is full of zeros; null: there is none, and nothing has room.
  explicit pending_ends(byte* lane) : lane_(lane), at_(lane) {
    if (lane == nullptr) return;
    at_ = std::copy(ends_mark.begin(), ends_mark.end(), lane);
    // The zero behind the last one stays.
    limit_ = lane + pending_lane_bytes - 1;
  }

  template <class End>
  [[nodiscard]] bool has_room(const End& what) const {
    return static_cast<std::size_t>(limit_ - at_) >= bytes_of(what);
  }
  template <class End>
  void put(number operation, const End& what) {
    byte* const end = put_finished(at_ + 1, operation, what, state_);
    std::atomic_ref<byte>(*at_).store(static_cast<byte>(record_kind::finished),
                                      std::memory_order_release);
    at_ = end;
  }
  [[nodiscard]] std::span<const byte> all() const {
    return lane_ == nullptr ? std::span<const byte>{}
                            : std::span<const byte>(lane_ + ends_mark.size(), at_);
  }
  void clear() {
    if (all().empty()) return;
    byte* const first = lane_ + ends_mark.size();
    std::atomic_ref<byte>(*first).store(0, std::memory_order_release);
    std::memset(first, 0, static_cast<std::size_t>(at_ - first));
    at_ = first;
    state_ = {};
  }

 private:
  static std::size_t bytes_of(const finished_record& what) {
    constexpr std::size_t without_edges = 64;
    return without_edges + what.waits.size() * list_entry_limit;
  }
  static constexpr std::size_t bytes_of(const plain_end&) { return 64; }

  byte* lane_;
  byte* at_;
  byte* limit_ = at_;
  codec_state state_;
};

// The lane's contents in a file; empty where a thread has it.
inline std::span<const byte> ends_of(std::span<const byte> slot) {
  if (slot.size() < pending_lane_bytes ||
      !std::equal(ends_mark.begin(), ends_mark.end(), slot.begin()))
    return {};
  return slot.first(pending_lane_bytes).subspan(ends_mark.size());
}

}  // namespace sb::trace
