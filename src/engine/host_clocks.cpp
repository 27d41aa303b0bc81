#include "engine/host_clocks.hpp"

#include <fcntl.h>
#include <pthread.h>
#include <unistd.h>

#include <algorithm>
#include <atomic>
#include <chrono>
#include <csignal>
#include <cstdio>
#include <cstring>
#include <ctime>
#include <utility>

#include "engine/call_frame.hpp"
#include "engine/recorded_call.hpp"

namespace sb::engine {

namespace {

// A thread that is silent for this long loses its turn when others wait for theirs.
constexpr std::uint64_t patience_ns = 50'000'000;
// The same when only the device could go on: the thread may look at memory that a kernel writes,
// but more likely it computes.
constexpr std::uint64_t patience_for_the_device_ns = 20 * patience_ns;
constexpr auto period = std::chrono::milliseconds(10);  // between two looks at a silent thread

// Whether a thread of the process waits for something other than a processor or a disk: what a page
// of a file takes to come is the machine's matter, as is a busy processor.
bool is_blocked(pid_t thread) {
  char path[64];
  std::snprintf(path, sizeof path, "/proc/self/task/%d/stat", static_cast<int>(thread));
  const int file = open(path, O_RDONLY | O_CLOEXEC);
  if (file < 0) return true;
  char text[256];
  const ssize_t size = read(file, text, sizeof text - 1);
  close(file);
  text[size > 0 ? size : 0] = 0;
  const char* name_end = std::strrchr(text, ')');  // "number (name) state ..."
  return name_end == nullptr ||
         (std::strncmp(name_end, ") R", 3) != 0 && std::strncmp(name_end, ") D", 3) != 0);
}

}  // namespace

struct host_clocks::thread {
  enum class state : std::uint8_t { runs, ready, waits, outside, over };
  std::uint64_t ns = 0;
  std::uint64_t without_processor_ns = 0;  // of these, also what was before it began
  std::uint32_t number = 0;
  state at = state::ready;
  const void* key = nullptr;  // waits
  const streambed_awaited* what = nullptr;
  std::uint64_t until_ns = never;
  std::uint64_t place = 0;  // among those that wait
  bool woken = false;
  bool interrupted = false;  // its last wait
  bool to_interrupt = false;
  std::uint32_t woken_by = nobody;
  bool is_the_runtimes = false;
  origin made;
  bool begun = false;               // it has come for its first turn
  std::atomic<bool> inside{false};  // it runs, and in the runtime: not silent
  std::condition_variable turn;
  recorded_thread* recorded = nullptr;  // while it is adopted
  std::uint32_t traced = nobody;        // when it has ended: its number in the trace
  pid_t id = 0;                         // once it is adopted, as the next
  clockid_t processor_time = CLOCK_MONOTONIC;
  std::uint64_t computed_ns = 0;  // when it was looked at last

  [[nodiscard]] std::uint64_t processor_ns() const {
    return ns - std::min(ns, without_processor_ns);
  }
  // When it could go on.
  [[nodiscard]] std::uint64_t due() const {
    if (at == state::ready) return ns;
    return at == state::waits ? until_ns : never;
  }
  void interrupt_wait(std::uint64_t by_ns) {
    if (!to_interrupt || at != state::waits || what == nullptr || !what->is_interruptible) return;
    to_interrupt = false;
    interrupted = true;
    at = state::ready;
    ns = std::max(ns, by_ns);
  }
};

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
  made->made = {maker, ns};
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
  return one->at == thread::state::over;
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
    lock.lock();
    stepping_ = false;
    thread* first = first_ready();
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
  wake_locked(me, ~std::size_t{0}, me->ns, true);
  if (running_ == me) {
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
  me.woken = me.interrupted = false;
  me.woken_by = nobody;
  me.interrupt_wait(me.ns);
}

bool host_clocks::wait() {
  thread& me = *self();
  std::unique_lock lock(mutex_);
  // One that had no turn may have got it since.
  if (me.at == thread::state::runs)
    me.inside.store(true, std::memory_order_relaxed);
  else
    await_turn(lock, me);
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
  if (me.woken) wake_locked(key, 1, me.ns, false);
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
      if (id != 0 && t->id == id && t->at == thread::state::over)
        return {t.get(), nullptr, true, t->traced};
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
  return wake_locked(key, count, ns, false);
}

std::size_t host_clocks::wake_by_thread(const void* key, std::size_t count) {
  const thread* me = self();
  const std::lock_guard lock(mutex_);
  return wake_locked(key, count, me->ns, true);
}

void host_clocks::interrupt(thread* one) {
  const thread* me = self();
  const std::lock_guard lock(mutex_);
  if (one == nullptr && first_ != 0) {
    const auto found = std::find_if(threads_.begin(), threads_.end(),
                                    [this](const auto& t) { return t->id == first_; });
    if (found != threads_.end()) one = found->get();
  }
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
                                     bool by_thread) {
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
    next->woken_by = by_thread ? device_.calling_thread() : nobody;
    next->ns = std::max(next->ns, ns);
    ++woken;
  }
  return woken;
}

