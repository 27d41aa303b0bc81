// What a call pays for bringing work, in modelled time, beside its own cost: for each other thread
// that brought some shortly before, and for a kernel in another stream than the one before it. What
// a change moves may pay more or less than it did.
#pragma once

#include <algorithm>
#include <cstddef>
#include <map>
#include <utility>

#include "analysis/program.hpp"
#include "model/timing_profile.hpp"

namespace sb::analysis {

class driver_costs {
 public:
  explicit driver_costs(const program& p)
      : contended_(p.contended), other_stream_(p.other_stream) {}

  // Whether what was brought then counts at that time.
  [[nodiscard]] static bool is_soon(nanoseconds brought, nanoseconds now) {
    return brought <= now && brought + brought_soon_ns > now;
  }

  [[nodiscard]] bool nothing() const { return contended_ == 0 && other_stream_ == 0; }

  // How many other threads brought work soon before that time, and what that costs.
  [[nodiscard]] std::size_t others(number thread, nanoseconds now) const {
    return static_cast<std::size_t>(std::count_if(
        brought_.begin(), brought_.end(),
        [&](const auto& one) { return one.first != thread && is_soon(one.second, now); }));
  }
  [[nodiscard]] nanoseconds for_others(std::size_t others) const {
    return others == 0 ? 0 : rounded_ns(static_cast<double>(others) * contended_);
  }
  void brings(number thread, nanoseconds now) { brought_[thread] = now; }

  // A kernel comes into this stream.
  [[nodiscard]] nanoseconds for_stream(number stream) {
    return std::exchange(last_, stream) == stream ? 0 : rounded_ns(other_stream_);
  }

 private:
  static constexpr nanoseconds brought_soon_ns = 20000;  // docs/devices.md

  double contended_, other_stream_;
  std::map<number, nanoseconds> brought_;  // by thread: when it did last
  number last_ = none;
};

// What calls paid is taken out of their own time (brought_work.cpp); null: nothing is known of
// that.
void time_driver(const trace::trace& recorded, const timing_profile* timing, program& p);

}  // namespace sb::analysis
