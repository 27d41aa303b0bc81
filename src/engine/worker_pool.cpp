#include "engine/worker_pool.hpp"

#include <sys/prctl.h>
#include <unistd.h>

#include <algorithm>
#include <functional>

#include "engine/clock.hpp"
#include "engine/fault.hpp"
#include "engine/float_mode.hpp"
#include "engine/futex.hpp"
#include "engine/races.hpp"

namespace sb::engine {

namespace {

constexpr auto look_interval = std::chrono::milliseconds(3);
constexpr std::uint64_t stuck_after_ns = 4'000'000;
constexpr std::size_t most_threads = 256;
// A round that costs more than this is worth a second worker.
constexpr std::uint64_t costly_round_ns = 200'000;

std::chrono::steady_clock::time_point time_point_of(std::uint64_t ns) {
  return std::chrono::steady_clock::time_point(std::chrono::nanoseconds(ns));
}

}  // namespace

worker_pool::worker_pool(std::uint32_t workers, habits how, kernel_sink& sink)
    : target_(std::max(1u, workers)), may_look_(how.looks), measures_(how.measures), sink_(sink) {}

worker_pool::~worker_pool() { stop(std::chrono::hours(24)); }

// --- what the engine calls

std::uint64_t worker_pool::grant(kernel_run& run, std::uint64_t n) {
  const auto lock = take_lock();
  n = grant_blocks(run, n);
  if (stopping_ || n == 0) return n;
  if (!run.queued) {
    run.queued = true;
    ready_[run.priority].push_back(&run);
    note_urgent();
    arrived_.store(&run, std::memory_order_relaxed);
  }
  // A worker that attends comes by before it sleeps, and calls others when there is more; a host
  // thread that helps does so before it leaves.
  const worker* caller = current_worker();
  if (attended()) {
    called_.store(true, std::memory_order_relaxed);
    if (looking_) pokes_.fetch_add(1, std::memory_order_relaxed);
  } else if (caller == nullptr || caller->helps_until == nullptr) {
    recruit();
  }
  return n;
}

void worker_pool::cancel(kernel_run& run) {
  std::uint64_t dropped = 0;
  {
    std::lock_guard lock(mutex_);
    if (run.queued) {
      std::erase(ready_[run.priority], &run);
      run.queued = false;
      note_urgent();
    }
    std::uint64_t first = 0;
    dropped = run.claim(never, first);
    for (const auto& range : run.returned) dropped += range.count;
    run.returned.clear();
    run.put_back.clear();
    std::vector<timer> kept;
    for (; !timers_.empty(); timers_.pop()) {
      const timer& t = timers_.top();
      if (t.waiting != nullptr && t.waiting->run == &run) {
        resumable_.push_back(t.waiting);
      } else if (t.waiting == nullptr && t.run == &run) {
        dropped += t.count;
      } else {
        kept.push_back(t);
      }
    }
    for (const timer& t : kept) timers_.push(t);
    for (block* b : run.grid_waiting) resumable_.push_back(b);
    run.grid_waiting.clear();
    spin_due_ns_ = 0;
    recruit();
  }
  if (dropped != 0) sink_.release(run, dropped);
}

bool worker_pool::stop(std::chrono::milliseconds patience) {
  std::unique_lock lock(mutex_);
  if (!stopping_) {
    stopping_ = true;
    for (auto& [priority, runs] : ready_)
      for (kernel_run* run : runs) run->cancelled.store(true, std::memory_order_relaxed);
  }
  for (slot& s : slots_) s.called.notify_one();
  supervise_.notify_all();
  const auto deadline = std::chrono::steady_clock::now() + patience;
  stuck_ = !thread_over_.wait_until(lock, deadline, [&] { return alive_ == 0 && !helped_; });
  std::list<slot> slots;
  for (auto s = slots_.begin(); s != slots_.end();) {
    auto next = std::next(s);
    if (s->over) slots.splice(slots.end(), slots_, s);
    s = next;
  }
  for (slot& s : slots_)
    if (s.thread.joinable()) s.thread.detach();
  std::thread supervisor = std::move(supervisor_);
  lock.unlock();
  for (slot& s : slots) s.thread.join();
  slots.clear();
  if (supervisor.joinable()) supervisor.join();
  if (!stuck_) drop_everything();
  return !stuck_;
}

// Blocks that were parked when the pool stopped. No worker is left: this thread owns everything.
void worker_pool::drop_everything() {
  worker w(stacks_);
  for (const auto& b : blocks_) b->drop(w);
  resumable_.clear();
  spin_now_.clear();
  spin_next_.clear();
  timers_ = {};
}

std::size_t worker_pool::threads() {
  std::lock_guard lock(mutex_);
  return alive_;
}

// --- threads

void worker_pool::add_thread(bool extra) {
  slots_.emplace_back();
  slot& s = slots_.back();
  s.extra = extra;
  s.self = std::make_unique<worker>(stacks_);
  ++alive_;
  s.thread = std::thread([this, &s] { main(s); });
  if (!supervisor_.joinable()) supervisor_ = std::thread([this] { supervise(); });
}

void worker_pool::main(slot& self) {
  const unwatched quiet;
  const device_float_mode as_on_the_device;  // the thread has inherited the program's
  pthread_setname_np(pthread_self(), "sb-worker");
  // The program's own signals are for its own threads.
  take_only_faults();
  prctl(PR_SET_TIMERSLACK, 1000);  // waits of some microseconds are what kernels ask for
  signal_stack handlers;
  worker& w = *self.self;
  self.thread_id = gettid();
  adopt_thread(w.home);
  set_current_worker(&w);

  start_attending(w);
  std::unique_lock lock(mutex_);
  while (!stopping_) {
    if (w.smalls.first != nullptr || sink_.has_mail()) {
      lock.unlock();
      work_off(w);
      take(lock);
    }
    called_.store(false, std::memory_order_relaxed);
    const bool timed = !timers_.empty() || !spin_next_.empty();
    const work what = pick(timed ? steady_ns() : 0);
    if (what.what == work::kind::none) {
      if (self.extra) {
        if (leading_ == nullptr && next_deadline() != never)
          recruit();  // it may have set the time itself
        break;
      }
      if (w.smalls.first != nullptr || look_for_work(lock)) continue;
      stop_attending(w);
      // Whoever submits from now on wakes somebody.
      if (!sink_.has_mail()) wait_for_work(self, lock);
      start_attending(w);
      continue;
    }
    // Whoever finds work looks for the next one to help, and for one to watch the time.
    if (leading_ == nullptr && next_deadline() != never)
      recruit();
    else if (others_ready())
      call_helper(what);
    self.on = what.waiting != nullptr ? what.waiting->run : what.run;
    lock.unlock();
    stop_attending(w);
    if (sink_.has_mail()) sink_.attend();
    while (kernel_run* run = w.smalls.pop()) run_small(w, *run);
    w.busy_since_ns.store(steady_ns(), std::memory_order_relaxed);
    execute(w, what);
    w.busy_since_ns.store(0, std::memory_order_relaxed);
    start_attending(w);  // unless it does already
    take(lock);
    self.on = nullptr;
    if (self.extra && !all_stuck(steady_ns())) {
      if (others_ready() || (leading_ == nullptr && next_deadline() != never)) recruit();
      break;
    }
  }
  stop_attending(w);
  const bool retires = !stopping_;
  lock.unlock();
  // What it kept for itself nobody else knows of, and it keeps no more.
  while (kernel_run* run = retires ? w.smalls.pop() : nullptr) run_small(w, *run);
  if (sink_.has_mail()) sink_.attend();
  lock.lock();
  set_current_worker(nullptr);
  self.self.reset();
  self.over = true;
  --alive_;
  thread_over_.notify_all();
  // A retired extra worker is joined by the supervisor or by stop().
}

// Every worker but the retiring has been inside one block for long.
bool worker_pool::all_stuck(std::uint64_t now) const {
  return std::all_of(slots_.begin(), slots_.end(), [&](const slot& s) {
    if (s.extra || s.over || !s.self) return true;
    const std::uint64_t since = s.self->busy_since_ns.load(std::memory_order_relaxed);
    return since != 0 && now - std::min(now, since) > stuck_after_ns;
  });
}

// Some kernel has work ready and no worker inside of it. More workers for kernels that are being
// worked on would only share the same cores.
bool worker_pool::starving(std::uint64_t now) const {
  if (!spin_now_.empty() || next_deadline() <= now) return true;
  const auto unserved = [&](const kernel_run* run) {
    return std::none_of(slots_.begin(), slots_.end(), [&](const slot& s) { return s.on == run; });
  };
  if (std::any_of(resumable_.begin(), resumable_.end(),
                  [&](const block* b) { return unserved(b->run); }))
    return true;
  return std::any_of(ready_.begin(), ready_.end(), [&](const auto& p) {
    return std::any_of(p.second.begin(), p.second.end(), unserved);
  });
}

// While a kernel has work ready and every worker has been inside a block of another for long, adds
// a worker: a long block must not hold up other streams.
void worker_pool::supervise() {
  const unwatched quiet;
  pthread_setname_np(pthread_self(), "sb-supervisor");
  std::unique_lock lock(mutex_);
  while (!stopping_) {
    if (!watching_) {
      supervise_.wait(lock);
      continue;
    }
    supervise_.wait_for(lock, look_interval);
    if (stopping_) break;
    for (auto s = slots_.begin(); s != slots_.end();) {
      auto next = std::next(s);
      if (s->over) {
        s->thread.join();  // it has left the lock for good: this does not wait
        slots_.erase(s);
      }
      s = next;
    }
    const std::uint64_t now = steady_ns();
    const bool ready = others_ready() || !spin_now_.empty() || next_deadline() <= now;
    if (idle_ != 0 || looking_ || !ready) {
      // Extra workers retire when there is nothing to do; until then somebody has to join them.
      watching_ = alive_ > target_ || (idle_ == 0 && next_deadline() != never);
      continue;
    }
    if (slots_.size() < most_threads && all_stuck(now) && starving(now)) add_thread(true);
  }
}

void worker_pool::recruit() {
  if (looking_) {
    pokes_.fetch_add(1, std::memory_order_release);  // it calls others when there is more
  } else if (idle_ != 0) {
    wake_one();
  } else if (alive_ < target_) {
    add_thread(false);
  } else if (!watching_) {
    watching_ = true;
    supervise_.notify_one();
  }
}

void worker_pool::wake_one() {
  slot* next = leading_;
  if (!sleeping_.empty()) {
    next = sleeping_.back();
    sleeping_.pop_back();
  }
  if (next == nullptr) return;
  // Operating systems put a thread on the core of whoever wakes it, where both may stay for
  // milliseconds though another core has nothing to do.
  next->place.keep_off_this_core(next->thread_id);
  comes_ = true;
  next->called.notify_one();
}

void worker_pool::wait_for_work(slot& self, std::unique_lock<std::mutex>& lock) {
  const std::uint64_t deadline = next_deadline();
  ++idle_;
  if (deadline == never || leading_ != nullptr) {
    sleeping_.push_back(&self);
    self.called.wait(lock);
    std::erase(sleeping_, &self);
  } else {
    leading_ = &self;
    leader_ns_ = deadline;
    self.called.wait_until(lock, time_point_of(deadline));
    leading_ = nullptr;
  }
  --idle_;
  comes_ = false;
  self.place.let_free();
}

// Blocks look at memory in vain, and nothing else has happened for long.
bool worker_pool::stands_still() const {
  constexpr std::uint64_t long_ns = 2'000'000;
  if (spin_next_.empty() || moved_.load(std::memory_order_relaxed)) return false;
  const std::uint64_t now = steady_ns();
  return now - std::min(now, moved_ns_) > long_ns;
}

// Waits for work with open eyes: true when there is some. One worker at a time; how long it pays is
// learnt. At the least about as long as a host thread takes that was asleep: it wakes when the
// device has nothing left to do, and often has more for it.
bool worker_pool::look_for_work(std::unique_lock<std::mutex>& lock) {
  constexpr std::uint64_t least_ns = 60'000, most_ns = 120'000;
  constexpr int looks_between_times = 32;
  if (stopping_) return true;  // not to sleep through it
  if (!may_look_ || looking_ || stands_still()) return false;
  const std::uint64_t deadline = next_deadline();
  const std::uint32_t pokes = pokes_.load(std::memory_order_relaxed);
  const std::uint64_t look_ns = look_ns_;
  looking_ = true;
  lock.unlock();
  bool found = false;
  std::uint64_t now = steady_ns();
  for (const std::uint64_t until = now + look_ns; now < until && !found; now = steady_ns()) {
    for (int i = 0; i < looks_between_times && !found; ++i) {
      relax();
      found = sink_.has_mail() || pokes_.load(std::memory_order_relaxed) != pokes;
    }
    found = found || now >= deadline;
  }
  take(lock);
  looking_ = false;
  found = found || stopping_ || pokes_.load(std::memory_order_relaxed) != pokes;
  look_ns_ = found ? std::min(look_ns * 2, most_ns) : std::max(look_ns / 2, least_ns);
  return found;
}

void worker_pool::take(std::unique_lock<std::mutex>& lock) {
  constexpr int looks = 100;
  for (int i = 0; i < looks; ++i) {
    if (lock.try_lock()) return;
    relax();
  }
  lock.lock();
}

void worker_pool::start_attending(worker& w) {
  if (w.attends || w.helps_until != nullptr) return;
  w.attends = true;
  // Whoever attends is in no block. Not to be taken for stuck while it waits for the engine's lock:
  // more workers would only wait with it.
  w.busy_since_ns.store(0, std::memory_order_relaxed);
  attending_.fetch_add(1, std::memory_order_relaxed);
}

// Whoever submits after this sees that nobody attends; what was submitted before, this worker sees
// when it looks after this.
void worker_pool::stop_attending(worker& w) {
  if (!w.attends) return;
  w.attends = false;
  attending_.fetch_sub(1, std::memory_order_relaxed);
  std::atomic_thread_fence(std::memory_order_seq_cst);
}

// --- choosing work

bool worker_pool::others_ready() const {
  if (!resumable_.empty()) return true;
  return std::any_of(ready_.begin(), ready_.end(), [](const auto& p) { return !p.second.empty(); });
}

std::uint64_t worker_pool::next_deadline() const {
  std::uint64_t ns = timers_.empty() ? never : timers_.top().ns;
  if (!spin_next_.empty() && spin_now_.empty() && spin_in_flight_ == 0)
    ns = std::min(ns, spin_due_ns_);
  return ns;
}

worker_pool::work worker_pool::pick(std::uint64_t now) {
  while (!timers_.empty() && timers_.top().ns <= now) {
    const timer t = timers_.top();
    timers_.pop();
    if (t.waiting != nullptr && t.waiting->naps) {
      spin_next_.push_back(t.waiting);
      continue;
    }
    moved_ns_ = now;
    if (t.waiting == nullptr) {
      work w;
      w.what = work::kind::report;
      w.run = t.run;
      w.count = t.count;
      return w;
    }
    resumable_.push_back(t.waiting);
  }
  if (work w = pick_spinner(now); w.what != work::kind::none) return w;
  chunk_turn_ = !chunk_turn_;
  if (chunk_turn_ || resumable_.empty()) {
    if (work w = pick_chunk(false); w.what != work::kind::none) return w;
  }
  work w;
  if (!resumable_.empty()) {
    w.what = work::kind::resume;
    w.waiting = resumable_.front();
    resumable_.pop_front();
  }
  return w;
}

// Blocks often wait for their neighbours. Looked at in their order, a whole chain of them may go on
// in one round. Chains go either way: of two workers one begins in front and one at the back; where
// the same one begins a round again, all of them begin at the back.
worker_pool::work worker_pool::pick_spinner(std::uint64_t now) {
  const auto before = [](const block* a, const block* b) {
    return a->run != b->run ? std::less<>()(a->run, b->run) : a->index < b->index;
  };
  work w;
  if (spin_now_.empty() && spin_in_flight_ == 0 && !spin_next_.empty() && now >= spin_due_ns_) {
    spin_now_.swap(spin_next_);
    if (before(spin_now_.back(), spin_now_.front()))
      std::reverse(spin_now_.begin(), spin_now_.end());
    if (!std::is_sorted(spin_now_.begin(), spin_now_.end(), before))
      std::sort(spin_now_.begin(), spin_now_.end(), before);
    spin_first_ = spin_first_ != current_worker() ? current_worker() : nullptr;
    spin_wake_ns_ = never;
    if (round_cost_ns_ > costly_round_ns && idle_ != 0) wake_one();
    round_cost_ns_ = 0;
  }
  if (spin_now_.empty()) return w;
  w.what = work::kind::retry;
  if (spin_first_ == current_worker()) {
    w.waiting = spin_now_.front();
    spin_now_.pop_front();
  } else {
    w.waiting = spin_now_.back();
    spin_now_.pop_back();
  }
  ++spin_in_flight_;
  return w;
}

// Blocks that are half done go before new ones of their kernel: each holds as many stacks as it has
// threads. Only when they take turn after turn, as if they waited for the others, may one more
// begin.
bool worker_pool::may_begin(const kernel_run& run) const {
  return run.unfinished < target_ || run.turns >= 4 * run.unfinished;
}

worker_pool::work worker_pool::pick_chunk(bool for_host) {
  work w;
  for (auto& [priority, runs] : ready_) {
    for (std::size_t left = runs.size(); left != 0; --left) {
      kernel_run* run = runs.front();
      runs.pop_front();
      if (!may_begin(*run) || (for_host && !suits_host(*run))) {
        runs.push_back(run);
        continue;
      }
      run->turns = 0;
      w.count = take_blocks(*run, w.first);
      if (has_blocks(*run)) {
        runs.push_back(run);  // resident kernels of one priority take turns
      } else {
        run->queued = false;
        note_urgent();
      }
      if (w.count == 0) continue;
      w.what = work::kind::chunk;
      w.run = run;
      return w;
    }
  }
  return w;
}

void worker_pool::note_urgent() {
  std::int32_t best = nobody_waits;
  for (const auto& [priority, runs] : ready_) {
    if (runs.empty()) continue;
    best = priority;
    break;
  }
  urgent_.store(best, std::memory_order_relaxed);
}

void worker_pool::push_timer(timer t) {
  timers_.push(t);
  arrived_.store(t.waiting != nullptr ? t.waiting->run : t.run, std::memory_order_relaxed);
  if (leading_ != nullptr && t.ns < leader_ns_) leading_->called.notify_one();
}

block* worker_pool::take_block() {
  const auto lock = take_lock();
  if (spare_.empty()) {
    blocks_.push_back(std::make_unique<block>());
    return blocks_.back().get();
  }
  block* b = spare_.back();
  spare_.pop_back();
  return b;
}

void worker_pool::give_block(block* b) {
  b->races.end();
  b->privates.release();
  const auto lock = take_lock();
  spare_.push_back(b);
}

}  // namespace sb::engine
