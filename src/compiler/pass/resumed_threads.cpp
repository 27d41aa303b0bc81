#include "compiler/pass/resumed_threads.hpp"

#include <llvm/Analysis/LoopInfo.h>
#include <llvm/IR/Dominators.h>
#include <llvm/IR/InstIterator.h>
#include <llvm/Transforms/Utils/BasicBlockUtils.h>

#include "compiler/pass/common_start.hpp"
#include "compiler/pass/kernel_discovery.hpp"
#include "compiler/pass/lane_calls.hpp"
#include "compiler/pass/place_numbers.hpp"
#include "compiler/pass/resumption.hpp"
#include "compiler/pass/runtime_abi.hpp"
#include "compiler/pass/warp_function.hpp"

namespace sb::pass {

using namespace llvm;

namespace {

constexpr StringLiteral resumed_mark = "sb-resumed-warps";

// Barriers, spins and sleep; nothing if threads wait for something else.
std::optional<stops> stops_of(const kernel& kernel) {
  stops found;
  found.timed = kernel.times != abi::thread_times::none;
  for (Instruction& inst : instructions(*kernel.body)) {
    auto* call = dyn_cast<CallInst>(&inst);
    auto which = call ? called_slot(*call) : std::nullopt;
    if (!which) {
      continue;
    }
    switch (*which) {
      case slot::wait_until:
      case slot::wait_until_timer:
      case slot::nanosleep:
        // Where nothing follows it, time passes by a clock that all threads of a block share.
        if (!found.timed) {
          return std::nullopt;
        }
        found.sleeps.push_back(call);
        break;
      case slot::grid_sync:
        return std::nullopt;
      case slot::barrier:
        found.barriers.push_back(call);
        break;
      case slot::spin:
      case slot::yield:
        found.spins.push_back(call);
        break;
      default:
        break;
    }
  }
  return found;
}

// Who asks in some rounds only has most often seen what it waited for.
void find_stops_between_looks(Function& body, stops& where) {
  DominatorTree dominators(body);
  LoopInfo loops(dominators);
  DenseSet<const Loop*> looking;
  for (CallInst* spin : where.spins) {
    for (Loop* loop = loops.getLoopFor(spin->getParent()); loop; loop = loop->getParentLoop()) {
      looking.insert(loop);
    }
  }
  for (const auto* stops : {&where.barriers, &where.warp_calls}) {
    for (const CallInst* stop : *stops) {
      for (Loop* loop = loops.getLoopFor(stop->getParent()); loop; loop = loop->getParentLoop()) {
        const bool always =
            loop->getLoopLatch() && dominators.dominates(stop->getParent(), loop->getLoopLatch());
        if (looking.contains(loop) && (always || !where.asked.contains(stop))) {
          where.between_looks.insert(stop);
        }
      }
    }
  }
}

void put_alone(CallInst& stop) {
  SplitBlock(stop.getParent(), &stop);
  SplitBlock(stop.getParent(), stop.getNextNode());
}

bool come_together(ArrayRef<CallInst*> stops, const uniformity& uniform) {
  return all_of(
      stops, [&](const CallInst* stop) { return uniform.is_reached_together(stop->getParent()); });
}

bool has_variables_inside(const Function& body) {
  return any_of(instructions(body), [&](const Instruction& inst) {
    return isa<AllocaInst>(inst) && inst.getParent() != &body.getEntryBlock();
  });
}

// Lanes that have returned cost a mask, which a kernel without such does not need.
std::vector<meeting> resume_warps(Function& body, const stops& where) {
  if (has_variables_inside(body)) {
    return {};
  }
  const std::vector<CallInst*> all = where.all();
  for_each(all, [](CallInst* one) { put_alone(*one); });
  for (auto [ends, who] : {std::pair(way_ends::barriers_and_returns, resumed::warps),
                           std::pair(way_ends::barriers, resumed::lanes_that_stay)}) {
    uniformity same(body, team::warp, ends);
    if (come_together(all, same)) {
      body.addFnAttr(resumed_mark);
      return resume(body, where, who, &same);
    }
  }
  return {};
}

resumed_body resume_alone(Function& body, stops where, resumed_from begin) {
  resumed_body made;
  common_start start;
  if (begin == resumed_from::common_start) {
    start = separate_common_start(body, where);
    if (!start.end) {
      return made;
    }
    where.begin = start.end;
  }
  made.barriers = resume(body, std::move(where), resumed::threads, nullptr);
  if (!made.barriers.empty()) {
    append_range(made.barriers, start.barriers);
    made.rounds = std::move(start.rounds);
  }
  return made;
}

}  // namespace

resumed_body resume_threads(const kernel& kernel, resumed_from begin) {
  Function& body = *kernel.body;
  std::optional<stops> where = stops_of(kernel);
  if (!where || where->empty()) {
    return {};
  }
  find_stops_between_looks(body, *where);
  if (has_warp_meetings(body)) {
    // Lanes that have times of their own do not go on together.
    if (where->timed || begin != resumed_from::beginning) {
      return {};
    }
    return {resume_warps(body, *where), {}};
  }
  return resume_alone(body, std::move(*where), begin);
}

resumed_body resume_lanes(const kernel& kernel, resumed_from begin) {
  Function& body = *kernel.body;
  std::optional<stops> where = stops_of(kernel);
  if (!where) {
    return {};
  }
  for (Instruction& inst : instructions(body)) {
    auto* call = dyn_cast<CallInst>(&inst);
    if (call && is_lane_call(*call) && called_slot(*call) != slot::active_mask) {
      where->warp_calls.push_back(call);
    }
  }
  for (const asked_place& place : places_in_order(body)) {
    where->warp_calls.push_back(place.call);
    where->asked[place.call] = place.number;
  }
  find_stops_between_looks(body, *where);
  return resume_alone(body, std::move(*where), begin);
}

bool has_resumed_warps(const Function& function) { return function.hasFnAttribute(resumed_mark); }

}  // namespace sb::pass
