#include "compiler/pass/ways_in_turn.hpp"

#include <llvm/ADT/MapVector.h>
#include <llvm/ADT/SetVector.h>
#include <llvm/Analysis/InstructionSimplify.h>
#include <llvm/IR/CFG.h>
#include <llvm/IR/IRBuilder.h>
#include <llvm/Transforms/Utils/Local.h>

#include "compiler/pass/guarded_piece.hpp"
#include "compiler/pass/joined_blocks.hpp"
#include "compiler/pass/uniformity.hpp"
#include "compiler/pass/warp_function.hpp"

namespace sb::pass {

using namespace llvm;

namespace {

constexpr std::size_t most_blocks = 8;  // of a way
constexpr std::size_t most_ways = 8;
constexpr std::size_t largest_body = 800;  // instructions

struct way {
  SmallVector<ConstantInt*, 2> cases;  // of a switch; none for a branch
  SmallSetVector<BasicBlock*, 8> blocks;
};

// What lies on the way, if only threads that took it come there.
bool follow(way& one, BasicBlock* start, BasicBlock* from, BasicBlock* behind) {
  one.blocks.insert(start);
  bool stores = false;
  for (unsigned i = 0; i < one.blocks.size(); ++i) {
    if (!all_of(*one.blocks[i], is_plain) || one.blocks.size() > most_blocks) {
      return false;
    }
    stores |= stores_something(*one.blocks[i]);
    for (BasicBlock* next : successors(one.blocks[i])) {
      if (next != behind) {
        one.blocks.insert(next);
      }
    }
  }
  return stores && all_of(one.blocks, [&](BasicBlock* block) {
           return all_of(predecessors(block), [&](BasicBlock* before) {
             return block == start && before == from ? true : one.blocks.contains(before);
           });
         });
}

// The ways from the block, in order, the one straight to the meeting left out.
SmallVector<way, 4> ways_from(BasicBlock& block, BasicBlock* behind) {
  MapVector<BasicBlock*, way> found;
  if (auto* choice = dyn_cast<SwitchInst>(block.getTerminator())) {
    if (choice->getDefaultDest() != behind) {
      return {};
    }
    for (auto& one : choice->cases()) {
      if (one.getCaseSuccessor() != behind) {
        found[one.getCaseSuccessor()].cases.push_back(one.getCaseValue());
      }
    }
  } else {
    auto* branch = dyn_cast<BranchInst>(block.getTerminator());
    auto* compare =
        branch && branch->isConditional() ? dyn_cast<ICmpInst>(branch->getCondition()) : nullptr;
    if (!compare || !compare->isEquality() || is_contained(branch->successors(), behind) ||
        branch->getSuccessor(0) == branch->getSuccessor(1)) {
      return {};
    }
    found[branch->getSuccessor(0)];
    found[branch->getSuccessor(1)];
  }
  SmallVector<way, 4> ways;
  for (auto& [start, one] : found) {
    if (!follow(one, start, &block, behind)) {
      return {};
    }
    ways.push_back(one);
  }
  return ways.size() >= 2 && ways.size() <= most_ways ? ways : SmallVector<way, 4>();
}

void put_in_turn(BasicBlock& block, BasicBlock* behind, ArrayRef<way> ways) {
  Instruction* parts = block.getTerminator();
  IRBuilder<> builder(parts);
  // Whether a thread goes this way.
  auto goes = [&](const way& one, unsigned number) {
    auto* choice = dyn_cast<SwitchInst>(parts);
    if (!choice) {
      Value* condition = cast<BranchInst>(parts)->getCondition();
      return number == 0 ? condition : builder.CreateNot(condition);
    }
    Value* any = nullptr;
    for (ConstantInt* value : one.cases) {
      Value* same = builder.CreateICmpEQ(choice->getCondition(), value);
      any = any ? builder.CreateOr(any, same) : same;
    }
    return any;
  };
  SmallVector<Value*, 4> conditions;
  for (unsigned i = 0; i < ways.size(); ++i) {
    conditions.push_back(goes(ways[i], i));
  }
  for (unsigned i = 0; i < ways.size(); ++i) {
    BasicBlock* next = behind;
    if (i + 1 < ways.size()) {
      next = BasicBlock::Create(block.getContext(), "turn", block.getParent(), behind);
    }
    builder.CreateCondBr(conditions[i], ways[i].blocks.front(), next);
    for (BasicBlock* one : ways[i].blocks) {
      if (next != behind) {
        one->getTerminator()->replaceSuccessorWith(behind, next);
      }
      for (PHINode& phi : one->phis()) {
        // One edge is left of several cases that came here.
        while (count(phi.blocks(), &block) > 1) {
          phi.removeIncomingValue(&block);
        }
        phi.replaceIncomingBlockWith(&block, builder.GetInsertBlock());
      }
    }
    builder.SetInsertPoint(next);
  }
  parts->eraseFromParent();
}

// LLVM joins two ifs to a switch without saying in the first way that the second condition fails.
void know_cases(Function& body) {
  SmallVector<BasicBlock*, 4> decided;
  for (BasicBlock& block : body) {
    auto* choice = dyn_cast<SwitchInst>(block.getTerminator());
    if (!choice) {
      continue;
    }
    for (auto& one : choice->cases()) {
      BasicBlock* way = one.getCaseSuccessor();
      if (way->hasNPredecessorsOrMore(2)) {
        continue;
      }
      SmallVector<ICmpInst*, 4> asks;
      for (Instruction& inst : *way) {
        auto* compare = dyn_cast<ICmpInst>(&inst);
        if (compare && compare->getOperand(0) == choice->getCondition() &&
            isa<ConstantInt>(compare->getOperand(1))) {
          asks.push_back(compare);
        }
      }
      for (ICmpInst* compare : asks) {
        bool holds = ICmpInst::compare(one.getCaseValue()->getValue(),
                                       cast<ConstantInt>(compare->getOperand(1))->getValue(),
                                       compare->getPredicate());
        replaceAndRecursivelySimplify(compare, ConstantInt::getBool(compare->getType(), holds));
        decided.push_back(way);
      }
    }
  }
  for (BasicBlock* way : decided) {
    ConstantFoldTerminator(way, true);
  }
}

bool put_one_in_turn(Function& body) {
  uniformity uniform(body, team::block);
  for (BasicBlock& block : body) {
    if (block.getTerminator()->getNumSuccessors() < 2 || uniform.branches_together(&block)) {
      continue;
    }
    auto* behind = const_cast<BasicBlock*>(uniform.meeting_of(&block));
    if (!behind || !behind->phis().empty()) {
      continue;
    }
    if (auto ways = ways_from(block, behind); !ways.empty()) {
      put_in_turn(block, behind, ways);
      return true;
    }
  }
  return false;
}

}  // namespace

void put_ways_in_turn(Function& body) {
  if (has_warp_meetings(body) || is_joined(body) || body.getInstructionCount() > largest_body) {
    return;
  }
  know_cases(body);
  for (unsigned i = 0; i < most_ways && put_one_in_turn(body); ++i) {
  }
}

}  // namespace sb::pass
