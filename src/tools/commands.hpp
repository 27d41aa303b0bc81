// The subcommands, each in its own file.
#pragma once

#include "subcommand.hpp"

namespace sb::tools {

[[nodiscard]] subcommand& run_subcommand();
[[nodiscard]] subcommand& device_subcommand();
[[nodiscard]] subcommand& doctor_subcommand();
[[nodiscard]] subcommand& explain_subcommand();
[[nodiscard]] subcommand& export_subcommand();
[[nodiscard]] subcommand& timeline_subcommand();

}  // namespace sb::tools
