#include "compiler/pass/regions.hpp"

#include <llvm/ADT/SetVector.h>
#include <llvm/IR/CFG.h>
#include <llvm/Transforms/Utils/BasicBlockUtils.h>

#include "compiler/pass/convergence.hpp"

namespace sb::pass {

using namespace llvm;

namespace {

using leaders = SetVector<BasicBlock*>;

// Gives every block to the leader that it is reached from. A block that two of them reach becomes a
// leader, and everything begins anew.
bool divide(leaders& all, std::vector<region>& regions,
            DenseMap<const BasicBlock*, unsigned>& owner) {
  regions.clear();
  owner.clear();
  for (BasicBlock* leader : all) {
    owner[leader] = static_cast<unsigned>(regions.size());
    regions.push_back({leader, {leader}, {}, nullptr});
  }
  for (unsigned r = 0; r < regions.size(); ++r) {
    region& one = regions[r];
    for (unsigned i = 0; i < one.blocks.size(); ++i) {
      for (BasicBlock* next : successors(one.blocks[i])) {
        if (all.contains(next)) {
          if (!is_contained(one.next, next)) {
            one.next.push_back(next);
          }
          continue;
        }
        auto [found, fresh] = owner.try_emplace(next, r);
        if (fresh) {
          one.blocks.push_back(next);
        } else if (found->second != r) {
          all.insert(next);
          return false;
        }
      }
    }
  }
  return true;
}

// The blocks of a region from which its threads may leave for different leaders, and whose ways do
// not meet again inside.
SmallVector<BasicBlock*, 4> deciding_blocks(const region& one) {
  bool ends =
      any_of(one.blocks, [](BasicBlock* block) { return isa<ReturnInst>(block->getTerminator()); });
  if (one.next.size() + ends < 2) {
    return {};
  }
  DenseMap<const BasicBlock*, int> number;
  for (BasicBlock* block : one.blocks) {
    number[block] = static_cast<int>(number.size());
  }
  // Behind the blocks one node for each way out, also for the leader itself when it follows again.
  int size = static_cast<int>(one.blocks.size());
  int end = size + static_cast<int>(one.next.size());
  int root = end + 1;
  successor_lists graph(root + 1);
  for (int node = size; node <= end; ++node) {
    graph[node].push_back(root);
  }
  for (BasicBlock* block : one.blocks) {
    auto& list = graph[number[block]];
    for (BasicBlock* next : successors(block)) {
      auto way = find(one.next, next);
      list.push_back(way != one.next.end() ? size + static_cast<int>(way - one.next.begin())
                                           : number[next]);
    }
    if (isa<ReturnInst>(block->getTerminator())) {
      list.push_back(end);
    }
  }
  std::vector<int> meeting = immediate_post_dominators(graph, root);
  SmallVector<BasicBlock*, 4> found;
  for (BasicBlock* block : one.blocks) {
    if (meeting[number[block]] == root) {
      found.push_back(block);
    }
  }
  return found;
}

}  // namespace

std::optional<region_plan> region_plan::make(Function& function, const uniformity& uniform,
                                             ArrayRef<BasicBlock*> cuts) {
  region_plan plan;
  leaders all;
  all.insert(&function.getEntryBlock());
  all.insert(cuts.begin(), cuts.end());
  for (BasicBlock* cut : cuts) {
    if (!uniform.is_reached_together(cut)) {
      return std::nullopt;
    }
  }
  for (bool stable = false; !stable;) {
    while (!divide(all, plan.regions_, plan.owner_)) {
    }
    stable = true;
    for (region& one : plan.regions_) {
      for (BasicBlock* block : deciding_blocks(one)) {
        if (!uniform.branches_together(block) || !uniform.is_reached_together(block)) {
          return std::nullopt;
        }
        one.decides = block;
        for (BasicBlock* next : successors(block)) {
          stable &= !all.insert(next);
        }
      }
    }
  }
  return plan;
}

std::vector<BasicBlock*> split_before(ArrayRef<Instruction*> cuts) {
  std::vector<BasicBlock*> blocks;
  for (Instruction* cut : cuts) {
    BasicBlock* block = cut->getParent();
    blocks.push_back(&*block->getFirstNonPHIOrDbg() == cut ? block : SplitBlock(block, cut));
  }
  return blocks;
}

}  // namespace sb::pass
