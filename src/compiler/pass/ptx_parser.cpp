#include "compiler/pass/ptx_parser.hpp"

#include <algorithm>
#include <cctype>
#include <cstdlib>

namespace sb::pass {
namespace {

std::string_view trim(std::string_view text) {
  while (!text.empty() && std::isspace(static_cast<unsigned char>(text.front()))) {
    text.remove_prefix(1);
  }
  while (!text.empty() && std::isspace(static_cast<unsigned char>(text.back()))) {
    text.remove_suffix(1);
  }
  return text;
}

// The text as the programmer wrote it, without comments.
std::string plain_text(std::string_view text) {
  std::string result;
  for (std::size_t i = 0; i < text.size();) {
    if (text.substr(i, 2) == "//") {
      i = std::min(text.find('\n', i), text.size());
    } else if (text.substr(i, 2) == "/*") {
      i = text.find("*/", i);
      i = i == std::string_view::npos ? text.size() : i + 2;
    } else if (text.substr(i, 2) == "$$") {
      result += '$';
      i += 2;
    } else if (text.substr(i, 2) == "$(" || text.substr(i, 2) == "$|" ||
               text.substr(i, 2) == "$)") {
      // How LLVM writes {, | and } where the host's assembler has dialects.
      result += text[i + 1] == '(' ? '{' : text[i + 1] == ')' ? '}' : '|';
      i += 2;
    } else if (text.substr(i, 2) == "${") {
      // ${0:w}: an operand with a modifier of the host's.
      std::size_t end = text.find('}', i);
      std::string_view inside = text.substr(i + 2, end - i - 2);
      result += '$';
      result += inside.substr(0, inside.find(':'));
      i = end == std::string_view::npos ? text.size() : end + 1;
    } else {
      result += text[i++];
    }
  }
  return result;
}

std::vector<std::string_view> split(std::string_view text, char separator) {
  std::vector<std::string_view> pieces;
  int depth = 0;
  std::size_t start = 0;
  for (std::size_t i = 0; i <= text.size(); ++i) {
    if (i == text.size() || (text[i] == separator && depth == 0)) {
      pieces.push_back(trim(text.substr(start, i - start)));
      start = i + 1;
    } else if (text[i] == '{' || text[i] == '[') {
      ++depth;
    } else if (text[i] == '}' || text[i] == ']') {
      --depth;
    }
  }
  return pieces;
}

ptx_operand parse_operand(std::string_view text) {
  ptx_operand operand;
  if (text.starts_with('[')) {
    operand.what = ptx_operand::kind::address;
    std::string_view inside = trim(text.substr(1, text.find(']') - 1));
    std::size_t sign = inside.find_last_of("+-");
    if (sign != std::string_view::npos && sign > 0) {
      std::string number(trim(inside.substr(sign + 1)));
      operand.offset = std::strtoll(number.c_str(), nullptr, 0);
      if (inside[sign] == '-') {
        operand.offset = -operand.offset;
      }
      inside = trim(inside.substr(0, sign));
      // "a + -4"
      if (!inside.empty() && inside.back() == '+') {
        inside = trim(inside.substr(0, inside.size() - 1));
      }
    }
    operand.name = inside;
    return operand;
  }
  if (text.starts_with('{')) {
    operand.what = ptx_operand::kind::vector;
    for (auto element : split(text.substr(1, text.find('}') - 1), ',')) {
      operand.elements.emplace_back(element);
    }
    return operand;
  }
  if (text.starts_with('!')) {
    operand.negated = true;
    text = trim(text.substr(1));
  }
  if (auto bar = text.find('|'); bar != std::string_view::npos) {
    operand.second = trim(text.substr(bar + 1));
    text = trim(text.substr(0, bar));
  }
  operand.name = text;
  return operand;
}

// Braces open and close scopes of registers; names are unique enough without them.
std::string_view without_scopes(std::string_view statement) {
  for (statement = trim(statement); statement.starts_with('{') || statement.starts_with('}');
       statement = trim(statement.substr(1))) {
  }
  return statement;
}

}  // namespace

bool ptx_instruction::has(std::string_view part) const {
  return std::find(parts.begin(), parts.end(), part) != parts.end();
}

ptx_program parse_ptx(std::string_view text) {
  ptx_program program;
  std::string clean = plain_text(text);
  std::string_view rest = clean;
  while (!rest.empty()) {
    std::size_t end = rest.find(';');
    std::string_view statement = without_scopes(rest.substr(0, end));
    rest = end == std::string_view::npos ? std::string_view() : rest.substr(end + 1);
    if (statement.empty() || statement.starts_with(".reg") || statement.starts_with(".pragma")) {
      continue;
    }
    ptx_instruction one;
    if (statement.starts_with('@')) {
      std::size_t space = statement.find_first_of(" \t\n");
      std::string_view guard = statement.substr(1, space - 1);
      if (guard.starts_with('!')) {
        one.guard_negated = true;
        guard.remove_prefix(1);
      }
      one.guard = guard;
      statement = trim(statement.substr(std::min(space, statement.size())));
    }
    std::size_t space = statement.find_first_of(" \t\n");
    one.opcode = statement.substr(0, space);
    if (one.opcode.ends_with(':') || one.opcode.starts_with('.')) {
      program.error = one.opcode;
      return program;
    }
    for (auto part : split(one.opcode, '.')) {
      if (!part.empty() && part.front() == ':') {  // .shared::cta is one part
        continue;
      }
      one.parts.emplace_back(part.substr(0, part.find(':')));
    }
    if (space != std::string_view::npos) {
      for (auto operand : split(statement.substr(space), ',')) {
        if (!operand.empty()) {
          one.operands.push_back(parse_operand(operand));
        }
      }
    }
    program.instructions.push_back(std::move(one));
  }
  return program;
}

}  // namespace sb::pass
