#include "engine/transfer.hpp"

#include <algorithm>
#include <cstring>

#include "engine/fault.hpp"

namespace sb::engine {

namespace {

// Between pieces others get a look at `stop`; large enough that it costs nothing.
constexpr std::size_t piece_bytes = 4 << 20;

// Both ends may overlap: a copy onto itself is legal, and CUDA does not define the rest.
void copy_row(char* to, const char* from, std::size_t bytes, const std::atomic<bool>& stop) {
  while (bytes != 0 && !stop.load(std::memory_order_relaxed)) {
    const std::size_t n = std::min(bytes, piece_bytes);
    std::memmove(to, from, n);
    to += n;
    from += n;
    bytes -= n;
  }
}

void copy_all(const copy_operation& c, const std::atomic<bool>& stop) {
  auto* to = static_cast<char*>(c.destination);
  const auto* from = static_cast<const char*>(c.source);
  for (std::size_t z = 0; z < c.depth; ++z) {
    for (std::size_t y = 0; y < c.height; ++y) {
      copy_row(to + z * c.destination_slice + y * c.destination_pitch,
               from + z * c.source_slice + y * c.source_pitch, c.width, stop);
      if (stop.load(std::memory_order_relaxed)) return;
    }
  }
}

void fill_row(char* to, const fill_operation& f, const std::atomic<bool>& stop) {
  if (f.element_size == 1) {
    for (std::size_t left = f.width; left != 0 && !stop.load(std::memory_order_relaxed);) {
      const std::size_t n = std::min(left, piece_bytes);
      std::memset(to, static_cast<int>(f.value & 0xff), n);
      to += n;
      left -= n;
    }
  } else if (f.element_size == 2) {
    const auto value = static_cast<std::uint16_t>(f.value);
    auto* elements = reinterpret_cast<std::uint16_t*>(to);
    std::fill(elements, elements + f.width, value);
  } else {
    auto* elements = reinterpret_cast<std::uint32_t*>(to);
    std::fill(elements, elements + f.width, f.value);
  }
}

void fill_all(const fill_operation& f, const std::atomic<bool>& stop) {
  auto* to = static_cast<char*>(f.destination);
  for (std::size_t z = 0; z < f.depth; ++z) {
    for (std::size_t y = 0; y < f.height; ++y) {
      fill_row(to + z * f.slice + y * f.pitch, f, stop);
      if (stop.load(std::memory_order_relaxed)) return;
    }
  }
}

}  // namespace

failure_record carry_out(const copy_operation& copy, const std::atomic<bool>& stop) {
  return guarded([&] { copy_all(copy, stop); });
}

failure_record carry_out(const fill_operation& fill, const std::atomic<bool>& stop) {
  return guarded([&] { fill_all(fill, stop); });
}

}  // namespace sb::engine
