#include "trace/utf8.hpp"

#include <algorithm>
#include <cstdint>
#include <cstdio>

namespace sb::trace {

namespace {

// The length of the character that a text begins with; 0: it begins with none.
std::size_t character_at(std::string_view text) {
  const auto byte = [&](std::size_t i) { return static_cast<unsigned char>(text[i]); };
  const unsigned first = byte(0);
  if (first < 0x80) return 1;
  const std::size_t length = first < 0xc2   ? 0
                             : first < 0xe0 ? 2
                             : first < 0xf0 ? 3
                             : first < 0xf5 ? 4
                                            : 0;
  if (length == 0 || text.size() < length) return 0;
  std::uint32_t code = first & (0x7fU >> length);
  for (std::size_t i = 1; i < length; ++i) {
    if ((byte(i) & 0xc0U) != 0x80) return 0;
    code = code << 6U | (byte(i) & 0x3fU);
  }
  const bool too_long = code < (length == 3 ? 0x800U : length == 4 ? 0x10000U : 0x80U);
  const bool surrogate = code >= 0xd800 && code < 0xe000;
  return too_long || surrogate || code > 0x10ffff || code == 0xfffe || code == 0xffff ? 0 : length;
}

// The number of a character that is whole.
std::uint32_t code_of(std::string_view character) {
  if (character.size() == 1) return static_cast<unsigned char>(character[0]);
  std::uint32_t code = static_cast<unsigned char>(character[0]) & (0x7fU >> character.size());
  for (const char c : character.substr(1))
    code = code << 6U | (static_cast<unsigned char>(c) & 0x3fU);
  return code;
}

std::string visible_character(std::string_view character) {
  const std::uint32_t code = code_of(character);
  const bool is_control = code < 0x20 || (code >= 0x7f && code < 0xa0);
  const bool turns = code == 0x200e || code == 0x200f || (code >= 0x2028 && code <= 0x202e) ||
                     (code >= 0x2066 && code <= 0x2069);
  if (!is_control && !turns) return std::string(character);
  if (code == '\n') return "\\n";
  if (code == '\t') return "\\t";
  char text[16];
  std::snprintf(text, sizeof text, is_control ? "\\x%02x" : "\\u%04x", code);
  return text;
}

}  // namespace

std::string valid_utf8(std::string_view text) {
  if (std::all_of(text.begin(), text.end(), [](unsigned char c) { return c < 0x80; })) {
    return std::string(text);
  }
  std::string out;
  while (!text.empty()) {
    const std::size_t length = character_at(text);
    out += length == 0 ? std::string_view("\xef\xbf\xbd") : text.substr(0, length);
    text.remove_prefix(std::max<std::size_t>(length, 1));
  }
  return out;
}

std::string visible(std::string_view text) {
  std::string out;
  while (!text.empty()) {
    const std::size_t length = std::max<std::size_t>(character_at(text), 1);
    out += visible_character(text.substr(0, length));
    text.remove_prefix(length);
  }
  return out;
}

std::size_t columns(std::string_view text) {
  return static_cast<std::size_t>(
      std::count_if(text.begin(), text.end(), [](char c) { return (c & 0xc0) != 0x80; }));
}

std::string shortened(std::string_view text, std::size_t width, std::string_view more) {
  if (columns(text) <= width) return std::string(text);
  const std::size_t keep = width - columns(more);
  std::size_t end = 0, taken = 0;
  while (end < text.size() && ((text[end] & 0xc0) == 0x80 || taken++ < keep)) ++end;
  return std::string(text.substr(0, end)) + std::string(more);
}

}  // namespace sb::trace
