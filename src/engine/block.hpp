// A block of a kernel while it runs: its shared memory, its threads as fibers, the barrier, warp
// operations and waits that connect them.
//
// A block is used by one worker at a time; between two resumes it may change the worker. Everything
// here runs on that worker: on its home stack, or on the fiber of one of the block's threads.
//
// Invariants
//   - a thread is in exactly one place: fresh, in ready_, parked (barrier, warp, asking,
//   sleeping,
//     grid) or done; or it is the one that runs;
//   - a fiber belongs to a thread from its start to its end, and is handed on to the next fresh
//   thread
//     at the end, so that threads that never wait share one stack.
#pragma once

#include <algorithm>
#include <cstdint>
#include <memory>
#include <utility>
#include <vector>

#include "base/device_abi.hpp"
#include "engine/access_trace.hpp"
#include "engine/clock.hpp"
#include "engine/fiber.hpp"
#include "engine/kernel_run.hpp"
#include "engine/private_space.hpp"
#include "engine/races.hpp"
#include "engine/shared_space.hpp"

namespace sb::engine {

struct block;
struct worker;

// What a thread brings to a warp operation, and takes from it.
struct lane_call {
  abi::lane_operation what = abi::lane_operation::sync;
  std::uint32_t how = 0;  // shuffle_kind, vote_kind, reduce_kind; match: 1 for all
  std::uint32_t mask = 0;
  std::uint32_t argument = 0;  // shuffle: lane or delta; vote: predicate
  std::uint32_t width = 32;
  std::uint64_t value = 0;
  std::uint64_t result = 0;
  int flag = 0;  // shuffle: in range; match: predicate
};

// Computes results for the lanes in `present`, whose calls are calls[lane].
void complete_warp(lane_call* const* calls, std::uint32_t present);

struct device_thread {
  abi::thread_context context{};  // first: the address is the same
  device_thread* next = nullptr;
  fiber* on = nullptr;          // from its start to its end
  std::uint64_t wake_ns = 0;    // when its sleep is over, or was the last time
  std::uint64_t seen = 0;       // what its spin loop saw last
  std::uint32_t place = 0;      // of an active_mask call
  std::uint64_t clock_ns = 0;   // last clock value given out
  std::uint64_t streak_ns = 0;  // when the present series of clock reads began
  std::uint32_t streak = 0;
  bool due = false;             // its sleep is over and it has not run yet
  bool slept = false;           // since its loop last told what it saw
  bool vain = false;            // since it last slept its loop saw what it saw before
  bool naps = false;            // it sleeps, and looked in vain before
  bool asks_in_vain = false;    // mode lanes: since it last looked
  std::uint64_t asleep_ns = 0;  // modelled: since when
  int predicate = 0;
  lane_call call;
  // Of threads that share a fiber:
  bool asleep = false;
  std::uint64_t pause_ns = 0;  // it reads the clock all the time: until when it then sleeps

  // Of a block.
  void begin() {
    on = nullptr;
    seen = clock_ns = wake_ns = pause_ns = 0;
    place = streak = 0;
    due = slept = vain = asleep = false;
  }
};

struct thread_list {
  device_thread* first = nullptr;
  device_thread* last = nullptr;
  std::uint32_t count = 0;

