// Small text helpers of the driver, and how it stops with a message.
#pragma once

#include <stdexcept>
#include <string>
#include <string_view>
#include <vector>

namespace sb::nvcc {

using arguments = std::vector<std::string>;

// Ends the driver with `nvcc fatal   : message` and exit status 1: the wording that scripts look
// for.
struct fatal_error : std::runtime_error {
  using std::runtime_error::runtime_error;
};

// Ends the driver with this status and no more words: a tool that failed has said why.
struct tool_failed {
  int status;
};

[[nodiscard]] arguments split(std::string_view text, char separator);

// nvcc's lists: separated by commas, `\,` is a comma that does not separate.
[[nodiscard]] arguments split_list(std::string_view text);

// Splits at blanks the way a shell does: quotes group, a backslash takes the next character.
[[nodiscard]] arguments split_words(std::string_view text);

[[nodiscard]] bool starts_with(std::string_view text, std::string_view prefix);
[[nodiscard]] bool ends_with(std::string_view text, std::string_view suffix);

// `text` as one word of a shell command line.
[[nodiscard]] std::string shell_quoted(std::string_view text);

[[nodiscard]] std::string read_file(const std::string& path);  // throws fatal_error
void write_file(const std::string& path, std::string_view content);

[[nodiscard]] std::string hexadecimal_hash(std::string_view text);

}  // namespace sb::nvcc
