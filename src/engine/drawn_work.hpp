// Work that blocks draw from a counter. The block that ran first drew all of it; on a device it
// spreads over the blocks that are there.
#pragma once

#include <cstdint>

#include "engine/draw_trace.hpp"
#include "model/timing_profile.hpp"

namespace sb::engine {

struct resident_blocks {
  std::uint64_t blocks = 0;           // at once
  std::uint64_t multiprocessors = 1;  // of the device
};

// How many times the average the one has that has the most.
struct unevenness {
  double drawer = 1;          // whoever draws
  double multiprocessor = 1;  // all that are on one
};
// Whoever is done draws the next item. `times`: the items that are known stand for so many.
[[nodiscard]] unevenness uneven_draws(const drawn_items& items, double times,
                                      const resident_blocks& there);

// Whether there are fewer items than drawers.
[[nodiscard]] bool is_left_out(const drawn_items& items, const resident_blocks& there);

// What each of the blocks does that are there when the work begins. `all`: the block that drew;
// `rest`: one that found nothing left.
[[nodiscard]] block_work spread_draws(const block_work& all, const block_work& rest,
                                      const drawn_items& items, const resident_blocks& there);

}  // namespace sb::engine
