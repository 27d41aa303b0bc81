#include "compiler/pass/row_groups.hpp"

#include <llvm/ADT/SetVector.h>
#include <llvm/Analysis/LoopInfo.h>
#include <llvm/IR/Dominators.h>
#include <llvm/IR/IRBuilder.h>
#include <llvm/IR/InstIterator.h>
#include <llvm/IR/IntrinsicInst.h>
#include <llvm/Transforms/Utils/Cloning.h>

namespace sb::pass {

using namespace llvm;

namespace {

constexpr unsigned most_instructions = 120;
constexpr StringLiteral group_mark = "sb-row-group";

using values = SmallSetVector<Value*, 32>;

// Nothing but loads, stores and arithmetic, of memory that is not the thread's own.
bool is_quiet(const Function& function) {
  return all_of(instructions(function), [](const Instruction& inst) {
    if (auto* call = dyn_cast<CallBase>(&inst)) {
      return call->doesNotAccessMemory() && !call->isConvergent();
    }
    return !inst.isAtomic() && !inst.isVolatile() && !isa<AllocaInst>(inst);
  });
}

// What is computed from the argument.
values made_from(Argument& argument) {
  values found;
  found.insert(&argument);
  for (unsigned i = 0; i < found.size(); ++i) {
    found.insert(found[i]->user_begin(), found[i]->user_end());
  }
  return found;
}

bool is_shared_by_rows(const LoadInst& load, const values& of_x, const values& of_y) {
  auto* pointer = const_cast<Value*>(load.getPointerOperand());
  return of_x.contains(pointer) && !of_y.contains(pointer);
}

// Each row has its own place for what it stores: what the threads add up, or what is the same for
// all of them, is stored by one after the other.
bool stores_apart(Function& function, const values& of_y) {
  return all_of(instructions(function), [&](Instruction& inst) {
    auto* store = dyn_cast<StoreInst>(&inst);
    return !store || of_y.contains(store->getPointerOperand());
  });
}

// All rows take the same ways, and loads of a loop serve all of them.
bool gains(Function& function, const values& of_x, const values& of_y) {
  if (any_of(of_y, [](Value* one) {
        auto* inst = dyn_cast<Instruction>(one);
        return inst && inst->isTerminator();
      })) {
    return false;
  }
  DominatorTree dominators(function);
  LoopInfo loops(dominators);
  return any_of(instructions(function), [&](const Instruction& inst) {
    auto* load = dyn_cast<LoadInst>(&inst);
    return load && loops.getLoopFor(load->getParent()) && is_shared_by_rows(*load, of_x, of_y);
  });
}

// Puts a copy for the next row behind every instruction that depends on the row.
void add_row(ArrayRef<Instruction*> of_row, Value* row, Value* next_row) {
  ValueToValueMapTy map;
  map[row] = next_row;
  SmallVector<Instruction*, 32> copies;
  for (Instruction* inst : of_row) {
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

}  // namespace

Function* for_group_of_rows(Function& thread) {
  if (thread.getInstructionCount() > most_instructions || !is_quiet(thread)) {
    return nullptr;
  }
  auto of_x = made_from(*thread.getArg(2)), of_y = made_from(*thread.getArg(3));
  if (!stores_apart(thread, of_y) || !gains(thread, of_x, of_y)) {
    return nullptr;
  }
  ValueToValueMapTy map;
  Function* group = CloneFunction(&thread, map);
  group->setName(thread.getName() + ".rows");
  group->addFnAttr(group_mark);
  Argument* row = group->getArg(3);
  SmallVector<Instruction*, 32> of_row;
  for (Value* one : made_from(*row)) {
    if (auto* inst = dyn_cast<Instruction>(one)) {
      of_row.push_back(inst);
    }
  }
  IRBuilder<> builder(&*group->getEntryBlock().getFirstInsertionPt());
  for (unsigned next = 1; next < rows_in_group; ++next) {
    add_row(of_row, row, builder.CreateAdd(row, builder.getInt32(next), "", true, true));
  }
  return group;
}

bool is_for_group_of_rows(const Function& function) { return function.hasFnAttribute(group_mark); }

}  // namespace sb::pass
