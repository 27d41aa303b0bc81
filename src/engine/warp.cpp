// Warp operations, computed for all lanes at once when the last one has arrived.
#include <bit>
#include <cstdint>

#include "engine/block.hpp"

namespace sb::engine {

namespace {

template <class Function>
void each_lane(std::uint32_t lanes, Function&& function) {
  for (; lanes != 0; lanes &= lanes - 1)
    function(static_cast<std::uint32_t>(std::countr_zero(lanes)));
}

// PTX: lanes form segments of `width`; a source outside the segment leaves the lane its own value.
void shuffle(lane_call* const* calls, std::uint32_t present, std::uint32_t lane) {
  lane_call& c = *calls[lane];
  const std::uint32_t width = c.width == 0 || c.width > 32 ? 32 : c.width;
  const std::uint32_t segment = lane & ~(width - 1);
  const std::uint32_t last = segment | (width - 1);
  std::uint32_t source = lane;
  bool in_range = true;
  switch (static_cast<abi::shuffle_kind>(c.how)) {
    case abi::shuffle_kind::index:
      source = segment | (c.argument & (width - 1));
      break;
    case abi::shuffle_kind::up:
      in_range = c.argument <= lane - segment;
      source = lane - c.argument;
      break;
    case abi::shuffle_kind::down:
      in_range = c.argument <= last - lane;
      source = lane + c.argument;
      break;
    case abi::shuffle_kind::xor_:
      source = lane ^ c.argument;
      in_range = source <= last;
      break;
  }
  c.flag = in_range ? 1 : 0;
  // A source lane that does not take part is undefined in CUDA: the lane keeps its own value.
  const bool there = in_range && (present >> source & 1u) != 0;
  c.result = there ? calls[source]->value : c.value;
}

std::uint32_t ballot(lane_call* const* calls, std::uint32_t present) {
  std::uint32_t votes = 0;
  each_lane(present, [&](std::uint32_t lane) {
    if (calls[lane]->argument != 0) votes |= 1u << lane;
  });
  return votes;
}

void vote(lane_call& c, std::uint32_t votes, std::uint32_t present) {
  switch (static_cast<abi::vote_kind>(c.how)) {
    case abi::vote_kind::all:
      c.result = votes == present;
      break;
    case abi::vote_kind::any:
      c.result = votes != 0;
      break;
    case abi::vote_kind::uniform:
      c.result = votes == 0 || votes == present;
      break;
    case abi::vote_kind::ballot:
      c.result = votes;
      break;
  }
}

void match(lane_call* const* calls, std::uint32_t present, lane_call& c) {
  std::uint32_t same = 0;
  each_lane(present, [&](std::uint32_t lane) {
    if (calls[lane]->value == c.value) same |= 1u << lane;
  });
  const bool all = c.how != 0;
  c.flag = same == present ? 1 : 0;
  c.result = !all || same == present ? same : 0;
}

std::uint32_t combine(abi::reduce_kind kind, std::uint32_t a, std::uint32_t b) {
  const auto sa = static_cast<std::int32_t>(a);
  const auto sb = static_cast<std::int32_t>(b);
  switch (kind) {
    case abi::reduce_kind::add:
      return a + b;
    case abi::reduce_kind::min_s:
      return sa < sb ? a : b;
    case abi::reduce_kind::max_s:
      return sa > sb ? a : b;
    case abi::reduce_kind::min_u:
      return a < b ? a : b;
    case abi::reduce_kind::max_u:
      return a > b ? a : b;
    case abi::reduce_kind::and_:
      return a & b;
    case abi::reduce_kind::or_:
      return a | b;
    case abi::reduce_kind::xor_:
      return a ^ b;
  }
  return a;
}

void reduce(lane_call* const* calls, std::uint32_t present, lane_call& c) {
  bool first = true;
  std::uint32_t value = 0;
  each_lane(present, [&](std::uint32_t lane) {
    const auto other = static_cast<std::uint32_t>(calls[lane]->value);
    value = first ? other : combine(static_cast<abi::reduce_kind>(c.how), value, other);
    first = false;
  });
  c.result = value;
}

}  // namespace

void complete_warp(lane_call* const* calls, std::uint32_t present) {
  const std::uint32_t votes = ballot(calls, present);
  each_lane(present, [&](std::uint32_t lane) {
    lane_call& c = *calls[lane];
    switch (c.what) {
      case abi::lane_operation::sync:
      case abi::lane_operation::ask:  // the block answers
      case abi::lane_operation::rest:
        break;
      case abi::lane_operation::shuffle:
        shuffle(calls, present, lane);
        break;
      case abi::lane_operation::vote:
        vote(c, votes, present);
        break;
      case abi::lane_operation::match:
        match(calls, present, c);
        break;
      case abi::lane_operation::reduce:
        reduce(calls, present, c);
        break;
    }
  });
}

}  // namespace sb::engine
