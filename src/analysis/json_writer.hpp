// Writes JSON piece by piece: members in the order in which they come, two spaces a level.
#pragma once

#include <cstdint>
#include <string>
#include <string_view>

namespace sb::analysis {

class json_writer {
 public:
  void begin_object(std::string_view name = {}) { open(name, '{'); }
  void end_object() { close('}'); }
  void begin_array(std::string_view name = {}) { open(name, '['); }
  void end_array() { close(']'); }

  void member(std::string_view name, std::string_view text);
  void member(std::string_view name, const char* text) { member(name, std::string_view(text)); }
  void member(std::string_view name, std::uint64_t value);
  void member(std::string_view name, bool value);
  void fraction(std::string_view name, double value);  // three digits behind the point

  [[nodiscard]] const std::string& text() const { return text_; }

 private:
  void open(std::string_view name, char bracket);
  void close(char bracket);
  void separate(std::string_view name);
  void quote(std::string_view text);

  std::string text_;
  int level_ = 0;
  bool first_ = true;
};

}  // namespace sb::analysis
