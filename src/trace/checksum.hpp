// A checksum of a file that is written in pieces. Words of eight bytes go to four lanes in turn, so
// that a processor works on several at once. Every step is a bijection of its lane, and so is the
// last mix: a change of any one word changes the value.
#pragma once

#include <bit>
#include <cstdint>
#include <cstring>

#include "trace/encoding.hpp"

namespace sb::trace {

class checksum {
 public:
  static constexpr std::size_t lanes = 4, row = 8 * lanes;

  // Every piece but the last has whole rows; the last is filled up with zeros.
  void add(const byte* at, std::size_t bytes) {
    for (; bytes >= row; at += row, bytes -= row) {
      for (std::size_t lane = 0; lane < lanes; ++lane) step(lane_[lane], word(at + 8 * lane, 8));
    }
    for (std::size_t lane = 0; bytes > 0; ++lane) {
      const std::size_t some = bytes < 8 ? bytes : 8;
      step(lane_[lane], word(at, some));
      at += some;
      bytes -= some;
    }
  }
  // A number that is not among the bytes, after the last piece.
  void add(std::uint64_t number) { step(lane_[0], number); }
  [[nodiscard]] std::uint64_t value() const {
    std::uint64_t mixed = 0;
    for (const std::uint64_t lane : lane_) step(mixed, lane);
    return mixed;
  }

 private:
  static std::uint64_t word(const byte* at, std::size_t bytes) {
    std::uint64_t found = 0;
    std::memcpy(&found, at, bytes);
    if constexpr (std::endian::native == std::endian::big) found = __builtin_bswap64(found);
    return found;
  }
  static void step(std::uint64_t& state, std::uint64_t word) {
    state = std::rotl((state ^ word) * 0x9e3779b97f4a7c15u, 29);
  }

  std::uint64_t lane_[lanes] = {1, 2, 3, 4};
};

}  // namespace sb::trace
