// Locks of global memory that the threads of a counted block take, and what they do while they hold
// one: whatever the device, the next holder comes behind that.
//
// Thread safety: one thread at a time.
#pragma once

#include <cstdint>
#include <vector>

#include "base/device_abi.hpp"
#include "engine/draw_trace.hpp"

namespace sb::engine {

// Of all threads of a block.
struct taken_locks {
  double turns = 0;                         // times that one was taken and given back
  double threads = 0;                       // that did so
  double steps = 0, loads = 0, fences = 0;  // while it was held
  std::vector<std::uint64_t> addresses;     // sorted
};

class lock_trace {
 public:
  void begin(std::uint32_t threads);
  // `so_far`: what the thread has done, in all.
  void note(std::uint32_t thread, std::uint64_t lock, abi::lock_event event,
            const thread_spent& so_far);
  [[nodiscard]] taken_locks locks() const;

 private:
  struct holding {
    std::uint64_t lock = 0;
    std::uint32_t thread = 0, fences = 0;
    thread_spent since;
  };
  void give_back(const holding& one, const thread_spent& now);

  std::vector<holding> held_;
  std::vector<bool> took_;  // by thread
  std::vector<std::uint64_t> addresses_;
  taken_locks sum_;
};

// How many locks a launch has, from those that some of its blocks took.
class lock_census {
 public:
  void note(const std::vector<std::uint64_t>& addresses);  // of one block, sorted
  [[nodiscard]] double in_all(std::uint64_t blocks) const;

 private:
  std::vector<std::uint64_t> seen_;  // sorted
  double taken_ = 0, samples_ = 0;
};

}  // namespace sb::engine
