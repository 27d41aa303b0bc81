// The inside of the engine, shared by engine.cpp (what callers see), engine_submit.cpp (how work
// gets in), engine_actions.cpp (what the scheduler decides, carried out), engine_sections.cpp
// (conditional nodes of graphs) and engine_faults.cpp (failed devices, the end of the process).
//
// A submission goes into the inbox without a lock. Whoever takes the lock takes in first what is
// there: so the scheduler hears of everything in the order of the calls, and a completion never
// overtakes a submission that came before it. A worker attends to the inbox while it has nothing
// longer to do; when none does, the submitter takes in itself, or leaves a note for one who just
// tells of a completion.
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
#include <vector>

#include "engine/clock.hpp"
#include "engine/counter_clock.hpp"
#include "engine/device_runtime.hpp"
#include "engine/engine.hpp"
#include "engine/event_watch.hpp"
#include "engine/host_wait.hpp"
#include "engine/inbox.hpp"
#include "engine/kernel_costs.hpp"
#include "engine/lane.hpp"
#include "engine/loaded_kernels.hpp"
#include "engine/node.hpp"
#include "engine/node_pool.hpp"
#include "engine/races.hpp"
#include "engine/short_lock.hpp"
#include "engine/stream_list.hpp"
#include "engine/worker_pool.hpp"

namespace sb::engine {

class at_once;
class modelled;
class recorder;

struct device_state {
  device_profile profile;
  device_runtime runtime;
  stream_id legacy;                                      // guarded by state::mutex
  std::unique_ptr<stream_state::connection> connection;  // if all streams share one
  std::atomic<bool> reported{false};                     // what failed was told
  std::unique_ptr<lane> to_device, to_host, inside, between_hosts;
};

struct waiting_thread {
  waiter_id waiter;
  host_wait* wait;
};

struct engine::impl final : kernel_sink {
  explicit impl(engine_options given);
  ~impl();

  // --- constant
  const engine_options options;
  std::vector<std::unique_ptr<device_state>> devices;
  const pid_t process;
  const counter_clock counter;
  const bool cores_to_spare;  // a thread that waits may look for a while before it sleeps
  const bool measures;        // the scheduler wants to know what commands took to run

  // --- own synchronisation
  std::atomic<int> captures{0};       // that are under way
  std::atomic<bool> dropping{false};  // the engine ends: copies stop between two pieces
  std::unique_ptr<worker_pool> workers;
  std::unique_ptr<modelled> model;   // null: by the real clock
  std::unique_ptr<recorder> record;  // null: there is no trace
  std::unique_ptr<lane> host_functions;
  std::unique_ptr<lane> idle_loops;  // sections whose body took no time
  std::unique_ptr<event_watch> foreign_waits;

  inbox box;
  std::shared_ptr<node_pool> pool = std::make_shared<node_pool>();
  stream_list streams;
  kernel_costs costs;

  // Who submits reads these every time, and they change seldom.
  alignas(64) std::atomic<std::uint32_t> blocked_calls{0};  // that wait for room, in any stream
  std::atomic<std::uint32_t> short_copies{0};  // who does them looks at the inbox behind each
  std::atomic<bool> stopped{false};            // set under the lock

  // A line of its own: whoever waits for it looks at it all the time.
  alignas(64) short_lock mutex;
  // --- guarded by mutex
  alignas(64) sched::scheduler scheduler;
  loaded_kernels loaded;
  std::unique_ptr<at_once> alone;
  race_order races;
  std::vector<waiting_thread> waits;
  std::vector<host_wait*> released;  // in this batch
  node* nodes = nullptr;             // all that the scheduler knows
  std::vector<sched::action> batch;  // actions being carried out
  std::vector<node*> to_abandon;     // kernels that came up on a failed device
  std::vector<node*> dead;           // completed in this batch
  std::uint64_t drains = 0;          // counts them
  std::uint64_t decided_ns = 0;      // see decision_ns
  int decisions_left = 0;
  bool reset_waits = false;                 // somebody waits for nodes_freed
  std::condition_variable_any nodes_freed;  // for reset
  // Marker functions run in order, one at a time, on whichever thread comes by.
  std::deque<std::function<void()>> markers;
  std::atomic<std::uint64_t> markers_issued{0};  // written under the lock, as the next
  std::atomic<std::uint64_t> markers_done{0};
  std::thread::id marker_runner;
  std::condition_variable_any markers_changed;

  using guard = std::unique_lock<short_lock>;

