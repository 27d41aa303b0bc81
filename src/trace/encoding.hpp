// Numbers as bytes.
//
//   varint := seven bits a byte, the lowest first; the last byte has its high bit clear
//   signed := varint of 2n, or of -2n-1 when negative
//   optional := 0 for none, or varint of n+1
//   time := 0 for never, or 1 + signed difference to the time before, as a varint
#pragma once

#include <bit>
#include <cstdint>
#include <cstring>
#include <string_view>

#include "trace/trace.hpp"

namespace sb::trace {

using byte = std::uint8_t;

inline constexpr std::uint64_t zigzag(std::uint64_t difference) {
  return (difference << 1) ^ (0 - (difference >> 63));
}
inline constexpr std::uint64_t unzigzag(std::uint64_t value) {
  return (value >> 1) ^ (0 - (value & 1));
}

[[gnu::always_inline]] inline byte* put_varint(byte* at, std::uint64_t value) {
  while (value >= 0x80) {
    *at++ = static_cast<byte>(value | 0x80);
    value >>= 7;
  }
  *at++ = static_cast<byte>(value);
  return at;
}
inline byte* put_signed(byte* at, std::uint64_t difference) {
  return put_varint(at, zigzag(difference));
}
// The difference of two numbers is taken as one of 32 bits.
inline byte* put_difference(byte* at, number value, number base) {
  const auto difference = static_cast<std::int32_t>(value - base);
  return put_signed(at, static_cast<std::uint64_t>(std::int64_t{difference}));
}
inline byte* put_optional(byte* at, number value) {
  return put_varint(at, value == none ? 0 : std::uint64_t{value} + 1);
}
inline byte* put_time(byte* at, nanoseconds time, nanoseconds base) {
  return time == never ? put_varint(at, 0) : put_varint(at, zigzag(time - base) + 1);
}
template <class Int>
inline byte* put_fixed(byte* at, Int value) {  // the lowest byte first
  for (std::size_t i = 0; i < sizeof value; ++i) *at++ = static_cast<byte>(value >> (8 * i));
  return at;
}
inline byte* put_text(byte* at, std::string_view text) {
  at = put_varint(at, text.size());
  if (!text.empty()) std::memcpy(at, text.data(), text.size());
  return at + text.size();
}

// Reads the same back. After the first problem everything is 0 and the state says what it was.
class cursor {
 public:
  enum class state : std::uint8_t { good, cut_off, wrong };

  cursor(const byte* begin, const byte* end) : at_(begin), end_(end) {}

  [[nodiscard]] const byte* at() const { return at_; }
  [[nodiscard]] std::size_t left() const { return static_cast<std::size_t>(end_ - at_); }
  [[nodiscard]] bool good() const { return state_ == state::good; }
  [[nodiscard]] state how() const { return state_; }
  void wrong() { stop(state::wrong); }

  byte u8() {
    if (at_ == end_) return static_cast<byte>(stop(state::cut_off));
    return *at_++;
  }
  std::uint64_t varint() {
    if (at_ != end_ && *at_ < 0x80) return *at_++;
    return long_varint();
  }
  std::uint32_t u32() {
    const std::uint64_t value = varint();
    return value <= 0xffffffff ? static_cast<std::uint32_t>(value)
                               : static_cast<std::uint32_t>(stop(state::wrong));
  }
  number difference(number base) { return base + static_cast<number>(unzigzag(varint())); }
  number optional() {
    const std::uint64_t value = varint();
    if (value > none) return static_cast<number>(stop(state::wrong));
    return static_cast<number>(value - 1);  // 0 becomes none
  }
  nanoseconds time(nanoseconds base) {
    const std::uint64_t value = varint();
    return value == 0 ? never : base + unzigzag(value - 1);
  }
  template <class Int>
  Int fixed() {
    if (left() < sizeof(Int)) return static_cast<Int>(stop(state::cut_off));
    Int value = 0;
    for (std::size_t i = 0; i < sizeof value; ++i)
      value = static_cast<Int>(value | static_cast<Int>(static_cast<Int>(*at_++) << (8 * i)));
    return value;
  }
  std::string_view text(std::size_t limit) {
    const std::uint64_t size = varint();
    if (size > limit) stop(state::wrong);
    if (size > left()) stop(state::cut_off);
    if (!good()) return {};
    const std::string_view found(reinterpret_cast<const char*>(at_), size);
    at_ += size;
    return found;
  }

 private:
  int stop(state why) {
    if (state_ == state::good) state_ = why;
    end_ = at_;
    return 0;
  }
  std::uint64_t long_varint() {
    std::uint64_t value = 0;
    for (unsigned shift = 0; shift < 64; shift += 7) {
      if (at_ == end_) return static_cast<std::uint64_t>(stop(state::cut_off));
      const byte next = *at_++;
      if (shift == 63 && next > 1) break;
      value |= std::uint64_t{next & 0x7fu} << shift;
      if (next < 0x80) return value;
    }
    return static_cast<std::uint64_t>(stop(state::wrong));
  }

  const byte* at_;
  const byte* end_;
  state state_ = state::good;
};

}  // namespace sb::trace
