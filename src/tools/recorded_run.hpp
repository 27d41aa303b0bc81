// A recorded run, read and explained as the subcommands do it.
#pragma once

#include <string>
#include <string_view>

#include "analysis/explain.hpp"
#include "base/outcome.hpp"
#include "trace/trace.hpp"

namespace sb::tools {

// Long files show on a terminal how far it is.
[[nodiscard]] outcome<trace::trace> read_run(const std::string& path);

// The exit status of a command that read all there is of a trace and wrote what it was asked for:
// 0, or 3 with a message when the trace stops before the end of its program.
[[nodiscard]] int status_of(const trace::trace& run, std::string_view command);
inline constexpr std::string_view about_status_3 =
    "The exit status is 3 when the trace stops early: what it has is written all the same.";

// Long runs show on a terminal how far it is.
[[nodiscard]] analysis::explanation explain_run(const trace::trace& run);

}  // namespace sb::tools
