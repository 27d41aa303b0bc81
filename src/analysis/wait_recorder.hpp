// Finds out, beside a replay, what each operation waited for. The scheduler says when something may
// start, not why it could not start before; the rules it follows are simple enough to tell
// afterwards.
//
// Not thread-safe. Calls come in the order of the replay's clock.
#pragma once

#include <array>
#include <map>
#include <utility>
#include <vector>

#include "analysis/program.hpp"
#include "analysis/replay.hpp"
#include "sched/scheduler.hpp"

namespace sb::analysis {

class wait_recorder {
 public:
  wait_recorder(const program& p, std::vector<operation_times>& times);

  // Before the scheduler hears of it.
  void submitted(number operation);
  void loads_behind(number operation, number on);  // a kernel is loaded
  // sched::action_kind::entered, admitted and left. 0: it did not wait for its connection.
  void entered_queue(number operation, number behind, nanoseconds waited_until);
  void left_queue(number operation, nanoseconds now);
  // It came to its place without having taken one: its stream goes on as if it were not there.
  void took_no_place(number operation);
  void reached(number operation, nanoseconds now);
  // The scheduler has started it; kernels: their first blocks have room.
  void resident(number operation);
  void may_start(number operation, nanoseconds now);
  void blocks_left(number operation);
  void finished(number operation);

  [[nodiscard]] std::vector<std::vector<trace::edge>> take() { return std::move(waits_); }

 private:
  struct stream_state {
    number last = none, before_last = none;
  };
  struct dependency {
    number on;
    trace::wait_cause cause;
  };

  void depend(number operation, number on, trace::wait_cause cause);
  void note(number operation, number from, trace::wait_cause cause, nanoseconds until);
  void resolve(number operation);  // edges of what it depends on, and when it was ready
  [[nodiscard]] number& last_on_engine(number operation);

  const program& program_;
  std::vector<operation_times>& times_;
  std::vector<std::vector<trace::edge>> waits_;
  std::vector<std::vector<dependency>> dependencies_;
  std::vector<stream_state> streams_;
  // By device: its legacy stream, and the streams that synchronise with it.
  std::map<number, std::pair<std::vector<number>, std::vector<number>>> default_rules_;
  // Of operations: what is in front of it in its queue; when it got a connection, if it waited for
  // one; when it left its queue, if others waited for that.
  std::vector<number> ahead_;
  std::vector<nanoseconds> admitted_, left_queue_;
  std::map<std::pair<std::uint32_t, std::uint32_t>, number> engine_last_;  // device, engine
};

}  // namespace sb::analysis
