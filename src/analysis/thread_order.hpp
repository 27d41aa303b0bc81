// Where the host's threads waited for each other in a recorded run. Traces by the real clock do not
// say it.
#pragma once

#include <cstddef>
#include <utility>
#include <vector>

#include "analysis/program.hpp"

namespace sb::analysis {

class thread_order {
 public:
  thread_order(const trace::trace& recorded, const program& p);

  // What a thread waited for in front of that step, since its call before; behind its last call,
  // where there is no such step.
  [[nodiscard]] std::vector<thread_pause> pauses(number thread, std::size_t step) const;

 private:
  struct wait {
    trace::thread_wait what;
    std::size_t order = 0;  // of those that end at one moment

    [[nodiscard]] bool ends_before(const wait& other) const {
      return std::pair(what.end, order) < std::pair(other.what.end, other.order);
    }
  };
  struct pause_place {
    std::size_t step = 0, place = 0;  // among the pauses in front of the step
    nanoseconds before = 0;
    const wait* what = nullptr;
  };

  void place(number thread);
  [[nodiscard]] std::size_t calls_before(number thread, nanoseconds at) const;
  [[nodiscard]] thread_point point(const wait& w) const;

  const trace::trace& recorded_;
  const program& program_;
  std::vector<std::vector<wait>> waits_;          // by thread, in the order of their ends
  std::vector<std::vector<pause_place>> places_;  // by thread, in the same order
};

// Adds pauses that were none as the thread came late (hand_overs.cpp): they change nothing in a
// replay of the run as it was.
void add_hand_overs(const trace::trace& recorded, program& p);

// Behind its last call a thread pauses for nobody but those who wait for it there.
void leave_out_needless_pauses(program& p);

}  // namespace sb::analysis
