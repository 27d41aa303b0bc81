// Runs a program again: the scheduler decides what may start, a clock of events moves from one
// end to the next. The same program gives the same times.
#pragma once

#include <vector>

#include "analysis/program.hpp"

namespace sb::analysis {

struct operation_times {
  nanoseconds queued = never, ready = never, started = never, ended = never;
  hardware_queue queue;  // where waits are recorded
};

struct call_times {
  nanoseconds begin = never, end = never;
  nanoseconds blocked = 0;
  number blocked_on = none;
};

struct timing {
  std::vector<operation_times> operations;
  std::vector<std::vector<call_times>> steps;    // by thread and place in its list
  std::vector<std::vector<trace::edge>> waits;   // by operation; only when asked for
  std::vector<std::vector<block_piece>> pieces;  // of kernels, by operation; the same
  nanoseconds end = 0;
  bool hung = false;  // a thread waits for what never happens
};

enum class record_waits : bool { no, yes };
enum class record_pieces : bool { no, yes };

[[nodiscard]] timing replay(const program& p, record_waits waits = record_waits::no,
                            record_pieces pieces = record_pieces::no);

// The trace of such a replay: the records of `original` with the times and waits of the replay.
[[nodiscard]] trace::trace retimed(const trace::trace& original, const program& p,
                                   const timing& times);

}  // namespace sb::analysis
