// A launch that passed its checks is remembered (cudart/known_launches.hpp) until anything changes
// that they looked at: streams that end, devices that are reset, captures that begin, kernels that
// come or go. This counts those changes.
//
// Thread safety: all of it. A change that happened before a launch, as the program orders them, is
// seen by it. Whoever is about to check asks before_checks(): a change that it counts has happened.
#pragma once

#include <atomic>
#include <cstdint>

namespace sb::engine {

class checked_state {
 public:
  [[nodiscard]] static std::uint64_t now() { return changes_.load(std::memory_order_relaxed); }
  [[nodiscard]] static std::uint64_t before_checks() {
    return changes_.load(std::memory_order_acquire);
  }
  // After the change itself.
  static void changed() { changes_.fetch_add(1, std::memory_order_release); }

 private:
  static inline constinit std::atomic<std::uint64_t> changes_{0};
};

}  // namespace sb::engine
