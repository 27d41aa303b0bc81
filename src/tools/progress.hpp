// A bar on the terminal while a large trace is read or explained.
#pragma once

#include <cstdint>
#include <functional>
#include <string>

namespace sb::tools {

using progress = std::function<void(std::uint64_t done, std::uint64_t total)>;

enum class is_long : bool { no, yes };

// Draws on stderr when that is a terminal and the work is long; nothing is left behind.
[[nodiscard]] progress progress_bar(std::string what, is_long work);

}  // namespace sb::tools
