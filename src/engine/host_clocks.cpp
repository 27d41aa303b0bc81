#include "engine/host_clocks.hpp"

#include <pthread.h>

#include <algorithm>
#include <atomic>
#include <chrono>
#include <csignal>

#include "engine/call_frame.hpp"

namespace sb::engine {

namespace {

// A thread that is silent for this long loses its turn when others wait for theirs.
constexpr auto patience = std::chrono::milliseconds(50);
// The same when only the device could go on: the thread may look at memory that a kernel writes,
// but more likely it computes.
constexpr int periods_for_the_device = 20;

}  // namespace

struct host_clocks::thread {
  enum class state : std::uint8_t { runs, ready, waits, outside, over };
  std::uint64_t ns = 0;
  std::uint32_t number = 0;
  state at = state::ready;
  const void* key = nullptr;  // waits
  std::uint64_t until_ns = never;
  std::uint64_t place = 0;  // among those that wait
  bool woken = false;
  std::atomic<bool> inside{false};  // it runs, and in the runtime: not silent
  std::condition_variable turn;

  // When it could go on.
  [[nodiscard]] std::uint64_t due() const {
    if (at == state::ready) return ns;
    return at == state::waits ? until_ns : never;
  }
};

namespace {

// Tells the clocks when the thread ends.
struct attachment {
  host_clocks* clocks = nullptr;
  host_clocks::thread* self = nullptr;
  ~attachment() {
    const call_frame own;
    if (clocks != nullptr) clocks->leave();
  }
};
thread_local attachment attached;

}  // namespace

host_clocks::host_clocks(events& device) : device_(device) {
  watcher_ = std::thread([this] { watch(); });
}

host_clocks::~host_clocks() {
  stop();
  if (watcher_.joinable()) watcher_.join();
}

void host_clocks::stop() {
  const std::lock_guard lock(mutex_);
  stopped_ = true;
  for (auto& t : threads_) t->turn.notify_all();
  watch_.notify_all();
}

host_clocks::thread* host_clocks::announce(std::uint64_t ns) {
  const std::lock_guard lock(mutex_);
  auto made = std::make_unique<thread>();
  made->ns = ns;
  made->number = static_cast<std::uint32_t>(threads_.size());
  threads_.push_back(std::move(made));
  return threads_.back().get();
}

void host_clocks::again(thread* one, std::uint64_t ns) {
  const std::lock_guard lock(mutex_);
  one->ns = ns;
  one->at = thread::state::ready;
}

void host_clocks::adopt(thread* one) {
  attached.clocks = this;
  attached.self = one;
}

// A thread that nobody announced begins where the others are.
host_clocks::thread* host_clocks::self() {
  if (attached.self != nullptr) return attached.self;
  std::uint64_t ns = 0;
  {
    const std::lock_guard lock(mutex_);
    ns = latest_ns_;
    if (!threads_.empty()) deterministic_ = false;
  }
  adopt(announce(ns));
  attached.self->at = thread::state::outside;
  return attached.self;
}

std::uint64_t host_clocks::now() {
  thread* me = self();
  const std::lock_guard lock(mutex_);
  return me->ns;
}

std::uint32_t host_clocks::number() { return self()->number; }

bool host_clocks::over(thread* one) {
  const std::lock_guard lock(mutex_);
  return one->at == thread::state::over;
}

bool host_clocks::deterministic() {
  const std::lock_guard lock(mutex_);
  return deterministic_;
}

host_clocks::thread* host_clocks::first_ready() {
  thread* first = nullptr;
  for (auto& t : threads_) {
    if (t->due() == never) continue;
    if (first == nullptr || t->due() < first->due()) first = t.get();
  }
  return first;
}

// Gives the turn to whoever is next. Events that come before happen first, on this thread.
void host_clocks::choose(std::unique_lock<std::mutex>& lock) {
  if (stepping_ || running_ != nullptr) return;
  for (;;) {
    if (stopped_) return;
    stepping_ = true;
    lock.unlock();
    const std::uint64_t next = device_.next_ns();
    lock.lock();
    stepping_ = false;
    thread* first = first_ready();
    if (next != never && (first == nullptr || next <= first->due())) {
      stepping_ = true;
      lock.unlock();
      device_.step();
      lock.lock();
      stepping_ = false;
      continue;
    }
    if (first == nullptr) {
      const bool waits = std::any_of(threads_.begin(), threads_.end(),
                                     [](const auto& t) { return t->at == thread::state::waits; });
      const bool outside = std::any_of(threads_.begin(), threads_.end(), [](const auto& t) {
        return t->at == thread::state::outside;
      });
      if (waits && !outside) {
        stepping_ = true;
        lock.unlock();
        const bool goes_on = device_.hung();
        lock.lock();
        stepping_ = false;
        if (goes_on) continue;
      }
      return;
    }
    if (first->at == thread::state::waits) first->ns = std::max(first->ns, first->until_ns);
    first->at = thread::state::runs;
    running_ = first;
    latest_ns_ = std::max(latest_ns_, first->ns);
    ++turns_;
    first->turn.notify_all();
    return;
  }
}

void host_clocks::await_turn(std::unique_lock<std::mutex>& lock, thread& me) {
  if (running_ == &me) {
    device_.host_ran(me.ns);
    running_ = nullptr;
  }
  choose(lock);
  me.turn.wait(lock, [&] { return running_ == &me || stopped_; });
  me.inside.store(true, std::memory_order_relaxed);
}

void host_clocks::turn(std::uint64_t ns) {
  thread& me = *self();
  std::unique_lock lock(mutex_);
  if (me.at == thread::state::outside) me.ns = std::max(me.ns, latest_ns_);
  me.ns += ns;
  me.at = thread::state::ready;
  await_turn(lock, me);
}

void host_clocks::leave() {
  thread* me = attached.self;
  if (me == nullptr) return;
  attached.self = nullptr;
  attached.clocks = nullptr;
  std::uint64_t ns = 0;
  {
    const std::lock_guard lock(mutex_);
    ns = me->ns;
    if (me->at == thread::state::runs) me->at = thread::state::over;  // else: it begins again
  }
  wake(me, ~std::size_t{0}, ns);
  std::unique_lock lock(mutex_);
  if (running_ == me) {
    device_.host_ran(me->ns);
    running_ = nullptr;
  }
  choose(lock);
}

void host_clocks::left() {
  if (attached.self != nullptr) attached.self->inside.store(false, std::memory_order_release);
}

bool host_clocks::wait_on(const void* key, std::uint64_t until_ns) {
  thread& me = *self();
  std::unique_lock lock(mutex_);
  me.at = thread::state::waits;
  me.key = key;
  me.until_ns = until_ns;
  me.place = waits_++;
  me.woken = false;
  await_turn(lock, me);
  me.key = nullptr;
  me.until_ns = never;
  return me.woken;
}

std::size_t host_clocks::wake(const void* key, std::size_t count, std::uint64_t ns) {
  const std::lock_guard lock(mutex_);
  std::size_t woken = 0;
  while (woken < count) {
    thread* next = nullptr;
    for (auto& t : threads_) {
      if (t->at != thread::state::waits || t->key != key) continue;
      if (next == nullptr || t->place < next->place) next = t.get();
    }
    if (next == nullptr) break;
    next->at = thread::state::ready;
    next->woken = true;
    next->ns = std::max(next->ns, ns);
    ++woken;
  }
  return woken;
}

void host_clocks::watch() {
  sigset_t all;
  sigfillset(&all);
  pthread_sigmask(SIG_BLOCK, &all, nullptr);
  std::unique_lock lock(mutex_);
  std::uint64_t seen = 0;
  int quiet = 0;
  while (!stopped_) {
    watch_.wait_for(lock, patience);
    if (stopped_) return;
    if (turns_ != seen || stepping_ || running_ == nullptr ||
        running_->inside.load(std::memory_order_acquire)) {
      seen = turns_;
      quiet = 0;
      continue;
    }
    ++quiet;
    if (first_ready() == nullptr) {
      if (quiet < periods_for_the_device || device_.idle()) continue;
    }
    running_->at = thread::state::outside;
    running_ = nullptr;
    deterministic_ = false;
    choose(lock);
    quiet = 0;
  }
}

}  // namespace sb::engine
