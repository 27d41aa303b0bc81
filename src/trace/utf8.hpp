// Texts of a program may be any bytes; what is written of them has to be UTF-8.
#pragma once

#include <string>
#include <string_view>

namespace sb::trace {

// The text with U+FFFD for each byte that is not of a character, and for U+FFFE and U+FFFF, which
// are none.
[[nodiscard]] std::string valid_utf8(std::string_view text);

}  // namespace sb::trace
