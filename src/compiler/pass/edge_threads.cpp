#include "compiler/pass/edge_threads.hpp"

#include <llvm/ADT/SetVector.h>
#include <llvm/IR/CFG.h>
#include <llvm/IR/PatternMatch.h>
#include <llvm/Transforms/Utils/BasicBlockUtils.h>

#include <optional>

#include "compiler/pass/meetings.hpp"
#include "compiler/pass/regions.hpp"
#include "compiler/pass/runtime_abi.hpp"
#include "compiler/pass/uniformity.hpp"
#include "compiler/pass/warp_function.hpp"

namespace sb::pass {

using namespace llvm;
using namespace llvm::PatternMatch;

namespace {

constexpr unsigned deepest_sum = 6;
constexpr unsigned most_blocks = 4;  // behind a condition
constexpr unsigned most_edges = 8;   // of a kernel

// A thread's index along one axis, and what is the same for all threads added to it.
bool is_index(const Value* value, const uniformity& uniform, unsigned depth = 0) {
  if (depth == deepest_sum) {
    return false;
  }
  ++depth;
  auto* call = dyn_cast<CallBase>(value);
  if (call && call->getCalledFunction()) {
    StringRef name = call->getCalledFunction()->getName();
    return name == "__sb_tid_x" || name == "__sb_tid_y" || name == "__sb_tid_z";
  }
  const Value* one = nullptr;
  const Value* other = nullptr;
  if (match(value, m_ZExtOrSExt(m_Value(one)))) {
    return is_index(one, uniform, depth);
  }
  if (match(value, m_Add(m_Value(one), m_Value(other))) ||
      match(value, m_DisjointOr(m_Value(one), m_Value(other)))) {
    return (uniform.is_uniform(one) && is_index(other, uniform, depth)) ||
           (uniform.is_uniform(other) && is_index(one, uniform, depth));
  }
  return false;
}

// Whether the condition has this value only for threads with one certain index.
bool asks_for_one_index(const Value* condition, bool truth, const uniformity& uniform,
                        unsigned depth = 0) {
  const Value* one = nullptr;
  const Value* other = nullptr;
  if (depth == deepest_sum) {
    return false;
  }
  if (truth ? match(condition, m_LogicalAnd(m_Value(one), m_Value(other)))
            : match(condition, m_LogicalOr(m_Value(one), m_Value(other)))) {
    return asks_for_one_index(one, truth, uniform, depth + 1) ||
           asks_for_one_index(other, truth, uniform, depth + 1);
  }
  auto* compare = dyn_cast<ICmpInst>(condition);
  return compare && compare->getPredicate() == (truth ? ICmpInst::ICMP_EQ : ICmpInst::ICMP_NE) &&
         uniform.is_uniform(compare->getOperand(1)) && is_index(compare->getOperand(0), uniform);
}

// An access like any other, that memory alone orders.
bool is_plain(const Instruction& inst) {
  return isa<LoadInst, StoreInst>(inst) ? !inst.isVolatile() && !inst.isAtomic()
                                        : !inst.mayReadOrWriteMemory();
}

struct edge {
  BasicBlock* asks;
  BasicBlock* behind;
  SmallVector<BasicBlock*, most_blocks> blocks;  // that the threads go through in between
};

// The condition at the end of the block, if that is one for threads at an edge who store something.
std::optional<edge> edge_at(BasicBlock& block, const uniformity& uniform) {
  auto* branch = dyn_cast<BranchInst>(block.getTerminator());
  if (!branch || !branch->isConditional() || uniform.branches_together(&block) ||
      !uniform.is_reached_together(&block)) {
    return std::nullopt;
  }
  auto* behind = const_cast<BasicBlock*>(uniform.meeting_of(&block));
  bool when = branch->getSuccessor(1) == behind;
  if (!behind || branch->getSuccessor(when ? 1 : 0) != behind ||
      branch->getSuccessor(when ? 0 : 1) == behind || !behind->phis().empty() ||
      !uniform.is_reached_together(behind) ||
      !asks_for_one_index(branch->getCondition(), when, uniform)) {
    return std::nullopt;
  }
  SmallSetVector<BasicBlock*, most_blocks> inside;
  inside.insert(branch->getSuccessor(when ? 0 : 1));
  bool stores = false;
  for (unsigned i = 0; i < inside.size(); ++i) {
    for (Instruction& inst : *inside[i]) {
      if (!is_plain(inst)) {
        return std::nullopt;
      }
      stores |= isa<StoreInst>(inst);
    }
    for (BasicBlock* next : successors(inside[i])) {
      if (next != behind) {
        inside.insert(next);
      }
    }
    if (inside.size() > most_blocks || inside.contains(&block)) {
      return std::nullopt;
    }
  }
  return stores ? std::optional(edge{&block, behind, {inside.begin(), inside.end()}})
                : std::nullopt;
}

// Whether the threads also store elsewhere between the same two meetings.
bool has_other_stores(const edge& one, const region_plan& plan) {
  const region& around = plan.regions()[plan.region_of(one.asks)];
  return any_of(around.blocks, [&](BasicBlock* block) {
    return !is_contained(one.blocks, block) &&
           any_of(*block, [](const Instruction& inst) { return isa<StoreInst>(inst); });
  });
}

// Where what the condition is computed from begins.
Instruction* before_condition(BasicBlock& block) {
  Instruction* first = block.getTerminator();
  while (first != &*block.getFirstNonPHIOrDbg() && !first->getPrevNode()->mayReadOrWriteMemory()) {
    first = first->getPrevNode();
  }
  return first;
}

}  // namespace

std::vector<BasicBlock*> find_edge_threads(Function& body) {
  std::vector<meeting> barriers = find_barriers(body);
  if (barriers.empty() || has_warp_meetings(body)) {
    return {};
  }
  uniformity uniform(body, team::block);
  std::vector<BasicBlock*> cuts;
  for (const meeting& one : barriers) {
    cuts.push_back(one.place->getParent());
  }
  auto plan = region_plan::make(body, uniform, cuts);
  if (!plan) {
    return {};
  }
  std::vector<edge> edges;
  for (BasicBlock& block : body) {
    if (auto found = edge_at(block, uniform); found && has_other_stores(*found, *plan)) {
      edges.push_back(*found);
    }
  }
  if (edges.size() > most_edges) {
    return {};
  }
  SetVector<BasicBlock*> found;
  for (const edge& one : edges) {
    // What the last condition has behind it may be what this one has before it.
    BasicBlock* before = split_before({before_condition(*one.asks)}).front();
    if (before != &body.getEntryBlock()) {
      found.insert(before);
    }
    found.insert(one.behind);
  }
  return {found.begin(), found.end()};
}

}  // namespace sb::pass
