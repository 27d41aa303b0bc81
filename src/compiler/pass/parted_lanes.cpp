#include "compiler/pass/parted_lanes.hpp"

#include <llvm/IR/InstIterator.h>
#include <llvm/IR/Module.h>

#include "compiler/pass/region_function.hpp"
#include "compiler/pass/runtime_abi.hpp"

namespace sb::pass {

using namespace llvm;

namespace {

// The lanes that the warp has, as bits.
Value* all_lanes(Function& function) {
  BasicBlock& entry = function.getEntryBlock();
  IRBuilder<> builder(&*entry.getFirstInsertionPt());
  auto lanes = builtin_function(*function.getParent(), warp_lanes_name, builder.getInt32Ty());
  Value* missing = builder.CreateSub(builder.getInt32(32), builder.CreateCall(lanes));
  return builder.CreateLShr(builder.getInt32(~0u), missing, "lanes");
}

class lane_leader : public part_leader {
 public:
  lane_leader(Function& function, std::vector<meeting>& meetings, std::vector<BasicBlock*>& cuts)
      : part_leader(function, team::warp, all_lanes(function), meetings, cuts) {}

  void name_active_lanes() {
    SmallVector<CallInst*, 8> calls;
    for (Instruction& inst : instructions(function_)) {
      auto* call = dyn_cast<CallInst>(&inst);
      if (call && call->getCalledFunction() &&
          call->getCalledFunction()->getName() == active_lanes_name) {
        calls.push_back(call);
      }
    }
    for (CallInst* call : calls) {
      call->replaceAllUsesWith(active_in(call->getParent()));
      call->eraseFromParent();
    }
  }

 private:
  meeting meet(BasicBlock& from, BasicBlock& block, Value* stays) override {
    IRBuilder<> builder(from.getTerminator());
    builder.SetCurrentDebugLocation({});
    auto lane = builtin_function(*function_.getParent(), "__sb_laneid", builder.getInt32Ty());
    Value* bit = builder.CreateShl(builder.getInt32(1), builder.CreateCall(lane));
    meeting one;
    one.tally = create_tally(builder, abi::reduce_kind::or_,
                             builder.CreateSelect(stays, bit, builder.getInt32(0)));
    builder.SetInsertPoint(block.getTerminator());
    auto callee =
        function_.getParent()->getOrInsertFunction(warp_meeting_name, builder.getInt32Ty());
    one.place = builder.CreateCall(callee);
    return one;
  }

  Value* others(IRBuilderBase& builder, Value* outside, Value* active) override {
    return builder.CreateAnd(outside, builder.CreateNot(active));
  }

  bool may_lead(BasicBlock&) override { return true; }
  bool may_meet_on_both_ways() override { return true; }
};

}  // namespace

bool lead_parted_lanes(Function& function, std::vector<meeting>& meetings,
                       std::vector<BasicBlock*>& cuts) {
  lane_leader leader(function, meetings, cuts);
  bool led = leader.lead();
  leader.name_active_lanes();
  return led;
}

}  // namespace sb::pass
