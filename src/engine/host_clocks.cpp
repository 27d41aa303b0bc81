#include "engine/host_clocks.hpp"

#include <pthread.h>
#include <unistd.h>

#include <algorithm>
#include <utility>

#include "engine/call_frame.hpp"
#include "engine/host_thread.hpp"
#include "engine/recorded_call.hpp"

namespace sb::engine {

namespace {

// Nothing that is destroyed: the thread that ends the process has its turn beyond the end of what
// it keeps in C++.
struct attachment {
  host_clocks* clocks = nullptr;
  host_clocks::thread* self = nullptr;
  bool ends_process = false;
};
thread_local constinit attachment attached;

// Tells the clocks when the thread ends. That of the program's first one is the process's, unless
// it left before (pthread_exit), when nothing of this kind is destroyed.
struct end_of_thread {
  ~end_of_thread() {
    if (attached.clocks == nullptr) return;
    const call_frame own;
    if (attached.ends_process || gettid() == getpid())
      attached.clocks->finish_device();
    else
      attached.clocks->leave();
  }
  void is_awaited() {}
};
thread_local end_of_thread end;

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
  thread* made = make(ns);
  made->is_the_runtimes = true;
  return made;
}

host_clocks::thread* host_clocks::announce_own() {
  const std::uint32_t maker = device_.calling_thread();
  const std::uint64_t ns = now();
  const std::lock_guard lock(mutex_);
  thread* made = make(ns);
  made->made = {maker == the_function ? nobody : maker, ns};
  return made;
}

host_clocks::thread* host_clocks::announce_by_timer(std::uint64_t ns) {
  const std::lock_guard lock(mutex_);
  thread* made = make(ns);
  made->made = {nobody, ns};
  return made;
}

host_clocks::origin host_clocks::origin_of(const thread* one) {
  const std::lock_guard lock(mutex_);
  return one->made;
}

host_clocks::thread* host_clocks::make(std::uint64_t ns) {
  auto made = std::make_unique<thread>();
  made->ns = made->without_processor_ns = ns;
  made->number = static_cast<std::uint32_t>(threads_.size());
  threads_.push_back(std::move(made));
  return threads_.back().get();
}

void host_clocks::again(thread* one, std::uint64_t ns) {
  const std::lock_guard lock(mutex_);
  one->without_processor_ns += ns - std::min(ns, one->ns);
  one->ns = ns;
  one->at = thread::state::ready;
  one->begun = false;
}

void host_clocks::adopt(thread* one) {
  attached.clocks = this;
  attached.self = one;
  end.is_awaited();
  const std::lock_guard lock(mutex_);
  one->recorded = &recorded_thread::own();
  one->id = gettid();
  pthread_getcpuclockid(pthread_self(), &one->processor_time);
}

void host_clocks::withdraw(thread* one) {
  std::unique_lock lock(mutex_);
  one->at = thread::state::over;
  if (running_ != one) return;
  running_ = nullptr;
  choose(lock);
}

// A thread that nobody announced begins where the others are.
host_clocks::thread* host_clocks::self() {
  if (attached.self != nullptr) return attached.self;
  thread* me = nullptr;
  {
    const std::lock_guard lock(mutex_);
    // The first is the program's own.
    if (first_ == 0) first_ = gettid();
    if (first_ != gettid()) deterministic_ = false;
    // It has its turn from the beginning, whatever it calls first.
    const bool alone = running_ == nullptr && !stepping_ && first_ready() == nullptr;
    me = make(latest_ns_);
    me->begun = true;
    me->at = alone ? thread::state::runs : thread::state::outside;
    if (alone) {
      running_ = me;
      ++turns_;
    }
  }
  adopt(me);
  return me;
}

// One that lost its turn is where the others have come.
std::uint64_t host_clocks::now() {
  thread* me = self();
  const std::lock_guard lock(mutex_);
  if (me->at == thread::state::outside) me->ns = std::max({me->ns, latest_ns_, stepped_ns_});
  return me->ns;
}

std::uint32_t host_clocks::number() { return self()->number; }

void host_clocks::rests(std::uint64_t ns) {
  thread* me = self();
  const std::lock_guard lock(mutex_);
  me->without_processor_ns += ns;
}

std::uint64_t host_clocks::processor_time() {
  const thread* me = self();
  const std::lock_guard lock(mutex_);
  return me->processor_ns();
}

std::uint64_t host_clocks::processor_time_of_all() {
  self();
  const std::lock_guard lock(mutex_);
  std::uint64_t sum = 0;
  for (const auto& t : threads_) sum += t->processor_ns();
  return sum;
}

bool host_clocks::over(thread* one) {
  const std::lock_guard lock(mutex_);
  one = found(one);
  return one != nullptr && one->at == thread::state::over;
}

bool host_clocks::deterministic() {
  const std::lock_guard lock(mutex_);
  return deterministic_;
}

void host_clocks::depends_on_machine() {
  const std::lock_guard lock(mutex_);
  deterministic_ = false;
}

host_clocks::thread* host_clocks::first_ready() {
  thread* first = nullptr;
  for (auto& t : threads_) {
    if (t->due() == never) continue;
    if (ending_ != nullptr && !t->is_the_runtimes) continue;
    if (first == nullptr || t->due() < first->due()) first = t.get();
  }
  return first;
}

// None can go on by itself.
bool host_clocks::all_wait() const {
  const auto some_are = [this](thread::state at) {
    return std::any_of(threads_.begin(), threads_.end(),
                       [=](const auto& t) { return t->at == at; });
  };
  return some_are(thread::state::waits) && !some_are(thread::state::outside);
}

// The device's next event happens.
void host_clocks::step(std::unique_lock<std::mutex>& lock, std::uint64_t ns) {
  stepped_ns_ = std::max(stepped_ns_, ns);
  stepping_ = true;
  lock.unlock();
  device_.step();
  lock.lock();
  stepping_ = false;
}

// Gives the turn to whoever is next. Events that come before happen first, on this thread.
void host_clocks::choose(std::unique_lock<std::mutex>& lock) {
  if (stepping_ || running_ != nullptr) return;
  for (;;) {
    if (stopped_) return;
    stepping_ = true;
    lock.unlock();
    const std::uint64_t next = device_.next_ns();
    const bool is_timer = next == device_.timer_ns();
    lock.lock();
    stepping_ = false;
    thread* first = first_ready();
    if (is_timer && first == nullptr && ending_ == nullptr && first_outside() != nullptr) return;
    const bool hopeless = first == nullptr && (ending_ != nullptr || all_wait()) &&
                          (next == never || device_.in_vain());
    if (next != never && !hopeless && (first == nullptr || next <= first->due())) {
      step(lock, next);
      continue;
    }
    if (first == nullptr && ending_ != nullptr) {
      first = std::exchange(ending_, nullptr);
      first->ns = std::max({first->ns, latest_ns_, stepped_ns_});
    }
    if (first == nullptr) {
      if (hopeless) {
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
  const bool begun = std::exchange(me.begun, true);
  if (begun && running_ == &me) {
    turn_ends(me);
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
  if (me.at == thread::state::outside) me.ns = std::max({me.ns, latest_ns_, stepped_ns_});
  me.ns += ns;
  if (me.begun || running_ != &me) me.at = thread::state::ready;
  await_turn(lock, me);
}

void host_clocks::ends_process() { attached.ends_process = true; }

// One that lost its turn goes on beside the others.
void host_clocks::finish_device() {
  thread* me = attached.self;
  device_.host_ends();
  std::unique_lock lock(mutex_);
  if (me == nullptr || running_ != me) return;
  ending_ = me;
  me->at = thread::state::ready;
  await_turn(lock, *me);
}

void host_clocks::leave() {
  thread* me = attached.self;
  if (me == nullptr) return;
  attached.self = nullptr;
  attached.clocks = nullptr;
  std::unique_lock lock(mutex_);
  if (me->recorded != nullptr) me->traced = me->recorded->number;
  me->recorded = nullptr;
  if (me->at == thread::state::outside) me->ns = std::max({me->ns, latest_ns_, stepped_ns_});
  if (me->at != thread::state::ready) me->at = thread::state::over;  // else: it begins again
  wake_locked(me, ~std::size_t{0}, me->ns, me);
  if (running_ == me) {
    turn_ends(*me);
    device_.host_ran(me->ns);
    running_ = nullptr;
  }
  choose(lock);
}

void host_clocks::left() {
  if (attached.self != nullptr) attached.self->inside.store(false, std::memory_order_release);
}

void host_clocks::prepare(const void* key, std::uint64_t until_ns, const streambed_awaited* what) {
  thread& me = *self();
  const std::lock_guard lock(mutex_);
  if (me.at == thread::state::outside) me.ns = std::max({me.ns, latest_ns_, stepped_ns_});
  me.at = thread::state::waits;
  me.key = key;
  me.what = what;
  me.until_ns = until_ns;
  me.place = waits_++;
  me.since_ns = me.ns;
  me.since = doings_;
  me.woken = me.interrupted = false;
  me.woken_by = nobody;
  me.interrupt_wait(me.ns);
}

bool host_clocks::wait() {
  thread& me = *self();
  std::unique_lock lock(mutex_);
  if (me.at == thread::state::waits && me.deliver.load(std::memory_order_relaxed) != nullptr)
    me.leave_wait(me.ns);
  // One that had no turn may have got it since.
  if (me.at == thread::state::runs)
    me.inside.store(true, std::memory_order_relaxed);
  else
    await_turn(lock, me);
  if (!me.woken && !me.interrupted && me.until_ns != never) waited_in_vain(me);
  me.key = nullptr;
  me.until_ns = never;
  return me.woken;
}

// Who woke it in vain meant to wake somebody.
void host_clocks::cancel() {
  thread& me = *self();
  const std::lock_guard lock(mutex_);
  if (me.at != thread::state::runs)
    me.at = running_ == &me ? thread::state::runs : thread::state::outside;
  const void* key = std::exchange(me.key, nullptr);
  me.until_ns = never;
  if (me.woken) wake_locked(key, 1, me.ns, nullptr);
}

host_clocks::party host_clocks::party_of(const thread& one) {
  const bool ended = one.at == thread::state::over;
  return {&one, ended ? nullptr : one.recorded, ended, one.traced};
}

std::vector<host_clocks::stuck_thread> host_clocks::stuck() {
  const std::lock_guard lock(mutex_);
  const auto holder = [&](const thread& waits) -> party {
    const int id = waits.what->holder != nullptr ? waits.what->holder(waits.key) : 0;
    for (const auto& t : threads_) {
      const bool is_it = waits.what->kind == streambed_awaits_thread
                             ? t.get() == waits.key
                             : id != 0 && t->id == id && t->recorded != nullptr;
      if (is_it) return {t.get(), t->recorded};
    }
    for (const auto& t : threads_) {
      if (id != 0 && t->id == id && t->at == thread::state::over) return party_of(*t);
    }
    return {};
  };
  std::vector<stuck_thread> result;
  for (const auto& t : threads_) {
    if (t->at == thread::state::waits && t->what != nullptr)
      result.push_back({{t.get(), t->recorded}, holder(*t), t->what->kind, t->key});
  }
  return result;
}

std::size_t host_clocks::wake(const void* key, std::size_t count, std::uint64_t ns) {
  const std::lock_guard lock(mutex_);
  return wake_locked(key, count, ns, nullptr);
}

std::size_t host_clocks::wake_by_thread(const void* key, std::size_t count) {
  thread* me = self();
  const std::lock_guard lock(mutex_);
  return wake_locked(key, count, me->ns, me);
}

// The program's first thread goes by null.
host_clocks::thread* host_clocks::found(thread* one) {
  if (one != nullptr || first_ == 0) return one;
  const auto first = std::find_if(threads_.begin(), threads_.end(),
                                  [this](const auto& t) { return t->id == first_; });
  return first != threads_.end() ? first->get() : nullptr;
}

bool host_clocks::divert(thread* one, std::uint64_t ns, void (*deliver)()) {
  const std::lock_guard lock(mutex_);
  one = found(one);
  if (one == nullptr || one->at == thread::state::outside || one->at == thread::state::over)
    return false;
  one->deliver.store(deliver, std::memory_order_relaxed);
  if (one->at == thread::state::waits && one != running_) one->leave_wait(ns);
  return true;
}

// Not between the two steps of a wait: the second one ends at once then, and delivers.
void (*host_clocks::take_delivery())() {
  thread* me = attached.self;
  if (me == nullptr || me->deliver.load(std::memory_order_relaxed) == nullptr) return nullptr;
  const std::lock_guard lock(attached.clocks->mutex_);
  if (me->at == thread::state::waits) return nullptr;
  return me->deliver.exchange(nullptr, std::memory_order_relaxed);
}

void host_clocks::interrupt(thread* one) {
  const thread* me = self();
  const std::lock_guard lock(mutex_);
  one = found(one);
  if (one == nullptr || one == me) return;
  one->to_interrupt = true;
  one->interrupt_wait(me->ns);
}

bool host_clocks::interrupted() {
  const thread* me = self();
  const std::lock_guard lock(mutex_);
  return me->interrupted;
}

std::uint32_t host_clocks::woken_by() {
  const thread* me = self();
  const std::lock_guard lock(mutex_);
  return me->woken_by;
}

const streambed_awaited* host_clocks::awaited() {
  const thread* me = self();
  const std::lock_guard lock(mutex_);
  return me->what;
}

std::size_t host_clocks::wake_locked(const void* key, std::size_t count, std::uint64_t ns,
                                     thread* by) {
  std::size_t woken = 0;
  if (by != nullptr) tell_lookers(key, *by);
  while (woken < count) {
    thread* next = nullptr;
    for (auto& t : threads_) {
      if (t->at != thread::state::waits || t->key != key) continue;
      if (next == nullptr || t->place < next->place) next = t.get();
    }
    if (next == nullptr) break;
    next->at = thread::state::ready;
    next->woken = true;
    next->woken_by = by != nullptr ? device_.calling_thread() : nobody;
    next->ns = std::max(next->ns, ns);
    ++woken;
  }
  return woken;
}

}  // namespace sb::engine
