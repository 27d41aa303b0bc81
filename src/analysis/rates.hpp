// How long a copy takes from or to pinned memory.
#pragma once

#include "analysis/program.hpp"

namespace sb::analysis {

// This copy with pinned memory: as the device's profile has it where the trace says so, otherwise
// taken from the pinned copies of the trace in that direction, or else from what an H200 does.
[[nodiscard]] nanoseconds pinned_copy_time(const trace::trace& t, const trace::operation& copy);

// The host's own part of an asynchronous copy.
[[nodiscard]] nanoseconds async_copy_call_time(const trace::trace& t);

}  // namespace sb::analysis
