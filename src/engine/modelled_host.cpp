// The host in modelled time: what its calls cost, and the thread of host functions.
#include <algorithm>
#include <utility>

#include "engine/modelled.hpp"

namespace sb::engine {

namespace {

constexpr double host_function_body_ns = 100;

thread_local std::uint64_t calls_of_thread = 0;
thread_local std::uint64_t rest_of_call_ns = 0;  // that it costs if it is not captured

}  // namespace

std::uint64_t modelled::sleep(std::uint64_t ns) {
  const std::uint64_t begin = clocks_.now();
  if (!clocks_.sleeps_on(ns)) looks_are_over();
  clocks_.sleep(ns);
  came_in();
  const std::uint64_t slept = now_ - begin;
  clocks_.rests(slept);
  return clocks_.interrupted() ? ns - std::min(ns, slept) : 0;
}

void modelled::call_at(std::uint64_t ns, void (*expire)(std::uint64_t)) {
  if (host_ends_) return;
  expires_ns_ = ns;
  expire_ = expire;
}

// The program's last thread does what it does at the end in one turn.
void modelled::host_ends() {
  host_ends_ = true;
  expires_ns_ = host_clocks::never;
}

void modelled::host_call(std::uint64_t ns) {
  ++calls_of_thread;
  call(ns);
}

void modelled::host_call_beside_captures(std::uint64_t ns) {
  const std::uint64_t captured = std::min(ns, rounded_ns(timing_.captured_call_ns));
  host_call(captured);
  rest_of_call_ns = ns - captured;
}

void modelled::call_was_captured() { rest_of_call_ns = 0; }

void modelled::pay_rest() {
  if (rest_of_call_ns != 0) call(std::exchange(rest_of_call_ns, 0));
}

// Threads that bring work wait for each other in the driver, each for every other one that does.
void modelled::pay_for_others() {
  constexpr std::uint64_t soon_ns = 20000;  // the next work of a thread that brings some
  const std::uint64_t now = clocks_.now();
  const std::uint32_t self = clocks_.number();
  std::erase_if(brought_work_ns_, [&](const auto& one) { return one.second + soon_ns <= now; });
  const auto others = brought_work_ns_.size() - brought_work_ns_.count(self);
  brought_work_ns_[self] = now;
  if (others > 0) call(rounded_ns(static_cast<double>(others) * timing_.contended_ns));
}

// A thread that does nothing but ask takes longer steps the longer it has asked, so that a second
// of asking is thousands of calls and not millions. It learns the answer late by as small a share,
// or a millisecond: shares of shares would soon be years.
void modelled::found_not_ready() {
  constexpr std::uint64_t patient_calls = 100, share = 1000, longest_ns = 1'000'000;
  constexpr std::uint64_t never = ~std::uint64_t{1};
  thread_local std::uint64_t first_call = 0, last_call = never, since_ns = 0;
  if (last_call + 1 != calls_of_thread) {
    first_call = calls_of_thread;
    since_ns = clocks_.now();
  }
  last_call = calls_of_thread;
  if (last_call - first_call >= patient_calls)
    call(std::min((clocks_.now() - since_ns) / share, longest_ns));
}

// --- host functions

// A call that brings a host function wakes the thread, which looks for a while whether the kernel
// before it is over. When it has gone back to sleep, the device has to wake it, and that takes
// longer the longer it has slept.
std::uint64_t modelled::host_function_begin(const node& n) const {
  const std::uint64_t turn = n.times.begin;
  const std::uint64_t over = host_function_over_ns_;
  const std::uint64_t slept = now_ - std::min(now_, over);
  const bool asleep =
      slept > rounded_ns(timing_.host_thread_sleeps_ns) || host_function_thread_ == nullptr;
  if (!asleep) return turn + rounded_ns(timing_.host_function_ns);
  const bool by_the_device = released_by_ != nullptr && ended_kind_ != command_kind::host_function;
  if (!by_the_device) return turn + rounded_ns(timing_.host_function_idle_ns);
  const std::uint64_t soon = rounded_ns(timing_.host_thread_soon_ns);
  if (slept > rounded_ns(timing_.host_thread_deep_ns))
    return turn + rounded_ns(timing_.host_function_deep_ns);
  if (ended_kind_ == command_kind::kernel && n.times.queued >= over &&
      turn <= n.times.arrival + soon)
    return std::max(turn, n.times.arrival + rounded_ns(timing_.host_function_idle_ns));
  return turn + rounded_ns(slept <= soon ? timing_.host_function_soon_ns
                                         : timing_.host_function_interrupt_ns);
}

void modelled::begin_host_function(node& n) {
  clocks_.adopt(host_function_thread_);
  clocks_.turn();
  now_ = clocks_.now();
  n.times.begin = now_;
  host_function_ = &n;
  constexpr std::size_t most = 1024;
  functions_.push_back({n.recorded.number, now_});
  if (functions_.size() > most) functions_.pop_front();
  host_code_begins();
}

void modelled::end_host_function(node& n) {
  host_code_ran();
  host_function_ = nullptr;
  clocks_.turn(rounded_ns(host_function_body_ns));
  now_ = clocks_.now();
  host_function_over_ns_ = now_;
  changed_ = true;
  ended(n);
}

}  // namespace sb::engine
