// Where the host's threads waited for each other in a recorded run. Traces by the real clock do not
// say it.
#pragma once

#include <vector>

#include "analysis/program.hpp"

namespace sb::analysis {

class thread_order {
 public:
  thread_order(const trace::trace& recorded, const program& p);

  // What a thread waited for between one call's end and the next one's begin; `from` is then behind
  // the last of these waits.
  [[nodiscard]] std::vector<thread_pause> pauses(number thread, nanoseconds& from,
                                                 nanoseconds until) const;

 private:
  [[nodiscard]] thread_point point(const trace::thread_wait& w) const;
  [[nodiscard]] thread_point point(number thread, nanoseconds at) const;

  const trace::trace& recorded_;
  const program& program_;
  std::vector<std::vector<trace::thread_wait>> waits_;  // by thread, in the order of their ends
};

// Adds pauses that were none as the thread came late (hand_overs.cpp): they change nothing in a
// replay of the run as it was.
void add_hand_overs(const trace::trace& recorded, program& p);

}  // namespace sb::analysis
