// A recorded run as plain data: what the reader gives and what analysis, exporters and the timeline
// work on.
//
// Everything has a number from 0, in the order of its appearance; a number that points nowhere is
// `none`. Times are nanoseconds since the run began, of the clock that the header names. No address
// and no process number is in a trace: two runs of a deterministic program are the same bytes.
#pragma once

#include <algorithm>
#include <cstdint>
#include <string>
#include <vector>

#include "model/command.hpp"
#include "model/stream_rules.hpp"

namespace sb::trace {

using number = std::uint32_t;
inline constexpr number none = 0xffffffff;
using nanoseconds = std::uint64_t;

enum class clock_kind : std::uint8_t {
  wall,      // the time this machine took
  modelled,  // what the device profile says it takes
  device,    // a real GPU's own
};

// How the run ended.
enum class ending : std::uint8_t {
  unknown,   // the file stops without a word: killed, or still running
  complete,  // the program came to its end
  hung,      // nothing could move any more: every thread waits for what never happens
  stopped,   // it had run for the time that it was given
  cut,       // the file could not grow: a full disk
};

struct header {
  std::uint32_t version = 0;
  clock_kind clock = clock_kind::wall;
  bool deterministic = false;  // modelled, and no thread ran outside of what is followed
  ending end = ending::unknown;
  std::uint32_t connections = 8;  // CUDA_DEVICE_MAX_CONNECTIONS
  std::uint64_t host_bytes = 0;   // memory of the host; 0: not known
  std::string program;            // its name without folders
  std::string profile;            // the devices' profile
};

// A copy of pinned memory: before its first byte, and then; 0: not known.
struct copy_rate {
  std::uint32_t latency_ns = 0;
  std::uint32_t bytes_per_us = 0;
};

struct device {
  std::string name;
  std::uint32_t multiprocessors = 0;
  std::uint32_t threads_per_multiprocessor = 0;
  std::uint32_t blocks_per_multiprocessor = 0;
  std::uint32_t shared_per_multiprocessor = 0;
  std::uint32_t registers_per_multiprocessor = 0;
  std::uint32_t reserved_shared_per_block = 0;
  std::uint32_t resident_kernels = 0;
  std::uint32_t copy_engines = 0;  // asyncEngineCount
  copy_rate to_device = {}, to_host = {};
};

struct stream {
  number device = none;
  stream_kind kind = stream_kind::blocking;
  bool per_thread = false;  // a thread's default stream
  std::int32_t priority = 0;
  number connection = none;  // when it has the same always; operations say which queue they took
  std::string name;          // what the program called it (NVTX), or empty
};

struct host_thread {
  std::string name;  // what the program called it, or empty
};

// What a thread, or the host function that runs, waits for outside of the runtime's calls.
enum class awaited : std::uint8_t { lock, condition, semaphore, barrier, thread, memory };

// A thread that waited for another one: for its end, or for a lock or a signal of it. What a thread
// does from its beginning on waited for its maker: begin and end are then the same.
struct thread_wait {
  number thread = none, other = none;
  nanoseconds begin = 0, end = 0;
  awaited what = awaited::thread;
  number function = none;  // a host function, the operation, instead of another thread
};

// One that waits when a run in modelled time hangs.
struct stuck_thread {
  number thread = none;    // none: a host function
  number function = none;  // the operation
  awaited what = awaited::lock;
  number object = 0;  // tells locks from each other, conditions, and so on
  // Who has the lock, or is the thread that does not end: a thread, or a host function, if known.
  number holder = none, holding_function = none;
  bool holder_ended = false;  // a thread, known or not, that ended with the lock
};

// A line of the program.
struct place {
  std::string file;
  std::uint32_t line = 0;
};

enum class memory_kind : std::uint8_t { device, pinned, managed, pageable };

struct allocation {
  memory_kind kind = memory_kind::device;
  number device = none;
  std::uint64_t bytes = 0;
  nanoseconds from = 0, to = 0;                 // `to` is 0 when it was never freed
  number allocated_by = none, freed_by = none;  // calls
};

// A call of the program into the runtime. Calls of a thread do not overlap.
struct call {
  number thread = none;
  std::string name;  // cudaMemcpyAsync
  number place = none;
  nanoseconds begin = 0, end = 0;
  nanoseconds blocked = 0;   // of that, waiting for something else than the call's own work
  number blocked_on = none;  // the operation that ended the wait
  std::int32_t status = 0;   // cudaError_t
  bool returned = true;      // false: still in it when the trace ends, and `end` is then that time
  // Questions (cudaEventQuery) that a thread asked again and again, with the same answer, are one:
  // from the beginning of the first to the end of the last.
  std::uint32_t times = 1;
  // The thread read a clock since its call before, as a program does that times what it did. Known
  // in modelled time.
  bool behind_clock = false;
};

enum class operation_kind : std::uint8_t {
  kernel,
  copy,
  fill,
  host_function,
  event_record,
  event_wait,
  allocate,     // stream-ordered
  free,         // stream-ordered
  graph_begin,  // a graph launch comes up in its stream
  graph_end,    // all of its nodes are complete
  section,      // a conditional node while it decides and its body runs
  marker,       // anything else that only keeps a place
};

enum class engine_kind : std::uint8_t {
  none,
  multiprocessors,
  host_to_device,
  device_to_host,
  device_to_device,
  host,  // the thread of host functions; copies between host buffers
};

// Why an operation was not started yet.
enum class wait_cause : std::uint8_t {
  stream_order,    // the operation before it in its stream
  event,           // cudaStreamWaitEvent
  legacy_barrier,  // the legacy stream and the blocking streams wait for each other
  graph_edge,      // of a graph; of its launch: an earlier launch of the same executable graph
  queue_head,      // another operation was in front of it in its hardware queue
  engine_busy,     // another operation had its copy engine, or the thread of host functions
  device_full,     // the multiprocessors had no room, or too many kernels were resident
  host_call,       // the host issued it late: it was in the call named by `call`
  allocation,      // stream-ordered memory that another stream still used
  loading,         // the kernel was loaded at its first use, behind what was pending then
};

// One thing that an operation waited for. Edges are in the order of `until`.
struct edge {
  number from = none;  // the operation it waited for; cause host_call: none
  number call = none;  // cause host_call
  wait_cause cause = wait_cause::stream_order;
  nanoseconds until = 0;  // when that was over
};

enum class access : std::uint8_t { read = 1, write = 2, read_write = 3 };

struct byte_range {
  number allocation = none;
  std::uint64_t offset = 0, bytes = 0;
  access how = access::read;
  bool exact = true;  // false: somewhere inside, as for a kernel's pointer argument
};

// Stands in a list for what is not known of it: the operation may read and write any memory.
inline constexpr byte_range anything{none, 0, 0, access::read_write, false};
[[nodiscard]] constexpr bool is_anything(const byte_range& r) {
  return r.allocation == none && !r.exact;
}

// Work of a stream. called <= queued <= ready <= started <= ended, as far as it came: what did not
// happen before the end of the trace is `never`.
inline constexpr nanoseconds never = ~nanoseconds{0};

// What a block of a kernel takes and asks for when nothing else is on the device.
struct block_needs {
  nanoseconds alone = 0;  // from its beginning to its end; 0: not known
  // Millionths of its multiprocessor's pipes, and of what the device's memory can move.
  std::uint32_t arithmetic = 0, memory = 0;
};

// Where the blocks of a kernel are that has begun and is not over when the trace ends.
struct blocks_at_end {
  std::uint64_t resident = 0;  // on the device; 0: not known
  std::uint64_t waiting = 0;   // for room there
  std::uint64_t in_vain = 0;   // resident ones that only look at memory, or wait for their grid
};

struct operation {
  operation_kind kind = operation_kind::marker;
  engine_kind engine = engine_kind::none;
  copy_direction direction = copy_direction::host_to_device;  // copies
  memory_kind host_memory = memory_kind::device;  // copies: the host's side; device: has none
  bool in_graph = false;                          // a node of a graph launch
  bool cooperative = false;                       // kernels
  bool first_use = false;                         // kernels: it was loaded for this launch
  std::int8_t priority = 0;
  hardware_queue queue;  // that it went through or stands in; none as well where nobody knows
  number device = none;
  number peer = none;  // copies between devices
  number stream = none;
  number call = none;  // that issued it
  number name = none;  // in trace::names: the kernel's, or the fill's or host function's
  // event_wait: the record it waits for. None when that was over at the call, or never made.
  number record = none;
  number event = none;          // event_record, event_wait: which event
  number graph = none;          // graph_begin, graph_end, nodes: number of the launched graph
  nanoseconds called = never;   // the call began
  nanoseconds queued = never;   // it was in its stream
  nanoseconds ready = never;    // everything it depends on was complete
  nanoseconds started = never;  // it had its engine
  nanoseconds ended = never;
  std::int32_t status = 0;  // cudaError_t that it failed with
  std::uint64_t bytes = 0;  // copies, fills, allocations
  std::uint32_t grid[3] = {1, 1, 1}, block[3] = {1, 1, 1};
  std::uint32_t shared_bytes = 0, registers = 0;  // per block; per thread
  block_needs needs;                              // kernels in modelled time
  blocks_at_end left;                             // kernels
  std::vector<number> after;       // operations it names beside its stream: edges of a graph
  std::vector<edge> waits;         // what made it wait
  std::vector<byte_range> ranges;  // what it reads and writes
};

[[nodiscard]] inline bool touches_anything(const operation& op) {
  return std::any_of(op.ranges.begin(), op.ranges.end(), is_anything);
}

// NVTX
struct annotation {
  enum class shape : std::uint8_t { range, mark } what = shape::range;
  number thread = none;
  std::string domain, category, text;
  std::uint32_t colour = 0;  // ARGB; 0: none
  nanoseconds begin = 0, end = never;
};

struct trace {
  header head;
  std::vector<std::string> names;
  std::vector<place> places;
  std::vector<device> devices;
  std::vector<stream> streams;
  std::vector<host_thread> threads;
  std::vector<thread_wait> thread_waits;  // modelled time; by the real clock nobody sees them
  std::vector<stuck_thread> stuck;        // at the end of one that hangs
  std::vector<allocation> allocations;
  std::vector<call> calls;
  std::vector<operation> operations;
  std::vector<annotation> annotations;
  nanoseconds end = 0;  // of the run
};

}  // namespace sb::trace
