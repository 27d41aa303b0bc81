// How long blocks of a kernel take that are on a device together, from what the trace says they
// need: the same rule by which the device's model has them run (model/timing_profile.hpp, wave_of).
#pragma once

#include <cstdint>
#include <vector>

#include "model/occupancy.hpp"
#include "model/timing_profile.hpp"
#include "trace/trace.hpp"

namespace sb::analysis {

// Blocks that come while none of their kernel is over, and those that take another one's place.
enum class block_turn : bool { first, later };

// Blocks of a kernel that came at once, when so many of it were together.
struct block_piece {
  std::uint64_t blocks = 0, together = 0;
  block_turn turn = block_turn::first;
};

// What of a device's model does not depend on what blocks do.
struct block_costs {
  double norm = 1;              // how well the parts of a block's time hide each other
  double first = 0, later = 0;  // beginning and ending
  double latency = 0;           // of the first that use memory
  double begins = 0;            // one after another, on the whole device: each

  block_costs() = default;
  explicit block_costs(double overlap_norm) : norm(overlap_norm) {}
  explicit block_costs(const timing_profile& t);
};

class block_time {
 public:
  block_time() = default;  // not known: as long however many there are
  // `full`: as many of the kernel's blocks as the device takes at once; of `all`.
  block_time(const trace::block_needs& needs, std::uint32_t threads, std::uint64_t full,
             std::uint64_t all, std::uint32_t multiprocessors, const block_costs& costs);

  [[nodiscard]] bool known() const { return multiprocessors_ != 0; }
  // What the trace has, on average.
  [[nodiscard]] double recorded() const { return recorded_; }
  // They came in these pieces: what they wait for besides is such that they take what the trace
  // has. False: it is already.
  bool fit(const std::vector<block_piece>& pieces);
  // Of so many blocks that have the device to themselves.
  [[nodiscard]] double together(std::uint64_t blocks, block_turn turn) const;
  // A kernel that has the device to itself, `full` at a time.
  [[nodiscard]] double alone(std::uint64_t blocks) const;

 private:
  [[nodiscard]] double pipes_for(std::uint64_t blocks) const;
  [[nodiscard]] double memory_for(std::uint64_t blocks) const;
  [[nodiscard]] std::vector<block_piece> pieces_alone(std::uint64_t blocks) const;
  [[nodiscard]] double average(const std::vector<block_piece>& pieces) const;

  std::uint32_t multiprocessors_ = 0;
  std::uint64_t full_ = 1;
  double recorded_ = 0;
  double warps_ = 1;   // of a block
  double pipes_ = 0;   // of its multiprocessor: how long it needs them
  double memory_ = 0;  // the same of the device's memory
  double life_ = 0;    // what it waits for besides
  block_costs costs_;
};

}  // namespace sb::analysis
