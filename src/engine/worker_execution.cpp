// The half of the worker pool that runs blocks; worker_pool.cpp chooses them.
#include <algorithm>
#include <utility>

#include "engine/clock.hpp"
#include "engine/loop_job.hpp"
#include "engine/races.hpp"
#include "engine/spin_policy.hpp"
#include "engine/worker_pool.hpp"

namespace sb::engine {

namespace {

// Logical ends of loop-mode blocks that lie this close together are one timer.
constexpr std::uint64_t same_time_ns = 500;
// Between two rounds if a block went on in the first, for which another may have waited.
constexpr std::uint64_t longest_pause_ns = 5'000;
// A block whose threads look at memory and sleep in turns has no timer of its own for sleep that is
// over so soon.
constexpr std::uint64_t short_nap_ns = 5'000;

void run_job(loop_job& job) {
  const abi::kernel_entry entry = job.run->info().entry;
  const char* params = job.run->launch->params.data();
  block& body = *job.body;
  std::uint64_t i = 0;
  std::uint64_t done = 0;
  std::uint64_t look = job.places != 0 ? job.places : job.count;
  // Between two rows of blocks nothing is written but one line.
  for (std::uint64_t row = 0; i < job.count; i += row) {
    if (job.run->cancelled.load(std::memory_order_relaxed)) break;
    if (i == 0) {
      body.begin(*job.run, job.first);
      body.loop_thread().on = job.stack;
      job.on->current = &body.loop_thread();
    } else {
      if (job.pool != nullptr && job.pool->outranked(*job.run)) break;
      if (job.on->helps_until != nullptr && job.on->helps_until->is_released()) break;
      if (job.places != 0 && !job.later.empty()) break;
      if (i >= look) {
        if (job.pool->wanted_elsewhere(*job.run)) break;
        look = i + job.places;
      }
      body.go_on();
      if (body.loop_thread().on == nullptr) body.loop_thread().on = job.stack;
    }
    row = body.take_row(job.count - i);
    entry(params, &body.loop_thread().context);
    const std::uint64_t end = body.loop.end_ns;
    if (end == 0 || end <= body.now_ns()) {
      done += row;
    } else if (!job.later.empty() && end - same_time_ns <= job.later.back().ns &&
               job.later.back().ns <= end + same_time_ns) {
      job.later.back().ns = std::max(job.later.back().ns, end);
      job.later.back().count += row;
    } else {
      job.later.push_back({end, row});
    }
  }
  if (i != 0) body.loop_thread().on = nullptr;
  job.started = i;
  job.done = done;
  job.complete = true;
}

// What a job had done when one of its blocks ended it.
void note_progress(loop_job& job) {
  job.started = job.body->number() - job.first + 1;
  job.done = job.started - 1;
  for (const ending& e : job.later) job.done -= e.count;
}

void job_main(void* argument) {
  auto& job = *static_cast<loop_job*>(argument);
  run_job(job);
  leave_fiber(*job.stack, job.on->home);
}

void note_cost(kernel_run& run, std::uint64_t ns, std::uint64_t blocks) {
  run.cost->note(ns, blocks);
  const std::uint64_t each = ns / std::max<std::uint64_t>(1, blocks) + 1;
  const std::uint64_t before = run.block_ns.load(std::memory_order_relaxed);
  run.block_ns.store(before == 0 ? each : (before + each) / 2, std::memory_order_relaxed);
}

}  // namespace

void worker_pool::execute(worker& w, const work& what) {
  switch (what.what) {
    case work::kind::none:
      break;
    case work::kind::report:
      start_attending(w);
      sink_.blocks_done(*what.run, what.count, kernel_sink::unmeasured);
      sink_.release(*what.run, what.count);
      break;
    case work::kind::chunk:
      // Its blocks may be over, and gone with the run, before the chunk is.
      sink_.hold(*what.run, 1);
      run_chunk(w, *what.run, what.first, what.count);
      sink_.release(*what.run, 1);
      break;
    case work::kind::resume:
    case work::kind::retry: {
      const std::uint64_t begin = steady_ns();
      const block_outcome outcome = what.waiting->resume(w);
      start_attending(w);
      settle(w, what.waiting, outcome, what.what == work::kind::retry, steady_ns() - begin);
      break;
    }
  }
}

// Samples of a loop-mode kernel have fibers: they and the blocks between them run in turns.
void worker_pool::run_chunk(worker& w, kernel_run& run, std::uint64_t first, std::uint64_t count) {
  if (run.info().mode != abi::kernel_mode::loop) {
    run_fiber_chunk(w, run, first, count);
    return;
  }
  // The kernel may be gone once its last block ran: asked now, not after each part.
  const bool counted = run.is_counted();
  for (const std::uint64_t end = first + count; counted && first != end;) {
    const std::uint64_t sample = std::min(run.launch->counts->next_sample(first), end);
    if (sample != first) run_loop_chunk(w, run, first, sample - first);
    if (sample != end) run_fiber_chunk(w, run, sample, 1);
    first = std::min(sample + 1, end);
    count = end - first;
  }
  if (count != 0) run_loop_chunk(w, run, first, count);
}

// Runs the job's blocks on a fiber of its own. Tells the sink when one of them failed.
void run_on_fiber(worker& w, loop_job& job, kernel_sink& sink) {
  kernel_run& run = *job.run;
  job.on = &w;
  job.body->on = &w;
  job.stack = w.take(stack_class::large);
  if (job.stack == nullptr) {
    job.body->begin(run, job.first);
    job.body->failure = {status::launch_out_of_resources, nullptr, "no memory left for a stack"};
    sink.block_failed(run, *job.body);
    return;
  }
  prepare_fiber(*job.stack, &job_main, &job);
  race_fiber watched;
  watched.start(run.races);
  watched.enter();
  w.enter(*job.stack, nullptr);
  watched.end();
  job.body->privates.release();
  if (job.complete) {
    w.give(job.stack);
    return;
  }
  note_progress(job);
  job.body->loop_thread().on = nullptr;
  w.bury(job.stack);
  w.collect();
  if (run.cancelled.load(std::memory_order_relaxed)) return;
  std::uint64_t until = 0;
  job.put_off = sink.puts_off(run, *job.body, until);
  if (job.put_off)
    job.later.push_back({until, 1});
  else
    sink.block_failed(run, *job.body);
}

// Blocks that are through and over at a later time. Answers how many.
std::uint64_t worker_pool::await_endings(const loop_job& job, std::uint64_t now) {
  kernel_run& run = *job.run;
  if (job.later.empty()) {
    moved_.store(true, std::memory_order_relaxed);
    return 0;
  }
  run.cost->note_wait();
  std::uint64_t waiting = 0;
  const auto lock = take_lock();
  moved_ns_ = now;
  for (const ending& e : job.later) {
    if (run.cancelled.load(std::memory_order_relaxed)) break;
    push_timer({e.ns, nullptr, &run, e.count});
    waiting += e.count;
  }
  return waiting;
}

void worker_pool::run_loop_chunk(worker& w, kernel_run& run, std::uint64_t first,
                                 std::uint64_t places) {
  const std::uint64_t begin = steady_ns();
  std::uint64_t now = begin;
  std::uint64_t passed = 0;  // blocks before those of the job
  loop_job job{.pool = this, .run = &run, .body = &w.body, .first = first, .count = places};
  for (;;) {
    run_on_fiber(w, job, sink_);
    const std::uint64_t before = std::exchange(now, steady_ns());
    note_cost(run, now - before, job.started);
    call_after_all();
    if (!job.complete || job.done != job.count) break;
    const std::uint64_t until = begin + ahead_ns_of(run);
    const std::uint64_t more = go_ahead(run, places, until - std::min(now, until), first);
    if (more == 0) break;
    passed += job.count;
    job = {.pool = this, .run = &run, .body = &w.body, .first = first, .count = more};
    job.places = places;
  }
  const std::uint64_t waiting = await_endings(job, now);
  std::uint64_t kept = waiting;  // references
  // The places are free for others as far as blocks are over.
  const std::uint64_t over = passed + job.done;
  const std::uint64_t places_left = places - std::min(waiting, places);
  const std::uint64_t done = std::min(over, places_left);
  if ((job.complete || job.put_off) && job.started != job.count) {
    const kernel_run::block_range rest{job.first + job.started, job.count - job.started};
    const std::uint64_t granted = std::min(rest.count, places_left - done);
    if (give_back(run, rest, granted)) kept += granted;
  }
  start_attending(w);  // what these blocks set free may be small
  if (over != done) run.passed.fetch_add(over - done, std::memory_order_relaxed);
  if (over != 0) sink_.blocks_done(run, done, now - begin);
  if (kept != places) sink_.release(run, places - kept);
}

bool worker_pool::keep_small(kernel_run& run, std::uint64_t n) {
  constexpr std::uint64_t small_ns = 5'000;
  constexpr std::uint32_t most = 8;
  worker* w = current_worker();
  if (w == nullptr || !w->attends || n != run.blocks) return false;
  if (run.info().mode != abi::kernel_mode::loop || run.is_counted() || w->smalls.count >= most)
    return false;
  // Nobody goes before one that waits in the pool with the same or a higher priority.
  if (urgent_.load(std::memory_order_relaxed) <= run.priority) return false;
  if (w->smalls.first != nullptr && w->smalls.first->priority != run.priority) return false;
  const std::uint64_t cost = run.cost->block_ns();
  if (cost == kernel_cost::unknown || cost * n > small_ns) return false;
  run.granted.store(n, std::memory_order_relaxed);
  run.claimed.store(n, std::memory_order_relaxed);
  w->smalls.push(run);
  return true;
}

// Small kernels are short by what is known of them: should one take long all the same, the others
// of this worker and the inbox wait for it, or for the next call of the host that looks.
void worker_pool::work_off(worker& w) {
  while (!called_.load(std::memory_order_relaxed)) {
    if (kernel_run* run = w.smalls.pop(); run != nullptr)
      run_small(w, *run);
    else if (sink_.has_mail())
      sink_.attend();
    else
      return;
  }
}

void worker_pool::run_small(worker& w, kernel_run& run) {
  constexpr std::uint32_t measured_one_in = 16;
  const bool measured = measures_ || w.smalls.runs++ % measured_one_in == 0;
  const std::uint64_t begin = measured ? steady_ns() : 0;
  // All of it takes less time than stopping for a higher priority would.
  loop_job job{.pool = nullptr, .run = &run, .body = &w.body, .first = 0, .count = run.blocks};
  run_on_fiber(w, job, sink_);
  const std::uint64_t took = measured ? steady_ns() - begin : kernel_sink::unmeasured;
  if (measured) run.cost->note(took, job.started);
  moved_.store(true, std::memory_order_relaxed);
  if (job.later.empty()) {
    const bool looks = w.smalls.looks_behind(run.cost->block_ns() * run.blocks);
    sink_.small_done(run, took, looks ? kernel_sink::mail::taken_in : kernel_sink::mail::left);
    return;
  }
  sink_.hold(run, run.blocks);
  std::uint64_t waiting = await_endings(job, steady_ns());
  const std::uint64_t left = run.blocks - job.started;
  if (job.put_off && left != 0 && give_back(run, {job.started, left}, left)) waiting += left;
  if (job.done != 0) sink_.blocks_done(run, job.done, took);
  sink_.release(run, run.blocks - waiting + 1);
}

void worker_pool::run_fiber_chunk(worker& w, kernel_run& run, std::uint64_t first,
                                  std::uint64_t count) {
  const std::uint64_t begin = steady_ns();
  std::uint64_t done = 0;
  std::uint64_t started = 0;
  block* b = nullptr;
  for (; started < count; ++started) {
    if (run.cancelled.load(std::memory_order_relaxed)) break;
    if (started != 0 && outranked(run)) break;
    if (b == nullptr) b = take_block();
    b->begin(run, first + started);
    const block_outcome outcome = b->resume(w);
    if (outcome == block_outcome::done) {
      b->hand_in_counts();
      ++done;
    } else {
      settle(w, std::exchange(b, nullptr), outcome, false, 0);
    }
  }
  if (b != nullptr) give_block(b);
  const std::uint64_t now = steady_ns();
  if (!run.is_counted()) note_cost(run, now - begin, started);
  {
    const auto lock = take_lock();
    moved_ns_ = now;
    run.ended += done;
    if (done != 0) release_grid(run);
  }
  std::uint64_t dropped = count - started;
  if (dropped != 0 && give_back(run, {first + started, dropped}, dropped)) dropped = 0;
  start_attending(w);
  if (done != 0) sink_.blocks_done(run, done, now - begin);
  if (done + dropped != 0) sink_.release(run, done + dropped);
}

// Puts a block where its outcome says.
void worker_pool::settle(worker& w, block* b, block_outcome outcome, bool was_spinning,
                         std::uint64_t cost_ns) {
  kernel_run& run = *b->run;
  std::unique_lock lock = take_lock();
  const std::uint64_t now = steady_ns();
  const bool naps = outcome == block_outcome::sleeping && b->naps;
  const bool spins = outcome == block_outcome::spinning || naps;
  if (!spins || !was_spinning || b->worked()) moved_ns_ = now;
  b->turn_was_in_vain(outcome);
  if (was_spinning) {
    --spin_in_flight_;
    round_cost_ns_ += cost_ns;
    round_went_on_ |= b->went_on();
  }
  // One that lets others run before its sleepers wake is not half done: it may wait for them.
  if (outcome == block_outcome::more && !b->has_sleepers()) {
    if (!std::exchange(b->unfinished, true)) ++run.unfinished;
    ++run.turns;
  } else if (std::exchange(b->unfinished, false)) {
    --run.unfinished;
    run.turns = 0;
  }
  switch (outcome) {
    case block_outcome::spinning:
      if (!was_spinning) spin_due_ns_ = std::min(spin_due_ns_, now);
      spin_next_.push_back(b);
      // Who naps in vain can wait as those can who look without.
      if (b->has_sleepers() && !b->only_naps()) spin_wake_ns_ = std::min(spin_wake_ns_, b->wake_ns);
      break;
    case block_outcome::more:
      resumable_.push_back(b);
      break;
    case block_outcome::sleeping:
    case block_outcome::at_grid:
      if (run.cancelled.load(std::memory_order_relaxed)) {
        resumable_.push_back(b);  // cancel() has already looked for it
        break;
      }
      if (outcome == block_outcome::sleeping) {
        if (naps && b->wake_ns <= now + short_nap_ns)
          spin_next_.push_back(b);
        else
          push_timer({b->wake_ns, b, nullptr, 0});
        break;
      }
      ++run.grid_arrived;
      run.grid_waiting.push_back(b);
      release_grid(run);
      break;
    case block_outcome::done:
      ++run.ended;
      release_grid(run);
      break;
    case block_outcome::failed:
    case block_outcome::dropped:
      break;
  }
  if (was_spinning && spin_in_flight_ == 0 && spin_now_.empty()) {
    if (moved_.exchange(false, std::memory_order_relaxed)) moved_ns_ = now;
    const std::uint64_t still = now - std::min(now, moved_ns_);
    std::uint64_t pause = spin_pause_ns(still, round_cost_ns_, others_ready());
    if (std::exchange(round_went_on_, false)) pause = std::min(pause, longest_pause_ns);
    spin_due_ns_ = now + pause;
    spin_due_ns_ = std::min(spin_due_ns_, std::max(spin_wake_ns_, now));
  }
  lock.unlock();

  const bool over = outcome == block_outcome::done || outcome == block_outcome::failed ||
                    outcome == block_outcome::dropped;
  if (!over) return;
  std::uint64_t until = 0;
  const bool put_off = outcome == block_outcome::failed && sink_.puts_off(run, *b, until);
  if (outcome == block_outcome::failed && !put_off) sink_.block_failed(run, *b);
  if (outcome == block_outcome::done)
    b->hand_in_counts();
  else
    b->drop(w);
  give_block(b);
  if (put_off) {
    lock.lock();
    if (!run.cancelled.load(std::memory_order_relaxed)) {
      push_timer({until, nullptr, &run, 1});
      return;
    }
    lock.unlock();
  }
  if (outcome == block_outcome::done) sink_.blocks_done(run, 1, kernel_sink::unmeasured);
  sink_.release(run, 1);
}

// The grid barrier opens when every block is at it or over. Called under the lock.
void worker_pool::release_grid(kernel_run& run) {
  if (run.grid_arrived == 0 || run.grid_arrived + run.ended != run.blocks) return;
  for (block* b : run.grid_waiting) {
    b->grid_released();
    b->turn_was_in_vain(block_outcome::more);
    resumable_.push_back(b);
  }
  run.grid_waiting.clear();
  run.grid_arrived = 0;
}

}  // namespace sb::engine
