// Protocol buffers, as far as writing them needs: fields of a message one after the other.
#pragma once

#include <string>
#include <string_view>

#include "trace/encoding.hpp"

namespace sb::trace {

class proto_message {
 public:
  void number(unsigned field, std::uint64_t value) {
    varint(field << 3);
    varint(value);
  }
  void fixed(unsigned field, std::uint64_t value) {
    varint(field << 3 | 1);
    byte buffer[8];
    put_fixed(buffer, value);
    bytes_.append(reinterpret_cast<const char*>(buffer), sizeof buffer);
  }
  void text(unsigned field, std::string_view value) {
    varint(field << 3 | 2);
    varint(value.size());
    bytes_.append(value);
  }
  void message(unsigned field, const proto_message& value) { text(field, value.bytes_); }
  [[nodiscard]] std::string_view bytes() const { return bytes_; }
  [[nodiscard]] bool empty() const { return bytes_.empty(); }
  void clear() { bytes_.clear(); }

 private:
  void varint(std::uint64_t value) {
    byte buffer[10];
    bytes_.append(reinterpret_cast<const char*>(buffer),
                  static_cast<std::size_t>(put_varint(buffer, value) - buffer));
  }
  std::string bytes_;
};

}  // namespace sb::trace
