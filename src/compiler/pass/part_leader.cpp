#include "compiler/pass/part_leader.hpp"

#include <llvm/Analysis/DominanceFrontier.h>
#include <llvm/Analysis/PostDominators.h>
#include <llvm/Analysis/RegionInfo.h>
#include <llvm/IR/CFG.h>
#include <llvm/IR/Dominators.h>
#include <llvm/IR/Module.h>
#include <llvm/IR/PassInstrumentation.h>
#include <llvm/Transforms/Scalar/StructurizeCFG.h>
#include <llvm/Transforms/Utils/BasicBlockUtils.h>
#include <llvm/Transforms/Utils/LoopSimplify.h>
#include <llvm/Transforms/Utils/LoopUtils.h>
#include <llvm/Transforms/Utils/UnifyLoopExits.h>

#include "compiler/pass/runtime_abi.hpp"
#include "compiler/pass/switches.hpp"

namespace sb::pass {

using namespace llvm;

namespace {

constexpr StringLiteral mask_test_name = "sb.lane.mask";
constexpr unsigned most_parts = 64;

using block_set = SmallSetVector<BasicBlock*, 16>;

BasicBlock::iterator behind_mask_tests(BasicBlock& block) {
  auto at = block.getFirstInsertionPt();
  for (auto it = at; it != block.end(); ++it) {
    if (is_mask_test(*it)) {
      at = std::next(it);
    } else if (!is_warp_meeting(*it)) {
      break;
    }
  }
  return at;
}

void test_mask(BasicBlock& block, AllocaInst& mask) {
  IRBuilder<> builder(&block, behind_mask_tests(block));
  auto callee = block.getModule()->getOrInsertFunction(mask_test_name, builder.getVoidTy(),
                                                       builder.getPtrTy());
  builder.CreateCall(callee, {&mask});
}

// All ways end at one return.
void unify_returns(Function& function) {
  SmallVector<ReturnInst*, 4> returns;
  for (BasicBlock& block : function) {
    if (auto* end = dyn_cast<ReturnInst>(block.getTerminator())) {
      returns.push_back(end);
    }
  }
  if (returns.size() < 2) {
    return;
  }
  auto* last = BasicBlock::Create(function.getContext(), "return", &function);
  ReturnInst::Create(function.getContext(), last);
  for (ReturnInst* end : returns) {
    BranchInst::Create(last, end->getIterator())->setDebugLoc(end->getDebugLoc());
    end->eraseFromParent();
  }
}

// The blocks from `first` on to the meeting, which is not one of them.
block_set blocks_until(BasicBlock* first, const BasicBlock* meeting) {
  block_set found;
  if (first != meeting) {
    found.insert(first);
  }
  for (unsigned i = 0; i < found.size(); ++i) {
    for (BasicBlock* next : successors(found[i])) {
      if (next != meeting) {
        found.insert(next);
      }
    }
  }
  return found;
}

template <class Pass>
void run_alone(Pass pass, Function& function) {
  FunctionAnalysisManager analyses;
  analyses.registerPass([] { return PassInstrumentationAnalysis(); });
  analyses.registerPass([] { return DominatorTreeAnalysis(); });
  analyses.registerPass([] { return PostDominatorTreeAnalysis(); });
  analyses.registerPass([] { return DominanceFrontierAnalysis(); });
  analyses.registerPass([] { return RegionInfoAnalysis(); });
  analyses.registerPass([] { return LoopAnalysis(); });
  pass.run(function, analyses);
}

bool is_entered_at_first_only(const block_set& blocks, const BasicBlock* from) {
  for (BasicBlock* block : blocks) {
    for (BasicBlock* before : predecessors(block)) {
      if (!blocks.contains(before) && !(before == from && block == blocks[0])) {
        return false;
      }
    }
  }
  return true;
}

// The two ways from a block, each entered from there only.
bool are_apart(BasicBlock& block, const block_set& one, const block_set& other) {
  return none_of(other, [&](BasicBlock* each) { return one.contains(each); }) &&
         !one.contains(&block) && !other.contains(&block) &&
         is_entered_at_first_only(one, &block) && is_entered_at_first_only(other, &block);
}

}  // namespace

bool part_leader::lead() {
  bool parted = true;
  for (unsigned part = 0; parted && part < most_parts; ++part) {
    uniformity uniform(function_, team_);
    parted = any_of(meetings_, [&](const meeting& one) {
      return !uniform.is_reached_together(one.place->getParent());
    });
    if (parted && !lead_one(uniform)) {
      return false;
    }
  }
  return !parted;
}

// The largest part that has a meeting in it. What is in it comes later.
bool part_leader::lead_one(const uniformity& uniform) {
  if (!is_prepared_) {
    is_prepared_ = true;
    return prepare();
  }
  DominatorTree dominators(function_);
  LoopInfo loops(dominators);
  BranchInst* largest = nullptr;
  unsigned size = 0;
  for (BasicBlock& block : function_) {
    if (uniform.branches_together(&block)) {
      continue;
    }
    block_set part = part_of(block, uniform);
    if (!has_meeting(part) || part.size() <= size) {
      continue;
    }
    largest = dyn_cast<BranchInst>(block.getTerminator());
    size = part.size();
    if (!largest) {
      return false;
    }
  }
  if (!largest) {
    return false;
  }
  Loop* loop = loops.getLoopFor(largest->getParent());
  return loop && loop->isLoopExiting(largest->getParent()) ? lead_through_loop(*loop)
                                                           : lead_through_branch(*largest, uniform);
}

// Whether threads part at a branch whose ways run into each other before they all meet, as with
// `return` inside of one, or cases that fall through.
bool part_leader::is_tangled() {
  uniformity uniform(function_, team_);
  DominatorTree dominators(function_);
  LoopInfo loops(dominators);
  return any_of(function_, [&](BasicBlock& block) {
    Loop* loop = loops.getLoopFor(&block);
    if (uniform.branches_together(&block) || (loop && loop->isLoopExiting(&block)) ||
        !has_meeting(part_of(block, uniform))) {
      return false;
    }
    const BasicBlock* meeting = uniform.meeting_of(&block);
    return !meeting ||
           !are_apart(block, blocks_until(block.getTerminator()->getSuccessor(0), meeting),
                      blocks_until(block.getTerminator()->getSuccessor(1), meeting));
  });
}

// One return, branches whose ways are apart, and one way out of each loop: at its end.
bool part_leader::prepare() {
  unify_returns(function_);
  lower_switches(function_);
  run_alone(UnifyLoopExitsPass(), function_);
  if (is_tangled()) {
    run_alone(StructurizeCFGPass(), function_);
  }
  while (leave_a_loop_at_its_end()) {
  }
  return true;
}

bool part_leader::leave_a_loop_at_its_end() {
  DominatorTree dominators(function_);
  LoopInfo loops(dominators);
  for (Loop* loop : loops) {
    simplifyLoop(loop, &dominators, &loops, nullptr, nullptr, nullptr, false);
    formLCSSARecursively(*loop, dominators, &loops, nullptr);
  }
  for (Loop* loop : loops.getLoopsInPreorder()) {
    bool meets = any_of(meetings_,
                        [&](const meeting& one) { return loop->contains(one.place->getParent()); });
    if (meets && loop->getLoopLatch() && loop->getUniqueExitBlock() && loop->hasDedicatedExits() &&
        loop->getExitingBlock() != loop->getLoopLatch()) {
      leave_at_end(*loop);
      return true;
    }
  }
  return false;
}

// `break` becomes a flag that the end of the loop looks at.
void part_leader::leave_at_end(Loop& loop) {
  BasicBlock* header = loop.getHeader();
  BasicBlock* latch = loop.getLoopLatch();
  BasicBlock* exit = loop.getUniqueExitBlock();
  SmallVector<BasicBlock*, 4> exiting;
  loop.getExitingBlocks(exiting);
  IRBuilder<> builder(latch->getTerminator());
  auto* branch = cast<BranchInst>(latch->getTerminator());
  Value* leaves = builder.getFalse();
  if (branch->isConditional()) {
    leaves = branch->getSuccessor(0) == exit ? branch->getCondition()
                                             : builder.CreateNot(branch->getCondition());
  }
  auto* end = BasicBlock::Create(function_.getContext(), "end", &function_, exit);
  builder.SetInsertPoint(end);
  unsigned ways = static_cast<unsigned>(exiting.size()) + 1;
  PHINode* leave = builder.CreatePHI(builder.getInt1Ty(), ways, "leave");
  leave->addIncoming(leaves, latch);
  auto each_break = [&](auto&& then) {
    for (BasicBlock* one : exiting) {
      if (one != latch) {
        then(one);
      }
    }
  };
  each_break([&](BasicBlock* one) { leave->addIncoming(builder.getTrue(), one); });
  for (PHINode& phi : header->phis()) {
    PHINode* next = builder.CreatePHI(phi.getType(), ways);
    int at = phi.getBasicBlockIndex(latch);
    next->addIncoming(phi.getIncomingValue(at), latch);
    each_break([&](BasicBlock* one) { next->addIncoming(PoisonValue::get(phi.getType()), one); });
    phi.setIncomingValue(at, next);
    phi.setIncomingBlock(at, end);
  }
  for (PHINode& phi : exit->phis()) {
    PHINode* last = builder.CreatePHI(phi.getType(), ways);
    int at = phi.getBasicBlockIndex(latch);
    last->addIncoming(at < 0 ? PoisonValue::get(phi.getType()) : phi.getIncomingValue(at), latch);
    each_break([&](BasicBlock* one) { last->addIncoming(phi.getIncomingValueForBlock(one), one); });
    while (phi.getNumIncomingValues() > 1) {
      phi.removeIncomingValue(0u, false);
    }
    phi.setIncomingValue(0, last);
    phi.setIncomingBlock(0, end);
  }
  builder.CreateCondBr(leave, exit, header);
  BranchInst::Create(end, branch->getIterator());
  branch->eraseFromParent();
  each_break([&](BasicBlock* one) { one->getTerminator()->replaceSuccessorWith(exit, end); });
}

part_leader::block_set part_leader::part_of(BasicBlock& block, const uniformity& uniform) {
  const BasicBlock* meeting = uniform.meeting_of(&block);
  block_set part;
  for (BasicBlock* next : successors(&block)) {
    block_set way = blocks_until(next, meeting);
    part.insert(way.begin(), way.end());
  }
  return part;
}

bool part_leader::has_meeting(const block_set& part) {
  return any_of(meetings_,
                [&](const meeting& one) { return part.contains(one.place->getParent()); });
}

AllocaInst* part_leader::memory(Type* type, const Twine& name) {
  BasicBlock& entry = function_.getEntryBlock();
  return IRBuilder<>(&entry, entry.begin()).CreateAlloca(type, nullptr, name);
}

Value* part_leader::active_in(BasicBlock* block) {
  auto found = active_.find(block);
  return found != active_.end() ? static_cast<Value*>(found->second) : all_;
}

// A block that was made at the same depth as the other.
void part_leader::put_beside(BasicBlock* fresh, BasicBlock* block) {
  if (auto found = active_.find(block); found != active_.end()) {
    WeakTrackingVH active = found->second;
    active_[fresh] = active;
  }
  for (AllocaInst* mask : masks_of(*block)) {
    test_mask(*fresh, *mask);
  }
}

// The threads for which `stays` holds, told to all of them at a meeting in front of the block's
// end. That end goes to a block of its own, which is given back.
std::pair<BasicBlock*, Value*> part_leader::count(BasicBlock& block, Value* stays) {
  BasicBlock* end = SplitBlock(&block, block.getTerminator());
  meetings_.push_back(meet(block, *end, stays));
  CallInst* active = meetings_.back().place;
  active->setConvergent();
  put_beside(end, &block);
  return {end, active};
}

// The same for those of `outside` that are not `active`, who have `stay` in common.
std::pair<BasicBlock*, Value*> part_leader::count_others(BasicBlock& block, Value* outside,
                                                         Value* active, Value* stay) {
  IRBuilder<> builder(block.getTerminator());
  Value* known = others(builder, outside, active);
  return known ? std::pair(&block, known) : count(block, stay);
}

void part_leader::mask_blocks(const block_set& blocks, AllocaInst& mask, Value* active) {
  for (BasicBlock* block : blocks) {
    test_mask(*block, mask);
    active_[block] = active;
  }
}

AllocaInst* part_leader::store_mask(Instruction* before, Value* flag) {
  AllocaInst* mask = memory(Type::getInt8Ty(function_.getContext()), "mask");
  set_mask(before, mask, flag);
  return mask;
}
void part_leader::set_mask(Instruction* before, AllocaInst* mask, Value* flag) {
  IRBuilder<> builder(before);
  builder.CreateStore(builder.CreateZExt(flag, builder.getInt8Ty()), mask);
}

// if (c) one; else other;   becomes   all go through one, then all through the other.
bool part_leader::lead_through_branch(BranchInst& branch, const uniformity& uniform) {
  BasicBlock* block = branch.getParent();
  auto* meeting = const_cast<BasicBlock*>(uniform.meeting_of(block));
  if (!meeting || !may_lead(*meeting)) {
    return false;
  }
  if (branch.getSuccessor(0) == meeting) {
    branch.swapSuccessors();
    IRBuilder<> builder(&branch);
    branch.setCondition(builder.CreateNot(branch.getCondition()));
  }
  block_set one = blocks_until(branch.getSuccessor(0), meeting);
  block_set other = blocks_until(branch.getSuccessor(1), meeting);
  // Who meets nobody does not wait: what he leaves behind is there for those that do.
  if (has_meeting(one) && !has_meeting(other) && !other.empty()) {
    branch.swapSuccessors();
    IRBuilder<> builder(&branch);
    branch.setCondition(builder.CreateNot(branch.getCondition()));
    std::swap(one, other);
  }
  if (!are_apart(*block, one, other) ||
      (has_meeting(one) && has_meeting(other) && !may_meet_on_both_ways())) {
    return false;
  }
  BasicBlock* join = join_of(block, one, other, meeting);
  Value* condition = branch.getCondition();
  AllocaInst* mask = store_mask(&branch, condition);
  AllocaInst* other_mask = nullptr;
  Value* opposite = nullptr;
  if (!other.empty()) {
    IRBuilder<> builder(&branch);
    opposite = builder.CreateNot(condition);
    other_mask = store_mask(&branch, opposite);
  }
  Value* outside = active_in(block);
  auto [end, active] = count(*block, condition);
  Value* rest = nullptr;
  if (!other.empty()) {
    std::tie(end, rest) = count_others(*end, outside, active, opposite);
  }
  IRBuilder<> builder(end->getTerminator());
  cast<BranchInst>(end->getTerminator())->setCondition(builder.CreateIsNotNull(active));
  if (!other.empty()) {
    auto* between = BasicBlock::Create(function_.getContext(), "other", &function_, join);
    for (BasicBlock* each : one) {
      each->getTerminator()->replaceSuccessorWith(join, between);
    }
    other[0]->replacePhiUsesWith(end, between);
    cast<BranchInst>(end->getTerminator())->setSuccessor(1, between);
    builder.SetInsertPoint(between);
    builder.CreateCondBr(builder.CreateIsNotNull(rest), other[0], join);
    put_beside(between, end);
    mask_blocks(other, *other_mask, rest);
    append_range(cuts_, ArrayRef<BasicBlock*>{between, other[0]});
  }
  mask_blocks(one, *mask, active);
  append_range(cuts_, ArrayRef<BasicBlock*>{one[0], join});
  return true;
}

// Where the ways of a branch come together, and no others. What they bring is each lane's own:
// private memory has it.
BasicBlock* part_leader::join_of(BasicBlock* block, const block_set& one, const block_set& other,
                                 BasicBlock* meeting) {
  SmallVector<BasicBlock*, 8> ways;
  for (BasicBlock* before : predecessors(meeting)) {
    if ((before == block || one.contains(before) || other.contains(before)) &&
        !is_contained(ways, before)) {
      ways.push_back(before);
    }
  }
  BasicBlock* join = meeting;
  if (!all_of(predecessors(meeting), [&](auto* before) { return is_contained(ways, before); })) {
    join = SplitBlockPredecessors(meeting, ways, ".join");
    put_beside(join, block);
  }
  keep_phis(*join);
  return join;
}

void part_leader::keep_phis(BasicBlock& block) {
  while (auto* phi = dyn_cast<PHINode>(&block.front())) {
    AllocaInst* kept = memory(phi->getType(), phi->getName() + ".kept");
    SmallPtrSet<BasicBlock*, 8> done;
    for (unsigned i = 0; i < phi->getNumIncomingValues(); ++i) {
      if (done.insert(phi->getIncomingBlock(i)).second) {
        IRBuilder<>(phi->getIncomingBlock(i)->getTerminator())
            .CreateStore(phi->getIncomingValue(i), kept);
      }
    }
    IRBuilder<> builder(&*block.getFirstInsertionPt());
    Value* value = builder.CreateLoad(phi->getType(), kept);
    phi->replaceAllUsesWith(value);
    phi->eraseFromParent();
  }
}

// A loop goes on while any lane does.
bool part_leader::lead_through_loop(Loop& loop) {
  BasicBlock* before = loop.getLoopPreheader();
  BasicBlock* exit = loop.getUniqueExitBlock();
  BasicBlock* latch = loop.getLoopLatch();
  if (!before || !exit || !latch || loop.getExitingBlock() != latch || !loop.hasDedicatedExits() ||
      !may_lead(*exit)) {
    return false;
  }
  block_set blocks(loop.block_begin(), loop.block_end());
  BasicBlock* header = loop.getHeader();
  auto* there = PHINode::Create(all_->getType(), 2, "there", header->begin());
  there->addIncoming(active_in(before), before);
  AllocaInst* mask =
      store_mask(before->getTerminator(), ConstantInt::getTrue(function_.getContext()));
  mask_blocks(blocks, *mask, there);
  // A lane keeps what it leaves with: the last time that it comes by is when it leaves.
  keep_phis(*exit);
  auto* branch = cast<BranchInst>(latch->getTerminator());
  bool stays_first = branch->getSuccessor(1) == exit;
  IRBuilder<> builder(branch);
  Value* stays = stays_first ? branch->getCondition() : builder.CreateNot(branch->getCondition());
  set_mask(branch, mask, stays);
  auto [end, active] = count(*latch, stays);
  auto* choice = cast<BranchInst>(end->getTerminator());
  builder.SetInsertPoint(choice);
  choice->setCondition(stays_first ? builder.CreateIsNotNull(active)
                                   : builder.CreateIsNull(active));
  there->addIncoming(active, end);
  append_range(cuts_, ArrayRef<BasicBlock*>{header, exit});
  return true;
}

bool is_mask_test(const Instruction& inst) {
  auto* call = dyn_cast<CallInst>(&inst);
  return call && call->getCalledFunction() &&
         call->getCalledFunction()->getName() == mask_test_name;
}

std::vector<AllocaInst*> masks_of(const BasicBlock& block) {
  std::vector<AllocaInst*> masks;
  for (const Instruction& inst : block) {
    if (is_mask_test(inst)) {
      masks.push_back(cast<AllocaInst>(cast<CallInst>(inst).getArgOperand(0)));
    }
  }
  return masks;
}

}  // namespace sb::pass
