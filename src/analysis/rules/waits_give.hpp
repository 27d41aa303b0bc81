// What a thread's waits give the host: what is over at the end of one and was not known to be over
// before, as far as that uses memory of the host.
#pragma once

#include <cstdint>

#include "analysis/rules/rules.hpp"

namespace sb::analysis {

// evidence::given_by_waits. What a call brings itself, as a copy that returns when it is done, does
// not count.
enum class given : std::uint8_t {
  nothing,  // only the device's own work
  memory,   // the device has read it, and the host may use it again
  results,
};

// It takes from memory that the host may have written just before.
[[nodiscard]] bool gets_from_host(const trace::trace& t, const trace::operation& o);

}  // namespace sb::analysis