  void push(device_thread* t) {
    t->next = nullptr;
    if (last != nullptr)
      last->next = t;
    else
      first = t;
    last = t;
    ++count;
  }
  void push_by_wake(device_thread* t) {  // behind those that wake before it, or with it
    device_thread** place = &first;
    if (last != nullptr && last->wake_ns <= t->wake_ns) return push(t);
    while (*place != nullptr && (*place)->wake_ns <= t->wake_ns) place = &(*place)->next;
    if (*place == nullptr) return push(t);
    t->next = std::exchange(*place, t);
    ++count;
  }
  device_thread* pop() {
    device_thread* t = first;
    first = t->next;
    if (first == nullptr) last = nullptr;
    --count;
    return t;
  }
  void take(thread_list& other) {  // appends all of `other`
    if (other.first == nullptr) return;
    if (last != nullptr)
      last->next = other.first;
    else
      first = other.first;
    last = other.last;
    count += other.count;
    other = {};
  }
};

// Why a block gave its worker back.
enum class block_outcome : std::uint8_t {
  done,
  more,      // it could go on; others should have a turn
  spinning,  // every thread that can run looked at memory in vain
  sleeping,  // nothing to do before wake_ns, or others should have a turn; see naps
  at_grid,   // every live thread waits for the other blocks
  failed,    // failure() says why
  dropped,   // its kernel was cancelled
};

struct failure_record {
  status error = status::success;
  const void* address = nullptr;  // the one that could not be accessed
  const char* what = nullptr;     // words for the message
};

struct warp_state {
  std::uint32_t live = 0;
  std::uint32_t waiting = 0;  // lanes inside a warp operation
  std::uint32_t asking = 0;   // which lanes are where they are
  std::uint32_t resting = 0;  // mode lanes, where lanes ask: at a barrier
  std::uint32_t came = 0;     // mode lanes: lanes that came to an operation in this round
  std::uint32_t still = 0;    // mode lanes: rounds in a row in which none did
  std::uint32_t asleep = 0;   // if they have fibers, or times
};

struct alignas(64) block {
  abi::block_context context{};  // first: the address is the same
  kernel_run* run = nullptr;
  worker* on = nullptr;
  std::uint64_t index = 0;    // where it began; go_on() leaves it
  bool unfinished = false;    // gave up a turn half done; guarded by the pool
  bool in_vain = false;       // its last turn led nowhere; see turn_was_in_vain()
  std::uint64_t wake_ns = 0;  // of the first of its sleepers, if it has some; may lie in the past
  bool naps = false;  // outcome sleeping: its threads looked at memory in vain before they slept
  bool asked_time = false;       // one of its threads has, since somebody took note
  std::uint64_t spun_ns = 0;     // modelled: since when it waits for memory that others write
  std::uint64_t alarm_ns = 0;    // modelled: when its sleepers are to go on; 0: nobody takes care
  std::uint64_t model_ns = 0;    // the time, when it is modelled; 0: the real clock
  std::uint32_t busy_turns = 0;  // modelled: with outcome more, in a row, of nothing but looks
  failure_record failure;
  const device_thread* failed_thread = nullptr;  // null: all of them
  bool failed = false;  // ends now; a failure without it waits for threads that can still run
  race_fiber races;     // fiber mode
  // Which version of the kernel this block runs.
  const abi::kernel_info* info = nullptr;
  abi::kernel_counts counts{};
  std::unique_ptr<access_trace> accesses;  // modelled time: of the version that counts
  bool held = false;                       // it was counted for long enough: others go on first

  private_space privates;  // modes loop and block_fiber

  // Modes loop and block_fiber: the logical clock. Threads take turns, but each of them starts
  // where the block's region did, and the block is over when the last of them is.
  struct {
    std::uint64_t begin_ns = 0;  // where threads of this region start at least
    std::uint64_t end_ns = 0;    // latest logical time of any thread
    std::uint64_t skew_ns = 0;   // how far the present thread is ahead of the real clock
    std::uint64_t real_ns = 0;   // what the real clock said last
    std::uint32_t waits = 0;     // since then
    std::uint32_t thread = 0;
  } loop;

  // One for each of its threads.
  [[nodiscard]] bool has_fibers() const { return info->mode == abi::kernel_mode::fibers; }
  // At least one for all of them: it may stop before its end.
  [[nodiscard]] bool stops() const { return info->mode != abi::kernel_mode::loop; }
  [[nodiscard]] bool has_lanes() const { return info->mode == abi::kernel_mode::lanes; }
  // Its threads share a fiber, and each has a time of its own.
  [[nodiscard]] bool has_times() const {
    return info->times != abi::thread_times::none && stops() && !has_fibers();
  }

