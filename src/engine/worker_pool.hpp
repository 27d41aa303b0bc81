// The threads that run kernels: one per core, and more while all of them are stuck inside long
// blocks.
//
// Blocks that cannot go on leave their worker: they wait in the timer heap, among the spinning
// ones, or at their kernel's grid barrier, and any worker continues them. So the number of workers
// never limits how many blocks are resident.
//
// Thread safety: every member may be called from any thread. Lock order: the caller may hold the
// engine's lock; the pool calls its sink without holding its own.
#pragma once

#include <atomic>
#include <chrono>
#include <condition_variable>
#include <cstdint>
#include <deque>
#include <list>
#include <map>
#include <memory>
#include <mutex>
#include <queue>
#include <thread>
#include <vector>

#include "engine/block.hpp"
#include "engine/cores.hpp"
#include "engine/kernel_run.hpp"
#include "engine/worker.hpp"

namespace sb::engine {

struct loop_job;

// Who hears about blocks. Called on workers, under no lock.
class kernel_sink {
 public:
  // Whether something was submitted that nobody has taken in; a hint.
  [[nodiscard]] virtual bool has_mail() const = 0;
  // Takes it in.
  virtual void attend() = 0;
  // `took_ns` below: what the blocks took to run here. Blocks that waited are not measured.
  static constexpr std::uint64_t unmeasured = ~std::uint64_t{0};
  // A kernel that keep_small() took is over; gives up its reference. What was submitted meanwhile
  // may be left for the next one's end.
  enum class mail : std::uint8_t { taken_in, left };
  virtual void small_done(kernel_run& run, std::uint64_t took_ns, mail what) = 0;
  // `n` more blocks of the run are over, and those of kernel_run::passed.
  virtual void blocks_done(kernel_run& run, std::uint64_t n, std::uint64_t took_ns) = 0;
  // The block failed; called before its references are released.
  virtual void block_failed(kernel_run& run, const block& where) = 0;
  // Asked before that: whether the kernel's other blocks go on. Then this one is over at `until`,
  // as far as the sink is concerned, and the device fails when they are through or at that time.
  virtual bool puts_off(kernel_run& run, const block& where, std::uint64_t& until) = 0;
  // The pool takes `n` more references; it has one already. Maybe under the pool's lock.
  virtual void hold(kernel_run& run, std::uint64_t n) = 0;
  // The pool has given up `n` of its references.
  virtual void release(kernel_run& run, std::uint64_t n) = 0;

 protected:
  ~kernel_sink() = default;
};

// Runs the job's blocks on a fiber of their own. Tells the sink when one of them failed.
void run_on_fiber(worker& w, loop_job& job, kernel_sink& sink);

class worker_pool {
 public:
  struct habits {
    // A worker without work looks for more for some microseconds before it sleeps.
    bool looks = false;
    // All small kernels are measured, not only some: the sink wants to know.
    bool measures = false;
  };
  worker_pool(std::uint32_t workers, habits how, kernel_sink& sink);
  ~worker_pool();
  worker_pool(const worker_pool&) = delete;
  worker_pool& operator=(const worker_pool&) = delete;

  // `n` more blocks may run. The pool holds one reference per granted block until it releases it.
  // Answers how many of them there are: others may have gone ahead.
  std::uint64_t grant(kernel_run& run, std::uint64_t n);
  // Keeps a launch for the worker that calls, when it is one and the launch so small that others
  // could not help: all its blocks are granted, and known to take little. Takes one reference, for
  // all of them.
  bool keep_small(kernel_run& run, std::uint64_t n);
  // Whether a worker looks after what is submitted. False is exact for whoever published something
  // and made a fence before he asked.
  [[nodiscard]] bool attended() const { return attending_.load(std::memory_order_relaxed) != 0; }
  // CUDA: blocks of a higher priority go first at every block boundary. Whether some wait: two
  // words to read, so that it can be asked between any two blocks.
  [[nodiscard]] bool outranked(const kernel_run& run) const {
    return urgent_.load(std::memory_order_relaxed) < run.priority ||
           run.device->waiting_priority.load(std::memory_order_relaxed) < run.priority;
  }
  // For a worker that goes ahead with the run: whether anything else waits. A hint.
  [[nodiscard]] bool wanted_elsewhere(const kernel_run& run) const {
    const kernel_run* arrived = arrived_.load(std::memory_order_relaxed);
    return (arrived != nullptr && arrived != &run) || sink_.has_mail();
  }
  // The run was marked cancelled: brings its waiting blocks to an end soon.
  void cancel(kernel_run& run);
  // For a host thread that waits: runs blocks that are ready and known to take little, until the
  // wait is over or there are none. False: it did nothing. One thread at a time.
  bool help(const host_wait& until) {
    return urgent_.load(std::memory_order_relaxed) != nobody_waits && help_now(until);
  }
  // No block starts any more. Waits for workers to leave device code; false when one does not.
  bool stop(std::chrono::milliseconds patience);

