// Columns of numbers as text; the format is in timeline_page.hpp.
#pragma once

#include <cstdint>
#include <string>

namespace sb::tools {

class column_writer {
 public:
  void add(std::uint64_t value) { put(value + 1); }
  void add_none() { put(0); }
  // 0xffffffff and 2^64 - 1 are "none" in a trace.
  void add_number(std::uint32_t value) {
    put(std::uint64_t{static_cast<std::uint32_t>(value + 1)});
  }
  void add_time(std::uint64_t value) { put(value + 1); }

  // Base64 of everything that was added.
  [[nodiscard]] std::string text();

 private:
  void put(std::uint64_t value);
  void put_varint(std::uint64_t value);
  void end_run();

  std::string bytes_;
  std::uint64_t last_ = 0, run_ = 0;
};

}  // namespace sb::tools
