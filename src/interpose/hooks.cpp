#include "interpose/hooks.hpp"

#include <atomic>

namespace sb::interpose {
namespace {

std::atomic<const streambed_clock_hooks*> hooks{nullptr};
std::atomic<void (*)()> start{nullptr};
std::atomic<bool> runtime_is_there{false};

}  // namespace

bool& thread_is_the_runtimes() {
  thread_local bool it_is = false;
  return it_is;
}

const streambed_clock_hooks* following_from_now() {
  if (start.load(std::memory_order_relaxed) != nullptr) {
    if (void (*begin)() = start.exchange(nullptr); begin != nullptr) begin();
  }
  return following();
}

const streambed_clock_hooks* following() {
  const streambed_clock_hooks* h = hooks.load(std::memory_order_acquire);
  if (h == nullptr) return nullptr;
  const int follows = h->follows();
  return follows == 2 || (follows == 1 && !thread_is_the_runtimes()) ? h : nullptr;
}

bool there_is_a_runtime() { return runtime_is_there.load(std::memory_order_relaxed); }

SB_INTERPOSED void streambed_set_clock_hooks(const streambed_clock_hooks* given) {
  start.store(nullptr);
  runtime_is_there.store(given != nullptr);
  hooks.store(given, std::memory_order_release);
}

SB_INTERPOSED void streambed_set_clock_start(void (*given)()) {
  runtime_is_there.store(true);
  start.store(given);
}

}  // namespace sb::interpose
