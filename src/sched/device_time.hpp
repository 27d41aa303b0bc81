// When commands would have begun and ended on a device that loses no time between them.
//
// A machine that is busy with other things starts a command late, and hears late that one is over;
// neither says anything about the device. So a command begins when the last thing that it waited
// for ended, and ends after what it took to run. One that took long may have waited for the host,
// whose time is the clock's: it ends by the clock, as one does of which nobody knows what it took.
#pragma once

#include <algorithm>
#include <cstddef>
#include <cstdint>
#include <vector>

#include "sched/slab.hpp"

namespace sb::sched {

class device_time {
 public:
  // What takes longer is long. Nothing is kept without it.
  void keep(std::uint64_t longest) { longest_ = longest; }
  void set_clock(std::uint64_t now) { clock_ = now; }
  [[nodiscard]] std::uint64_t clock() const { return clock_; }

  void submitted(index command) {
    if (longest_ == 0) {
      return;
    }
    if (command >= reached_.size()) {
      reached_.resize(command + 1);
    }
    reached_[command] = cause_ = clock_;
  }
  // Something that `waits` waited for is over.
  void passed_on(index from, index waits) {
    if (longest_ != 0) {
      later(waits, reached_[from]);
    }
  }
  // What happens now lets it begin, or go on to what it has to wait for next.
  void goes_on(index command) {
    if (longest_ != 0) {
      later(command, cause_);
    }
  }
  // All of it or some of its blocks.
  void ended(index command, std::uint64_t took) {
    if (longest_ == 0) {
      return;
    }
    std::uint64_t& at = reached_[command];
    at = cause_ = took > longest_ ? clock_ : std::min(clock_, at + took);
  }
  // When it is or was ready for what it does next.
  [[nodiscard]] std::uint64_t at(index command) const { return reached_[command]; }

  [[nodiscard]] std::size_t bytes() const { return reached_.capacity() * sizeof(std::uint64_t); }

 private:
  void later(index command, std::uint64_t time) {
    reached_[command] = std::max(reached_[command], time);
  }

  std::uint64_t longest_ = 0;
  std::uint64_t clock_ = 0;
  std::uint64_t cause_ = 0;             // of what happens now
  std::vector<std::uint64_t> reached_;  // by place of the command
};

}  // namespace sb::sched
