// The part of block.hpp for threads that share a fiber and have times of their own. They sleep in
// the list that fibers do; when one is to wake, the block's fiber begins a round of all of them.
#include <algorithm>
#include <utility>

#include "engine/block.hpp"

namespace sb::engine {

void block::begin_times() {
  if (!has_times()) return;
  if (resumed_.size() < run->threads) resumed_.resize(run->threads);
  for (std::uint32_t t = 0; t < run->threads; ++t) resumed_[t].begin();
  due_ = 0;
  is_idle_ = looks_on_ = false;
  round_ns_ = 0;
}

// The time is asked for once in a round, in which threads come in their order: who sleeps for as
// long as another wakes with it.
std::uint64_t block::round_ns(std::uint32_t thread) {
  if (round_ns_ == 0 || thread < round_thread_) round_ns_ = now_ns();
  round_thread_ = thread;
  return round_ns_;
}

bool block::thread_sleeps_for(std::uint32_t thread, std::uint64_t ns) {
  if (ns == 0) return false;
  lie_down(thread, round_ns(thread) + ns);
  return true;
}

bool block::thread_sleeps_until(std::uint32_t thread, std::uint64_t ns) {
  device_thread& t = resumed_[thread];
  t.vain = false;
  t.streak = 0;
  if (shown(now_ns(), t) >= ns) return false;
  lie_down(thread, ns);
  return true;
}

void block::lie_down(std::uint32_t thread, std::uint64_t ns) {
  device_thread& t = resumed_[thread];
  t.streak = 0;
  t.pause_ns = 0;
  add_sleeper(t, ns);
  if (has_lanes()) lane_sleeps(thread, true);
  t.asleep = t.slept = true;
}

bool block::thread_is_asleep(std::uint32_t thread) {
  device_thread& t = resumed_[thread];
  if (t.asleep) return true;
  if (std::exchange(t.due, false)) --due_;
  if (has_lanes()) lane_sleeps(thread, false);
  return false;
}

abi::look_answer block::thread_looks(std::uint32_t thread, std::uint64_t value) {
  device_thread& t = resumed_[thread];
  const bool slept = note_look(t, value);
  looks_on_ = true;
  if (slept && t.vain && unlooked_ != 0) --unlooked_;
  if (t.pause_ns != 0) {
    const std::uint32_t streak = t.streak;
    lie_down(thread, t.pause_ns);
    t.streak = streak;
    return abi::look_answer::sleeps;
  }
  return slept ? abi::look_answer::goes_on : abi::look_answer::stops;
}

bool block::last_woke_in_vain() const { return has_times() && unlooked_ == 0 && !moved_; }

// Where threads ask for the time, those that are to wake at the same moment have a round before
// those that wake later. By the real clock a moment takes some time, and more where nobody is known
// to look at memory until some time.
void block::wake_threads(std::uint64_t now) {
  constexpr std::uint64_t moment_ns = 1'000, moment_of_sleepers_ns = 8'000;
  std::uint64_t until = now;
  if (info->times == abi::thread_times::are_read) {
    const std::uint64_t moment = looks_on_ ? moment_ns : moment_of_sleepers_ns;
    until = std::min(now, next_wake_ns_ + (model_ns != 0 ? 0 : moment));
  }
  if (woken_ == 0) overdue_ns_ = now;
  due_wake_ns_ = std::exchange(next_wake_ns_, ~std::uint64_t{0});
  moved_ = false;
  thread_list rest;
  while (sleeping_.count != 0) {
    device_thread* t = sleeping_.pop();
    if (t->wake_ns > until) {
      next_wake_ns_ = std::min(next_wake_ns_, t->wake_ns);
      rest.push(t);
      continue;
    }
    if (t->naps) --napping_;
    t->asleep = false;
    t->due = true;
    ++due_;
    ++woken_;
  }
  sleeping_ = rest;
  unlooked_ = due_;
  if (std::exchange(is_idle_, false)) ready_.push(&threads_[0]);
  idle_yields_ = 0;
}

}  // namespace sb::engine
