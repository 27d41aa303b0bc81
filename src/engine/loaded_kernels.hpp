// Which kernels are loaded. CUDA: a kernel is loaded at its first use, behind everything that is
// pending on the device then; its launches begin when that is over. h200/lazy.tsv
//
// Thread safety: none; the engine's lock guards it.
#pragma once

#include <algorithm>
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
  // While one is being loaded, launches of others come after the same; further.tsv
  // lazy.loaded.kernel.behind.in.other.stream.runs
  template <class Pending, class Done>
  const std::vector<command_id>& use(const abi::kernel_info* kernel, device_id device,
                                     Pending&& pending, Done&& done) {
    static const std::vector<command_id> nothing;
    if (newest_.size() <= device.value) newest_.resize(device.value + 1);
    std::vector<command_id>& newest = newest_[device.value];
    const abi::kernel_info*& recent = recent_[place_of(kernel)];
    if (recent == kernel && newest.empty()) return nothing;
    const auto [found, first] = loading_.try_emplace(kernel);
    std::vector<command_id>& before = found->second;
    if (first) {
      before = newest = pending();
      for (auto* other = kernel->for_broken_rows; other; other = other->for_broken_rows) {
        loading_.try_emplace(other, before);
      }
    }
    std::erase_if(before, done);
    if (before.empty()) recent = kernel;
    // What was pending at an older load is pending at the newest, or over.
    std::erase_if(newest, done);
    return newest.empty() ? before : newest;
  }

  // Whether a launch of it comes after nothing of the kind.
  [[nodiscard]] bool has(const abi::kernel_info* kernel) const {
    return recent_[place_of(kernel)] == kernel &&
           std::all_of(newest_.begin(), newest_.end(), [](const auto& n) { return n.empty(); });
  }

 private:
  static std::size_t place_of(const abi::kernel_info* kernel) {
    return reinterpret_cast<std::uintptr_t>(kernel) / 16 % places;
  }

  static constexpr std::size_t places = 64;
  std::array<const abi::kernel_info*, places> recent_{};  // that are loaded
  std::unordered_map<const abi::kernel_info*, std::vector<command_id>> loading_;
  std::vector<std::vector<command_id>> newest_;  // by device: what its newest load comes after
};

}  // namespace sb::engine
