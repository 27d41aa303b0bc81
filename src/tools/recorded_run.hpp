// A recorded run, read and explained as the subcommands do it.
#pragma once

#include <string>

#include "analysis/explain.hpp"
#include "base/outcome.hpp"
#include "trace/trace.hpp"

namespace sb::tools {

// Long files show on a terminal how far it is.
[[nodiscard]] outcome<trace::trace> read_run(const std::string& path);

// Takes the run for one of this machine.
[[nodiscard]] analysis::explanation explain_run(const trace::trace& run);

}  // namespace sb::tools
