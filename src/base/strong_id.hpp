// Integers that cannot be mixed up: stream_id and device_id are different types.
#pragma once

#include <compare>
#include <cstdint>
#include <functional>

namespace sb {

template <class Tag, class Int = std::uint32_t>
struct strong_id {
  static constexpr Int none_value = static_cast<Int>(-1);

  Int value = none_value;

  [[nodiscard]] constexpr bool valid() const { return value != none_value; }
  friend constexpr auto operator<=>(strong_id, strong_id) = default;
};

}  // namespace sb

template <class Tag, class Int>
struct std::hash<sb::strong_id<Tag, Int>> {
  std::size_t operator()(sb::strong_id<Tag, Int> id) const noexcept {
    return std::hash<Int>{}(id.value);
  }
};
