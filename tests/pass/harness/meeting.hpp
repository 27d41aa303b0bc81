// Where threads of a block or a warp meet in machine.hpp, and what lanes get out of it.
#pragma once

#include <cstdint>
#include <stdexcept>

#include "base/device_abi.hpp"

namespace sb::test {

struct meeting {  // of a block or a warp: everybody brings something, the last one lets all go
  std::uint32_t arrived = 0;
  std::uint64_t generation = 0;
  std::uint64_t values[1024] = {};
  bool present[1024] = {};
  std::uint64_t last_values[1024] = {};
  bool last_present[1024] = {};
};

inline std::uint64_t shuffled(const meeting& place, std::uint32_t mine, std::uint32_t kind,
                              std::uint64_t value, std::uint32_t lane, std::uint32_t width,
                              int* in_range) {
  std::uint32_t base = mine / width * width;
  std::uint32_t source = kind == 0   ? base + lane % width
                         : kind == 1 ? mine - lane
                         : kind == 2 ? mine + lane
                                     : mine ^ lane;
  bool inside = source >= base && source < base + width && place.last_present[source];
  if (in_range) {
    *in_range = inside;
  }
  return inside ? place.last_values[source] : value;
}

inline std::uint32_t present_lanes(const meeting& place) {
  std::uint32_t present = 0;
  for (std::uint32_t i = 0; i < 32; ++i) present |= std::uint32_t(place.last_present[i]) << i;
  return present;
}

inline std::uint32_t voted(const meeting& place, std::uint32_t kind) {
  std::uint32_t set = 0;
  const std::uint32_t present = present_lanes(place);
  for (std::uint32_t i = 0; i < 32; ++i) {
    set |= std::uint32_t(place.last_present[i] && place.last_values[i]) << i;
  }
  return kind == 0   ? set == present
         : kind == 1 ? set != 0
         : kind == 2 ? !set || set == present
                     : set;
}

// Sums; kernels whose lanes come one by one in the tests make no others.
inline std::uint32_t reduced(const meeting& place, std::uint32_t kind) {
  if (kind != static_cast<std::uint32_t>(abi::reduce_kind::add)) {
    throw std::logic_error("a reduction that the test machine does not have");
  }
  std::uint32_t sum = 0;
  for (std::uint32_t lane = 0; lane < 32; ++lane) {
    sum += place.last_present[lane] ? static_cast<std::uint32_t>(place.last_values[lane]) : 0;
  }
  return sum;
}

}  // namespace sb::test
