#include "analysis/json_writer.hpp"

#include <fmt/format.h>

namespace sb::analysis {

void json_writer::separate(std::string_view name) {
  if (!first_) text_ += ',';
  if (level_ > 0) {
    text_ += '\n';
    text_.append(static_cast<std::size_t>(level_) * 2, ' ');
  }
  first_ = false;
  if (!name.empty()) {
    quote(name);
    text_ += ": ";
  }
}

void json_writer::open(std::string_view name, char bracket) {
  separate(name);
  text_ += bracket;
  ++level_;
  first_ = true;
}

void json_writer::close(char bracket) {
  --level_;
  if (!first_) {
    text_ += '\n';
    text_.append(static_cast<std::size_t>(level_) * 2, ' ');
  }
  text_ += bracket;
  first_ = false;
}

void json_writer::quote(std::string_view text) {
  text_ += '"';
  for (const char c : text) {
    switch (c) {
      case '"':
        text_ += "\\\"";
        break;
      case '\\':
        text_ += "\\\\";
        break;
      case '\n':
        text_ += "\\n";
        break;
      default:
        if (static_cast<unsigned char>(c) < 0x20) {
          text_ += fmt::format("\\u{:04x}", static_cast<unsigned>(c));
        } else {
          text_ += c;
        }
    }
  }
  text_ += '"';
}

void json_writer::member(std::string_view name, std::string_view text) {
  separate(name);
  quote(text);
}

void json_writer::member(std::string_view name, std::uint64_t value) {
  separate(name);
  text_ += fmt::format("{}", value);
}

void json_writer::member(std::string_view name, bool value) {
  separate(name);
  text_ += value ? "true" : "false";
}

void json_writer::fraction(std::string_view name, double value) {
  separate(name);
  text_ += fmt::format("{:.3f}", value);
}

}  // namespace sb::analysis
