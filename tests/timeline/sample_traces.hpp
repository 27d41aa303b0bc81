// Traces made by hand: what a run of a small program would record, and one with very many
// operations.
#pragma once

#include "tools/timeline_notes.hpp"
#include "trace/trace.hpp"

namespace sb::testing {

// A program that copies in, computes and copies out on three streams of one device, with an event
// between two of them, a host function and an NVTX range.
[[nodiscard]] trace::trace small_trace();
[[nodiscard]] tools::timeline_notes small_notes();

// `operations` pieces of work on sixteen streams, kernels up to four at a time.
[[nodiscard]] trace::trace large_trace(std::size_t operations);

// A wait that nothing ends, and an operation that was cut off by the end of the recording.
[[nodiscard]] trace::trace hung_trace();

}  // namespace sb::testing
