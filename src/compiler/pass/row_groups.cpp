#include "compiler/pass/row_groups.hpp"

#include <llvm/Analysis/AssumptionCache.h>
#include <llvm/Analysis/LoopInfo.h>
#include <llvm/Analysis/ScalarEvolution.h>
#include <llvm/Analysis/TargetLibraryInfo.h>
#include <llvm/IR/Dominators.h>
#include <llvm/IR/IRBuilder.h>
#include <llvm/IR/InstIterator.h>
#include <llvm/IR/IntrinsicInst.h>
#include <llvm/IR/Module.h>
#include <llvm/Transforms/Utils/Cloning.h>

#include "compiler/pass/short_loops.hpp"

namespace sb::pass {

using namespace llvm;

namespace {

constexpr unsigned most_instructions = 120;
constexpr unsigned most_written_rounds = 64;  // by LLVM, unasked
constexpr StringLiteral group_mark = "sb-row-group";

using values = thread_values;

bool is_shared_by_rows(const LoadInst& load, const values& of_x, const values& of_y) {
  auto* pointer = const_cast<Value*>(load.getPointerOperand());
  return of_x.contains(pointer) && !of_y.contains(pointer);
}

// Each thread has its own place for what it stores: what the threads add up, or what is the same
// for all of them, is stored by one after the other.
bool stores_apart(Function& function, const values& of_thread) {
  return all_of(instructions(function), [&](Instruction& inst) {
    auto* store = dyn_cast<StoreInst>(&inst);
    return !store || of_thread.contains(store->getPointerOperand());
  });
}

// All threads take the same ways.
bool go_together(const values& of_thread) {
  return none_of(of_thread, [](Value* one) {
    auto* inst = dyn_cast<Instruction>(one);
    return inst && inst->isTerminator();
  });
}

// Loads of a loop serve all rows.
bool share_loads(Function& function, const values& of_x, const values& of_y) {
  DominatorTree dominators(function);
  LoopInfo loops(dominators);
  return any_of(instructions(function), [&](const Instruction& inst) {
    auto* load = dyn_cast<LoadInst>(&inst);
    return load && loops.getLoopFor(load->getParent()) && is_shared_by_rows(*load, of_x, of_y);
  });
}

// A round computes its sum from that of the round before. Loops that are written out are none any
// more when vectors are made.
bool has_sums_of_its_own(Function& function, const values& of_x) {
  DominatorTree dominators(function);
  LoopInfo loops(dominators);
  if (loops.empty()) {
    return false;
  }
  AssumptionCache assumptions(function);
  TargetLibraryInfoImpl library(Triple(function.getParent()->getTargetTriple()));
  TargetLibraryInfo functions(library);
  ScalarEvolution evolution(function, functions, assumptions, dominators, loops);
  auto preorder = loops.getLoopsInPreorder();
  return any_of(preorder,
                [&](const Loop* loop) {
                  return loop->isInnermost() &&
                         any_of(loop->getHeader()->phis(), [&](PHINode& phi) {
                           return phi.getType()->isFloatingPointTy() && of_x.contains(&phi);
                         });
                }) &&
         none_of(preorder, [&](const Loop* loop) {
           unsigned rounds = evolution.getSmallConstantTripCount(loop);
           return (rounds != 0 && rounds <= most_written_rounds) ||
                  will_be_written_out(*loop, evolution);
         });
}

// Puts a copy for the next thread behind every instruction that depends on which one it is.
void add_thread(ArrayRef<Instruction*> of_thread, Value* index, Value* next_index) {
  ValueToValueMapTy map;
  map[index] = next_index;
  SmallVector<Instruction*, 32> copies;
  for (Instruction* inst : of_thread) {
    Instruction* copy = inst->clone();
    copy->dropDbgRecords();
    copy->insertAfter(inst);
    map[inst] = copy;
    copies.push_back(copy);
  }
  for (Instruction* copy : copies) {
    RemapInstruction(copy, map, RF_NoModuleLevelChanges | RF_IgnoreMissingLocals);
  }
}

// The function for a group of threads that begins at the argument.
Function* copy_for_group(Function& thread, unsigned argument, unsigned count, StringRef name) {
  ValueToValueMapTy map;
  Function* group = CloneFunction(&thread, map);
  group->setName(thread.getName() + name);
  mark_as_group(*group);
  Argument* index = group->getArg(argument);
  SmallVector<Instruction*, 32> of_thread;
  for (Value* one : made_from(*index)) {
    if (auto* inst = dyn_cast<Instruction>(one)) {
      of_thread.push_back(inst);
    }
  }
  IRBuilder<> builder(&*group->getEntryBlock().getFirstInsertionPt());
  for (unsigned next = 1; next < count; ++next) {
    add_thread(of_thread, index, builder.CreateAdd(index, builder.getInt32(next), "", true, true));
  }
  return group;
}

}  // namespace

bool is_quiet(const Function& function) {
  return all_of(instructions(function), [](const Instruction& inst) {
    if (auto* call = dyn_cast<CallBase>(&inst)) {
      return call->doesNotAccessMemory() && !call->isConvergent();
    }
    return !inst.isAtomic() && !inst.isVolatile() && !isa<AllocaInst>(inst);
  });
}

thread_values made_from(Argument& argument) {
  thread_values found;
  found.insert(&argument);
  for (unsigned i = 0; i < found.size(); ++i) {
    found.insert(found[i]->user_begin(), found[i]->user_end());
  }
  return found;
}

Function* for_group_of_rows(Function& thread) {
  if (thread.getInstructionCount() > most_instructions || !is_quiet(thread)) {
    return nullptr;
  }
  auto of_x = made_from(*thread.getArg(2)), of_y = made_from(*thread.getArg(3));
  if (!stores_apart(thread, of_y) || !go_together(of_y) || !share_loads(thread, of_x, of_y)) {
    return nullptr;
  }
  return copy_for_group(thread, 3, rows_in_group, ".rows");
}

Function* for_group_of_neighbours(Function& thread) {
  if (thread.getInstructionCount() > most_instructions || !is_quiet(thread)) {
    return nullptr;
  }
  auto of_x = made_from(*thread.getArg(2));
  if (!stores_apart(thread, of_x) || !go_together(of_x) || !has_sums_of_its_own(thread, of_x)) {
    return nullptr;
  }
  return copy_for_group(thread, 2, neighbours_in_group, ".neighbours");
}

bool is_for_group(const Function& function) { return function.hasFnAttribute(group_mark); }

void mark_as_group(Function& function) { function.addFnAttr(group_mark); }

}  // namespace sb::pass
