// Threads that do not call in: whoever has its turn and is silent for too long loses it
// (host_clocks.hpp).
#include <fcntl.h>
#include <pthread.h>
#include <unistd.h>

#include <algorithm>
#include <chrono>
#include <csignal>
#include <cstdio>
#include <cstring>
#include <ctime>
#include <utility>

#include "engine/host_clocks.hpp"
#include "engine/host_thread.hpp"

namespace sb::engine {

namespace {

// A thread that waits for something outside for this long loses its turn when others wait for
// theirs.
constexpr std::uint64_t patience_ns = 50'000'000;
// The same for one that has a processor, or when only the device could go on: it may look at memory
// that another thread or a kernel writes, but more likely it computes.
constexpr std::uint64_t long_patience_ns = 20 * patience_ns;
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

host_clocks::silence host_clocks::silence_of(thread& one) const {
  if (!one.begun) return {};
  timespec now{};
  if (clock_gettime(one.processor_time, &now) != 0) return {.ns = patience_ns, .outside = true};
  const std::uint64_t computed = static_cast<std::uint64_t>(now.tv_sec) * 1'000'000'000u +
                                 static_cast<std::uint64_t>(now.tv_nsec);
  const std::uint64_t since = computed - std::exchange(one.computed_ns, computed);
  if (!is_blocked(one.id)) return {.ns = since};
  return {.ns = std::chrono::nanoseconds(period).count(), .outside = true};
}

void host_clocks::watch() {
  sigset_t all;
  sigfillset(&all);
  pthread_sigmask(SIG_BLOCK, &all, nullptr);
  std::unique_lock lock(mutex_);
  std::uint64_t seen = 0;
  std::uint64_t silent = 0, outside = 0;
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
    const silence since = silence_of(*running_);
    if (std::exchange(seen, turns_) != turns_) {  // the first look
      silent = outside = 0;
      continue;
    }
    silent += since.ns;
    if (since.outside) outside += since.ns;
    if (silent < patience_ns) continue;
    // Once the run depends on this machine, there is nothing to be patient for.
    const std::uint64_t patience = deterministic_ ? long_patience_ns : patience_ns;
    const bool nothing_happens = device_.idle() && !timer_is_over(*running_, silent);
    const bool others_wait = first_ready() != nullptr;
    if (silent < patience && !(others_wait && outside >= patience_ns)) continue;
    if (!others_wait && nothing_happens) continue;
    thread& lost = *std::exchange(running_, nullptr);
    lost.silent_ns = silent;
    // One that has prepared to wait waits.
    if (lost.at == thread::state::runs) lost.at = thread::state::outside;
    deterministic_ = false;
    step_beside(lock, lost);
    choose(lock);
    seen = 0;
  }
}

// Whether a thread that is silent for so long would have seen the end of the next timer elsewhere.
bool host_clocks::timer_is_over(const thread& one, std::uint64_t silent) const {
  const std::uint64_t timer = device_.timer_ns();
  return timer != never && one.ns + silent >= timer;
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
  silent.silent_ns += silence_of(silent).ns;
  while (!stopped_ && !stepping_ && running_ == nullptr && first_ready() == nullptr &&
         silent.at == thread::state::outside) {
    stepping_ = true;
    lock.unlock();
    const bool looks = device_.look_again();
    std::uint64_t next = device_.next_ns();
    lock.lock();
    stepping_ = false;
    if (next == device_.timer_ns() && !timer_is_over(silent, silent.silent_ns)) next = never;
    if (next == never && !looks) return;
    if (next != never) step(lock, next);
    silent.silent_ns += silence_of(silent).ns;
    for (std::uint64_t looked = 0; looked < look_ns && !stopped_;) {
      watch_.wait_for(lock, pause);
      if (silent.at != thread::state::outside) return;
      const std::uint64_t since = silence_of(silent).ns;
      looked += since;
      silent.silent_ns += since;
    }
  }
}

}  // namespace sb::engine
