// Which kernels are loaded. CUDA: a kernel is loaded at its first use, behind everything that is
// pending on the device then; its launches begin when that is over. h200/lazy.tsv
//
// Thread safety: none; the engine's lock guards it.
#pragma once

#include <algorithm>
#include <array>
#include <cstdint>
#include <memory>
#include <unordered_map>
#include <utility>
#include <vector>

#include "base/device_abi.hpp"
#include "model/ids.hpp"
#include "sched/scheduler.hpp"

namespace sb::engine {

class loaded_kernels {
 public:
  // What was pending when a kernel was used first.
  struct earlier_work {
    sched::gathering all;
    std::vector<command_id> commands;  // if somebody wants to know them
  };
  struct found {
    const earlier_work* before = nullptr;
    bool first = false;  // this use loads the kernel
  };

  // What a use of the kernel comes after, for having to be loaded; null: nothing. `pending`
  // answers the work of now, or null, `done` whether such work is over; both are asked until the
  // kernel is loaded only. While one is being loaded, launches of others come after the same;
  // further.tsv lazy.loaded.kernel.behind.in.other.stream.runs
  template <class Pending, class Done>
  found use(const abi::kernel_info* kernel, device_id device, Pending&& pending, Done&& done) {
    if (newest_.size() <= device.value) newest_.resize(device.value + 1);
    work& newest = newest_[device.value];
    const abi::kernel_info*& recent = recent_[place_of(kernel)];
    if (recent == kernel && !newest) return {};
    const auto [found, first] = loading_.try_emplace(kernel);
    work& before = found->second;
    if (first) {
      before = newest = pending();
      for (auto* other = kernel->otherwise; other; other = other->otherwise) {
        loading_.try_emplace(other, before);
      }
    }
    if (before && done(before->all)) before = nullptr;
    if (!before) recent = kernel;
    // What was pending at an older load is pending at the newest, or over.
    if (newest && done(newest->all)) newest = nullptr;
    return {newest ? newest.get() : before.get(), first};
  }

  // Whether a launch of it comes after nothing of the kind.
  [[nodiscard]] bool has(const abi::kernel_info* kernel) const {
    return recent_[place_of(kernel)] == kernel &&
           std::all_of(newest_.begin(), newest_.end(), [](const work& w) { return !w; });
  }

 private:
  using work = std::shared_ptr<const earlier_work>;

  static std::size_t place_of(const abi::kernel_info* kernel) {
    return reinterpret_cast<std::uintptr_t>(kernel) / 16 % places;
  }

  static constexpr std::size_t places = 64;
  std::array<const abi::kernel_info*, places> recent_{};  // that are loaded
  std::unordered_map<const abi::kernel_info*, work> loading_;
  std::vector<work> newest_;  // by device: what its newest load comes after
};

}  // namespace sb::engine
