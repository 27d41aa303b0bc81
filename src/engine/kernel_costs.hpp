// What a block of each kernel cost lately, as far as anybody measured: tells which launches are so
// small that handing them to another thread would cost more than running them.
//
// Thread safety: every member may be called from any thread. Numbers are estimates; two kernels
// that share a place share an estimate.
#pragma once

#include <array>
#include <atomic>
#include <cstddef>
#include <cstdint>

namespace sb::engine {

class kernel_cost {
 public:
  static constexpr std::uint32_t unknown = 0;
  // It waits for the clock: it is over later than it is through.
  static constexpr std::uint32_t waits = ~std::uint32_t{0};

  [[nodiscard]] std::uint32_t block_ns() const { return ns_.load(std::memory_order_relaxed); }
  void note(std::uint64_t ns, std::uint64_t blocks) {
    constexpr std::uint64_t most = waits - 1;
    if (blocks == 0) return;
    const std::uint64_t each = ns / blocks + 1 < most ? ns / blocks + 1 : most;
    const std::uint64_t before = block_ns();
    if (before == waits) return;
    ns_.store(static_cast<std::uint32_t>(before == unknown ? each : (3 * before + each) / 4),
              std::memory_order_relaxed);
  }
  void note_wait() { ns_.store(waits, std::memory_order_relaxed); }

 private:
  std::atomic<std::uint32_t> ns_{unknown};
};

class kernel_costs {
 public:
  [[nodiscard]] kernel_cost& of(const void* kernel) {
    const auto at = reinterpret_cast<std::uintptr_t>(kernel) / 16;
    return costs_[(at ^ at >> 9) % costs_.size()];
  }

 private:
  std::array<kernel_cost, 1024> costs_{};
};

}  // namespace sb::engine
