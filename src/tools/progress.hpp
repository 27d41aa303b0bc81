// A bar on the terminal while a large trace is read.
#pragma once

#include "trace/reader.hpp"

namespace sb::tools {

// Draws on stderr when that is a terminal and the file is worth it; nothing is left behind.
[[nodiscard]] trace::read_progress progress_bar();

}  // namespace sb::tools
