#include "compiler/pass/switches.hpp"

#include <llvm/ADT/MapVector.h>
#include <llvm/ADT/PostOrderIterator.h>
#include <llvm/ADT/SCCIterator.h>
#include <llvm/ADT/STLExtras.h>
#include <llvm/ADT/SetVector.h>
#include <llvm/Analysis/CFG.h>
#include <llvm/Analysis/LoopInfo.h>
#include <llvm/IR/CFG.h>
#include <llvm/IR/Dominators.h>
#include <llvm/IR/IRBuilder.h>
#include <llvm/IR/Instructions.h>
#include <llvm/Transforms/Utils/Cloning.h>
#include <llvm/Transforms/Utils/Local.h>

namespace sb::pass {

using namespace llvm;

namespace {

using case_values = SmallVector<APInt, 4>;

// Whether the value is one of these; runs of them are compared as one.
Value* is_one_of(IRBuilderBase& builder, Value* value, case_values& cases) {
  sort(cases, [](const APInt& one, const APInt& other) { return one.ult(other); });
  Value* found = nullptr;
  for (unsigned first = 0, last = 0; first < cases.size(); first = last + 1) {
    last = first;
    while (last + 1 < cases.size() && cases[last + 1] == cases[last] + 1) {
      ++last;
    }
    Value* here = nullptr;
    if (first == last) {
      here = builder.CreateICmpEQ(value, builder.getInt(cases[first]));
    } else {
      Value* place = builder.CreateSub(value, builder.getInt(cases[first]));
      here = builder.CreateICmpULE(place, builder.getInt(cases[last] - cases[first]));
    }
    found = found ? builder.CreateOr(found, here) : here;
  }
  return found;
}

// The block is entered from `from` where it was from `before`, by one way where there were several.
void enter_from(BasicBlock& block, BasicBlock* before, BasicBlock* from) {
  for (PHINode& phi : block.phis()) {
    Value* value = phi.getIncomingValueForBlock(before);
    while (phi.getBasicBlockIndex(before) >= 0) {
      phi.removeIncomingValue(before, false);
    }
    phi.addIncoming(value, from);
  }
}

void lower(SwitchInst& choice) {
  BasicBlock* block = choice.getParent();
  BasicBlock* rest = choice.getDefaultDest();
  MapVector<BasicBlock*, case_values> ways;
  for (auto& one : choice.cases()) {
    if (one.getCaseSuccessor() != rest) {
      ways[one.getCaseSuccessor()].push_back(one.getCaseValue()->getValue());
    }
  }
  // Nobody goes where it is unreachable: who is left goes the last way.
  bool is_exhaustive = isa<UnreachableInst>(&*rest->getFirstNonPHIOrDbg()) && !ways.empty();
  Value* value = choice.getCondition();
  IRBuilder<> builder(&choice);
  BasicBlock* from = block;
  unsigned left = static_cast<unsigned>(ways.size());
  for (auto& [next, cases] : ways) {
    if (--left == 0 && is_exhaustive) {
      for (unsigned edge = count(successors(block), rest); edge > 0; --edge) {
        rest->removePredecessor(block);
      }
      rest = next;
      break;
    }
    enter_from(*next, block, from);
    auto* other =
        BasicBlock::Create(block->getContext(), "case", block->getParent(), block->getNextNode());
    builder.CreateCondBr(is_one_of(builder, value, cases), next, other);
    from = other;
    builder.SetInsertPoint(other);
  }
  enter_from(*rest, block, from);
  builder.CreateBr(rest);
  choice.eraseFromParent();
}

using way = SmallSetVector<BasicBlock*, 32>;

way blocks_until(BasicBlock* first, const BasicBlock* end) {
  way blocks;
  blocks.insert(first);
  for (unsigned i = 0; i < blocks.size(); ++i) {
    for (BasicBlock* next : successors(blocks[i])) {
      if (next != end) {
        blocks.insert(next);
      }
    }
  }
  return blocks;
}

using block_set = SmallPtrSet<BasicBlock*, 32>;

// The blocks of loops before `end` that ways enter at different places.
block_set loops_with_several_entries(BasicBlock& end) {
  Instruction* onward = end.getTerminator();
  onward->removeFromParent();
  block_set found;
  for (auto loop = scc_begin(end.getParent()); !loop.isAtEnd(); ++loop) {
    const block_set blocks(loop->begin(), loop->end());
    auto is_entry = [&](BasicBlock* block) {
      return any_of(predecessors(block),
                    [&](BasicBlock* before) { return !blocks.contains(before); });
    };
    if (loop.hasCycle() && count_if(blocks, is_entry) > 1) {
      found.insert(blocks.begin(), blocks.end());
    }
  }
  onward->insertInto(&end, end.end());
  return found;
}

// Gives back the copy of the first.
BasicBlock* copy_way(const way& blocks, BasicBlock& end) {
  ValueToValueMapTy map;
  SmallVector<BasicBlock*, 32> copies;
  for (BasicBlock* block : blocks) {
    copies.push_back(CloneBasicBlock(block, map, "", block->getParent()));
    map[block] = copies.back();
    for (PHINode& phi : copies.back()->phis()) {
      for (BasicBlock* before : SmallVector<BasicBlock*, 8>(phi.blocks())) {
        if (!blocks.contains(before)) {
          phi.removeIncomingValue(before, false);
        }
      }
    }
  }
  remapInstructionsInBlocks(copies, map);
  for (unsigned i = 0; i < blocks.size(); ++i) {
    for (PHINode& phi : end.phis()) {
      for (unsigned edge = count(successors(blocks[i]), &end); edge > 0; --edge) {
        Value* value = phi.getIncomingValueForBlock(blocks[i]);
        auto found = map.find(value);
        phi.addIncoming(found != map.end() ? static_cast<Value*>(found->second) : value, copies[i]);
      }
    }
  }
  return copies.front();
}

}  // namespace

void lower_switches(Function& function) {
  SmallVector<SwitchInst*, 4> found;
  for (BasicBlock& block : function) {
    if (auto* choice = dyn_cast<SwitchInst>(block.getTerminator())) {
      found.push_back(choice);
    }
  }
  for (SwitchInst* choice : found) {
    lower(*choice);
  }
}

void part_ways_of(SwitchInst& choice, BasicBlock& end, in_common allowed) {
  const block_set inside =
      allowed == in_common::plain_ways ? loops_with_several_entries(end) : block_set();
  block_set taken;
  for (unsigned i = 0; i < choice.getNumSuccessors(); ++i) {
    if (choice.getSuccessor(i) == &end) {
      continue;
    }
    way blocks = blocks_until(choice.getSuccessor(i), &end);
    auto is_parted = [&](BasicBlock* block) {
      return taken.contains(block) && (allowed == in_common::nothing || inside.contains(block));
    };
    if (none_of(blocks, is_parted)) {
      taken.insert(blocks.begin(), blocks.end());
    } else {
      choice.setSuccessor(i, copy_way(blocks, end));
    }
  }
  removeUnreachableBlocks(*choice.getFunction());
}

bool is_tangled(Function& function) {
  DominatorTree dominators(function);
  LoopInfo loops(dominators);
  ReversePostOrderTraversal<Function*> order(&function);
  return containsIrreducibleCFG<BasicBlock*>(order, loops);
}

}  // namespace sb::pass
