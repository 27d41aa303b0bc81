// Copies between the host and a device. A direction has all of its rate while the other one is
// idle, and a part of it while it is not.
#pragma once

#include <array>
#include <vector>

#include "analysis/program.hpp"

namespace sb::analysis {

// What is on its way to and from one device, one copy in each direction.
class device_link {
 public:
  // `both`: the part of the rate that is left while both directions are busy.
  explicit device_link(double both) : both_(both) {}

  // The copy begins at `from`, which may be later than the next update, and takes `alone`.
  void begin(number copy, copy_direction direction, nanoseconds from, nanoseconds alone);
  void end(number copy);

  struct moved {
    number copy;
    nanoseconds end;
  };
  // New rates from now on. Answers with the copies that end at another time than was said before.
  std::vector<moved> update(nanoseconds now);

 private:
  struct transfer {
    number copy = none;
    double left = 0;        // nanoseconds, alone
    nanoseconds since = 0;  // `left` is of this time
    double rate = 0;        // 0: nothing was said yet
  };

  double both_;
  std::array<transfer, 2> directions_;
};

// Sets which copies share the way between host and device, and how long these take alone; `lag` is
// known already. Only in modelled time: of a real device it is not known what its rates depend on.
void time_transfers(const trace::trace& recorded, program& p);

}  // namespace sb::analysis
