// A memory of its own for every test: two devices of 1 GiB each, with nothing used at the start.
#pragma once

#include "engine/memory.hpp"

namespace sb::engine::test {

inline constexpr std::size_t kib = 1024, mib = 1024 * kib, gib = 1024 * mib;
inline constexpr device_id first{0}, second{1};

inline memory_settings small_devices(heap_check check = heap_check::none) {
  return {[](device_id) { return memory_capacity{gib, 0}; }, check};
}

// Whether a page can be written: asked of the kernel, not tried.
bool is_writable(const void* address);

}  // namespace sb::engine::test
