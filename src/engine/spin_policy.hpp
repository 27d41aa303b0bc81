// How often blocks that spin on memory are looked at again. A spinner may wait for another block,
// which wants it back at once, or for the host, which wants the cores; the longer nothing moves,
// the more the second is likely.
#pragma once

#include <algorithm>
#include <cstdint>

namespace sb::engine {

// Nanoseconds between two rounds over all spinning blocks. `still`: since anything last moved;
// `round`: what the last round cost; `others_ready`: other blocks wait for a worker.
inline std::uint64_t spin_pause_ns(std::uint64_t still, std::uint64_t round, bool others_ready) {
  // The share of one core: all of it at first, an eighth in the end.
  std::uint64_t idle_parts = still < 200'000      ? 0
                             : still < 2'000'000  ? 1
                             : still < 10'000'000 ? 3
                                                  : 7;
  if (others_ready) idle_parts = std::max<std::uint64_t>(idle_parts, 3);
  const std::uint64_t longest = still < 1'000'000'000 ? 100'000 : 250'000;
  return std::max(std::min(still / 16, longest), idle_parts * round);
}

}  // namespace sb::engine
