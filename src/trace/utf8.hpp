// Texts of a program may be any bytes; what is written of them has to be UTF-8.
#pragma once

#include <cstddef>
#include <string>
#include <string_view>

namespace sb::trace {

// The text with U+FFFD for each byte that is not of a character, and for U+FFFE and U+FFFF, which
// are none.
[[nodiscard]] std::string valid_utf8(std::string_view text);

// For people: control characters, and those that turn the direction of writing, as \n, \x1b or
// \u202e. A terminal would obey them.
[[nodiscard]] std::string visible(std::string_view text);

// Characters, not bytes.
[[nodiscard]] std::size_t columns(std::string_view text);
// At most so many columns; of a longer text the beginning, with `more` behind it.
[[nodiscard]] std::string shortened(std::string_view text, std::size_t width,
                                    std::string_view more = "…");

}  // namespace sb::trace
