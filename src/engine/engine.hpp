// The engine: runs stream work on this machine. Everything the CUDA border needs of it is here.
//
// Thread safety: every member may be called from any thread at any time, also while another blocks
// in synchronize(). No lock of the engine is held while kernels, copies or host functions run. Lock
// order: see engine.cpp.
#pragma once

#include <cstdint>
#include <functional>
#include <memory>
#include <optional>
#include <span>
#include <string_view>

#include "base/status.hpp"
#include "engine/launch_counts.hpp"
#include "engine/operation.hpp"
#include "model/ids.hpp"
#include "model/profile.hpp"
#include "sched/scheduler.hpp"

namespace sb::engine {

class kernel_cost;
class recorder;
struct recorded_thread;
struct stream_state;

struct engine_options {
  std::vector<device_profile> devices;
  std::uint32_t connections = 8;         // CUDA_DEVICE_MAX_CONNECTIONS
  std::uint32_t pending_entries = 1021;  // a queue takes this many; the next call blocks
  std::uint32_t workers = 0;             // threads that run kernels; 0: one per core
  // CUDA_MODULE_LOADING: what is pending at a kernel's first use comes before its launches.
  bool lazy_loading = false;
  // Kernels of a launch, or of a graph, that take no longer than this and have nothing before them
  // run on the thread that submits them (engine_at_once.cpp). 0: none does.
  std::uint64_t at_once_ns = 500;
  std::uint64_t at_once_graph_ns = 3000;
  bool host_time = false;  // modelled time: the program's own code takes what it takes here
  bool record = false;     // a trace, when STREAMBED_TRACE names one
  std::string profile = "h200";
  std::optional<timing_profile> timing;  // modelled time, by these numbers; none: the real clock
};

// The device of STREAMBED_DEVICE, in whose time the program runs; null without one. A name that is
// not known, or a file that is not a profile, ends the process with status 2.
[[nodiscard]] const profile* profile_in_environment();

class modelled;

// engine::quick()
struct quick_launch {
  stream_id stream;
  stream_state* where = nullptr;
  const kernel_cost* cost = nullptr;
  std::uint32_t most_block_ns = 0;
};

class engine {
 public:
  // The process's engine, created at the first use with options from the environment
  // (STREAMBED_DEVICES, CUDA_DEVICE_MAX_CONNECTIONS, STREAMBED_WORKERS).
  static engine& instance() {
    engine* e = existing.load(std::memory_order_acquire);
    return e != nullptr ? *e : create();
  }

  explicit engine(engine_options options);
  ~engine();  // drops what is pending, as the end of a process does
  engine(const engine&) = delete;
  engine& operator=(const engine&) = delete;

  [[nodiscard]] std::uint32_t device_count() const {
    return static_cast<std::uint32_t>(known_.size());
  }
  [[nodiscard]] const device_profile& profile(device_id device) const {
    return *known_[device.value].profile;
  }

  // `number` is what messages call the stream.
  stream_id create_stream(device_id device, stream_kind kind, int priority,
                          std::uint64_t number = 0);
  void set_priority(stream_id stream, int priority);  // of what is submitted from now on
  stream_id legacy_stream(device_id device);
  void destroy_stream(stream_id stream);  // pending work still runs

  // Enqueues. Blocks only where CUDA does: a kernel, copy, fill or graph behind 1021 of them.
  // Waits for records that are complete are submitted too: the scheduler knows when they count.
  command_id submit(stream_id stream, operation what, std::span<const command_id> after = {});
  // A whole graph as one unit in the stream: starts when the stream comes to it and `after` is
  // done; later work of the stream waits for all of it. Values of conditions that have a default
  // get it when the graph starts. Returns the command that completes last.
  command_id submit_graph(stream_id stream, std::span<const graph_item> items,
                          std::span<const command_id> after = {},
                          std::shared_ptr<const std::vector<condition_default>> defaults = nullptr);

  // Runs the kernel behind what is in the stream, waits for it, and answers what it did, from a
  // sample of its blocks (launch_counts.hpp). A kernel without a counted version answers zeros.
  result<abi::kernel_counts> count(stream_id stream, kernel_operation launch,
                                   std::uint64_t samples = launch_counts::usual_samples);

