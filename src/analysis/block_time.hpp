// How long blocks of a kernel take that are on a device together, from what the trace says they
// need: the same rule by which the device's model has them run (model/timing_profile.hpp, wave_of).
#pragma once

#include <cstdint>

#include "model/occupancy.hpp"
#include "trace/trace.hpp"

namespace sb::analysis {

class block_time {
 public:
  block_time() = default;  // not known: as long however many there are
  // `full`: as many of the kernel's blocks as the device takes at once.
  block_time(const trace::block_needs& needs, std::uint32_t threads, std::uint64_t full,
             std::uint32_t multiprocessors, double overlap_norm);

  [[nodiscard]] bool known() const { return multiprocessors_ != 0; }
  // What the trace has, on average.
  [[nodiscard]] double recorded() const { return recorded_; }
  // Of so many blocks that have the device to themselves.
  [[nodiscard]] double together(std::uint64_t blocks) const;
  // A kernel that has the device to itself, `full` at a time.
  [[nodiscard]] double alone(std::uint64_t blocks) const;

 private:
  [[nodiscard]] double pipes_for(std::uint64_t blocks) const;
  [[nodiscard]] double memory_for(std::uint64_t blocks) const;

  std::uint32_t multiprocessors_ = 0;
  std::uint64_t full_ = 1;
  double recorded_ = 0;
  double warps_ = 1;   // of a block
  double pipes_ = 0;   // of its multiprocessor: how long it needs them
  double memory_ = 0;  // the same of the device's memory
  double life_ = 0;    // what it waits for besides
  double norm_ = 1;    // how well these hide each other
};

}  // namespace sb::analysis
