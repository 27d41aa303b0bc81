// Random programs for the scheduler. A step refers to streams, records and running commands by
// plain numbers that are taken modulo what exists when it is performed: every part of a program is
// a program, which is all that shrinking needs.
#pragma once

#include <cstdint>
#include <functional>
#include <string>
#include <vector>

namespace sb::sched {

enum class step_kind : std::uint8_t {
  kernel,
  upload,  // small
  upload_big,
  download,
  device_copy,
  peer_copy,
  host_copy,
  fill,
  host_function,
  record,
  wait_event,
  marker,
  graph_node,  // a kernel or copy of order free
  join,        // a marker after several commands
  finish,      // a running command completes, or some blocks of a kernel
  abandon,     // a running kernel ends by a fault
  wait_host,
  destroy_stream,
};

struct step {
  step_kind kind = step_kind::kernel;
  std::uint32_t stream = 0;  // which stream
  std::uint32_t pick = 0;    // which record, running command, target
  std::uint32_t shape = 0;   // of a kernel; scope of a wait; blocks that finish
};

struct program {
  std::uint32_t connections = 8;
  std::uint32_t devices = 1;
  std::uint32_t streams = 4;  // kinds follow from their number: see stream_of
  std::uint32_t resident_kernels = 3;
  std::uint32_t copy_engines = 3;
  std::uint64_t grace = 0;  // in a time that stands still
  std::vector<step> steps;
};

inline constexpr std::size_t most_commands = 64;  // the oracle keeps sets of commands in a word

[[nodiscard]] program random_program(std::uint64_t seed);
[[nodiscard]] std::string print(const program& p);

// The smallest part of the program that still fails, as far as leaving out steps goes.
[[nodiscard]] program shrink(program p, const std::function<bool(const program&)>& fails);

// Performs the program on a scheduler and holds every action against the oracle. Empty when all is
// well; otherwise the first rule that was broken. `trace` gets one line for each action.
[[nodiscard]] std::string check(const program& p, std::string* trace = nullptr);

}  // namespace sb::sched
