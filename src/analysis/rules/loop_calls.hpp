// What the rules about calls in a loop share.
#pragma once

#include <span>
#include <vector>

#include "analysis/rules/rules.hpp"

namespace sb::analysis {

[[nodiscard]] std::vector<number> calls_of(const program& p, const repeated_call& r);

// The further calls of a turn.
[[nodiscard]] std::span<const std::size_t> beside(const repeated_call& r, std::size_t turn);

// A finding of these calls, with what they took in all.
void add_loop(const evidence& e, finding& f, const std::vector<number>& calls, nanoseconds cost);

}  // namespace sb::analysis
