#include "engine/block.hpp"

#include <algorithm>
#include <utility>

#include "engine/clock.hpp"
#include "engine/worker.hpp"

namespace sb::engine {

namespace {

constexpr std::size_t shared_alignment = 128;
constexpr std::uint32_t switches_between_looks = 4096;
constexpr std::uint32_t turns_between_wakes = 16;
constexpr std::uint64_t longest_turn_ns = 1'000'000;
constexpr int looks_of_a_turn = 8;  // in modelled time
// A thread that takes longer than this between two yields does more than look at a flag.
constexpr std::uint64_t longest_look_ns = 500;
constexpr std::uint64_t first_look_ns = 4'000;  // after a pause the caches have forgotten the block
constexpr std::uint32_t threads_of_a_look = 32;  // that a round of threads with one fiber comes to
// A busy machine may have made one turn long.
constexpr std::uint32_t slow_turns_that_work = 3;
// Threads that sleep again and again for less time than they take together keep a worker this long.
constexpr std::uint64_t longest_doze_ns = 20'000;
constexpr std::uint32_t large_local_bytes = 96 << 10;
constexpr const char* stuck_words =
    "its threads wait for each other at different barriers or warp operations, and none can go on";

std::size_t round_up(std::size_t bytes, std::size_t to) { return (bytes + to - 1) / to * to; }

}  // namespace

void block::begin(kernel_run& r, std::uint64_t i) {
  const unwatched own_memory;  // a block's is nobody else's: it starts with no history
  const kernel_operation& launch = *r.launch;
  const bool same_launch = run == &r && index < r.blocks &&
                           context.block_dim[0] == launch.block.x &&
                           context.block_dim[1] == launch.block.y && count_ == r.threads;
  run = &r;
  index = i;
  info = &r.version_for(i);
  if (info == r.info().counted) {
    counts = {};
    if (r.model_ns != 0 && accesses == nullptr) accesses = std::make_unique<access_trace>();
    if (accesses != nullptr) accesses->begin(r.threads);
  }
  context.counts = &counts;
  heap_bytes_ = 0;
  failure = {};
  failed_thread = nullptr;
  failed = false;
  held = false;
  model_ns = r.model_ns;
  loop = {};
  context.block_idx[0] = static_cast<std::uint32_t>(i % launch.grid.x);
  context.block_idx[1] = static_cast<std::uint32_t>(i / launch.grid.x % launch.grid.y);
  context.block_idx[2] = static_cast<std::uint32_t>(i / launch.grid.x / launch.grid.y);
  context.grid_dim[0] = launch.grid.x;
  context.grid_dim[1] = launch.grid.y;
  context.grid_dim[2] = launch.grid.z;
  context.block_dim[0] = launch.block.x;
  context.block_dim[1] = launch.block.y;
  context.block_dim[2] = launch.block.z;
  context.dynamic_shared_bytes = launch.dynamic_shared_bytes;
  context.row_blocks = 1;
  context.row_at = not_told;
  context.cooperative = launch.cooperative ? 1 : 0;

  const std::size_t fixed = round_up(info->static_shared_bytes, shared_alignment);
  const std::size_t bytes = round_up(fixed + launch.dynamic_shared_bytes, shared_alignment);
  char* const memory = shared_.hold(bytes);
  if (bytes != 0 && races_checked()) shared_.forget();
  context.shared = memory;
  context.dynamic_shared = memory + fixed;

  const bool fibers = has_fibers();
  count_ = fibers ? r.threads : 1;
  const std::uint32_t lanes = has_lanes() ? r.threads : count_;
  if (threads_.size() < lanes) threads_.resize(lanes);
  if (!same_launch || !fibers) {
    std::uint32_t linear = 0;
    for (std::uint32_t z = 0; z < launch.block.z && linear < count_; ++z)
      for (std::uint32_t y = 0; y < launch.block.y && linear < count_; ++y)
        for (std::uint32_t x = 0; x < launch.block.x && linear < count_; ++x, ++linear)
          threads_[linear].context = {&context, {x, y, z}, linear};
  }
  for (std::uint32_t t = 0; t < count_; ++t) threads_[t].begin();
  if (!stops()) return;
  begin_times();
  races.start(r.races);

  warps_.assign((lanes + 31) / 32, {.live = ~0u});
  if (lanes % 32 != 0) warps_.back().live = (1u << lanes % 32) - 1;
  fresh_ = 0;
  live_ = count_;
  ready_ = at_barrier_ = sleeping_ = at_grid_ = {};
  asking_ = answers_ = 0;
  answered_ = false;
  next_wake_ns_ = 0;
  napping_ = 0;
  naps = false;
  spun_ns = alarm_ns = 0;
  barrier_count_ = 0;
  barrier_total_ = 0;
}

void block::thread_main(void* argument) {
  auto* t = static_cast<device_thread*>(argument);
  block& b = *reinterpret_cast<block*>(t->context.block);
  const abi::kernel_entry entry = b.info->entry;
  const char* params = b.run->launch->params.data();
  for (;;) {
    entry(params, &t->context);
    if (b.loop.end_ns != 0) b.catch_up(*t);
    t = b.finish(*t);
  }
}

device_thread* block::finish(device_thread& t) {
  thread_left(t);
  fiber* f = t.on;
  t.on = nullptr;
  if (fresh_ < count_ && !run->cancelled.load(std::memory_order_relaxed)) {
    device_thread* next = &threads_[fresh_++];
    next->on = f;
    on->current = next;
    return next;
  }
  device_thread* next = next_to_run();
  fiber& to = next != nullptr ? *next->on : on->home;
  on->give(f);
  on->current = next;
  on->running = next != nullptr ? next->on : nullptr;
  leave_fiber(*f, to);
}

void block::thread_left(device_thread& t) {
  --live_;
  progress();
  if (!has_fibers()) return;
  lane_leaves(t.context.linear_tid);
  // CUDA since Volta: threads that are gone count as arrived; h200/faults.tsv barrier.unequal
  if (barrier_total_ != 0 && static_cast<std::uint32_t>(barrier_total_) == live_) release_barrier();
}

device_thread* block::start_fresh() {
  const bool large = !has_fibers() || info->local_bytes > large_local_bytes;
  fiber* f = on->take(large ? stack_class::large : stack_class::thread);
  if (f == nullptr) {
    failure.error = status::launch_out_of_resources;
    failure.what = "no memory left for the stacks of its threads";
    failed = true;
    return nullptr;
  }
  device_thread* t = &threads_[fresh_++];
  t->on = f;
  prepare_fiber(*f, &block::thread_main, t);
  progress();
  return t;
}

device_thread* block::next_to_run() {
  if (run->cancelled.load(std::memory_order_relaxed) || held) return nullptr;
  if (fresh_ < count_) return start_fresh();
  if (ready_.count == 0 || idle_yields_ >= ready_.count) return nullptr;
  if (switches_left_ == 0 || gives_way_to_sleepers()) return nullptr;
  --switches_left_;
  device_thread* next = ready_.pop();
  if (!std::exchange(next->due, false)) ++awake_turns_;
  return next;
}

void block::park(device_thread& t) {
  device_thread* next = next_to_run();
  if (next == &t) return;
  on->current = next;
  on->running = next != nullptr ? next->on : nullptr;
  switch_fiber(*t.on, next != nullptr ? *next->on : on->home);
}

// Whether `looks` at memory took so long that there was more than looks; not in modelled time.
bool block::works(std::uint32_t looks) const {
  if (model_ns != 0) return false;
  return steady_ns() - begin_ns_ > first_look_ns + longest_look_ns * looks;
}

block_outcome block::resume(worker& w) {
  on = &w;
  held = turn_over_ = false;
  idle_yields_ = 0;
  yields_ = looks_ = 0;
  got_on_ = worked_ = went_on_ = false;
  woken_ = vain_ = 0;
  overdue_ns_ = 0;
  awake_turns_ = 0;
  switches_left_ = switches_between_looks;
  begin_ns_ = steady_ns();
  int looks_left = looks_of_a_turn;
  if (sleeping_.count != 0 && !has_due()) release_sleepers(now_ns());
  for (;;) {
    if (device_thread* next = next_to_run()) {
      races.enter();
      w.enter(*next->on, next);
      races.leave();
      w.collect();
    }
    if (run->cancelled.load(std::memory_order_relaxed)) return block_outcome::dropped;
    if (failed) return block_outcome::failed;
    if (live_ == 0)
      return failure.error == status::success ? block_outcome::done : block_outcome::failed;
    if (held || turn_over_) return block_outcome::more;
    if (switches_left_ == 0) {
      // In modelled time nothing may depend on how fast this machine is.
      const bool is_long =
          model_ns != 0 ? --looks_left == 0 : steady_ns() - begin_ns_ > longest_turn_ns;
      if (is_long) {
        wake_ns = next_wake_ns_;
        return block_outcome::more;
      }
      switches_left_ = switches_between_looks;
      continue;
    }
    if (sleeping_.count != 0) {
      const std::uint64_t now = now_ns();
      if (now >= next_wake_ns_ && !has_dozed()) {
        release_sleepers(now);
        continue;
      }
      wake_ns = next_wake_ns_;
    }
    if (has_fibers() && answer_all()) continue;
    if (failure.error != status::success) return block_outcome::failed;
    if (ready_.count != 0) {
      return works(yields_) ? block_outcome::more : block_outcome::spinning;
    }
    if (at_grid_.count == live_) return block_outcome::at_grid;
    if (sleeping_.count != 0) {
      // Resumed before anybody was to wake, it is what it was.
      // Threads that share a fiber are all come to in the round in which one wakes.
      const std::uint32_t round =
          has_fibers() ? 0 : static_cast<std::uint32_t>(run->threads / threads_of_a_look);
      if (got_on_ || woken_ != 0) naps = looked_in_vain() && !works(woken_ + round);
      return block_outcome::sleeping;
    }
    failure.error = status::launch_failure;
    failure.what = stuck_words;
    return block_outcome::failed;
  }
}

std::uint32_t block::looks_of_long_turn() const {
  constexpr std::uint32_t longest = looks_of_a_turn * switches_between_looks;
  constexpr std::uint32_t most_stops_of_a_look = 16;  // at warp operations and barriers, on its way
  return looks_ >= longest / most_stops_of_a_look ? looks_ : 0;
}

void block::turn_was_in_vain(block_outcome outcome) {
  const bool now = outcome == block_outcome::spinning || outcome == block_outcome::at_grid ||
                   (outcome == block_outcome::sleeping && naps);
  const bool looked =
      outcome == block_outcome::more || (outcome == block_outcome::sleeping && looked_in_vain());
  const bool is_slow = model_ns == 0 && looked && !now && in_vain && !got_on_;
  slow_turns_ = is_slow ? slow_turns_ + 1 : 0;
  if (is_slow && slow_turns_ < slow_turns_that_work) return;
  if (std::exchange(in_vain, now) == now) return;
  if (now)
    run->in_vain.fetch_add(1, std::memory_order_relaxed);
  else
    run->in_vain.fetch_sub(1, std::memory_order_relaxed);
}

void block::hand_in_counts() {
  if (info == run->info().counted) run->launch->counts->add(index, counts);
}

void block::drop(worker& w) {
  for (std::uint32_t t = 0; t < count_; ++t) {
    if (threads_[t].on != nullptr) w.bury(threads_[t].on);
    threads_[t].on = nullptr;
  }
  w.collect();
}

int block::barrier(device_thread& t, abi::barrier_kind kind, int predicate) {
  progress();
  ++barrier_total_;
  if (predicate != 0) ++barrier_count_;
  if (static_cast<std::uint32_t>(barrier_total_) == live_) {
    release_barrier();
  } else {
    at_barrier_.push(&t);
    park(t);
  }
  // One result is enough: nobody completes the next barrier before everybody has left this one.
  switch (kind) {
    case abi::barrier_kind::plain:
      return 0;
    case abi::barrier_kind::count:
      return barrier_result_count_;
    case abi::barrier_kind::and_:
      return barrier_result_count_ == barrier_result_total_ ? 1 : 0;
    case abi::barrier_kind::or_:
      return barrier_result_count_ != 0 ? 1 : 0;
  }
  return 0;
}

void block::release_barrier() {
  barrier_result_count_ = barrier_count_;
  barrier_result_total_ = barrier_total_;
  barrier_count_ = 0;
  barrier_total_ = 0;
  ready_.take(at_barrier_);
  progress();
}

void block::warp_call(device_thread& t) {
  progress();
  if (!lane_comes(t.context.linear_tid)) park(t);
}

void block::sleep_until(device_thread& t, std::uint64_t ns) {
  t.vain = false;
  if (shown(now_ns(), t) < ns) sleep(t, ns);
}

void block::sleep(device_thread& t, std::uint64_t ns) {
  const std::uint32_t thread = t.context.linear_tid;
  add_sleeper(t, ns);
  if (has_fibers()) lane_sleeps(thread, true);
  park(t);
  if (has_fibers()) lane_sleeps(thread, false);
  t.slept = true;
}

void block::add_sleeper(device_thread& t, std::uint64_t ns) {
  t.wake_ns = ns;
  t.asleep_ns = model_ns;
  t.naps = std::exchange(t.vain, false);
  if (t.naps) ++napping_;
  if (sleeping_.count == 0 || ns < next_wake_ns_) next_wake_ns_ = ns;
  sleeping_.push(&t);
  idle_yields_ = 0;
}

// Whether sleepers that are due again should let other blocks run first. In modelled time none is
// due twice in a turn.
bool block::has_dozed() const {
  if (woken_ == 0 || model_ns != 0 || next_wake_ns_ <= overdue_ns_) return false;
  return looked_in_vain() || last_woke_in_vain() || steady_ns() - begin_ns_ > longest_doze_ns;
}

// Threads that always have something to do, as those that look until some time, do not keep others
// from waking; nor do those that sleep for short times keep threads that are awake from what they
// do: so many of them have their turn in between. Answers whether the turn is over. (Who looks in
// vain is soon through with it.)
bool block::gives_way_to_sleepers() {
  if (sleeping_.count == 0 || has_due()) return false;
  if (!has_times() && awake_turns_ < turns_between_wakes) return false;
  awake_turns_ = 0;
  const std::uint64_t now = now_ns();
  if (now < next_wake_ns_ || looked_in_vain()) return false;
  // Threads that share a fiber are soon all asleep again, or their turn is over.
  if (has_times() && has_dozed()) return false;
  turn_over_ = has_dozed();
  if (!turn_over_) release_sleepers(now);
  return turn_over_;
}

// They go before those that are awake, in the order in which they were to.
void block::release_sleepers(std::uint64_t now) {
  if (now < next_wake_ns_) return;
  if (has_times()) return wake_threads(now);
  thread_list rest, due;
  next_wake_ns_ = ~std::uint64_t{0};
  while (sleeping_.count != 0) {
    device_thread* t = sleeping_.pop();
    if (t->wake_ns <= now) {
      if (t->naps) --napping_;
      t->due = true;
      due.push_by_wake(t);
      ++woken_;
    } else {
      if (t->wake_ns < next_wake_ns_) next_wake_ns_ = t->wake_ns;
      rest.push(t);
    }
  }
  sleeping_ = rest;
  due.take(ready_);
  ready_ = due;
  idle_yields_ = 0;
}

void block::spin(device_thread& t, std::uint64_t value) {
  if (!note_look(t, value)) yield(t);
}

// Answers whether the thread has slept since its last look.
bool block::note_look(device_thread& t, std::uint64_t value) {
  const bool same = t.seen == value;
  t.seen = value;
  if (!same) {
    worked_ = true;
    progress();
    t.vain = false;
  }
  const bool slept = std::exchange(t.slept, false);
  if (slept && same) {
    t.vain = true;
    ++vain_;
  }
  return slept;
}

void block::yield(device_thread& t) {
  ++idle_yields_;
  ++yields_;
  ++looks_;
  ready_.push(&t);
  park(t);
}

void block::give_turn(device_thread& t, bool hold) {
  progress();
  held = hold;
  ready_.push(&t);
  park(t);
}

void block::spun(device_thread& t, abi::round_outcome how) {
  round_ns_ = 0;
  if (how == abi::round_outcome::got_on) {
    went_on_ = true;
    answer_still_warps();
  } else if (answer_all() && how != abi::round_outcome::spins) {
    how = abi::round_outcome::got_on;
  }
  // Lanes that look at memory and ask in turn, in vain, do not keep others from running.
  if (std::exchange(answered_, false)) how = abi::round_outcome::got_on;
  switch (how) {
    case abi::round_outcome::is_stuck:
      fail(t, {status::launch_failure, nullptr, stuck_words});
    case abi::round_outcome::spins:
      return yield(t);
    case abi::round_outcome::sleeps:
      is_idle_ = true;
      return park(t);
    case abi::round_outcome::naps:
      return go_round(t);
    case abi::round_outcome::got_on:
      progress();
      return go_round(t);
  }
}

// At once, as long as the turn lasts. Each thread has looked some times.
void block::go_round(device_thread& t) {
  constexpr std::uint32_t looks_each = 16;
  const std::uint32_t looks = std::min(switches_left_, run->threads * looks_each);
  switches_left_ -= looks;
  looks_ += looks;
  ready_.push(&t);
  park(t);
}

// h200/groups.tsv grid.plain.sync: a launch that is not cooperative has nowhere to meet.
void block::grid_sync(device_thread& t) {
  if (!run->launch->cooperative)
    fail(t, {status::launch_failure, nullptr,
             "grid.sync() in a launch that is not cooperative; use cudaLaunchCooperativeKernel"});
  if (loop.end_ns != 0) catch_up(t);
  at_grid_.push(&t);
  progress();
  park(t);
}

// The block's fiber stands for all of its threads: those that waited have done so by a logical
// clock.
void block::catch_up(device_thread& t) { sleep_until(t, std::exchange(loop, {}).end_ns); }

void block::grid_released() { ready_.take(at_grid_); }

// CUDA: an index that leaves the addresses of shared memory is an illegal instruction, one that
// only leaves the block's part of it an illegal address; h200/faults.tsv shared.far.*,
// h200/accesses.tsv access.shared.*
failure_record block::named(const failure_record& fault) const {
  if (fault.error != status::illegal_address) return fault;
  switch (shared_.place_of(fault.address)) {
    case shared_space::place::elsewhere:
      break;
    case shared_space::place::behind:
      return {fault.error, fault.address, "illegal address, past the end of shared memory"};
    case shared_space::place::outside:
      return {status::illegal_instruction, fault.address, "address outside of shared memory"};
  }
  return fault;
}

void block::fail_thread(device_thread& t, const failure_record& why) {
  if (!has_fibers()) fail(t, why);
  if (failure.error == status::success) {
    failure = why;
    failed_thread = &t;
  }
  thread_left(t);
  fiber* f = t.on;
  t.on = nullptr;
  device_thread* next = next_to_run();
  on->bury(f);
  on->current = next;
  on->running = next != nullptr ? next->on : nullptr;
  leave_fiber(*f, next != nullptr ? *next->on : on->home);
}

void block::fail(device_thread& t, const failure_record& why) {
  failure = why;
  failed_thread = &t;
  failed = true;
  on->running = nullptr;
  leave_fiber(*t.on, on->home);
}

}  // namespace sb::engine