  [[nodiscard]] std::size_t threads();  // alive now

 private:
  static constexpr std::uint64_t never = ~std::uint64_t{0};

  struct slot {
    std::thread thread;
    std::unique_ptr<worker> self;
    const kernel_run* on = nullptr;  // the kernel it is inside of
    std::condition_variable called;  // while it is idle
    pid_t thread_id = 0;
    core_of_sleeper place;
    bool extra = false;
    bool over = false;
  };
  struct timer {
    std::uint64_t ns;
    block* waiting;   // or, when null:
    kernel_run* run;  // blocks that are over at that time
    std::uint64_t count;
    bool operator>(const timer& other) const { return ns > other.ns; }
  };
  struct work {
    enum class kind : std::uint8_t { none, chunk, resume, retry, report } what = kind::none;
    kernel_run* run = nullptr;
    block* waiting = nullptr;
    std::uint64_t first = 0, count = 0;
  };

  // Takes the lock. It is held for less time than the operating system takes to wake who waits.
  static void take(std::unique_lock<std::mutex>& lock);
  [[nodiscard]] std::unique_lock<std::mutex> take_lock() {
    std::unique_lock lock(mutex_, std::defer_lock);
    take(lock);
    return lock;
  }
  void add_thread(bool extra);
  void main(slot& self);
  void supervise();
  void wait_for_work(slot& self, std::unique_lock<std::mutex>& lock);
  void recruit();  // somebody for work that is ready
  void wake_one();
  work pick(std::uint64_t now);
  work pick_spinner(std::uint64_t now);
  work pick_chunk(bool for_host);
  [[nodiscard]] static bool suits_host(const kernel_run& run);
  [[nodiscard]] bool cores_taken() const;
  bool help_now(const host_wait& until);
  void run_as_host(worker& w, const work& what);
  void call_helper(const work& next);
  void call_after_all();
  [[nodiscard]] bool may_begin(const kernel_run& run) const;
  [[nodiscard]] bool others_ready() const;
  [[nodiscard]] bool all_stuck(std::uint64_t now) const;
  [[nodiscard]] bool starving(std::uint64_t now) const;
  [[nodiscard]] std::uint64_t next_deadline() const;
  // Rows of blocks go through memory in longer pieces.
  [[nodiscard]] static std::uint64_t chunk_ns_of(const kernel_run& run) {
    return run.info().row_threads != 0 ? 400'000 : 50'000;
  }
  // For as long a worker goes ahead where nothing else waits. Less than stuck_after_ns.
  [[nodiscard]] static std::uint64_t ahead_ns_of(const kernel_run& run) {
    return run.info().row_threads != 0 ? 2'000'000 : 50'000;
  }
  std::uint64_t chunk_size(const kernel_run& run) const;
  std::uint64_t take_blocks(kernel_run& run, std::uint64_t& first);
  [[nodiscard]] static bool has_blocks(const kernel_run& run) {
    return !run.returned.empty() || run.unclaimed() != 0;
  }
  void note_urgent();
  std::uint64_t grant_blocks(kernel_run& run, std::uint64_t n);
  [[nodiscard]] std::uint64_t go_ahead(kernel_run& run, std::uint64_t places, std::uint64_t in_ns,
                                       std::uint64_t& first);
  [[nodiscard]] bool give_back(kernel_run& run, kernel_run::block_range blocks,
                               std::uint64_t granted);

