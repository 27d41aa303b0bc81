#include "compiler/pass/region_preparation.hpp"

#include <llvm/Analysis/LoopInfo.h>
#include <llvm/IR/CFG.h>
#include <llvm/IR/Dominators.h>
#include <llvm/IR/IRBuilder.h>
#include <llvm/Transforms/Utils/BasicBlockUtils.h>
#include <llvm/Transforms/Utils/Cloning.h>

namespace sb::pass {

using namespace llvm;

namespace {

// A block that ends in a trap, once for each way to it: two regions must not meet there.
void separate_dead_ends(Function& body) {
  SmallVector<BasicBlock*, 4> ends;
  for (BasicBlock& block : body) {
    if (isa<UnreachableInst>(block.getTerminator())) {
      ends.push_back(&block);
    }
  }
  for (BasicBlock* end : ends) {
    SmallVector<BasicBlock*, 8> ways(predecessors(end));
    SmallPtrSet<BasicBlock*, 8> done;
    for (unsigned i = 1; i < ways.size(); ++i) {
      if (ways[i] == ways[0] || !done.insert(ways[i]).second) {
        continue;
      }
      ValueToValueMapTy map;
      BasicBlock* copy = CloneBasicBlock(end, map, "", &body);
      for (PHINode& phi : end->phis()) {
        cast<PHINode>(map[&phi])->eraseFromParent();
        map[&phi] = phi.getIncomingValueForBlock(ways[i]);
      }
      for (Instruction& inst : *copy) {
        RemapInstruction(&inst, map, RF_NoModuleLevelChanges | RF_IgnoreMissingLocals);
        RemapDbgRecordRange(body.getParent(), inst.getDbgRecordRange(), map,
                            RF_NoModuleLevelChanges | RF_IgnoreMissingLocals);
      }
      ways[i]->getTerminator()->replaceSuccessorWith(end, copy);
      for (PHINode& phi : make_early_inc_range(end->phis())) {
        while (phi.getBasicBlockIndex(ways[i]) >= 0) {
          phi.removeIncomingValue(ways[i], false);
        }
      }
    }
  }
}

// The step by which a loop variable grows, if that is the same for all threads while the variable
// is not.
Value* common_step(const PHINode& phi, BasicBlock* latch, const uniformity& uniform) {
  auto* next = dyn_cast<Instruction>(phi.getIncomingValueForBlock(latch));
  if (!next || uniform.is_uniform(&phi) || next->getNumOperands() != 2) {
    return nullptr;
  }
  Value* step = nullptr;
  if (next->getOpcode() == Instruction::Add) {
    step = next->getOperand(0) == &phi   ? next->getOperand(1)
           : next->getOperand(1) == &phi ? next->getOperand(0)
                                         : nullptr;
  } else if (isa<GetElementPtrInst>(next) && next->getOperand(0) == &phi &&
             next->getOperand(1)->getType()->isIntegerTy(64)) {
    step = next->getOperand(1);
  }
  return step && uniform.is_uniform(step) ? step : nullptr;
}

// i = i0, i0 + step, ... becomes i0 + sum. Then only the sum changes from round to round, once for
// all threads.
void separate_sum(PHINode& phi, Value* step, BasicBlock* before, BasicBlock* latch) {
  BasicBlock* header = phi.getParent();
  auto* gep = dyn_cast<GetElementPtrInst>(phi.getIncomingValueForBlock(latch));
  Type* type = gep ? step->getType() : phi.getType();
  IRBuilder<> builder(&phi);
  auto* sum = builder.CreatePHI(type, 2, phi.getName() + ".sum");
  builder.SetInsertPoint(header, header->getFirstInsertionPt());
  Value* start = phi.getIncomingValueForBlock(before);
  Value* now = gep ? builder.CreateGEP(gep->getSourceElementType(), start, sum)
                   : builder.CreateAdd(start, sum);
  builder.SetInsertPoint(cast<Instruction>(phi.getIncomingValueForBlock(latch)));
  sum->addIncoming(ConstantInt::get(type, 0), before);
  sum->addIncoming(builder.CreateAdd(sum, step), latch);
  now->takeName(&phi);
  phi.replaceAllUsesWith(now);
  phi.eraseFromParent();
}

void separate_sums(Function& body, team team, ArrayRef<BasicBlock*> cuts) {
  DominatorTree dominators(body);
  LoopInfo loops(dominators);
  if (loops.empty()) {
    return;
  }
  uniformity uniform(body, team);
  for (Loop* loop : loops.getLoopsInPreorder()) {
    BasicBlock* before = loop->getLoopPredecessor();
    BasicBlock* latch = loop->getLoopLatch();
    bool has_cut = any_of(cuts, [&](BasicBlock* cut) { return loop->contains(cut); });
    if (!before || !latch || !has_cut) {
      continue;
    }
    SmallVector<std::pair<PHINode*, Value*>, 4> found;
    for (PHINode& phi : loop->getHeader()->phis()) {
      if (Value* step = common_step(phi, latch, uniform)) {
        found.emplace_back(&phi, step);
      }
    }
    for (auto [phi, step] : found) {
      separate_sum(*phi, step, before, latch);
    }
  }
}

}  // namespace

bool has_common_step(const PHINode& phi, const uniformity& uniform) {
  return any_of(phi.blocks(),
                [&](BasicBlock* latch) { return common_step(phi, latch, uniform) != nullptr; });
}

void prepare_regions(Function& body, team team, ArrayRef<BasicBlock*> cuts) {
  separate_dead_ends(body);
  separate_sums(body, team, cuts);
}

}  // namespace sb::pass
