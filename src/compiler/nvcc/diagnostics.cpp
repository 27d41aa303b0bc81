#include "diagnostics.hpp"

#include <cctype>
#include <string_view>
#include <unordered_set>
#include <vector>

#include "text.hpp"

namespace sb::nvcc {
namespace {

// Without colours, which come and go around the words.
std::string plain(std::string_view line) {
  std::string out;
  for (std::size_t i = 0; i < line.size(); ++i) {
    if (line[i] == '\033') {
      while (i < line.size() && !std::isalpha(static_cast<unsigned char>(line[i]))) ++i;
      continue;
    }
    out += line[i];
  }
  return out;
}

bool is_count(const std::string& line) {
  return !line.empty() && std::isdigit(static_cast<unsigned char>(line[0])) &&
         line.find(" generated") != std::string::npos &&
         (line.find(" warning") != std::string::npos || line.find(" error") != std::string::npos);
}

bool is_include_stack(const std::string& line) {
  return starts_with(line, "In file included from ") || starts_with(line, "In module ");
}

// A line that begins a message. Notes belong to the message before them.
bool is_head(const std::string& line) {
  for (const char* kind : {": error: ", ": warning: ", ": fatal error: ", ": remark: "})
    if (const std::size_t at = line.find(kind); at != std::string::npos)
      return line.find_first_of(" \t") > 0 && line[0] != ' ' && line.find(" | ") > at;
  return false;
}

std::vector<std::string> messages_of(const std::string& text) {
  std::vector<std::string> messages;
  bool stack = false;  // the lines before belong to the head that follows
  for (const std::string& line : split(text, '\n')) {
    const std::string words = plain(line);
    if (is_count(words)) continue;
    if (line.empty() && messages.empty()) continue;
    const bool begins_stack = is_include_stack(words) && !stack;
    const bool begins = begins_stack || (is_head(words) && !stack);
    if (begins || messages.empty()) messages.emplace_back();
    messages.back() += line + '\n';
    if (is_include_stack(words))
      stack = true;
    else if (is_head(words) || words.find(": note: ") != std::string::npos)
      stack = false;
  }
  for (std::string& message : messages)
    while (message.size() > 1 && message[message.size() - 1] == '\n' &&
           message[message.size() - 2] == '\n')
      message.pop_back();
  return messages;
}

bool is_error(const std::string& line) {
  return is_head(line) && (line.find(": error: ") != std::string::npos ||
                           line.find(": fatal error: ") != std::string::npos);
}

// `   12 | # include "missing.h"`, the source line that a message shows.
bool shows_directive(const std::string& line) {
  const std::size_t bar = line.find_first_not_of(" 0123456789");
  if (bar == std::string::npos || bar == 0 || line[bar] != '|') return false;
  const std::size_t first = line.find_first_not_of(" \t", bar + 1);
  return first != std::string::npos && line[first] == '#';
}

}  // namespace

int exit_status(const std::string& errors) {
  bool shown = true;  // the source line of the last error
  for (const std::string& each : split(errors, '\n')) {
    const std::string line = plain(each);
    if (is_error(line)) {
      shown = false;
    } else if (!shown && line.find(" | ") != std::string::npos) {
      if (shows_directive(line)) return 1;
      shown = true;
    }
  }
  return 2;
}

std::string merge_diagnostics(const std::string& device, const std::string& host) {
  std::string out;
  std::unordered_set<std::string> said;
  for (const std::string* text : {&device, &host}) {
    if (text->empty()) continue;
    for (const std::string& message : messages_of(*text))
      if (message != "\n" && said.insert(plain(message)).second) out += message;
  }
  return out;
}

}  // namespace sb::nvcc
