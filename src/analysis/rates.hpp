// How long a copy takes from or to pinned memory.
#pragma once

#include "analysis/program.hpp"

namespace sb::analysis {

// Taken from the pinned copies of the trace itself where it has some in that direction, otherwise
// from what an H200 does.
[[nodiscard]] nanoseconds pinned_copy_time(const trace::trace& t, copy_direction direction,
                                           std::uint64_t bytes);

// The host's own part of an asynchronous copy.
[[nodiscard]] nanoseconds async_copy_call_time(const trace::trace& t);

}  // namespace sb::analysis
