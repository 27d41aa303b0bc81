// Round times for an axis: steps of 1, 2 or 5 in a unit that fits.
#pragma once

#include <string>
#include <vector>

#include "trace/trace.hpp"

namespace sb::tools {

struct axis_tick {
  trace::nanoseconds time = 0;
  std::string label;  // "200 us"; the first is "0"
};

// At most `most` ticks from 0 to `end`.
[[nodiscard]] std::vector<axis_tick> axis_ticks(trace::nanoseconds end, int most);

// "20 us" as "20 µs".
[[nodiscard]] std::string with_micro_sign(std::string text);

}  // namespace sb::tools
