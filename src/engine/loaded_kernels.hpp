// Which kernels have been launched. CUDA: kernels are loaded lazily, and the first launch of one
// begins when everything is over that was pending on the device; h200/lazy.tsv
//
// Thread safety: none; the engine's lock guards it.
#pragma once

#include <array>
#include <cstdint>
#include <unordered_set>

#include "base/device_abi.hpp"

namespace sb::engine {

class loaded_kernels {
 public:
  // True for the first call with this kernel.
  [[nodiscard]] bool load(const abi::kernel_info* kernel) {
    const abi::kernel_info*& recent =
        recent_[reinterpret_cast<std::uintptr_t>(kernel) / 16 % places];
    if (recent == kernel) return false;
    recent = kernel;
    const bool first = all_.insert(kernel).second;
    if (first && kernel->for_broken_rows != nullptr) all_.insert(kernel->for_broken_rows);
    return first;
  }

 private:
  static constexpr std::size_t places = 64;
  std::array<const abi::kernel_info*, places> recent_{};
  std::unordered_set<const abi::kernel_info*> all_;
};

}  // namespace sb::engine
