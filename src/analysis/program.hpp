// A recorded run as a program that can be changed and run again: what each host thread calls, what
// the calls issue and wait for, and how long each piece takes by itself. Waiting is not in it; the
// replay finds it again.
#pragma once

#include <cstdint>
#include <optional>
#include <vector>

#include "analysis/block_time.hpp"
#include "analysis/function_thread.hpp"
#include "analysis/start_gaps.hpp"
#include "model/shared_device.hpp"
#include "sched/scheduler.hpp"
#include "trace/trace.hpp"

namespace sb::analysis {

using trace::nanoseconds;
using trace::never;
using trace::none;
using trace::number;

// What a host call waits for.
enum class wait_scope : std::uint8_t {
  nothing,
  operation,  // `target` is an operation
  stream,     // a stream; for the legacy stream: all blocking streams too
  device,     // a device
};

struct host_wait {
  wait_scope scope = wait_scope::nothing;
  number target = none;
  bool is_awake = false;  // what waking up takes is in the call's own time, or there is none
};

// What a call pays in the driver for bringing an operation; driver_costs.hpp.
enum class bringing : std::uint8_t {
  nothing,  // and others pay nothing for it
  counted,  // nothing that could be told from the rest of its time, but others do
  paid,
};

// What a thread takes to go on when its wait is over, where that is known.
struct waking {
  nanoseconds soon = 0, late = 0;
  nanoseconds long_wait = 0;  // behind which it is late, as it is behind a large copy

  [[nodiscard]] nanoseconds after(nanoseconds waited, const command& ended) const;
};

// A call gives an operation to its stream, `offset` after its first wait was over. What it pays for
// bringing it comes on top of that.
struct issue {
  number operation = none;
  nanoseconds offset = 0;
  bringing brings = bringing::nothing;
};

// Where a thread is `after` the end of so many of its calls, and of so many of the pauses behind
// them; without any, a moment of the run. Or where a host function is, `after` its begin.
struct thread_point {
  number thread = none;
  std::size_t calls = 0;
  std::size_t pauses = 0;
  nanoseconds after = 0;
  number function = none;
};

// A thread waits until another one, or a host function, has come so far (a join, a lock), or begins
// with that.
struct thread_pause {
  nanoseconds before = 0;  // the program's own code
  thread_point until;
  trace::awaited what = trace::awaited::thread;
  nanoseconds since = 0, to = 0;  // as it was recorded
};

// A call of a host thread:
//   pauses | gap | before | wait for `first` | issues, `between` in all | wait for `last` | after
// A lock that a change put in is taken behind the pauses, and let go where a call begins, or ends.
struct step {
  number call = none;                // in the trace; none: added by a change
  std::vector<thread_pause> pauses;  // since the thread's call before
  nanoseconds gap = 0;               // the program's own code, since that call or the last pause
  number takes = none, lets_go = none, lets_go_behind = none;  // locks
  nanoseconds before = 0, between = 0, after = 0;
  nanoseconds brought = 0;  // what it paid for bringing its issues, as it was recorded
  host_wait first, last;
  std::vector<issue> issues;

