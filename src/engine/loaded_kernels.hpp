// Which kernels are loaded. CUDA: a kernel is loaded at its first use, behind everything that is
// pending on the device then; its launches begin when that is over. h200/lazy.tsv
//
// Thread safety: none; the engine's lock guards it.
#pragma once

#include <array>
#include <cstdint>
#include <unordered_map>
#include <utility>
#include <vector>

#include "base/device_abi.hpp"
#include "model/ids.hpp"

namespace sb::engine {

class loaded_kernels {
 public:
  // What a launch of the kernel comes after, for having to be loaded. `pending` answers the work
  // of now, `done` whether a command is over; both are asked until the kernel is loaded only.
  template <class Pending, class Done>
  const std::vector<command_id>& use(const abi::kernel_info* kernel, Pending&& pending,
                                     Done&& done) {
    static const std::vector<command_id> nothing;
    const abi::kernel_info*& recent = recent_[place_of(kernel)];
    if (recent == kernel) return nothing;
    const auto [found, first] = loading_.try_emplace(kernel);
    std::vector<command_id>& before = found->second;
    if (first) {
      before = pending();
      if (kernel->for_broken_rows != nullptr) loading_.try_emplace(kernel->for_broken_rows, before);
    }
    std::erase_if(before, done);
    if (before.empty()) recent = kernel;
    return before;
  }

  [[nodiscard]] bool has(const abi::kernel_info* kernel) const {
    return recent_[place_of(kernel)] == kernel;
  }

 private:
  static std::size_t place_of(const abi::kernel_info* kernel) {
    return reinterpret_cast<std::uintptr_t>(kernel) / 16 % places;
  }

  static constexpr std::size_t places = 64;
  std::array<const abi::kernel_info*, places> recent_{};  // that are loaded
  std::unordered_map<const abi::kernel_info*, std::vector<command_id>> loading_;
};

}  // namespace sb::engine