  // Where what its threads next take from the heap of kernels lies, for counts that are the same in
  // every run: the heap's pieces of one block one after the other, 80 bytes apart at least as on
  // the device, and those of the blocks in their order.
  std::uint64_t next_of_heap(std::size_t bytes) {
    constexpr std::uint64_t begin = std::uint64_t{1} << 63, of_block = 1 << 26, unit = 16;
    constexpr std::uint64_t least = 80;
    const std::uint64_t at = begin + number() * of_block + heap_bytes_ % of_block;
    heap_bytes_ += std::max<std::uint64_t>(least, (bytes + 2 * unit - 1) / unit * unit);
    return at;
  }

  // The time of the device.
  [[nodiscard]] std::uint64_t now_ns() const { return model_ns != 0 ? model_ns : steady_ns(); }
  // What threads with times of their own are shown of it. None of them sees a time at which one
  // that sleeps should have been awake: who looks at memory until then would give up before it was
  // written.
  [[nodiscard]] std::uint64_t shown(std::uint64_t now, const device_thread& to) const {
    if (sleeping_.count != 0) now = std::min(now, next_wake_ns_);
    if (has_due()) now = std::min(now, due_ != 0 ? due_wake_ns_ : ready_.first->wake_ns);
    return std::max(now, to.wake_ns);
  }

  // Gets ready to run block `index` of `run`.
  void begin(kernel_run& run, std::uint64_t index);
  static constexpr std::uint32_t not_told = ~0u;  // context.row_at
  // Loop mode: how many blocks from this one on the kernel may run at once, which is told to it.
  std::uint64_t take_row(std::uint64_t most) {
    const std::uint32_t width = context.block_dim[0];
    std::uint64_t blocks = 1;
    if (info->row_threads != 0 && (info->row_width == 0 || info->row_width == width) &&
        !races_checked())
      blocks = info->row_threads / run->threads;
    blocks = std::min({blocks, most, std::uint64_t{context.grid_dim[0] - context.block_idx[0]}});
    context.row_blocks = blocks == 0 ? 1 : static_cast<std::uint32_t>(blocks);
    context.row_at = not_told;
    return context.row_blocks;
  }
  // Loop mode: gets ready for the block behind the row that ran. Writes one line of the cache: a
  // core that a kernel makes stream its results to memory goes on doing so only then, and is twice
  // as fast. What blocks seldom change is looked at, and written when it was changed.
  void go_on() {
    if (races_checked()) return begin(*run, number() + 1);
    if ((context.block_idx[0] += context.row_blocks) == context.grid_dim[0]) {
      context.block_idx[0] = 0;
      if (++context.block_idx[1] == context.grid_dim[1]) {
        context.block_idx[1] = 0;
        ++context.block_idx[2];
      }
    }
    if (failure.error != status::success) failure = {};
    if (heap_bytes_ != 0) heap_bytes_ = 0;
    if ((loop.begin_ns | loop.end_ns | loop.skew_ns | loop.real_ns | loop.waits | loop.thread) != 0)
      loop = {};
    device_thread& t = threads_[0];
    if ((t.context.tid[0] | t.context.tid[1] | t.context.tid[2] | t.context.linear_tid) != 0)
      t.context = {&context, {0, 0, 0}, 0};
    if ((t.seen | t.streak | t.clock_ns) != 0) t.seen = t.streak = 0, t.clock_ns = 0;
  }
  // Of the block, or of the first of its row, in the order of x, y, z.
  [[nodiscard]] std::uint64_t number() const {
    const auto& at = context.block_idx;
    return at[0] + std::uint64_t{context.grid_dim[0]} *
                       (at[1] + std::uint64_t{context.grid_dim[1]} * at[2]);
  }
  // Fiber mode: runs until an outcome; `on` is the worker that calls.
  block_outcome resume(worker& on);
  // Gives the fibers of unfinished threads back to the worker.
  void drop(worker& on);
  // Done: tells the launch's counts, if the block is a sample.
  void hand_in_counts();
  device_thread& loop_thread() { return threads_[0]; }
  // What the hardware calls this fault of the block's code.
  [[nodiscard]] failure_record named(const failure_record& fault) const;
  // After a turn: whether it only looked at memory, or came to wait for the grid. Kept for whoever
  // asks how many blocks of the kernel do.
  void turn_was_in_vain(block_outcome outcome);
  // Whether something happened in the last turn but sleep and looks at memory.
  [[nodiscard]] bool got_on() const { return got_on_; }
  // Whether one of its threads saw something new in the last turn, though it looks again now. What
  // threads do together between two looks may be in vain.
  [[nodiscard]] bool worked() const { return worked_; }
  // The same, but a loop with barriers may only go round.
  [[nodiscard]] bool went_on() const { return went_on_; }
  // How often its threads looked at memory in a turn that was too long, if they did little else.
  [[nodiscard]] std::uint32_t looks_of_long_turn() const;
  [[nodiscard]] bool woke() const { return woken_ != 0; }  // one of its sleepers did
  [[nodiscard]] bool has_sleepers() const { return sleeping_.count != 0; }
  // Each of them looks at memory again and again, and did so in vain before it slept.
  [[nodiscard]] bool only_naps() const {
    return sleeping_.count != 0 && napping_ == sleeping_.count;
  }
  [[nodiscard]] std::uint64_t longest_asleep_ns() const { return sleeping_.first->asleep_ns; }
  void grid_released();  // all blocks arrived: the threads go on at the next resume

