// The engine in modelled time: what started runs at once and by itself, and is over when the
// device's timing says so.
//
// All of it belongs to the thread whose turn it is (host_clocks.hpp); members need no lock of their
// own. A kernel that waits for memory that somebody else writes is looked at again a moment
// (look_ns) after everything that may have changed it: events and calls of the host. What other
// operations write is taken to be written at their end.
#pragma once

#include <array>
#include <atomic>
#include <cstdint>
#include <deque>
#include <map>
#include <queue>
#include <set>
#include <string>
#include <unordered_map>
#include <vector>

#include "engine/engine_state.hpp"
#include "engine/host_clocks.hpp"
#include "engine/known_work.hpp"
#include "engine/model_executor.hpp"
#include "engine/uneven_blocks.hpp"
#include "model/graph_timing.hpp"
#include "model/shared_device.hpp"
#include "model/timing_profile.hpp"

namespace sb::engine {

class modelled final : public host_clocks::events {
 public:
  modelled(engine::impl& engine, const timing_profile& timing);
  ~modelled();

  host_clocks& clocks() { return clocks_; }
  [[nodiscard]] const timing_profile& timing() const { return timing_; }
  [[nodiscard]] std::uint64_t now() const { return now_; }

  // The calling thread comes in; `ns` is what the call costs.
  void call(std::uint64_t ns);
  void host_call(std::uint64_t ns);  // the same for a call of CUDA's
  // The same while streams are captured: it costs less if it turns out to be part of a graph.
  void host_call_beside_captures(std::uint64_t ns);
  void call_was_captured();
  void pay_rest();        // of the present call, which was not
  void pay_for_others();  // that bring work at the same time
  // The program's own code on the calling thread, which takes its time if the options say so.
  void host_code_ran();
  void host_code_begins();
  void found_not_ready();  // the call that the calling thread is in

  // The program's clock reads, sleeps, threads and waits are modelled from here on, where the
  // library that sees them is loaded.
  void take_clocks();
  void give_clocks_back();
  std::uint64_t sleep(std::uint64_t ns);  // what is left when it was interrupted
  // At that time, once: between turns, on any thread. One at a time; `never`: no more.
  void call_at(std::uint64_t ns, void (*expire)(std::uint64_t));
  bool wait_for_thread();  // host_clocks::wait, in the trace
  void yield(std::uint64_t ns);
  void looks_are_over();  // the calling thread does something else
  void tell_stuck();      // what threads wait for, in the trace of a run that hangs

  void before_submission(const node& n);  // what its call costs beside its own cost

  // By the engine, with its lock held.
  // The next that is submitted is this node of a graph; `launched`: not of a body inside of one.
  void place_in_graph(const graph_shape& shape, std::size_t node, bool launched);
  void submitted(node& n);
  void start(node& n);  // anything but kernels' blocks
  void grant(node& n, std::uint64_t blocks);
  [[nodiscard]] std::uint64_t record_ns(const node& n);  // of a record that is reached now
  void release(host_wait& w);
  void look_again_later(node& section);
  // By the engine, without the lock.
  void settle();  // runs what started
  void wait(host_wait& w);
  // On the thread of host functions.
  void begin_host_function(node& n);
  void end_host_function(node& n);
  void ended(node& n);  // it is complete, now

  // host_clocks::events
  std::uint64_t next_ns() override;
  void step() override;
  bool idle() const override { return events_.empty() && spinners_.empty(); }
  std::uint64_t timer_ns() const override { return expires_ns_.load(std::memory_order_relaxed); }
  bool look_again() override;
  bool in_vain() const override;
  bool hung() override;
  void host_ran(std::uint64_t ns) override;
  void host_ends() override;
  std::uint32_t calling_thread() override;  // clock_hooks.cpp

 private:
  struct work {
    node* what;
    std::uint64_t blocks;  // of a kernel
    std::uint64_t ns;      // when they begin
  };
  struct event {
    enum class kind : std::uint8_t { operation, blocks, wake, meeting, look, section, share } what;
    std::uint64_t ns = 0;
    std::uint64_t order = 0;
    node* n = nullptr;
    std::uint32_t device = 0;                   // blocks, share
    shared_device::piece_id piece = 0;          // blocks
    block* waiting = nullptr;                   // wake
    bool ends_with(const event& other) const {  // blocks of one kernel
      return what == kind::blocks && n == other.n && ns == other.ns;
    }
    bool operator>(const event& other) const {
      return ns != other.ns ? ns > other.ns : order > other.order;
    }
  };
  // What the device does beside other things and shares with them.
  struct sharing {
    shared_device device;
    std::vector<std::uint64_t> ends;  // by piece: the event that ends it, by its order
    std::vector<node*> nodes;         // by piece
    uneven_blocks uneven;
    std::uint64_t look_ns = host_clocks::never;  // when a piece begins
  };
  // The blocks that came last, as more may come that do the same.
  struct last_piece {
    const node* n = nullptr;
    const block_work* work = nullptr;
    std::uint64_t ns = 0, together = 0;
    shared_device::piece_id id = 0;
  };
  // A copy on its way in one direction.
  struct transfer {
    node* n = nullptr;
    double left_ns = 0;  // alone
    std::uint64_t since_ns = 0;
    double rate = 1;
  };

