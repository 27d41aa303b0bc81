#include "compiler/pass/noted_times.hpp"

#include <llvm/ADT/SetVector.h>
#include <llvm/Analysis/LoopInfo.h>
#include <llvm/Analysis/ValueTracking.h>
#include <llvm/IR/Dominators.h>
#include <llvm/IR/IRBuilder.h>
#include <llvm/IR/InstIterator.h>
#include <llvm/Transforms/Utils/BasicBlockUtils.h>

#include <utility>

#include "compiler/pass/clock_loops.hpp"
#include "compiler/pass/exit_slice.hpp"
#include "compiler/pass/runtime_abi.hpp"

namespace sb::pass {

using namespace llvm;

namespace {

const Value* written_object(const Instruction& inst) {
  const Value* address = nullptr;
  if (auto* store = dyn_cast<StoreInst>(&inst)) {
    address = store->getPointerOperand();
  } else if (auto* update = dyn_cast<AtomicRMWInst>(&inst)) {
    address = update->getPointerOperand();
  } else if (auto* exchange = dyn_cast<AtomicCmpXchgInst>(&inst)) {
    address = exchange->getPointerOperand();
  }
  return address ? getUnderlyingObject(address) : nullptr;
}

// Where the value goes, also as a part of others.
SmallPtrSet<const Value*, 4> objects_with(Instruction& value) {
  SmallPtrSet<const Value*, 4> objects;
  SmallSetVector<Instruction*, 16> reached;
  reached.insert(&value);
  for (unsigned i = 0; i < reached.size(); ++i) {
    for (User* user : reached[i]->users()) {
      auto* inst = cast<Instruction>(user);
      reached.insert(inst);
      if (const Value* object = written_object(*inst)) {
        objects.insert(object);
      }
    }
  }
  return objects;
}

class clock_reads {
 public:
  clock_reads(Function& body, const LoopInfo& loops, const DominatorTree& dominators)
      : loops_(loops), dominators_(dominators) {
    for (Instruction& inst : instructions(body)) {
      if (reads_clock(inst)) {
        reads_.push_back(cast<CallInst>(&inst));
      }
    }
    for (Loop* loop : loops.getLoopsInPreorder()) {
      loop_slice slice = exit_slice(*loop, dominators);
      if (any_of(slice, [](const Instruction* inst) { return reads_clock(*inst); })) {
        asking_.insert(loop);
      }
    }
  }

  // Those that end no loop are noted.
  bool note() {
    bool any = false;
    for (CallInst* read : reads_) {
      if (const Loop* loop = loop_that_asks(*read)) {
        waiting_.insert(loop);
        continue;
      }
      const bool timer = *called_slot(*read) == slot::global_timer;
      read->setCalledFunction(runtime_function(
          *read->getModule(), timer ? slot::noted_timer : slot::noted_clock, read->getType(), {}));
      any = true;
    }
    return any;
  }

  // Says so where a loop that asks for the time ends because of what others wrote.
  bool end_waits() {
    bool any = false;
    for (const Loop* loop : waiting_) {
      SmallVector<Loop::Edge, 4> edges;
      loop->getExitEdges(edges);
      for (auto [from, to] : edges) {
        if (!is_ended_by_memory(*loop, *from) || isa<UnreachableInst>(to->getTerminator())) {
          continue;
        }
        BasicBlock* behind = SplitEdge(const_cast<BasicBlock*>(from), const_cast<BasicBlock*>(to));
        IRBuilder<> builder(&*behind->getFirstInsertionPt());
        builder.CreateCall(
            runtime_function(*behind->getModule(), slot::wait_is_over, builder.getVoidTy(), {}));
        any = true;
      }
    }
    return any;
  }

 private:
  // What decides there by itself, not the ways to it.
  bool is_ended_by_memory(const Loop& loop, const BasicBlock& from) {
    SmallSetVector<const Value*, 16> reached;
    if (auto* branch = dyn_cast<BranchInst>(from.getTerminator());
        branch && branch->isConditional()) {
      reached.insert(branch->getCondition());
    } else if (auto* choice = dyn_cast<SwitchInst>(from.getTerminator())) {
      reached.insert(choice->getCondition());
    }
    for (unsigned i = 0; i < reached.size(); ++i) {
      auto* inst = dyn_cast<Instruction>(reached[i]);
      if (!inst || !loop.contains(inst)) {
        continue;
      }
      if (inst->mayReadFromMemory() && !reads_clock(*inst)) {
        return true;
      }
      reached.insert(inst->op_begin(), inst->op_end());
    }
    return false;
  }

  // The innermost loop around the read that goes on for as long as it, or what was made of it,
  // says. Another one further in may ask for itself since when it waits: of its ends, the read is
  // only the beginning.
  const Loop* loop_that_asks(CallInst& read) {
    SmallPtrSet<const Value*, 4> objects;
    bool followed = false;
    for (const Loop* loop = loops_.getLoopFor(read.getParent()); loop;
         loop = loop->getParentLoop()) {
      if (!asking_.contains(loop) && !reads_memory(*loop)) {
        continue;
      }
      loop_slice slice = exit_slice(*loop, dominators_, [&](const BasicBlock& exiting) {
        return !is_asked_further_in(*loop, exiting, read);
      });
      if (slice.contains(&read)) {
        return loop;
      }
      if (!std::exchange(followed, true)) {
        objects = objects_with(read);
      }
      const auto brings = [&](const Instruction* inst) {
        auto* load = dyn_cast<LoadInst>(inst);
        return load && objects.contains(getUnderlyingObject(load->getPointerOperand()));
      };
      if (any_of(slice, brings)) {
        return loop;
      }
    }
    return nullptr;
  }

  static bool reads_memory(const Loop& loop) {
    return any_of(loop.blocks(), [](const BasicBlock* block) {
      return any_of(*block, [](const Instruction& inst) { return inst.mayReadFromMemory(); });
    });
  }

  bool is_asked_further_in(const Loop& loop, const BasicBlock& exiting,
                           const CallInst& read) const {
    for (const Loop* inner = loops_.getLoopFor(&exiting); inner != &loop;
         inner = inner->getParentLoop()) {
      if (!inner->contains(&read) && asking_.contains(inner)) {
        return true;
      }
    }
    return false;
  }

  const LoopInfo& loops_;
  const DominatorTree& dominators_;
  SmallVector<CallInst*, 8> reads_;
  SmallPtrSet<const Loop*, 8> asking_;      // a read of the clock in it has a part in its end
  SmallSetVector<const Loop*, 8> waiting_;  // the innermost of them, for each read
};

}  // namespace

void note_times(Function& body, FunctionAnalysisManager& analyses) {
  if (none_of(instructions(body), reads_clock)) {
    return;
  }
  auto& dominators = analyses.getResult<DominatorTreeAnalysis>(body);
  auto& loops = analyses.getResult<LoopAnalysis>(body);
  clock_reads reads(body, loops, dominators);
  const bool noted = reads.note();
  if (reads.end_waits() || noted) {
    analyses.invalidate(body, PreservedAnalyses::none());
  }
}

}  // namespace sb::pass
