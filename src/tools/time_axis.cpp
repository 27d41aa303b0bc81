#include "time_axis.hpp"

#include <fmt/format.h>

#include <algorithm>

namespace sb::tools {

std::vector<axis_tick> axis_ticks(trace::nanoseconds end, int most) {
  const auto intervals = static_cast<trace::nanoseconds>(std::max(most - 1, 1));
  trace::nanoseconds step = 1;
  for (int i = 0; end / step > intervals; ++i)
    step = step / (i % 3 == 1 ? 2 : 1) * (i % 3 == 1 ? 5 : 2);

  struct unit {
    trace::nanoseconds size;
    const char* name;
  };
  unit used{1, "ns"};
  for (const unit candidate : {unit{1000, "us"}, unit{1000000, "ms"}, unit{1000000000, "s"}}) {
    // Half a unit reads well; less does not.
    if (step * 2 >= candidate.size || end >= candidate.size * 1000) used = candidate;
  }
  int decimals = 0;
  for (trace::nanoseconds part = used.size; step % part != 0 && part > 1; part /= 10) ++decimals;
  std::vector<axis_tick> ticks;
  for (trace::nanoseconds time = 0;; time += step) {
    const double value = static_cast<double>(time) / static_cast<double>(used.size);
    ticks.push_back(
        {time, time == 0 ? "0" : fmt::format("{:.{}f} {}", value, decimals, used.name)});
    if (end - time < step) break;  // so far, and not further: the largest time has no next
  }
  return ticks;
}

std::string with_micro_sign(std::string text) {
  if (const auto at = text.find(" us"); at != std::string::npos) text.replace(at + 1, 2, "µs");
  return text;
}

}  // namespace sb::tools
