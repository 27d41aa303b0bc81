// C++ source text as tokens with their places, as far as rewriting needs them.
#pragma once

#include <cstddef>
#include <string_view>
#include <vector>

namespace sb::nvcc {

enum class token_kind { word, number, string, raw_string, character, punctuation };

// Punctuation comes one character at a time; comments and white space do not come at all.
struct token {
  token_kind kind;
  std::size_t begin, end;
};

[[nodiscard]] std::vector<token> tokens_of(std::string_view source);

// The names after #include, with their quotes or angle brackets.
[[nodiscard]] std::vector<std::string_view> includes_of(std::string_view source);

}  // namespace sb::nvcc