  [[nodiscard]] nanoseconds own() const { return before + between + after + brought; }
};

// What decides about the lag of an operation when it comes to its start in another way than it did.
enum class start_rule : std::uint8_t {
  as_recorded,  // nothing: it stays
  by_arrival,   // it had to come from the host, and waited for nothing that was over later
  by_gap,       // it followed something else on the device
};

struct task {
  command what;          // without stream, record and payload, which the replay sets
  number stream = none;  // of program::streams
  // Where a change has streams taken in turn: the one that it was in. Neighbours in two of them
  // are in two still.
  number instead_of = none;
  // Where a change has it in a graph: the stream of the launch, in which the device finds it.
  number launched_in = none;
  number record = none;  // event_wait
  std::vector<number> after;
  // A kernel that one of the run's launches loaded, as its first use: which one.
  number loads = none;
  std::vector<number> loading;  // what it comes after because another call loaded a kernel
  nanoseconds lag = 0;          // from the moment it may start until it does
  nanoseconds looked = 0;       // of that, an idle copy engine looked at other streams
  nanoseconds later = 0;        // behind other work, beyond that: it begins a graph with others
  start_rule start = start_rule::as_recorded;
  start_pair follows;          // by_gap: as it was recorded
  nanoseconds held = 0;        // as it was recorded: from its call until it could start
  bool found_no_room = false;  // as it was recorded: a kernel whose blocks waited for it last
  nanoseconds duration = 0;    // kernels: with the whole device to itself; copies: with the link
  bool on_link = false;        // copies: slower while one of the other direction is on its way
  std::uint32_t waves = 1;     // kernels: of these, one after another
  bool shares = false;         // kernels: it is known what a block asks for, which is the next
  block_demand demand;
  block_time blocks;  // how long they take, where that is known
  // Host functions: how their thread was found, as it was recorded.
  function_thread::found found = function_thread::found::unknown;
};

// A piece of a kernel: blocks that the device takes at once, the `grant`th of them. `together` of
// the kernel's are on the device then.
[[nodiscard]] nanoseconds length_of_piece(const task& t, nanoseconds whole, std::uint64_t grant,
                                          std::uint64_t together, block_turn turn);

// Where the device finds an operation.
[[nodiscard]] inline number found_in(const task& t) {
  return t.launched_in == none ? t.stream : t.launched_in;
}

struct program_stream {
  number device = 0;
  stream_kind kind = stream_kind::blocking;
};

struct program {
  sched::machine machine;
  double older_first = 0.5;    // model/shared_device.hpp
  double both_directions = 1;  // of a copy's rate, while there is one in the other direction
  double copy_look = 0;        // of an idle copy engine, for each other stream with copies
  double contended = 0;        // model/timing_profile.hpp
  double other_stream = 0;     // the same
  // Where the device's timing is known: what a kernel takes before its first blocks, also while
  // these wait for room.
  std::optional<nanoseconds> beginning;
  nanoseconds kernel_gap = 1000;  // from a kernel's end to what follows it in its stream
  waking wakes;
  function_thread functions;
  start_gaps gaps;
  std::vector<program_stream> streams;
  std::vector<task> tasks;                 // numbered as the trace's operations
  std::vector<std::vector<step>> threads;  // numbered as the trace's threads
  // Of each thread behind its last call, as far as others wait for what it does there.
  std::vector<std::vector<thread_pause>> last_pauses;
  nanoseconds tail = 0;  // from the last end to the end of the run
};

// In front of that step; behind the last call, where there is none.
[[nodiscard]] const std::vector<thread_pause>& pauses_before(const program& p, number thread,
                                                             std::size_t step);

// How many times one after another the device takes blocks of this kernel when it is alone.
[[nodiscard]] std::uint32_t waves_of(const sched::device_limits& device, const kernel_shape& shape);

[[nodiscard]] std::uint32_t waves_of(const trace::trace& t, const trace::operation& kernel);

// What a kernel takes before its first block, in modelled time.
[[nodiscard]] nanoseconds beginning_of_kernels(const trace::trace& t);

// How many of its blocks the device takes at once.
[[nodiscard]] std::uint64_t blocks_at_once(const sched::device_limits& device,
                                           const kernel_shape& shape);

// How long a kernel that ended would have taken alone; `beginning` before its first block.
[[nodiscard]] nanoseconds alone_of(const trace::operation& o, std::uint32_t waves,
                                   nanoseconds beginning);

// How much of its device a kernel takes while it runs: 1 when it fills it.
[[nodiscard]] double share_of_device(const trace::trace& t, number operation);

// The part of the program that can be read off the records: what each call does, without its
// timing. Operations and calls that never came to their end are left out.
[[nodiscard]] program skeleton_of(const trace::trace& recorded);

// From the moment an operation may start until it does: `held` after its call, `behind` another one
// that ended then (none: nothing did); `others`: streams that have copies waiting for its engine.
[[nodiscard]] nanoseconds lag_of(const program& p, number operation, nanoseconds held,
                                 number behind, std::uint32_t others = 0);

// With the timing: replaying it gives the recorded times.
[[nodiscard]] program program_of(const trace::trace& recorded);

}  // namespace sb::analysis