  // A kernel that takes less time than handing it over, with nothing before it, runs in this call.
  // False: submit it.
  bool launch_at_once(stream_id stream, const kernel_operation& launch);
  // The same in two steps, for launches that are made again and again: what can be said of one
  // beforehand, for as long as its stream lives, and the launch itself. Nothing: submit it always.
  [[nodiscard]] std::optional<quick_launch> quick(stream_id stream, const kernel_operation& launch);
  bool launch_at_once(const quick_launch& known, const kernel_operation& launch);

  // CUDA: what asks for a kernel's attributes, or instantiates a graph with it, loads it as a
  // launch does (lazy_loading).
  void load(const abi::kernel_info& kernel, device_id device);
  // CUDA: what creates, destroys or allocates something waits while another call waits for room,
  // and so do synchronous copies; pending.tsv blocked.malloc, blocked.streamcreate,
  // blocked.eventcreate, further.tsv blocked.*
  void wait_for_blocked_calls();

  [[nodiscard]] bool done(command_id id);
  // The same for the newest record of an event, for who can wait for it as well. By the real clock
  // nobody is asked for it: a record with nothing before it was reached in its call, and for any
  // other the answer of this moment is as good as one that has waited for the engine's lock.
  [[nodiscard]] bool known_done(const event_state& event, command_id record);
  [[nodiscard]] bool idle(stream_id stream);  // as cudaStreamQuery sees it
  [[nodiscard]] bool idle(device_id device);
  // The program was told that they are: its thread comes after them (races.hpp).
  void seen_done(command_id id);
  void seen_idle(stream_id stream);
  // The stream gets memory that other streams may have used before.
  void takes_freed_memory(stream_id stream);
  // Blocks the caller; flushes what kernels printed. Answers the device's sticky error if there is
  // one.
  status synchronize(const sched::wait_target& target, device_id device);
  void flush_prints(device_id device);
  // False when a kernel has used it already.
  bool resize_kernel_heap(device_id device, std::size_t bytes);
  bool resize_print_buffer(device_id device, std::size_t bytes);

  // The error that every call on the device answers after a fault, or success.
  [[nodiscard]] status sticky_error(device_id device) const {
    return known_[device.value].sticky->load(std::memory_order_acquire);
  }
  // Forgets everything about the device: waits for or drops its work, frees its memory, clears
  // errors.
  void reset(device_id device);

  // Whether the address lies in memory that a kernel of the device allocated with malloc.
  [[nodiscard]] bool in_kernel_heap(device_id device, const void* address);

  // True on the thread that runs host functions, while it runs one.
  [[nodiscard]] static bool in_host_function();

  // --- modelled time
  [[nodiscard]] bool is_modelled() const;
  // The calling thread comes in by a call of this name: it waits for its turn, and the call's cost
  // passes. Nothing happens by the real clock.
  void call(recorded_thread& thread, const char* name);
  void end_call(recorded_thread& thread, int status);
  // For the trace: where the present call stands, and one that comes to nothing.
  void call_place(recorded_thread& thread, const char* file, std::uint32_t line);
  void call_place(const char* file, std::uint32_t line);
  void idle_wait(stream_id stream, event_state& event);
  // For what the program says about itself: the trace, or null.
  [[nodiscard]] recorder* recording() const;
  void name_stream(stream_id stream, std::string_view name);
  void spend(double ns);  // of the calling thread's time
  // How many captures there are; and that the present call went into one, which costs less.
  void tell_captures(int under_way);
  void call_was_captured();
  [[nodiscard]] const timing_profile* timing() const;

  // Nanoseconds of the engine's clock (monotonic).
  [[nodiscard]] std::uint64_t now_ns() const;

 private:
  friend class modelled;
  static engine& create();
  inline static std::atomic<engine*> existing{nullptr};

  // What every call asks of a device.
  struct known_device {
    const device_profile* profile;
    const std::atomic<status>* sticky;
  };

  struct impl;
  std::unique_ptr<impl> impl_;
  std::vector<known_device> known_;
};

}  // namespace sb::engine