  void start_attending(worker& w);
  void stop_attending(worker& w);
  void work_off(worker& w);  // small kernels and the inbox, until there is nothing of both
  [[nodiscard]] bool stands_still() const;
  bool look_for_work(std::unique_lock<std::mutex>& lock);

  void execute(worker& w, const work& what);
  void run_small(worker& w, kernel_run& run);
  std::uint64_t await_endings(const loop_job& job, std::uint64_t now);
  void run_chunk(worker& w, kernel_run& run, std::uint64_t first, std::uint64_t count);
  void run_loop_chunk(worker& w, kernel_run& run, std::uint64_t first, std::uint64_t count);
  void run_fiber_chunk(worker& w, kernel_run& run, std::uint64_t first, std::uint64_t count);
  void settle(worker& w, block* b, block_outcome outcome, bool was_spinning, std::uint64_t cost_ns);
  void release_grid(kernel_run& run);
  void push_timer(timer t);
  block* take_block();
  void give_block(block* b);
  void drop_everything();

  const std::uint32_t target_;
  const bool may_look_;
  const bool measures_;
  kernel_sink& sink_;
  stack_pools stacks_;
  // The best priority in ready_, for workers to look at between two blocks. Written under mutex_.
  std::atomic<std::int32_t> urgent_{nobody_waits};
  std::atomic<std::uint32_t> attending_{0};  // workers with worker::attends
  std::atomic<std::uint32_t> pokes_{0};      // changes when the worker that looks should look again
  std::atomic<bool> called_{false};          // the pool got work: whoever attends should come by
  // What last began to wait for workers; only to be compared.
  std::atomic<const kernel_run*> arrived_{nullptr};
  std::atomic<bool> moved_{false};         // loop-mode blocks got on; see moved_ns_
  std::atomic<bool> call_put_off_{false};  // see call_helper()

  std::mutex mutex_;
  // Everything below is guarded by mutex_.
  std::condition_variable supervise_;
  std::condition_variable thread_over_;
  std::list<slot> slots_;
  std::thread supervisor_;
  std::uint32_t idle_ = 0;
  std::uint32_t alive_ = 0;
  std::vector<slot*> sleeping_;     // the idle ones that nobody has called
  slot* leading_ = nullptr;         // the idle one that watches the time
  bool comes_ = false;              // one was called that has not come yet
  std::unique_ptr<worker> host_;    // what a host thread is while it helps
  bool helped_ = false;             // one does
  bool host_comes_ = true;          // whoever last waited for a kernel came early enough to help
  bool looking_ = false;            // a worker waits for work with open eyes; it counts as idle too
  std::uint64_t look_ns_ = 60'000;  // for how long
  std::uint64_t leader_ns_ = 0;
  bool stopping_ = false;
  bool stuck_ = false;     // a worker did not leave device code
  bool watching_ = false;  // the supervisor looks at the workers

  std::map<std::int32_t, std::deque<kernel_run*>>
      ready_;  // by priority; runs with unclaimed blocks
  std::deque<block*> resumable_;
  bool chunk_turn_ = false;  // runs and resumable blocks take turns
  std::priority_queue<timer, std::vector<timer>, std::greater<>> timers_;
  std::deque<block*> spin_now_;         // the round that goes on, in the order of their numbers
  const worker* spin_first_ = nullptr;  // who takes those in front; others take those at the back
  std::deque<block*> spin_next_;        // the round after it
  std::uint32_t spin_in_flight_ = 0;
  std::uint64_t spin_due_ns_ = 0;
  std::uint64_t spin_wake_ns_ = never;  // when a sleeper of a block of the next round is due
  std::uint64_t round_cost_ns_ = 0;
  bool round_went_on_ = false;
  std::uint64_t moved_ns_ = 0;  // when anything last got on
  std::vector<std::unique_ptr<block>> blocks_;
  std::vector<block*> spare_;
};

}  // namespace sb::engine
