#include "lexer.hpp"

#include <cctype>
#include <string>
#include <utility>

namespace sb::nvcc {
namespace {

bool is_word_start(char c) {
  return std::isalpha(static_cast<unsigned char>(c)) || c == '_' || c == '$' ||
         static_cast<unsigned char>(c) >= 0x80;
}

bool is_word(char c) { return is_word_start(c) || std::isdigit(static_cast<unsigned char>(c)); }

class lexer {
 public:
  explicit lexer(std::string_view source) : source_(source) {}

  std::vector<token> run() {
    while (at_ < source_.size()) step();
    return std::move(tokens_);
  }

 private:
  [[nodiscard]] char peek(std::size_t ahead = 0) const {
    return at_ + ahead < source_.size() ? source_[at_ + ahead] : '\0';
  }

  void emit(token_kind kind, std::size_t begin) { tokens_.push_back({kind, begin, at_}); }

  void step() {
    const char c = peek();
    const std::size_t begin = at_;
    if (std::isspace(static_cast<unsigned char>(c)) || (c == '\\' && peek(1) == '\n')) {
      ++at_;
    } else if (c == '/' && peek(1) == '/') {
      skip_line_comment();
    } else if (c == '/' && peek(1) == '*') {
      const std::size_t end = source_.find("*/", at_ + 2);
      at_ = end == std::string_view::npos ? source_.size() : end + 2;
    } else if (c == '"') {
      quoted('"');
      emit(token_kind::string, begin);
    } else if (c == '\'') {
      quoted('\'');
      emit(token_kind::character, begin);
    } else if (is_word_start(c)) {
      word(begin);
    } else if (std::isdigit(static_cast<unsigned char>(c)) ||
               (c == '.' && std::isdigit(static_cast<unsigned char>(peek(1))))) {
      number();
      emit(token_kind::number, begin);
    } else {
      ++at_;
      emit(token_kind::punctuation, begin);
    }
  }

  void skip_line_comment() {
    while (at_ < source_.size() && peek() != '\n') at_ += peek() == '\\' ? 2 : 1;
  }

  void quoted(char quote) {
    ++at_;
    while (at_ < source_.size() && peek() != quote && peek() != '\n') at_ += peek() == '\\' ? 2 : 1;
    if (at_ < source_.size() && peek() == quote) ++at_;
    if (at_ > source_.size()) at_ = source_.size();
  }

  void word(std::size_t begin) {
    while (is_word(peek())) ++at_;
    const std::string_view text = source_.substr(begin, at_ - begin);
    const bool raw = text == "R" || text == "LR" || text == "uR" || text == "UR" || text == "u8R";
    if (raw && peek() == '"') {
      const std::size_t open = source_.find('(', at_);
      if (open != std::string_view::npos) {
        std::string close = ")";
        close += source_.substr(at_ + 1, open - at_ - 1);
        close += '"';
        const std::size_t end = source_.find(close, open);
        at_ = end == std::string_view::npos ? source_.size() : end + close.size();
        return emit(token_kind::raw_string, begin);
      }
    }
    const bool prefix = text == "L" || text == "u" || text == "U" || text == "u8";
    if (prefix && peek() == '"') {
      quoted('"');
      return emit(token_kind::string, begin);
    }
    if (prefix && peek() == '\'') {
      quoted('\'');
      return emit(token_kind::character, begin);
    }
    emit(token_kind::word, begin);
  }

  void number() {
    while (true) {
      const char c = peek();
      if (is_word(c) || c == '.') {
        ++at_;
        const bool exponent = c == 'e' || c == 'E' || c == 'p' || c == 'P';
        if (exponent && (peek() == '+' || peek() == '-')) ++at_;
      } else if (c == '\'' && is_word(peek(1))) {
        at_ += 2;
      } else {
        return;
      }
    }
  }

  std::string_view source_;
  std::size_t at_ = 0;
  std::vector<token> tokens_;
};

}  // namespace

std::vector<token> tokens_of(std::string_view source) { return lexer(source).run(); }

std::vector<std::string_view> includes_of(std::string_view source) {
  std::vector<std::string_view> names;
  std::size_t at = 0;
  while (at < source.size()) {
    std::size_t end = source.find('\n', at);
    if (end == std::string_view::npos) end = source.size();
    std::string_view line = source.substr(at, end - at);
    at = end + 1;
    const auto skip_blanks = [&] {
      while (!line.empty() && (line[0] == ' ' || line[0] == '\t')) line.remove_prefix(1);
    };
    skip_blanks();
    if (line.empty() || line[0] != '#') continue;
    line.remove_prefix(1);
    skip_blanks();
    if (line.substr(0, 7) != "include") continue;
    line.remove_prefix(7);
    skip_blanks();
    if (line.empty() || (line[0] != '"' && line[0] != '<')) continue;
    const std::size_t close = line.find(line[0] == '"' ? '"' : '>', 1);
    if (close != std::string_view::npos) names.push_back(line.substr(0, close + 1));
  }
  return names;
}

}  // namespace sb::nvcc
