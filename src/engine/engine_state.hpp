// The inside of the engine, shared by engine.cpp (what callers see), engine_actions.cpp (what the
// scheduler decides, carried out), engine_sections.cpp (conditional nodes of graphs) and
// engine_faults.cpp (failed devices, the end of the process).
//
// Locks, in this order; none of them is held while kernels, copies, host functions or marker
// functions run:
//   1. state::mutex          the scheduler, nodes, streams, host waits
//   2. worker_pool's own     ready and parked blocks
//   3. lane's own            copies and host functions to do
// A sink's call from the pool comes without any lock and takes 1.
#pragma once

#include <sys/types.h>

#include <condition_variable>
#include <deque>
#include <functional>
#include <memory>
#include <mutex>
#include <span>
#include <thread>
#include <unordered_map>
#include <vector>

#include "engine/device_runtime.hpp"
#include "engine/engine.hpp"
#include "engine/event_watch.hpp"
#include "engine/lane.hpp"
#include "engine/node.hpp"
#include "engine/worker_pool.hpp"

namespace sb::engine {

struct device_state {
  device_profile profile;
  device_runtime runtime;
  stream_id legacy;                   // guarded by state::mutex
  std::atomic<bool> reported{false};  // what failed was told
  std::unique_ptr<lane> to_device, to_host, inside, between_hosts;
};

struct stream_state {
  device_id device;
  std::int8_t priority = 0;
  std::uint64_t number = 0;  // for messages; 0: the default stream
};

// A host thread that waits for the scheduler to release it.
struct host_wait {
  std::condition_variable changed;
  bool released = false;
};

struct engine::impl final : kernel_sink {
  explicit impl(engine_options given);
  ~impl();

  // --- constant
  const engine_options options;
  std::vector<std::unique_ptr<device_state>> devices;
  const pid_t process;

  // --- own synchronisation
  std::atomic<bool> dropping{false};  // the engine ends: copies stop between two pieces
  std::unique_ptr<worker_pool> workers;
  std::unique_ptr<lane> host_functions;
  std::unique_ptr<lane> idle_loops;  // sections whose body took no time
  std::unique_ptr<event_watch> foreign_waits;

  std::mutex mutex;
  // --- guarded by mutex
  sched::scheduler scheduler;
  std::vector<stream_state> streams;  // by stream_id
  std::unordered_map<waiter_id, host_wait*> waits;
  bool stopped = false;
  node* nodes = nullptr;  // all that are in use
  node* idle_nodes = nullptr;
  std::vector<std::unique_ptr<node[]>> node_slabs;
  std::vector<sched::action> batch;     // actions being carried out
  std::vector<node*> to_abandon;        // kernels that came up on a failed device
  std::vector<node*> dead;              // completed in this batch
  std::uint64_t drains = 0;             // counts them
  std::condition_variable nodes_freed;  // for reset
  // Marker functions run in order, one at a time, on whichever thread comes by.
  std::deque<std::function<void()>> markers;
  std::uint64_t markers_issued = 0;
  std::uint64_t markers_done = 0;
  std::thread::id marker_runner;
  std::condition_variable markers_changed;

  using guard = std::unique_lock<std::mutex>;

  // engine.cpp. With the lock held:
  command_id submit_one(command c, operation what, std::span<const command_id> after);
  // The nodes of a graph, in the stream and with the priority of `c`; those without a dependency
  // come after `head`. Answers the ones that nothing follows.
  std::vector<command_id> submit_nodes(command c, std::span<const graph_item> items,
                                       command_id head);
  void wait_for(guard& lock, waiter_id waiter);
  bool markers_settled() const;
  void keep_time();  // before the scheduler hears of something new

  // engine_actions.cpp. With the lock held:
  node* new_node();
  void free_node(node* n);
  void drain();
  void act(const sched::action& a);
  void start(node* n);
  void end_command(node* n);  // drops the scheduler's reference
  // Releases the lock, then runs marker functions.
  void finish(guard& lock);
  // Without the lock:
  void complete(node& n);
  void do_copy(node& n);
  void do_host_function(node& n);
  lane& lane_of(const node& n);
  void blocks_done(kernel_run& run, std::uint64_t n) override;
  void hold(kernel_run& run) override;
  void release(kernel_run& run, std::uint64_t n) override;

  // engine_sections.cpp. With the lock held:
  bool waits_for_kernels(conditional_operation& c);
  void begin_section(node* n);
  void body_over(node* section);
  void run_body(node* section, const graph_plan& body);
  // Without the lock:
  void look_again(node& section);
  bool foreign_wait_over(node& n, bool alone);

  // engine_faults.cpp. Without the lock:
  void block_failed(kernel_run& run, const block& where) override;
  void report_copy(const node& n, const failure_record& fault);
  void fail_device(device_id device, status error);
  bool stop(std::chrono::milliseconds patience);
  void reset(device_id device);

  device_state& at(device_id id) { return *devices[id.value]; }
  bool failed(device_id id) {
    return at(id).runtime.sticky.load(std::memory_order_relaxed) != status::success;
  }
};

}  // namespace sb::engine
