// When blocks of kernels begin and make room: the same for the engine's modelled time and for a
// replay of what it recorded.
#pragma once

#include <algorithm>
#include <cstdint>

namespace sb {

// A kernel begins `beginning` before its first blocks do, whether there is room for them or not.
struct kernel_begin {
  std::uint64_t kernel, blocks;
};
// It would begin at `begin`; there is room from `room` on.
[[nodiscard]] constexpr kernel_begin begin_with_room(std::uint64_t begin, std::uint64_t beginning,
                                                     std::uint64_t room) {
  const std::uint64_t soonest = begin + beginning;
  return {room > soonest ? room : begin, std::max(room, soonest)};
}

// Whether blocks that run from `from` until `end` are over within `moment`, and so soon for their
// length that it does not matter to those of their kernel that wait for their room.
[[nodiscard]] constexpr bool ends_in_a_moment(std::uint64_t from, std::uint64_t end,
                                              std::uint64_t now, std::uint64_t moment) {
  constexpr std::uint64_t share = 100;
  const std::uint64_t left = end - now;
  return from < now && left < moment && left * share < end - from;
}

}  // namespace sb
