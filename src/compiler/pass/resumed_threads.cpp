#include "compiler/pass/resumed_threads.hpp"

#include <llvm/IR/InstIterator.h>
#include <llvm/Transforms/Utils/BasicBlockUtils.h>

#include "compiler/pass/lane_calls.hpp"
#include "compiler/pass/resumption.hpp"
#include "compiler/pass/runtime_abi.hpp"
#include "compiler/pass/warp_function.hpp"

namespace sb::pass {

using namespace llvm;

namespace {

constexpr StringLiteral resumed_mark = "sb-resumed-warps";

// Barriers and spins; nothing if threads wait for something else.
std::optional<stops> stops_of(Function& body) {
  stops found;
  bool reads_clock = false;
  for (Instruction& inst : instructions(body)) {
    auto* call = dyn_cast<CallInst>(&inst);
    auto which = call ? called_slot(*call) : std::nullopt;
    if (!which) {
      continue;
    }
    switch (*which) {
      case slot::wait_until:
      case slot::wait_until_timer:
      case slot::nanosleep:
      case slot::grid_sync:
        return std::nullopt;
      case slot::barrier:
        found.barriers.push_back(call);
        break;
      case slot::spin:
      case slot::yield:
        found.spins.push_back(call);
        break;
      case slot::clock:
      case slot::global_timer:
        reads_clock = true;
        break;
      default:
        break;
    }
  }
  // The clock of a block function knows nothing of time that passes while it stops.
  return reads_clock && !found.spins.empty() ? std::nullopt : std::optional(found);
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

}  // namespace

std::vector<meeting> resume_threads(Function& body) {
  std::optional<stops> where = stops_of(body);
  if (!where || where->empty()) {
    return {};
  }
  if (has_warp_meetings(body)) {
    return resume_warps(body, *where);
  }
  return resume(body, std::move(*where), resumed::threads, nullptr);
}

std::vector<meeting> resume_lanes(Function& body) {
  std::optional<stops> where = stops_of(body);
  if (!where) {
    return {};
  }
  for (Instruction& inst : instructions(body)) {
    auto* call = dyn_cast<CallInst>(&inst);
    if (call && is_lane_call(*call)) {
      where->warp_calls.push_back(call);
    } else if (call && called_slot(*call) == slot::active_mask) {
      return {};
    }
  }
  return resume(body, std::move(*where), resumed::threads, nullptr);
}

bool has_resumed_warps(const Function& function) { return function.hasFnAttribute(resumed_mark); }

}  // namespace sb::pass
