#include "compiler/pass/leaving_threads.hpp"

#include <llvm/Analysis/ValueTracking.h>
#include <llvm/IR/CFG.h>
#include <llvm/IR/Module.h>

#include "compiler/pass/runtime_abi.hpp"

namespace sb::pass {

using namespace llvm;

namespace {

// Whether other threads can tell that this one has done it.
bool can_be_seen(const Instruction& inst) {
  if (!inst.mayHaveSideEffects() || inst.isLifetimeStartOrEnd() || inst.isDebugOrPseudoInst() ||
      is_mask_test(inst)) {
    return false;
  }
  auto* store = dyn_cast<StoreInst>(&inst);
  return !store || store->isVolatile() ||
         !isa<AllocaInst>(getUnderlyingObject(store->getPointerOperand()));
}

class thread_leader : public part_leader {
 public:
  thread_leader(Function& body, std::vector<meeting>& barriers, std::vector<BasicBlock*>& cuts)
      : part_leader(body, team::block, ConstantInt::get(Type::getInt32Ty(body.getContext()), 1),
                    barriers, cuts) {}

 private:
  meeting meet(BasicBlock& from, BasicBlock& block, Value* stays) override {
    IRBuilder<> builder(from.getTerminator());
    builder.SetCurrentDebugLocation({});
    Value* counts = builder.CreateZExt(stays, builder.getInt32Ty());
    builder.SetInsertPoint(block.getTerminator());
    meeting one;
    one.place = create_barrier(builder, abi::barrier_kind::or_, counts);
    one.result = meeting::result::any;
    return one;
  }

  Value* others(IRBuilderBase&, Value*, Value*) override { return nullptr; }

  bool may_meet_on_both_ways() override { return false; }

  bool may_lead(BasicBlock& behind) override {
    SmallSetVector<BasicBlock*, 16> reached;
    reached.insert(&behind);
    for (unsigned i = 0; i < reached.size(); ++i) {
      reached.insert(succ_begin(reached[i]), succ_end(reached[i]));
    }
    return none_of(meetings_,
                   [&](const meeting& one) { return reached.contains(one.place->getParent()); }) &&
           none_of(reached, [](BasicBlock* block) { return any_of(*block, can_be_seen); });
  }
};

}  // namespace

bool lead_leaving_threads(Function& body, std::vector<meeting>& barriers,
                          std::vector<BasicBlock*>& cuts) {
  return thread_leader(body, barriers, cuts).lead();
}

}  // namespace sb::pass
