// Small programs of host calls and stream work, written down in a few lines and run through the
// replay: what comes out is a consistent trace.
//
//   program_builder b;
//   const number s = b.stream();
//   b.copy(s, to_device, 1 << 20, 20_us);
//   b.kernel(s, "scale", 10_us);
//   b.synchronize();
//   const trace::trace t = b.run();
#pragma once

#include <string>
#include <vector>

#include "analysis/program.hpp"
#include "analysis/replay.hpp"
#include "trace/trace.hpp"

namespace sb::analysis {

constexpr nanoseconds operator""_us(unsigned long long us) { return us * 1000; }
constexpr nanoseconds operator""_ms(unsigned long long ms) { return ms * 1000000; }

inline constexpr auto to_device = copy_direction::host_to_device;
inline constexpr auto to_host = copy_direction::device_to_host;

struct launch_shape {
  std::uint32_t blocks = 1;
  std::uint32_t threads = 256;
};
// Takes the whole device, in `waves` waves.
constexpr launch_shape full_device(std::uint32_t waves = 1) { return {132 * 2 * waves, 1024}; }

class program_builder {
 public:
  program_builder();

  // What calls cost; a program that is written for one of them changes it.
  nanoseconds launch_cost = 2_us, copy_cost = 2_us, event_cost = 300, sync_cost = 1_us;
  nanoseconds allocation_cost = 40_us;
  nanoseconds lag = 1_us;  // of kernels and copies, from the moment they could start

  void connections(std::uint32_t n);
  number stream(stream_kind kind = stream_kind::non_blocking, int priority = 0);
  [[nodiscard]] number legacy() const { return 0; }  // stream 0 of every program
  number event() { return events_++; }
  number allocation(trace::memory_kind kind, std::uint64_t bytes);

  // Where the next calls are made from: they keep this place until another is named.
  program_builder& line(std::uint32_t line);
  void thread(number t);                       // the calls that follow are this thread's
  void host_code(nanoseconds t);               // in front of the next call
  void read_clock() { behind_clock_ = true; }  // the same

  number kernel(number stream, const std::string& name, nanoseconds duration,
                launch_shape shape = {});
  number copy(number stream, copy_direction d, std::uint64_t bytes, nanoseconds duration,
              trace::memory_kind memory = trace::memory_kind::pinned);
  // cudaMemcpy: in the legacy stream, and returns when it is done.
  number copy_and_wait(copy_direction d, std::uint64_t bytes, nanoseconds duration,
                       trace::memory_kind memory = trace::memory_kind::pageable);
  number host_function(number stream, const std::string& name, nanoseconds duration);
  number record(number stream, number event);
  number wait(number stream, number event);
  void synchronize();
  void synchronize(number stream);
  void synchronize_event(number event);
  number allocate(const std::string& call, trace::memory_kind kind, std::uint64_t bytes);
  void free(number allocation, const std::string& call = "cudaFree");

  // A graph of kernels, one after another.
  void graph_of_kernels(number stream, const std::string& name, int n, nanoseconds duration,
                        std::uint32_t blocks = 1);
  // A call that issues nothing and waits for nothing.
  void host_call(const std::string& name, nanoseconds takes);

  // Of the operation that was issued last.
  program_builder& touches_anything();
  program_builder& reads(number allocation);
  program_builder& writes(number allocation);
  program_builder& reads(number allocation, std::uint64_t offset, std::uint64_t bytes);
  program_builder& writes(number allocation, std::uint64_t offset, std::uint64_t bytes);
  // By a kernel's pointer: from there on, nobody knows how far.
  program_builder& writes_from(number allocation, std::uint64_t offset);

  [[nodiscard]] task& task_of(number operation) { return program_.tasks[operation]; }
  [[nodiscard]] const program& written() const { return program_; }
  [[nodiscard]] trace::trace& records() { return trace_; }
  [[nodiscard]] trace::trace run() const;

 private:
  step& call(const std::string& name, nanoseconds before, nanoseconds after);
  number issue_in(step& s, trace::operation o, nanoseconds duration, nanoseconds lag);
  number name(const std::string& text);
  void touch(number allocation, trace::access how);

  trace::trace trace_;
  program program_;
  number thread_ = 0, place_ = none, events_ = 0;
  nanoseconds gap_ = 0;
  bool behind_clock_ = false;
  std::vector<number> records_;  // of events: the newest
};

}  // namespace sb::analysis
