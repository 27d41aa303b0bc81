#include "analysis/function_thread.hpp"

namespace sb::analysis {

function_thread::found function_thread::when(nanoseconds idle, bool device_wakes) const {
  if (timing_ == nullptr) return found::unknown;
  const auto longer_than = [&](double ns) { return idle > rounded_ns(ns); };
  if (!longer_than(timing_->host_thread_sleeps_ns)) return found::awake;
  if (!device_wakes) return found::asleep;
  if (longer_than(timing_->host_thread_deep_ns)) return found::asleep_deeply;
  return longer_than(timing_->host_thread_soon_ns) ? found::asleep_longer : found::asleep_a_while;
}

function_thread::nanoseconds function_thread::begins(found how) const {
  switch (how) {
    case found::unknown:
      break;
    case found::awake:
      return rounded_ns(timing_->host_function_ns);
    case found::asleep:
      return rounded_ns(timing_->host_function_idle_ns);
    case found::asleep_a_while:
      return rounded_ns(timing_->host_function_soon_ns);
    case found::asleep_longer:
      return rounded_ns(timing_->host_function_interrupt_ns);
    case found::asleep_deeply:
      return rounded_ns(timing_->host_function_deep_ns);
  }
  return 0;
}

}  // namespace sb::analysis