  // For device code, on the fiber of `t`.
  int barrier(device_thread& t, abi::barrier_kind kind, int predicate);
  void warp_call(device_thread& t);  // t.call is filled in; results come back in it
  std::uint32_t active_mask(device_thread& t, std::uint32_t place);
  void sleep_until(device_thread& t, std::uint64_t ns);
  // Lets the others run even when the time has come: a short sleep may be over before it begins.
  // One between looks at memory in vain is a nap.
  void sleep(device_thread& t, std::uint64_t ns);
  void yield(device_thread& t);
  // The others of the block have a turn each; all blocks do if it is held.
  void give_turn(device_thread& t, bool hold);
  // The back edge of a loop that saw `value`, the same as the last time or not. One that slept on
  // the way has let the others run.
  void spin(device_thread& t, std::uint64_t value);
  // The same for all threads of the block, which have one fiber.
  void spun(device_thread& t, abi::round_outcome how);
  // Mode lanes: a thread comes to the warp operation that its call says, or returns.
  bool lane_comes(std::uint32_t thread);
  [[nodiscard]] bool lane_waits(std::uint32_t thread) const {
    const warp_state& warp = warps_[thread / 32];
    return ((warp.waiting | warp.asking) >> thread % 32 & 1u) != 0;
  }
  void lane_leaves(std::uint32_t thread);
  lane_call& call_of(std::uint32_t thread) { return threads_[thread].call; }
  // Of a block whose threads have times: whether the thread now sleeps; still does; and what it is
  // to do at the back edge of a loop that saw `value`.
  bool thread_sleeps_for(std::uint32_t thread, std::uint64_t ns);
  bool thread_sleeps_until(std::uint32_t thread, std::uint64_t ns);
  [[nodiscard]] bool thread_is_asleep(std::uint32_t thread);
  abi::look_answer thread_looks(std::uint32_t thread, std::uint64_t value);
  device_thread& resumed(std::uint32_t thread) { return resumed_[thread]; }
  // When the present round of its threads began, which is at the one given.
  std::uint64_t round_ns(std::uint32_t thread);
  void progress() {
    idle_yields_ = 0;
    got_on_ = moved_ = true;
  }
  void grid_sync(device_thread& t);
  // Ends the thread at once; the block fails when its other threads cannot run any more.
  [[noreturn]] void fail_thread(device_thread& t, const failure_record& why);
  // Ends the block at once.
  [[noreturn]] void fail(device_thread& t, const failure_record& why);

