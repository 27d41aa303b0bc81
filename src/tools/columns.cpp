#include "columns.hpp"

namespace sb::tools {

void column_writer::put_varint(std::uint64_t value) {
  while (value >= 0x80) {
    bytes_.push_back(static_cast<char>(value | 0x80));
    value >>= 7;
  }
  bytes_.push_back(static_cast<char>(value));
}

void column_writer::end_run() {
  if (run_ == 0) return;
  bytes_.push_back('\0');
  put_varint(run_);
  run_ = 0;
}

void column_writer::put(std::uint64_t value) {
  if (value == last_) {
    ++run_;
    return;
  }
  end_run();
  const std::int64_t difference = static_cast<std::int64_t>(value - last_);
  put_varint((static_cast<std::uint64_t>(difference) << 1) ^
             static_cast<std::uint64_t>(difference >> 63));
  last_ = value;
}

std::string column_writer::text() {
  end_run();
  static constexpr char digits[] =
      "ABCDEFGHIJKLMNOPQRSTUVWXYZabcdefghijklmnopqrstuvwxyz0123456789+/";
  std::string text;
  text.reserve((bytes_.size() + 2) / 3 * 4);
  for (std::size_t i = 0; i < bytes_.size(); i += 3) {
    const std::size_t left = bytes_.size() - i;
    const auto byte = [&](std::size_t n) {
      return n < left ? static_cast<unsigned char>(bytes_[i + n]) : 0u;
    };
    const std::uint32_t three = byte(0) << 16 | byte(1) << 8 | byte(2);
    text.push_back(digits[three >> 18]);
    text.push_back(digits[three >> 12 & 63]);
    text.push_back(left > 1 ? digits[three >> 6 & 63] : '=');
    text.push_back(left > 2 ? digits[three & 63] : '=');
  }
  return text;
}

}  // namespace sb::tools
