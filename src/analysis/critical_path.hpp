// What bounded a run: from its end back over what each thing waited for, to its beginning. Every
// moment of the run belongs to one stretch of the path.
#pragma once

#include <string>
#include <vector>

#include "trace/trace.hpp"

namespace sb::analysis {

// What went on in a stretch.
enum class path_work : std::uint8_t {
  kernel,
  copy_host_to_device,
  copy_device_to_host,
  copy_peer,
  copy_other,
  fill,
  host_function,
  other_operation,
  start,      // between the moment an operation could start and its start
  host_call,  // inside a call, not waiting
  host_code,  // the program's own code between calls
};

// Why the next stretch of the path had to wait for this one.
enum class path_link : std::uint8_t {
  end_of_run,
  stream_order,
  event,
  legacy_barrier,
  graph_edge,
  same_graph,  // another launch of the same executable graph
  queue_head,
  engine_busy,
  device_full,
  takes_turns,  // the device has copies and kernels one after the other
  allocation,
  loading,       // a kernel was loaded at its first use
  host_waits,    // a call of the host waited for it
  thread_waits,  // a thread waited for what a host function did
  host_issue,    // it was the host's turn to issue the next operation
  thread,        // the thread's own next call
  starts,        // the operation itself came next
  other_thread,  // another thread waited for this one's end, lock or signal, or was made by it
};

struct path_stretch {
  trace::nanoseconds begin = 0, end = 0;
  path_work work = path_work::host_code;
  path_link link = path_link::end_of_run;
  trace::number operation = trace::none;
  trace::number call = trace::none;  // host_call; host_code: the call before it
  trace::number thread = trace::none;

  [[nodiscard]] trace::nanoseconds length() const { return end - begin; }
};

// Stretches of the same work and link.
struct path_share {
  path_work work = path_work::host_code;
  path_link link = path_link::end_of_run;
  trace::nanoseconds time = 0;
  std::vector<trace::number> places;  // where it comes from, the longest first; at most four
  trace::number stretches = 0;
  std::vector<std::string> calls;  // host_call: their names, the longest first; at most three
};

struct critical_path {
  std::vector<path_stretch> stretches;  // from the beginning to the end
  std::vector<path_share> shares;       // the longest first
  trace::nanoseconds length = 0;
};

[[nodiscard]] critical_path critical_path_of(const trace::trace& t);

// "kernels ran, and the next operation of their stream waited for them"
[[nodiscard]] std::string text_of(path_work work, path_link link);
[[nodiscard]] std::string_view key_of(path_work work);
[[nodiscard]] std::string_view key_of(path_link link);

}  // namespace sb::analysis
