#include "compiler/pass/warp_function.hpp"

#include <llvm/Analysis/AssumptionCache.h>
#include <llvm/Analysis/LoopInfo.h>
#include <llvm/Analysis/OptimizationRemarkEmitter.h>
#include <llvm/Analysis/ScalarEvolution.h>
#include <llvm/Analysis/TargetLibraryInfo.h>
#include <llvm/Analysis/TargetTransformInfo.h>
#include <llvm/IR/Dominators.h>
#include <llvm/IR/Module.h>
#include <llvm/Transforms/Utils/Cloning.h>
#include <llvm/Transforms/Utils/LoopUtils.h>
#include <llvm/Transforms/Utils/UnrollLoop.h>

#include "compiler/pass/linear_warps.hpp"
#include "compiler/pass/lockstep.hpp"
#include "compiler/pass/parted_lanes.hpp"
#include "compiler/pass/stride_loops.hpp"
#include "compiler/pass/thread_loops.hpp"

namespace sb::pass {

using namespace llvm;

namespace {

constexpr std::uint64_t most_lane_bytes = 4096;

class warp_builder : public lockstep_builder {
 public:
  warp_builder(const kernel& kernel, Function& region, Function& function)
      : lockstep_builder(region, function, team::warp, DebugLoc()), kernel_(kernel) {}

 private:
  bool prepare(Function&) override { return true; }

  void run(Function& region, ArrayRef<Value*> args) override {
    bind_lane(region);
    calls_.push_back(call_for_lanes(builder_, kernel_, region, args));
  }

  Value* array(Type* type, const Twine& name) override {
    IRBuilder<> at(entry_, entry_->begin());
    auto* memory = at.CreateAlloca(ArrayType::get(type, 32), nullptr, name);
    memory->setAlignment(Align(64));
    return memory;
  }

  const kernel& kernel_;
};

}  // namespace

namespace {

constexpr unsigned most_rounds = 8;
constexpr unsigned largest_round = 60;  // instructions

// `for (int d = 16; d > 0; d /= 2) v += __shfl_down_sync(~0u, v, d);` without its loop: then each
// distance is known. False if there is none.
bool write_out_meetings(Function& region) {
  DominatorTree dominators(region);
  LoopInfo loops(dominators);
  if (loops.empty()) {
    return false;
  }
  AssumptionCache assumptions(region);
  TargetLibraryInfoImpl library(Triple(region.getParent()->getTargetTriple()));
  TargetLibraryInfo functions(library);
  TargetTransformInfo target(region.getParent()->getDataLayout());
  ScalarEvolution evolution(region, functions, assumptions, dominators, loops);
  SmallVector<Loop*, 4> found;
  for (Loop* loop : loops.getLoopsInPreorder()) {
    unsigned rounds = evolution.getSmallConstantTripCount(loop);
    std::size_t size = 0;
    bool meets = false;
    for (BasicBlock* block : loop->blocks()) {
      size += block->sizeWithoutDebug();
      meets |= has_warp_meetings(*block);
    }
    if (loop->isInnermost() && loop->isLoopSimplifyForm() && rounds > 0 && rounds <= most_rounds &&
        size <= largest_round && meets) {
      found.push_back(loop);
    }
  }
  bool done = false;
  for (Loop* loop : found) {
    formLCSSARecursively(*loop, dominators, &loops, &evolution);
    UnrollLoopOptions options = {};
    options.Count = evolution.getSmallConstantTripCount(loop);
    options.Force = true;
    OptimizationRemarkEmitter remarks(&region);
    done |= UnrollLoop(loop, options, &loops, &evolution, &dominators, &assumptions, &target,
                       &remarks, true) == LoopUnrollResult::FullyUnrolled;
  }
  return done;
}

Function* build(const kernel& kernel, Function& region, bool for_speed) {
  std::vector<BasicBlock*> cuts;
  if (for_speed) {
    write_out_meetings(region);
  }
  auto meetings = lower_warp_meetings(region);
  if (!meetings) {
    return nullptr;
  }
  if (for_speed) {
    cuts = separate_common_rounds(region, team::warp);
  }
  if (!lead_parted_lanes(region, *meetings, cuts)) {
    return nullptr;
  }
  auto* function = Function::Create(region.getFunctionType(), GlobalValue::InternalLinkage,
                                    region.getName() + ".warp", region.getParent());
  function->copyAttributesFrom(&region);
  warp_builder builder(kernel, region, *function);
  if (builder.plan(std::move(*meetings), std::move(cuts), most_lane_bytes, most_lane_bytes) &&
      builder.build()) {
    bind_warp(*function);
    return function;
  }
  function->eraseFromParent();
  return nullptr;
}

}  // namespace

Function* build_warp_function(const kernel& kernel, Function& region) {
  name_lanes(region);
  if (is_seldom_run(region)) {
    return build(kernel, region, false);
  }
  // What is done for speed must not be what makes the rest impossible.
  ValueToValueMapTy map;
  Function* copy = CloneFunction(&region, map);
  Function* warp = build(kernel, *copy, true);
  copy->eraseFromParent();
  return warp ? warp : build(kernel, region, false);
}

}  // namespace sb::pass
