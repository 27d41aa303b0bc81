// Kernels that launches found lately, by their stub: found again without a lock.
//
// Thread safety: find() from any thread; the rest from one at a time.
#pragma once

#include <array>
#include <atomic>
#include <cstddef>
#include <cstdint>

#include "base/device_abi.hpp"
#include "model/ids.hpp"

namespace sb::engine {

// A place is empty while it changes.
class found_kernels {
 public:
  [[nodiscard]] const abi::kernel_info* find(const void* stub, device_id device) {
    place& p = places_[number_of(stub)];
    const std::uint64_t key = key_of(stub, device);
    if (p.key.load(std::memory_order_acquire) != key) return nullptr;
    const abi::kernel_info* info = p.info.load(std::memory_order_acquire);
    return p.key.load(std::memory_order_relaxed) == key ? info : nullptr;
  }
  void note(const void* stub, device_id device, const abi::kernel_info* info) {
    place& p = places_[number_of(stub)];
    p.key.store(0, std::memory_order_relaxed);
    p.info.store(info, std::memory_order_release);
    p.key.store(key_of(stub, device), std::memory_order_release);
  }
  void forget() {
    for (place& p : places_) p.key.store(0, std::memory_order_release);
  }

 private:
  struct place {
    std::atomic<std::uint64_t> key{0};
    std::atomic<const abi::kernel_info*> info{nullptr};
  };
  // Addresses of code have 48 bits.
  static std::uint64_t key_of(const void* stub, device_id device) {
    return reinterpret_cast<std::uintptr_t>(stub) | std::uint64_t{device.value} << 48;
  }
  static std::size_t number_of(const void* stub) {
    const auto at = reinterpret_cast<std::uintptr_t>(stub);
    return (at >> 2 ^ at >> 10) % count;
  }

  static constexpr std::size_t count = 256;
  std::array<place, count> places_{};
};

}  // namespace sb::engine
