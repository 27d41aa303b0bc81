#include "program_builder.hpp"

#include <algorithm>
#include <utility>

namespace sb::analysis {

using trace::engine_kind;
using trace::operation_kind;

program_builder::program_builder() {
  trace_.head.clock = trace::clock_kind::modelled;
  trace_.head.deterministic = true;
  trace_.head.end = trace::ending::complete;
  trace_.head.program = "program";
  trace_.head.profile = "example";  // its devices start everything after `lag`
  trace_.devices.push_back({.name = "NVIDIA H200",
                            .multiprocessors = 132,
                            .threads_per_multiprocessor = 2048,
                            .blocks_per_multiprocessor = 32,
                            .shared_per_multiprocessor = 233472,
                            .registers_per_multiprocessor = 65536,
                            .reserved_shared_per_block = 1024,
                            .resident_kernels = 128,
                            .copy_engines = 3});
  program_.machine.devices.resize(1);
  program_.machine.connections = 8;
  program_.threads.resize(1);
  trace_.threads.resize(1);
  stream(stream_kind::legacy);
}

void program_builder::connections(std::uint32_t n) {
  trace_.head.connections = n;
  program_.machine.connections = n;
}

number program_builder::stream(stream_kind kind, int priority) {
  trace::stream s;
  s.device = 0;
  s.kind = kind;
  s.priority = priority;
  trace_.streams.push_back(s);
  program_.streams.push_back({0, kind});
  return static_cast<number>(trace_.streams.size() - 1);
}

number program_builder::allocation(trace::memory_kind kind, std::uint64_t bytes) {
  trace::allocation a;
  a.kind = kind;
  a.device = 0;
  a.bytes = bytes;
  trace_.allocations.push_back(a);
  return static_cast<number>(trace_.allocations.size() - 1);
}

program_builder& program_builder::line(std::uint32_t line) {
  for (number i = 0; i < trace_.places.size(); ++i) {
    if (trace_.places[i].line == line) {
      place_ = i;
      return *this;
    }
  }
  trace_.places.push_back({"program.cu", line});
  place_ = static_cast<number>(trace_.places.size() - 1);
  return *this;
}

void program_builder::thread(number t) {
  thread_ = t;
  trace_.threads.resize(std::max<std::size_t>(trace_.threads.size(), t + 1));
  program_.threads.resize(trace_.threads.size());
}

void program_builder::host_code(nanoseconds t) { gap_ += t; }

step& program_builder::call(const std::string& name, nanoseconds before, nanoseconds after) {
  trace::call c;
  c.thread = thread_;
  c.name = name;
  c.place = place_;
  c.behind_clock = std::exchange(behind_clock_, false);
  trace_.calls.push_back(c);
  step s;
  s.call = static_cast<number>(trace_.calls.size() - 1);
  s.gap = gap_;
  s.between = before;
  s.after = after;
  gap_ = 0;
  program_.threads[thread_].push_back(s);
  return program_.threads[thread_].back();
}

number program_builder::name(const std::string& text) {
  const auto found = std::find(trace_.names.begin(), trace_.names.end(), text);
  if (found != trace_.names.end()) return static_cast<number>(found - trace_.names.begin());
  trace_.names.push_back(text);
  return static_cast<number>(trace_.names.size() - 1);
}

number program_builder::issue_in(step& s, trace::operation o, nanoseconds duration,
                                 nanoseconds lag) {
  o.call = s.call;
  o.device = 0;
  const auto n = static_cast<number>(trace_.operations.size());
  // What is read off the records is all of a task but its timing.
  trace_.operations.push_back(o);
  trace::trace alone;
  alone.devices = trace_.devices;
  alone.streams = trace_.streams;
  alone.operations = {o};
  alone.operations[0].call = none;
  task t = skeleton_of(alone).tasks[0];
  t.duration = duration;
  t.lag = lag;
  program_.tasks.push_back(t);
  s.issues.push_back({n, s.between});
  return n;
}

number program_builder::kernel(number stream, const std::string& kernel_name, nanoseconds duration,
                               launch_shape shape) {
  trace::operation o;
  o.kind = operation_kind::kernel;
  o.engine = engine_kind::multiprocessors;
  o.stream = stream;
  o.priority = static_cast<std::int8_t>(trace_.streams[stream].priority);
  o.name = name(kernel_name);
  o.grid[0] = shape.blocks;
  o.block[0] = shape.threads;
  o.registers = 32;
  return issue_in(call("cudaLaunchKernel", launch_cost, 0), o, duration, lag);
}

namespace {

trace::operation copy_operation(number stream, copy_direction d, std::uint64_t bytes,
                                trace::memory_kind memory) {
  trace::operation o;
  o.kind = operation_kind::copy;
  o.stream = stream;
  o.direction = d;
  o.bytes = bytes;
  o.host_memory = memory;
  o.engine = d == to_device ? engine_kind::host_to_device
             : d == to_host ? engine_kind::device_to_host
                            : engine_kind::device_to_device;
  return o;
}

}  // namespace

number program_builder::copy(number stream, copy_direction d, std::uint64_t bytes,
                             nanoseconds duration, trace::memory_kind memory) {
  step& s = call("cudaMemcpyAsync", copy_cost, 0);
  const number n = issue_in(s, copy_operation(stream, d, bytes, memory), duration, lag);
  if (memory == trace::memory_kind::pageable) {
    s.last = {wait_scope::operation, n};
    s.after = 500;
  }
  return n;
}

number program_builder::copy_and_wait(copy_direction d, std::uint64_t bytes, nanoseconds duration,
                                      trace::memory_kind memory) {
  step& s = call("cudaMemcpy", copy_cost, sync_cost);
  const number n = issue_in(s, copy_operation(legacy(), d, bytes, memory), duration, lag);
  s.last = {wait_scope::operation, n};
  return n;
}

number program_builder::host_function(number stream, const std::string& function,
                                      nanoseconds duration) {
  trace::operation o;
  o.kind = operation_kind::host_function;
  o.engine = engine_kind::host;
  o.stream = stream;
  o.name = name(function);
  return issue_in(call("cudaLaunchHostFunc", launch_cost, 0), o, duration, 0);
}

number program_builder::record(number stream, number event) {
  trace::operation o;
  o.kind = operation_kind::event_record;
  o.stream = stream;
  o.event = event;
  const number n = issue_in(call("cudaEventRecord", event_cost, 0), o, 0, 0);
  records_.resize(std::max<std::size_t>(records_.size(), event + 1), none);
  records_[event] = n;
  return n;
}

number program_builder::wait(number stream, number event) {
  trace::operation o;
  o.kind = operation_kind::event_wait;
  o.stream = stream;
  o.event = event;
  o.record = event < records_.size() ? records_[event] : none;
  return issue_in(call("cudaStreamWaitEvent", event_cost, 0), o, 0, 0);
}

void program_builder::synchronize() {
  call("cudaDeviceSynchronize", 0, sync_cost).last = {wait_scope::device, 0};
}

void program_builder::synchronize(number stream) {
  call("cudaStreamSynchronize", 0, sync_cost).last = {wait_scope::stream, stream};
}

void program_builder::synchronize_event(number event) {
  call("cudaEventSynchronize", 0, sync_cost).last = {wait_scope::operation, records_[event]};
}

number program_builder::allocate(const std::string& how, trace::memory_kind kind,
                                 std::uint64_t bytes) {
  const number n = allocation(kind, bytes);
  trace_.allocations[n].allocated_by = call(how, allocation_cost, 0).call;
  return n;
}

void program_builder::free(number allocation, const std::string& how) {
  step& s = call(how, allocation_cost, 0);
  s.last = {wait_scope::device, 0};
  trace_.allocations[allocation].freed_by = s.call;
}

void program_builder::graph_of_kernels(number stream, const std::string& kernel_name, int n,
                                       nanoseconds duration, std::uint32_t blocks) {
  step& s = call("cudaGraphLaunch", launch_cost, 0);
  trace::operation o;
  o.kind = operation_kind::graph_begin;
  o.stream = stream;
  o.graph = 0;
  number last = issue_in(s, o, 0, 0);
  for (int i = 0; i < n; ++i) {
    trace::operation k;
    k.kind = operation_kind::kernel;
    k.engine = engine_kind::multiprocessors;
    k.stream = stream;
    k.graph = 0;
    k.in_graph = true;
    k.name = name(kernel_name);
    k.grid[0] = blocks;
    k.block[0] = 256;
    k.registers = 32;
    k.after = {last};
    last = issue_in(s, k, duration, lag / 2);
  }
  o.kind = operation_kind::graph_end;
  o.after = {last};
  issue_in(s, o, 0, 0);
}

void program_builder::host_call(const std::string& what, nanoseconds takes) {
  call(what, takes, 0);
}

void program_builder::touch(number allocation, trace::access how) {
  trace_.operations.back().ranges.push_back(
      {allocation, 0, trace_.allocations[allocation].bytes, how, true});
}

program_builder& program_builder::touches_anything() {
  trace_.operations.back().ranges.push_back(trace::anything);
  return *this;
}

program_builder& program_builder::reads(number allocation) {
  touch(allocation, trace::access::read);
  return *this;
}

program_builder& program_builder::writes(number allocation) {
  touch(allocation, trace::access::write);
  return *this;
}

program_builder& program_builder::reads(number allocation, std::uint64_t offset,
                                        std::uint64_t bytes) {
  trace_.operations.back().ranges.push_back({allocation, offset, bytes, trace::access::read, true});
  return *this;
}

program_builder& program_builder::writes(number allocation, std::uint64_t offset,
                                         std::uint64_t bytes) {
  trace_.operations.back().ranges.push_back(
      {allocation, offset, bytes, trace::access::write, true});
  return *this;
}

program_builder& program_builder::writes_from(number allocation, std::uint64_t offset) {
  const std::uint64_t bytes = trace_.allocations[allocation].bytes - offset;
  trace_.operations.back().ranges.push_back(
      {allocation, offset, bytes, trace::access::read_write, false});
  return *this;
}

trace::trace program_builder::run() const {
  trace::trace t = retimed(trace_, program_, replay(program_, record_waits::yes));
  for (trace::allocation& a : t.allocations) {
    if (a.allocated_by != none) a.from = t.calls[a.allocated_by].end;
    if (a.freed_by != none) a.to = t.calls[a.freed_by].end;
  }
  return t;
}

}  // namespace sb::analysis
