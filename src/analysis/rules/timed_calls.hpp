// Calls whose end the program measures: it needs them for that, whatever else they are for.
#pragma once

#include "analysis/rules/rules.hpp"

namespace sb::analysis {

// The thread reads a clock behind the call, before it issues anything else. Known in modelled time.
[[nodiscard]] bool is_timed(const evidence& e, number thread, std::size_t call);
// So it does in most turns.
[[nodiscard]] bool times_turns(const evidence& e, const repeated_call& r);
// It reads one directly in front of the call as well as directly behind it, in most turns: the
// program measures how long the call takes.
[[nodiscard]] bool measures_call(const evidence& e, const repeated_call& r);

}  // namespace sb::analysis