 private:
  static void thread_main(void* argument);
  device_thread* finish(device_thread& t);  // the next fresh thread, if there is one
  device_thread* start_fresh();
  device_thread* next_to_run();
  void park(device_thread& t);
  void switch_to(device_thread& t, fiber& from);
  void release_barrier();
  void catch_up(device_thread& t);
  void go_round(device_thread& t);
  void add_sleeper(device_thread& t, std::uint64_t ns);
  void release_sleepers(std::uint64_t now);
  bool note_look(device_thread& t, std::uint64_t value);
  void begin_times();
  void lie_down(std::uint32_t thread, std::uint64_t ns);
  void lane_sleeps(std::uint32_t thread, bool does) {
    const std::uint32_t bit = 1u << thread % 32;
    std::uint32_t& asleep = warps_[thread / 32].asleep;
    asleep = does ? asleep | bit : asleep & ~bit;
  }
  void wake_threads(std::uint64_t now);
  [[nodiscard]] bool last_woke_in_vain() const;
  [[nodiscard]] bool has_due() const {
    return due_ != 0 || (ready_.count != 0 && ready_.first->due);
  }
  [[nodiscard]] bool gives_way_to_sleepers();
  [[nodiscard]] bool works(std::uint32_t looks) const;
  [[nodiscard]] bool has_dozed() const;
  [[nodiscard]] bool looked_in_vain() const { return !got_on_ && woken_ != 0 && vain_ == woken_; }
  void ask(std::uint32_t thread, std::uint32_t place);
  void answer_still_warps();
  void open_if_all_rest(std::uint32_t warp);
  void answer_if_all_wait(std::uint32_t warp);
  bool answer(std::uint32_t warp);
  bool answer_all();
  void try_warp_call(std::uint32_t thread);
  void thread_left(device_thread& t);

  std::vector<device_thread> threads_;
  std::vector<device_thread> resumed_;  // if they have times; the first of threads_ has the fiber
  std::vector<warp_state> warps_;
  shared_space shared_;

  std::uint32_t asking_ = 0;      // lanes of all warps
  std::uint32_t answers_ = 0;     // since all warps were asked
  std::uint32_t count_ = 0;       // threads of the block
  std::uint64_t heap_bytes_ = 0;  // that its threads have taken in all
  std::uint32_t fresh_ = 0;       // first thread that has not started
  std::uint32_t live_ = 0;
  thread_list ready_;
  thread_list at_barrier_;
  thread_list sleeping_;
  thread_list at_grid_;
  std::uint64_t next_wake_ns_ = 0;
  int barrier_count_ = 0;  // predicates that were true
  int barrier_total_ = 0;
  int barrier_result_count_ = 0;
  int barrier_result_total_ = 0;
  std::uint32_t idle_yields_ = 0;  // yields since anything changed
  std::uint32_t yields_ = 0;       // since the resume
  std::uint32_t looks_ = 0;        // the same, and those of threads that have one fiber
  std::uint32_t switches_left_ = 0;
  std::uint32_t awake_turns_ = 0;  // of threads that were, since the clock was last looked at
  std::uint32_t napping_ = 0;      // of those that sleep
  std::uint64_t begin_ns_ = 0;     // of the turn, by the real clock
  std::uint32_t slow_turns_ = 0;   // in a row, in which nothing was seen to happen
  bool turn_over_ = false;         // others wait for their turn behind sleepers that are due again
  bool got_on_ = false;      // since the resume something happened but sleep and looks at memory
  std::uint32_t woken_ = 0;  // threads whose sleep was over, since the resume
  std::uint32_t vain_ = 0;   // of them: those whose loop then saw what it saw before
  // If its threads have times:
  std::uint32_t due_ = 0;          // woken, and not had their turn
  std::uint32_t unlooked_ = 0;     // of those that woke last: not looked in vain, or not yet
  bool moved_ = false;             // something happened since
  std::uint64_t due_wake_ns_ = 0;  // of the first of them
  std::uint64_t overdue_ns_ = 0;   // who was to wake before has not slept in this turn; 0: nobody
  std::uint64_t round_ns_ = 0;     // when the present round began, as far as somebody asked
  std::uint32_t round_thread_ = 0;
  bool looks_on_ = false;  // one of them has looked at memory in a loop
  bool is_idle_ = false;   // the fiber waits until one of them is to wake
  // Mode lanes: one that asked was answered, and did not ask in vain.
  bool answered_ = false;
  bool worked_ = false;
  bool went_on_ = false;
};

}  // namespace sb::engine