  void came_in();
  void tell_looks(const host_clocks::looks& all);
  [[nodiscard]] std::uint64_t begin_of(const node& n);  // once, when it starts
  [[nodiscard]] std::uint64_t host_function_begin(const node& n) const;
  std::unordered_map<std::uint32_t, std::uint32_t>* waiting_copies(const command& c,
                                                                   device_id device);
  void post(event e);
  void post_operation(node& n, std::uint64_t ns);  // its end, which may have been at another time
  void run(const work& w);
  void run_kernel(const work& w);
  void run_parts(const work& w, std::uint64_t first);
  void run_blocks(const work& w, std::uint64_t first);
  void run_loop(const work& w, std::uint64_t first);
  void run_fibers(const work& w, std::uint64_t first);
  void run_counting(const work& w, std::uint64_t first);
  void finish_counted(const kernel_run& run);
  void share_ended(node& n, std::uint64_t together);
  void end_blocks(node& n, std::uint64_t ns, std::uint64_t count, std::uint64_t together,
                  std::uint64_t first);
  void resume(block* b, std::uint64_t ns);
  void wake_later(block& b);
  void place(worker& w, block* b, block_outcome outcome);
  void come_to_grid(kernel_run& run, std::uint64_t ns);
  void release_grid(kernel_run& run);
  // What looks at memory: modelled_looks.cpp
  bool look_at_spinners(std::uint64_t ns);
  bool look_at(const std::vector<block*>& some, std::uint64_t ns);
  void look_before_others_write();
  void tell_running(const node* n);
  void tell_wait(std::uint32_t other, trace::awaited what, std::uint64_t begin, std::uint64_t end);
  void look_at_writes_of(const kernel_run* ran);
  void post_look();
  [[nodiscard]] std::uint64_t look_time(std::size_t blocks) const;  // from a change to their look
  bool look_until_they_give_up();
  bool look_for_long();
  void note_nap(block& b, block_outcome outcome);
  bool looks_for_too_long(block& b);
  [[nodiscard]] const kernel_run* first_in_vain() const;  // of a program that hangs
  [[nodiscard]] std::string awaited_words() const;
  void begin_transfer(node& n, std::uint64_t ns);
  void update_transfers(std::uint32_t device);
  // What work does to work beside it: modelled_sharing.cpp
  void share_blocks(node& n, const block_work& work, std::uint64_t ns, std::uint64_t count,
                    std::uint64_t together);
  void hurry_last_ones(node& n);
  void share_memory(node& n, std::uint64_t ns, double alone, double bytes);
  void post_end(node& n, shared_device::piece_id id, std::uint64_t ns);
  [[nodiscard]] bool outdated(const event& e) const;
  [[nodiscard]] bool is_nearly_over(const event& e, device_id device) const;
  std::uint64_t end_piece(const event& e);  // how many blocks it had
  std::uint64_t end_with(const event& first);
  void blocks_ended(const event& first);
  void tell_blocks(node& n, std::uint64_t count);
  void make_room_before_next(const node& ended);
  void update_shares();
  bool look_up_work(node& n);
  void note_work(const block& b);

  engine::impl& e_;
  const timing_profile timing_;
  graph_place place_;  // of the next that is submitted
  std::uint64_t now_ = 0;
  std::uint64_t order_ = 1;
  std::priority_queue<event, std::vector<event>, std::greater<>> events_;
  std::deque<work> to_run_;
  std::deque<block*> again_;
  std::vector<block*> spinners_;
  known_launches known_;   // counted again now and then
  bool sampling_ = false;  // what ends is kept until all is counted
  // Blocks of a kernel, by when they would end without work and the first of them.
  using ended_blocks = std::map<std::pair<std::uint64_t, std::uint64_t>, std::uint64_t>;
  std::vector<std::pair<node*, ended_blocks>> ended_;
  bool settling_ = false;
  bool changed_ = false;                        // memory may have: spinners are worth a look
  std::uint64_t changed_ns_ = 0;                // when a block did that
  std::uint64_t look_ns_ = host_clocks::never;  // when they get one
  std::uint64_t written_ns_ = 0;                // the latest end of what ran last
  std::set<const block*> nappers_;              // whose sleepers all look in vain between naps,
  std::uint64_t napping_threads_ = 0;           // their threads,
  std::uint64_t naps_in_vain_ = 0;              // naps since anything else last happened,
  std::uint64_t naps_since_ns_ = 0;             // and when the first of them was over
  const node* released_by_ = nullptr;           // what ended in this step
  command_kind ended_kind_ = command_kind::marker;
  copy_direction ended_direction_ = copy_direction::host_to_device;
  stream_id ended_stream_;
  std::uint64_t ended_bytes_ = 0;
  std::vector<std::array<transfer, 2>> transfers_;  // by device and direction
  std::vector<sharing> shares_;                     // by device
  bool shares_changed_ = false;
  last_piece last_piece_;
  // By device and direction: streams, and how many of their copies have not begun.
  std::vector<std::array<std::unordered_map<std::uint32_t, std::uint32_t>, 2>> waiting_copies_;
  host_clocks::thread* host_function_thread_ = nullptr;
  std::uint64_t host_function_over_ns_ = 0;
  const node* host_function_ = nullptr;  // that runs
  struct begun_function {
    trace::number number = trace::none;
    std::uint64_t ns = 0;
  };
  std::deque<begun_function> functions_;  // the last ones
  // The next of the program's timers. Looked at beside the thread that has its turn.
  std::atomic<std::uint64_t> expires_ns_{host_clocks::never};
  void (*expire_)(std::uint64_t) = nullptr;
  std::uint64_t expired_in_vain_ = 0;  // timers since a thread last ran
  bool host_ends_ = false;
  stream_id last_launch_;
  std::map<std::uint32_t, std::uint64_t> brought_work_ns_;  // by thread: when it did last
  model_executor executor_;
  host_clocks clocks_;  // last: its thread calls the rest
};

}  // namespace sb::engine