// How long a thread has been silent since it was looked at last.
std::uint64_t host_clocks::silent_ns(thread& one) const {
  if (!one.begun) return 0;
  timespec now{};
  if (clock_gettime(one.processor_time, &now) != 0) return patience_ns;
  const std::uint64_t computed = static_cast<std::uint64_t>(now.tv_sec) * 1'000'000'000u +
                                 static_cast<std::uint64_t>(now.tv_nsec);
  const std::uint64_t since = computed - std::exchange(one.computed_ns, computed);
  return is_blocked(one.id) ? std::chrono::nanoseconds(period).count() : since;
}

void host_clocks::watch() {
  sigset_t all;
  sigfillset(&all);
  pthread_sigmask(SIG_BLOCK, &all, nullptr);
  std::unique_lock lock(mutex_);
  std::uint64_t seen = 0;
  std::uint64_t silent = 0;
  while (!stopped_) {
    watch_.wait_for(lock, period);
    if (stopped_) return;
    if (!stepping_ && running_ == nullptr) {
      if (thread* beside = first_outside(); beside != nullptr && first_ready() == nullptr) {
        step_beside(lock, *beside);
        choose(lock);
      }
      seen = 0;
      continue;
    }
    if (stepping_ || running_->inside.load(std::memory_order_acquire)) {
      seen = 0;
      continue;
    }
    const std::uint64_t since = silent_ns(*running_);
    if (std::exchange(seen, turns_) != turns_) {  // the first look
      silent = 0;
      continue;
    }
    silent += since;
    if (silent < patience_ns) continue;
    // Once the run depends on this machine, there is nothing to be patient for.
    const std::uint64_t patience = deterministic_ ? patience_for_the_device_ns : patience_ns;
    if (first_ready() == nullptr && (silent < patience || device_.idle())) continue;
    thread& lost = *std::exchange(running_, nullptr);
    // One that has prepared to wait waits.
    if (lost.at == thread::state::runs) lost.at = thread::state::outside;
    deterministic_ = false;
    step_beside(lock, lost);
    choose(lock);
    seen = 0;
  }
}

host_clocks::thread* host_clocks::first_outside() {
  const auto found = std::find_if(threads_.begin(), threads_.end(),
                                  [](const auto& t) { return t->at == thread::state::outside; });
  return found != threads_.end() ? found->get() : nullptr;
}

// The only thread that could run looks at memory, it seems: the device goes on event by event, and
// the thread has time to see what each has written. Its clock will be that of the event. Kernels
// look at what the thread has written meanwhile, for as long as they wait for memory.
void host_clocks::step_beside(std::unique_lock<std::mutex>& lock, thread& silent) {
  constexpr std::uint64_t look_ns = 100'000;
  constexpr auto pause = std::chrono::microseconds(200);
  while (!stopped_ && !stepping_ && running_ == nullptr && first_ready() == nullptr &&
         silent.at == thread::state::outside) {
    stepping_ = true;
    lock.unlock();
    const bool looks = device_.look_again();
    const std::uint64_t next = device_.next_ns();
    lock.lock();
    stepping_ = false;
    if (next == never && !looks) return;
    if (next != never) step(lock, next);
    (void)silent_ns(silent);
    for (std::uint64_t looked = 0; looked < look_ns && !stopped_; looked += silent_ns(silent)) {
      watch_.wait_for(lock, pause);
      if (silent.at != thread::state::outside) return;
    }
  }
}

}  // namespace sb::engine
