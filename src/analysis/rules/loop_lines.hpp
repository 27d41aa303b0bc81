// Lines of loops that make the host wait: synchronisation and synchronous copies. One line of a
// loop is changed alone, or several together.
#pragma once

#include <algorithm>
#include <cstdint>
#include <optional>
#include <string>
#include <utility>
#include <vector>

#include "analysis/rules/loop_calls.hpp"

namespace sb::analysis {

// The same loop in several threads, as those of a pool: what one of them does otherwise gains
// nothing while the others go on as before.
using thread_loops = std::vector<const repeated_call*>;

struct loop_line {
  thread_loops loops;
  enum class kind : std::uint8_t {
    wait,
    copy,    // becomes asynchronous
    result,  // a copy of the same bytes in each turn: is made in some of them
  } what = kind::wait;
  host_use use = host_use::none;  // of a wait
  bool polled = false;            // the same

  [[nodiscard]] const repeated_call& first() const { return *loops.front(); }
  friend bool is_alike(const loop_line& a, const loop_line& b) {
    return a.what == b.what && a.use == b.use && a.polled == b.polled;
  }
};

// What a change made asynchronous or left out.
struct changed_copies {
  std::vector<number> all, pageable;
  std::vector<number> asynchronous;  // of all: the host has to wait before it uses their memory
};

// Loops that make the host wait where that is not needed, or not in each turn; those of several
// threads together.
[[nodiscard]] std::vector<loop_line> lines_that_wait(const evidence& e);
[[nodiscard]] std::vector<loop_line> lines_that_copy(const evidence& e);

void wait_less(const evidence& e, program& p, const loop_line& line);
void copy_less(const evidence& e, program& p, const loop_line& line, changed_copies& copies);

// What to do about it.
[[nodiscard]] std::string change_of_waits(host_use use);
// A sentence behind that, where the loop reads a clock; or nothing.
[[nodiscard]] std::string words_of_clock(const evidence& e, const loop_line& line);
[[nodiscard]] std::string change_of_copies(const evidence& e, const loop_line& line);

// --- for both

// Lines of which `line_of` says, for a loop of one thread, what is to be done; `loops` is empty
// then. Nothing: not looked at.
template <class LineOf>
std::vector<loop_line> lines_by(const evidence& e, LineOf line_of) {
  std::vector<loop_line> lines;
  for (const repeated_call& r : e.repeated_calls()) {
    std::optional<loop_line> line = line_of(r);
    if (!line) continue;
    const auto same = std::find_if(lines.begin(), lines.end(), [&](const loop_line& l) {
      return is_alike(l, *line) && l.first().place == r.place && r.place != none &&
             l.first().name == r.name;
    });
    if (same == lines.end()) {
      line->loops = {&r};
      lines.push_back(std::move(*line));
    } else {
      same->loops.push_back(&r);
    }
  }
  return lines;
}

// The host looks at a result in each of so many turns, and at the last one.
[[nodiscard]] inline bool is_looked_at(const repeated_call& r, std::size_t turn) {
  return (r.steps.size() - 1 - turn) % turns_per_look == 0;
}
// The copies of a call are not made: what came behind them in its stream still does.
void leave_copies_out(const evidence& e, program& p, step& call);
// What the loop launches has another grid from turn to turn: the host makes it of the result, and
// has to know that before.
[[nodiscard]] bool sizes_differ(const evidence& e, const repeated_call& r);

}  // namespace sb::analysis
