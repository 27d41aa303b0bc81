// How long calls take, and copies from or to pinned memory.
#pragma once

#include "analysis/program.hpp"
#include "model/timing_profile.hpp"

namespace sb::analysis {

// The device's, where the trace names one, or else an H200's.
[[nodiscard]] const timing_profile& timing_or_h200(const trace::trace& t);

// This copy with pinned memory: as the device's profile has it where the trace says so, otherwise
// taken from the pinned copies of the trace in that direction, or else from what an H200 does.
[[nodiscard]] nanoseconds pinned_copy_time(const trace::trace& t, const trace::operation& copy);

// The host's own part of an asynchronous copy.
[[nodiscard]] nanoseconds async_copy_call_time(const trace::trace& t);

}  // namespace sb::analysis