  // engine_submit.cpp. Without the lock:
  node* new_node(stream_id stream, operation what);
  command_id post(node* n);
  void note_record(node& n);
  command_id submit_now(node* n, std::span<const command_id> after);
  bool take_room(stream_id stream, queue_class queue, std::uint32_t limit);
  bool look_for_room(const stream_state::entries& s, std::uint32_t begun, std::uint32_t limit);
  void take_turn(node& n, queue_class queue);
  void give_turn_back(const node& n);
  [[nodiscard]] std::uint32_t entry_limit(const operation& what) const;
  void wait_behind_blocked(stream_id stream);
  // With the lock held:
  void take_in();  // everything that was submitted so far
  // The same at a completion, without looking where submitters write: what a host thread submitted
  // before it set off the completion is there, unless more than the inbox can see were submitting
  // at that moment.
  void take_in_quickly();
  void introduce(node* n, std::span<const command_id> after);
  // What launches of the kernel come after.
  loaded_kernels::found load(const abi::kernel_info* kernel, device_id device);
  command_id submit_one(node* n, std::span<const command_id> after);
  // The nodes of a graph, in the stream; those without a dependency come after `head`. Answers the
  // ones that nothing follows.
  std::vector<command_id> submit_nodes(stream_id stream, std::span<const graph_item> items,
                                       command_id head);
  void keep_time();  // before the scheduler hears of something new

  // engine_at_once.cpp. Without the lock; false, or an id that is not valid: submit it.
  [[nodiscard]] bool works_at_once() const;
  std::uint64_t quick_ns(const kernel_operation& k);
  static constexpr std::size_t most_items_at_once = 64;  // of a graph
  bool run_at_once(stream_id stream, std::span<const kernel_operation* const> all,
                   std::span<const command_id> after, std::span<const graph_item> graph = {});
  command_id record_at_once(stream_id stream, const operation& what);
  command_id copy_at_once(stream_id stream, const operation& what);
  command_id fill_at_once(stream_id stream, const operation& what);
  bool graph_at_once(stream_id stream, std::span<const graph_item> items,
                     std::span<const command_id> after);
  // With the lock held:
  void tell_failure(guard& lock);
  [[nodiscard]] bool at_rest() const;
  [[nodiscard]] bool claim_at_once(stream_id stream);
  [[nodiscard]] bool clear_for(stream_id stream, std::span<const kernel_operation* const> all,
                               std::span<const command_id> after) const;
  bool run_recorded(guard& lock, stream_id stream, std::span<const graph_item> graph);

  // engine.cpp. Without the lock:
  void let_attend();
  bool help_with_copy(const sched::wait_target& target, device_id device);
  // With the lock held:
  // Leaves without it. The thread helps with what it waits for, where that is said.
  void wait_for(guard& lock, waiter_id waiter, const sched::wait_target* target = nullptr,
                device_id device = {});
  bool markers_settled() const;
  [[nodiscard]] race_set races_before(const sched::wait_target& target) const;
  template <class Question>
  auto ask(Question&& question);  // takes the lock

  // engine_actions.cpp. With the lock held:
  void free_node(node* n);
  void drain();
  void act(const sched::action& a);
  void start(node* n);
  void give_entry_back(const node& n);
  void end_command(node* n);  // drops the scheduler's reference
  // Releases the lock, then runs marker functions.
  void finish(guard& lock);
  // The same for who took the lock for notes. True: there is one, that something was submitted.
  [[nodiscard]] bool leave();
  // Without the lock:
  template <class Tell>
  void completed(mail what, Tell&& tell);
  void complete(node& n, std::uint64_t took_ns = unmeasured);
  void do_copy(node& n, bool& attends);
  void stop_attending(bool& attends);
  void do_host_function(node& n);
  lane& lane_of(const node& n);
  void blocks_done(kernel_run& run, std::uint64_t n, std::uint64_t took_ns) override;
  void small_done(kernel_run& run, std::uint64_t took_ns, mail what) override;
  [[nodiscard]] bool has_mail() const override { return !box.empty(); }
  void attend() override;
  void hold(kernel_run& run, std::uint64_t n) override;
  void release(kernel_run& run, std::uint64_t n) override;

  // engine_sections.cpp. With the lock held:
  bool waits_for_kernels(conditional_operation& c);
  void begin_section(node* n);
  void body_over(node* section);
  void run_body(node* section, const graph_plan& body);
  // Without the lock:
  void look_again(node& section);
  void look_at_section(node& section);
  bool foreign_wait_over(node& n, bool alone);

  // engine_faults.cpp. Without the lock:
  void block_failed(kernel_run& run, const block& where) override;
  bool puts_off(kernel_run& run, const block& where, std::uint64_t& until) override;
  std::string name_of(stream_id stream);
  void report_block(const kernel_run& run, const block& where);
  void report_copy(const node& n, const failure_record& fault);
  void fail_device(device_id device, status error, node& culprit);
  bool stop(std::chrono::milliseconds patience);
  void reset(device_id device);

  void hung();  // modelled time: nothing can happen any more
  [[noreturn]] void asked_to_end();
  [[nodiscard]] std::uint64_t clock_ns() const;
  [[nodiscard]] std::uint64_t trace_ns() const;  // what a trace is told: the same, and quicker
  // With the lock held: the same for a completion and the few things that it sets going, which are
  // of one time. A look at the clock takes as long as what lies between them.
  [[nodiscard]] std::uint64_t decision_ns();
  // Whether the same program would record the same again.
  [[nodiscard]] bool deterministic();

  device_state& at(device_id id) { return *devices[id.value]; }
  bool failed(device_id id) {
    return at(id).runtime.sticky.load(std::memory_order_relaxed) != status::success;
  }
};

}  // namespace sb::engine
