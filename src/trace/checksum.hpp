// A checksum of a file that is written in pieces: eight bytes a step, so that it costs little
// beside the writing. Every step is a bijection of the state, so a change of any one word changes
// it.
#pragma once

#include <bit>
#include <cstdint>
#include <cstring>

#include "trace/encoding.hpp"

namespace sb::trace {

class checksum {
 public:
  // Every piece but the last has a multiple of eight bytes; the last is filled up with zeros.
  void add(const byte* at, std::size_t bytes) {
    for (; bytes >= 8; at += 8, bytes -= 8) step(word(at, 8));
    if (bytes) step(word(at, bytes));
  }
  // A number that is not among the bytes, after the last piece.
  void add(std::uint64_t number) { step(number); }
  [[nodiscard]] std::uint64_t value() const { return state_ ^ (state_ >> 29); }

 private:
  static std::uint64_t word(const byte* at, std::size_t bytes) {
    std::uint64_t found = 0;
    std::memcpy(&found, at, bytes);
    if constexpr (std::endian::native == std::endian::big) found = __builtin_bswap64(found);
    return found;
  }
  void step(std::uint64_t word) {
    state_ = (state_ ^ word) * 0x9e3779b97f4a7c15u;
    state_ = std::rotl(state_, 29);
  }

  std::uint64_t state_ = 0x5bd1e9955bd1e995u;
};

}  // namespace sb::trace
