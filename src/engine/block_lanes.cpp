// The part of block.hpp for warps: operations that lanes come to one by one, and which lanes are
// where one of them asks.
#include <algorithm>
#include <bit>
#include <utility>

#include "engine/block.hpp"
#include "engine/worker.hpp"

namespace sb::engine {

bool block::lane_comes(std::uint32_t thread) {
  const std::uint32_t lane = 1u << thread % 32;
  lane_call& call = call_of(thread);
  ++warps_[thread / 32].came;
  if (call.what == abi::lane_operation::rest) {
    warps_[thread / 32].resting |= lane;
    open_if_all_rest(thread / 32);
    answer_if_all_wait(thread / 32);
    return false;
  }
  if (call.what == abi::lane_operation::ask) {
    threads_[thread].asks_in_vain = call.how != 0;
    ask(thread, call.argument);
    return !lane_waits(thread);
  }
  call.mask |= lane;
  warps_[thread / 32].waiting |= lane;
  try_warp_call(thread);  // no other one is complete only now
  if (lane_waits(thread)) answer_if_all_wait(thread / 32);
  return !lane_waits(thread);
}

void block::lane_leaves(std::uint32_t thread) {
  warp_state& warp = warps_[thread / 32];
  warp.live &= ~(1u << thread % 32);
  for (std::uint32_t left = warp.waiting; left != 0; left &= left - 1) {
    const std::uint32_t other =
        thread / 32 * 32 + static_cast<std::uint32_t>(std::countr_zero(left));
    if (lane_waits(other)) try_warp_call(other);
  }
  open_if_all_rest(thread / 32);
  answer_if_all_wait(thread / 32);
}

// The barrier opens, and lanes that ask behind it wait for the others of their warp again.
void block::open_if_all_rest(std::uint32_t warp) {
  const auto rests = [](const warp_state& w) { return w.resting == w.live; };
  if (warps_[warp].resting == 0 && warps_[warp].live != 0) return;
  if (!rests(warps_[warp]) || !std::ranges::all_of(warps_, rests)) return;
  for (warp_state& w : warps_) w.resting = 0;
}

// Completes the operation that the thread is in, if every live lane of the mask is here. Lanes
// match by their mask, as on Volta and later: they may have come from different places of the
// program.
void block::try_warp_call(std::uint32_t thread) {
  warp_state& w = warps_[thread / 32];
  device_thread* lanes = &threads_[thread / 32 * 32];
  const std::uint32_t mask = call_of(thread).mask;
  const std::uint32_t need = mask & w.live;
  if ((w.waiting & need) != need) return;
  lane_call* calls[32] = {};
  for (std::uint32_t m = need; m != 0; m &= m - 1) {
    const auto i = static_cast<std::uint32_t>(std::countr_zero(m));
    calls[i] = &lanes[i].call;
    if (calls[i]->mask != mask) return;
  }
  complete_warp(calls, need);
  for (std::uint32_t m = need; m != 0; m &= m - 1) {
    device_thread* t = &lanes[std::countr_zero(m)];
    if (has_fibers() && t != on->current) ready_.push(t);
  }
  w.waiting &= ~need;
  progress();
}

std::uint32_t block::active_mask(device_thread& t, std::uint32_t place) {
  const std::uint32_t thread = t.context.linear_tid;
  ask(thread, place);
  if (lane_waits(thread)) park(t);
  return static_cast<std::uint32_t>(t.call.result);
}

void block::ask(std::uint32_t thread, std::uint32_t place) {
  threads_[thread].place = place;
  warps_[thread / 32].asking |= 1u << thread % 32;
  ++asking_;
  progress();
  answer_if_all_wait(thread / 32);
}

// No other lane can come to where they are. (Lanes that ask all the time keep no other warp from
// being answered.)
void block::answer_if_all_wait(std::uint32_t warp) {
  constexpr std::uint32_t most_answers = 1u << 16;
  const warp_state& w = warps_[warp];
  if (w.asking == 0 || (w.asking | w.waiting | w.resting) != w.live) return;
  answer(warp);
  if (++answers_ >= most_answers) answer_all();
}

// A lane that has not come in two rounds of all threads looks at memory, or sleeps.
void block::answer_still_warps() {
  constexpr std::uint32_t rounds = 2;
  if (asking_ == 0) return;
  for (std::uint32_t i = 0; i < warps_.size(); ++i) {
    warp_state& w = warps_[i];
    w.still = std::exchange(w.came, 0) != 0 || w.asking == 0 ? 0 : w.still + 1;
    if (w.still >= rounds && answer(i)) w.still = 0;
  }
}

// Those lanes go on that are at the earliest place, as the others may be joined by them; and those
// that wait for nobody. Answers whether any do: who has slept together with lanes that still do
// waits.
bool block::answer(std::uint32_t warp) {
  warp_state& w = warps_[warp];
  device_thread* const lanes = &threads_[warp * std::size_t{32}];
  const auto each = [](std::uint32_t mask, auto&& what) {
    for (; mask != 0; mask &= mask - 1) what(static_cast<std::uint32_t>(std::countr_zero(mask)));
  };
  const auto waits_for_nobody = [](std::uint32_t place) {
    return (place & abi::place_of_parted) != 0;
  };
  const auto waits_for_sleepers = [](std::uint32_t place) {
    return (place & abi::place_behind_sleep) != 0;
  };
  std::uint32_t earliest = ~0u;
  each(w.asking, [&](std::uint32_t lane) {
    if (!waits_for_nobody(lanes[lane].place)) earliest = std::min(earliest, lanes[lane].place);
  });
  std::uint32_t go_on = 0;
  each(w.asking, [&](std::uint32_t lane) {
    const std::uint32_t place = lanes[lane].place;
    if (waits_for_nobody(place) ||
        (place == earliest && (w.asleep == 0 || !waits_for_sleepers(place))))
      go_on |= 1u << lane;
  });
  each(go_on, [&](std::uint32_t lane) {
    device_thread& t = lanes[lane];
    std::uint32_t here = 0;
    each(go_on, [&](std::uint32_t other) {
      if (lanes[other].place == t.place) here |= 1u << other;
    });
    t.call.result = here;
    answered_ |= !t.asks_in_vain;
    worked_ |= has_lanes() && !t.asks_in_vain;
    if (has_fibers() && &t != on->current) ready_.push(&t);
  });
  w.asking &= ~go_on;
  asking_ -= static_cast<std::uint32_t>(std::popcount(go_on));
  if (go_on != 0) progress();
  return go_on != 0;
}

// In each warp. False if nobody goes on.
bool block::answer_all() {
  answers_ = 0;
  if (asking_ == 0) return false;
  bool any = false;
  for (std::uint32_t w = 0; w < warps_.size(); ++w)
    if (warps_[w].asking != 0) any |= answer(w);
  return any;
}

}  // namespace sb::engine
