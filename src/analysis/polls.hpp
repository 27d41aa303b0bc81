// A host that asks again and again whether work is done is a host that waits for it.
#pragma once

#include <cstdint>
#include <optional>

#include "trace/trace.hpp"

namespace sb::analysis {

// Fewer questions in a row are no loop.
inline constexpr std::uint64_t least_looks = 2;
// cudaEventQuery or cudaStreamQuery that was told "not ready".
[[nodiscard]] bool is_vain_question(const trace::call& c);

// The trace with every such loop as one call that waited: two calls or more of cudaEventQuery or
// cudaStreamQuery, one right after the other in their thread, that were told "not ready", and the
// one behind them. The first has the time of all; the others belong to no thread any more. Nothing
// when there is none.
[[nodiscard]] std::optional<trace::trace> with_polls_as_waits(const trace::trace& recorded);

}  // namespace sb::analysis
