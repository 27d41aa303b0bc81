// What threads bring to the meetings of resumption.hpp.
#pragma once

#include <cstdint>

namespace sb::pass {

// In the total of a meeting: who is there, and in the lower bits for whom the predicate holds. Who
// waits for the other blocks counts there twice, so that more than all say that some do. A block
// has 1024 threads at most.
inline constexpr unsigned there_shift = 16;
inline constexpr unsigned holds_mask = 0xffff;
inline constexpr std::uint32_t one_there = 1u << there_shift;
inline constexpr std::uint32_t one_for_grid = one_there + 2;

// What else a meeting tells: that somebody spins, got on since the one before, waits in a warp
// operation, came there on its way round a loop in vain, sleeps, or has just begun to.
inline constexpr std::uint32_t spins_flag = 1, moved_flag = 2, in_warp_flag = 4, in_vain_flag = 8,
                               sleeps_flag = 16, naps_flag = 32;

}  // namespace sb::pass
