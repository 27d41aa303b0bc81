// What the thread that runs host functions takes to begin one, in modelled time: it depends on how
// long it has slept and on who wakes it (devices.md).
#pragma once

#include <cstdint>

#include "model/timing_profile.hpp"
#include "trace/trace.hpp"

namespace sb::analysis {

class function_thread {
 public:
  using nanoseconds = trace::nanoseconds;

  enum class found : std::uint8_t {
    unknown,         // not in modelled time
    awake,           // it ran one just before
    asleep,          // and the call that brings the function wakes it
    asleep_a_while,  // and the device wakes it
    asleep_longer,
    asleep_deeply,
  };

  function_thread() = default;
  explicit function_thread(const timing_profile* timing) : timing_(timing) {}

  // How it is found when it has been idle for so long.
  [[nodiscard]] found when(nanoseconds idle, bool device_wakes) const;
  [[nodiscard]] nanoseconds begins(found how) const;

 private:
  const timing_profile* timing_ = nullptr;
};

}  // namespace sb::analysis
