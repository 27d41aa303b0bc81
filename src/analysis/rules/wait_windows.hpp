// How far the waits for events of a line could be moved back: what their streams are given behind
// them, and how much of that keeps its order with all that it meets in memory without the wait. And
// how much earlier the records that they wait for could be.
// Only for programs whose order can be followed.
#pragma once

#include <cstddef>
#include <functional>
#include <optional>
#include <vector>

#include "analysis/changes.hpp"
#include "analysis/device_order.hpp"

namespace sb::analysis {

// The waits for events of a line of the program, or one where lines are not known.
struct wait_line {
  std::vector<number> waits;  // that are meant
  std::size_t of = 0;         // with the others
  nanoseconds held = 0;       // by those that are meant
};
// The lines whose waits hold longest, a few. `held_by` says how long one does; nothing: it is not
// meant.
[[nodiscard]] std::vector<wait_line> longest_lines(
    const trace::trace& t, const std::function<std::optional<nanoseconds>(number)>& held_by);

struct wait_window {
  number wait = none;
  // What its stream is given behind it (but other waits), as long as the call could stand there and
  // mean the same: until its event is recorded again, until the host waits for the stream, and
  // until the next turn, in which the line makes it wait again.
  std::vector<number> behind;
  std::size_t free = 0;  // so many of these, from the first on, do not need the wait
};

class wait_windows {
 public:
  wait_windows(const trace::trace& t, const program& p);

  // Of the waits of one line, in their order. `less` is the program with what is changed already;
  // nothing where there is too much to look at.
  [[nodiscard]] std::optional<std::vector<wait_window>> look(
      const program& less, const std::vector<number>& waits) const;
  // By wait of one line: of what is in front of the record that it waits for, in the record's
  // stream, the last that something needs by way of the wait, be it in other streams or for the
  // host. None where all is needed, or nothing, or there is too much to look at.
  [[nodiscard]] std::vector<number> needed_by(const std::vector<number>& waits) const;
  [[nodiscard]] bool keep_order(const program& changed) const;

 private:
  class providers;
  [[nodiscard]] wait_window window_of(number wait) const;
  [[nodiscard]] bool provides(number wait, number earlier) const;
  [[nodiscard]] std::uint32_t known_before(number wait) const;

  const trace::trace& t_;
  const program& p_;
  const device_order as_it_is_;
  const std::vector<step_place> places_;
  std::vector<number> previous_;  // by operation: the one before it in its stream
};

}  // namespace sb::analysis
