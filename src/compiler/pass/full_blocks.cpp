#include "compiler/pass/full_blocks.hpp"

#include <llvm/ADT/SetVector.h>
#include <llvm/Analysis/LoopInfo.h>
#include <llvm/IR/Dominators.h>
#include <llvm/IR/InstIterator.h>
#include <llvm/Transforms/Utils/BasicBlockUtils.h>
#include <llvm/Transforms/Utils/Cloning.h>

#include <vector>

#include "compiler/pass/even_loops.hpp"
#include "compiler/pass/meetings.hpp"
#include "compiler/pass/runtime_abi.hpp"
#include "compiler/pass/uniformity.hpp"

namespace sb::pass {

using namespace llvm;

namespace {

constexpr unsigned most_guards = 3;        // one inside the other
constexpr std::size_t largest_copy = 400;  // instructions

// Meetings and calls of the engine behind a guard would be there twice.
bool calls_engine(const Function& body) {
  return any_of(instructions(body), [](const Instruction& inst) {
    auto* call = dyn_cast<CallBase>(&inst);
    return call && called_slot(*call).has_value();
  });
}

struct guard {
  BranchInst* branch = nullptr;
  unsigned inside = 0;  // the way that leads to the loop
};

// The outermost branch on the way to the loop at which the threads part.
guard find_guard(BasicBlock* header, const DominatorTree& dominators, const uniformity& uniform) {
  guard outermost;
  for (auto* node = dominators.getNode(header)->getIDom(); node; node = node->getIDom()) {
    BasicBlock* block = node->getBlock();
    auto* branch = dyn_cast<BranchInst>(block->getTerminator());
    if (uniform.branches_together(block)) {
      continue;
    }
    outermost = {};
    if (!branch || !branch->isConditional() || !uniform.is_reached_together(block)) {
      continue;
    }
    for (unsigned way : {0u, 1u}) {
      BasicBlockEdge edge(block, branch->getSuccessor(way));
      if (dominators.dominates(edge, header)) {
        outermost = {branch, way};
      }
    }
  }
  return outermost;
}

bool is_barrier(const Instruction& inst) {
  auto* call = dyn_cast<CallBase>(&inst);
  return call && called_slot(*call) == slot::barrier;
}

// Everything from the block on to the end of the function; nothing if that is too much, or comes
// back to `before`.
SetVector<BasicBlock*> code_from(BasicBlock* start, const BasicBlock* before) {
  SetVector<BasicBlock*> blocks;
  std::size_t size = 0;
  blocks.insert(start);
  for (unsigned i = 0; i < blocks.size(); ++i) {
    size += blocks[i]->size();
    if (blocks[i] == before || size > largest_copy) {
      return {};
    }
    blocks.insert(succ_begin(blocks[i]), succ_end(blocks[i]));
  }
  return blocks;
}

// A copy of the blocks that is entered from `from` instead of `before`, and by no other way.
BasicBlock* copy(const SetVector<BasicBlock*>& blocks, BasicBlock* before, BasicBlock* from) {
  ValueToValueMapTy map;
  SmallVector<BasicBlock*, 8> copies;
  map[before] = from;
  for (BasicBlock* block : blocks) {
    BasicBlock* one = CloneBasicBlock(block, map, ".full", block->getParent());
    map[block] = one;
    copies.push_back(one);
  }
  remapInstructionsInBlocks(copies, map);
  for (BasicBlock* one : copies) {
    SmallPtrSet<BasicBlock*, 4> comes_from(pred_begin(one), pred_end(one));
    if (one == copies.front()) {
      comes_from.insert(from);
    }
    for (PHINode& phi : make_early_inc_range(one->phis())) {
      phi.removeIncomingValueIf(
          [&](unsigned i) { return !comes_from.contains(phi.getIncomingBlock(i)); }, false);
    }
  }
  return copies.front();
}

// Answers where the copy begins.
BasicBlock* separate(const guard& found, const SetVector<BasicBlock*>& inside) {
  BasicBlock* block = found.branch->getParent();
  BasicBlock* parting = SplitBlock(block, found.branch);
  IRBuilder<> builder(block->getTerminator());
  Value* goes_in = found.inside == 0 ? found.branch->getCondition()
                                     : builder.CreateNot(found.branch->getCondition());
  Value* all = create_barrier(builder, abi::barrier_kind::and_,
                              builder.CreateZExt(goes_in, builder.getInt32Ty()));
  Value* full = builder.CreateIsNotNull(all, "full");
  BasicBlock* start = copy(inside, parting, block);
  builder.CreateCondBr(full, start, parting);
  block->getTerminator()->eraseFromParent();
  return start;
}

// Loops of one block that only some threads come to. Whether they go round equally often can be
// told when all do.
std::vector<BasicBlock*> find_parted_loops(Function& body, const DominatorTree& dominators,
                                           const uniformity& uniform) {
  std::vector<BasicBlock*> headers;
  LoopInfo loops(dominators);
  for (Loop* loop : loops.getLoopsInPreorder()) {
    if (loop->getNumBlocks() == 1 && !uniform.is_reached_together(loop->getHeader())) {
      headers.push_back(loop->getHeader());
    }
  }
  return headers;
}

// The outermost guard around one of them; answers where the copy begins.
BasicBlock* separate_one(Function& body) {
  DominatorTree dominators(body);
  uniformity uniform(body, team::block);
  for (BasicBlock* header : find_parted_loops(body, dominators, uniform)) {
    guard found = find_guard(header, dominators, uniform);
    if (!found.branch) {
      continue;
    }
    auto inside = code_from(found.branch->getSuccessor(found.inside), found.branch->getParent());
    if (!inside.empty()) {
      return separate(found, inside);
    }
  }
  return nullptr;
}

// The outermost guard before a barrier, if it is not one of those that are `done`.
guard find_guard_of_barrier(Function& body, const SmallPtrSetImpl<BranchInst*>& done) {
  DominatorTree dominators(body);
  uniformity uniform(body, team::block);
  for (BasicBlock& block : body) {
    if (uniform.is_reached_together(&block) || none_of(block, is_barrier)) {
      continue;
    }
    guard found = find_guard(&block, dominators, uniform);
    if (found.branch && !done.contains(found.branch)) {
      return found;
    }
  }
  return {};
}

}  // namespace

void separate_full_before_barriers(Function& body) {
  SmallPtrSet<BranchInst*, 4> done;
  for (unsigned i = 0; i < most_guards; ++i) {
    guard found = find_guard_of_barrier(body, done);
    if (!found.branch) {
      return;
    }
    done.insert(found.branch);
    auto inside = code_from(found.branch->getSuccessor(found.inside), found.branch->getParent());
    if (!inside.empty()) {
      separate(found, inside);
    }
  }
}

bool separate_full_blocks(Function& body) {
  if (calls_engine(body) || !find_even_loops(body).empty()) {
    return false;
  }
  for (unsigned i = 0; i < most_guards; ++i) {
    BasicBlock* copy = separate_one(body);
    if (!copy) {
      return false;
    }
    if (!find_even_loops(body).empty()) {
      return true;
    }
    // Threads that all take the same ways from here on are a region of their own.
    if (has_sums_of_neighbours(body)) {
      IRBuilder<> builder(&*copy->getFirstInsertionPt());
      create_barrier(builder, abi::barrier_kind::plain, builder.getInt32(0));
      return true;
    }
  }
  return false;
}

}  // namespace sb::pass
