#include "compiler/pass/turned_rows.hpp"

#include <llvm/IR/IRBuilder.h>
#include <llvm/IR/InstIterator.h>
#include <llvm/IR/PatternMatch.h>
#include <llvm/Transforms/Utils/BasicBlockUtils.h>
#include <llvm/Transforms/Utils/Cloning.h>

#include <array>
#include <optional>

#include "compiler/pass/row_groups.hpp"

namespace sb::pass {

using namespace llvm;
using namespace llvm::PatternMatch;

namespace {

constexpr unsigned most_instructions = 60;
constexpr unsigned deepest = 12;

// By how much the value grows when the argument grows by one; nothing if that is not a constant.
// What wraps is not looked at: this says what is worth while, not what is right.
std::optional<std::int64_t> growth(const Value* value, const Argument* argument,
                                   unsigned depth = 0) {
  if (value == argument) {
    return 1;
  }
  auto* inst = dyn_cast<Instruction>(value);
  if (!inst || isa<LoadInst>(inst)) {
    return 0;
  }
  if (depth == deepest) {
    return std::nullopt;
  }
  SmallVector<std::optional<std::int64_t>, 3> grow;
  bool stays = true;
  for (const Value* operand : inst->operands()) {
    grow.push_back(growth(operand, argument, depth + 1));
    stays &= grow.back() == 0;
  }
  if (stays) {
    return 0;
  }
  const APInt* number = nullptr;
  if (any_of(grow, [](auto& one) { return !one.has_value(); })) {
    return std::nullopt;
  }
  if (isa<SExtInst, ZExtInst, TruncInst>(inst)) {
    return grow[0];
  }
  if (match(inst, m_Add(m_Value(), m_Value())) || match(inst, m_DisjointOr(m_Value(), m_Value()))) {
    return *grow[0] + *grow[1];
  }
  if (match(inst, m_Sub(m_Value(), m_Value()))) {
    return *grow[0] - *grow[1];
  }
  if (match(inst, m_Mul(m_Value(), m_APInt(number))) && number->isSignedIntN(32)) {
    return *grow[0] * number->getSExtValue();
  }
  if (match(inst, m_Shl(m_Value(), m_APInt(number))) && number->ult(32)) {
    return *grow[0] * (std::int64_t{1} << number->getZExtValue());
  }
  auto* address = dyn_cast<GetElementPtrInst>(inst);
  if (address && address->getNumIndices() == 1) {
    auto size = inst->getDataLayout().getTypeAllocSize(address->getSourceElementType());
    return *grow[0] + *grow[1] * static_cast<std::int64_t>(size.getFixedValue());
  }
  return std::nullopt;
}

bool is_builtin(const Value* value, StringRef name) {
  auto* call = dyn_cast<CallBase>(value);
  return call && call->getCalledFunction() && call->getCalledFunction()->getName() == name;
}

// `blockIdx.y * blockDim.y + threadIdx.y`, or threadIdx.y itself: below 2^26 by CUDA's limits.
bool is_row_of_grid(const Value* value, const Argument* row) {
  const Value* one = nullptr;
  const Value* other = nullptr;
  auto is_first_row = [](const Value* first) {
    const Value* block = nullptr;
    const Value* height = nullptr;
    const APInt* number = nullptr;
    if (match(first, m_Shl(m_Value(block), m_APInt(number)))) {
      return number->ule(10) && is_builtin(block, "__sb_ctaid_y");
    }
    return match(first, m_Mul(m_Value(block), m_Value(height))) &&
           ((is_builtin(block, "__sb_ctaid_y") && is_builtin(height, "__sb_ntid_y")) ||
            (is_builtin(height, "__sb_ctaid_y") && is_builtin(block, "__sb_ntid_y")));
  };
  return value == row ||
         ((match(value, m_Add(m_Value(one), m_Value(other))) ||
           match(value, m_DisjointOr(m_Value(one), m_Value(other)))) &&
          ((one == row && is_first_row(other)) || (other == row && is_first_row(one))));
}

// Whether the value is a sum with the row in it, once, that cannot wrap: in the next row it is one
// more.
bool is_one_more(const Value* value, const Argument* row, const thread_values& of_row,
                 unsigned depth = 0) {
  if (is_row_of_grid(value, row)) {
    return true;
  }
  auto* inst = dyn_cast<Instruction>(value);
  if (!inst || depth == deepest) {
    return false;
  }
  if (isa<SExtInst>(inst)) {
    return is_one_more(inst->getOperand(0), row, of_row, depth + 1);
  }
  auto* sum = dyn_cast<OverflowingBinaryOperator>(inst);
  if (inst->getOpcode() != Instruction::Add || !sum->hasNoSignedWrap()) {
    return false;
  }
  const Value* one = inst->getOperand(0);
  const Value* other = inst->getOperand(1);
  if (of_row.contains(const_cast<Value*>(one))) {
    std::swap(one, other);
  }
  return !of_row.contains(const_cast<Value*>(one)) && is_one_more(other, row, of_row, depth + 1);
}

// What the address is in later rows: neighbours of the first.
bool lies_beside(const Value* pointer, const Argument* row, const thread_values& of_row) {
  auto* address = dyn_cast<GetElementPtrInst>(pointer);
  return address && address->getNumIndices() == 1 &&
         !of_row.contains(const_cast<Value*>(address->getPointerOperand())) &&
         is_one_more(address->getOperand(1), row, of_row);
}

// All stores lie side by side along y, and not along x.
bool is_turned(Function& thread) {
  bool found = false;
  return all_of(instructions(thread),
                [&](const Instruction& inst) {
                  auto* store = dyn_cast<StoreInst>(&inst);
                  if (!store) {
                    return true;
                  }
                  found = true;
                  auto size = static_cast<std::int64_t>(
                      inst.getDataLayout()
                          .getTypeStoreSize(store->getValueOperand()->getType())
                          .getFixedValue());
                  auto along_x = growth(store->getPointerOperand(), thread.getArg(2));
                  return growth(store->getPointerOperand(), thread.getArg(3)) == size &&
                         (!along_x || *along_x > size);
                }) &&
         found;
}

// A thread that does something if its guard lets it, and then ends.
struct guarded_thread {
  BranchInst* guard = nullptr;
  unsigned way = 0;  // to what it does
  [[nodiscard]] BasicBlock* inside() const { return guard->getSuccessor(way); }
  [[nodiscard]] BasicBlock* behind() const { return guard->getSuccessor(1 - way); }
};

std::optional<guarded_thread> find_guard(Function& thread) {
  BasicBlock& entry = thread.getEntryBlock();
  auto* guard = dyn_cast<BranchInst>(entry.getTerminator());
  if (thread.size() != 3 || !guard || !guard->isConditional()) {
    return std::nullopt;
  }
  for (unsigned way : {0u, 1u}) {
    guarded_thread found{guard, way};
    BasicBlock* inside = found.inside();
    auto* end = dyn_cast<BranchInst>(inside->getTerminator());
    if (inside->getSinglePredecessor() == &entry && end && !end->isConditional() &&
        end->getSuccessor(0) == found.behind() && found.behind()->size() == 1 &&
        isa<ReturnInst>(found.behind()->front())) {
      return found;
    }
  }
  return std::nullopt;
}

// The conditions that all have to hold for a thread to do something.
struct condition {
  Value* value;
  bool holds;
};

void collect(Value* value, bool holds, SmallVectorImpl<condition>& found) {
  Value* one = nullptr;
  Value* other = nullptr;
  if (holds ? match(value, m_LogicalAnd(m_Value(one), m_Value(other)))
            : match(value, m_LogicalOr(m_Value(one), m_Value(other)))) {
    collect(one, holds, found);
    collect(other, holds, found);
  } else {
    found.push_back({value, holds});
  }
}

// None of them asks for x and y at once.
bool can_be_told_apart(ArrayRef<condition> conditions, const thread_values& of_x,
                       const thread_values& of_y) {
  return none_of(conditions, [&](const condition& one) {
    return of_x.contains(one.value) && of_y.contains(one.value);
  });
}

// Whether the guard's conditions hold, in all rows.
class row_guard {
 public:
  row_guard(Function& group, const guarded_thread& found)
      : row_(*group.getArg(3)), of_row_(made_from(row_)) {
    collect(found.guard->getCondition(), found.way == 0, conditions_);
    IRBuilder<> builder(&*group.getEntryBlock().getFirstInsertionPt());
    for (unsigned next = 1; next < turned_rows; ++next) {
      maps_[next][&row_] = builder.CreateAdd(&row_, builder.getInt32(next), "", true, true);
    }
    add(group.getEntryBlock());
  }

  // Puts the instructions of the other rows behind each of the block.
  void add(BasicBlock& block) {
    SmallVector<Instruction*, 32> own;
    copy_if(make_pointer_range(block), std::back_inserter(own),
            [&](Instruction* inst) { return of_row_.contains(inst) && !inst->isTerminator(); });
    for (Instruction* inst : own) {
      Instruction* last = inst;
      bool beside = lies_beside(inst, &row_, of_row_);
      for (unsigned next = 1; next < turned_rows; ++next) {
        Instruction* copy =
            beside ? neighbour(cast<GetElementPtrInst>(*inst), next) : inst->clone();
        copy->dropDbgRecords();
        copy->insertAfter(last);
        last = copy;
        maps_[next][inst] = copy;
        if (!beside) {
          RemapInstruction(copy, maps_[next], RF_NoModuleLevelChanges | RF_IgnoreMissingLocals);
        }
      }
    }
  }

  // Those that do not ask for the row.
  Value* columns(IRBuilder<>& builder) { return chain(builder, 0, false); }
  // Those that do, of all rows. A condition behind one that does not hold may be anything.
  Value* rows(IRBuilder<>& builder) {
    Value* all = builder.getTrue();
    for (unsigned row = 0; row < turned_rows; ++row) {
      all = builder.CreateAnd(all, chain(builder, row, true));
    }
    return builder.CreateFreeze(all);
  }

 private:
  static Instruction* neighbour(GetElementPtrInst& first, unsigned distance) {
    auto* offset = ConstantInt::get(Type::getInt64Ty(first.getContext()), distance);
    auto* next = GetElementPtrInst::Create(first.getSourceElementType(), &first, offset);
    next->setDebugLoc(first.getDebugLoc());
    return next;
  }

  Value* chain(IRBuilder<>& builder, unsigned row, bool of_row) {
    Value* all = builder.getTrue();
    for (const condition& one : conditions_) {
      if (of_row_.contains(one.value) == of_row) {
        Value* own = one.value;
        if (row != 0) {
          own = maps_[row].lookup(own);
        }
        all = builder.CreateLogicalAnd(all, one.holds ? own : builder.CreateNot(own));
      }
    }
    return all;
  }

  Argument& row_;
  thread_values of_row_;
  SmallVector<condition, 4> conditions_;
  std::array<ValueToValueMapTy, turned_rows> maps_;
};

Function* copy_as_group(Function& thread, StringRef name) {
  ValueToValueMapTy map;
  Function* group = CloneFunction(&thread, map);
  group->setName(thread.getName() + name);
  mark_as_group(*group);
  return group;
}

Function* make_together(Function& thread) {
  Function* group = copy_as_group(thread, ".turned");
  guarded_thread found = *find_guard(*group);
  BasicBlock *inside = found.inside(), *behind = found.behind();
  row_guard guard(*group, found);
  IRBuilder<> builder(found.guard);
  Value* passes = guard.rows(builder);
  builder.CreateCondBr(builder.CreateLogicalAnd(passes, guard.columns(builder)), inside, behind);
  found.guard->eraseFromParent();
  guard.add(*inside);
  return group;
}

// Row by row, unless all rows go together.
Function* make_alone(Function& thread) {
  Function* group = copy_as_group(thread, ".alone");
  guarded_thread found = *find_guard(*group);
  BasicBlock *entry = &group->getEntryBlock(), *inside = found.inside(), *behind = found.behind();
  LLVMContext& context = group->getContext();
  auto* top = BasicBlock::Create(context, "row", group, behind);
  auto* next = BasicBlock::Create(context, "next.row", group, behind);
  IRBuilder<> builder(top);
  builder.SetCurrentDebugLocation(found.guard->getDebugLoc());
  auto* number = builder.CreatePHI(builder.getInt32Ty(), 2, "row");
  ValueToValueMapTy map;
  map[group->getArg(3)] = builder.CreateAdd(group->getArg(3), number, "", true, true);
  BasicBlock* asks = CloneBasicBlock(entry, map, ".row", group);
  map[inside] = CloneBasicBlock(inside, map, ".row", group);
  map[behind] = next;
  for (BasicBlock* block : {asks, cast<BasicBlock>(map[inside])}) {
    for (Instruction& inst : *block) {
      inst.dropDbgRecords();
      RemapInstruction(&inst, map, RF_NoModuleLevelChanges | RF_IgnoreMissingLocals);
    }
  }
  builder.CreateBr(asks);
  builder.SetInsertPoint(next);
  Value* following = builder.CreateAdd(number, builder.getInt32(1), "", true, true);
  builder.CreateCondBr(builder.CreateICmpNE(following, builder.getInt32(turned_rows)), top, behind);
  number->addIncoming(builder.getInt32(0), entry);
  number->addIncoming(following, next);
  row_guard guard(*group, found);
  builder.SetInsertPoint(found.guard);
  builder.CreateCondBr(guard.rows(builder), behind, top);
  found.guard->eraseFromParent();
  DeleteDeadBlock(inside);
  return group;
}

}  // namespace

turned_group for_turned_rows(Function& thread) {
  auto found = find_guard(thread);
  if (!found || thread.getInstructionCount() > most_instructions || !is_quiet(thread) ||
      !is_turned(thread)) {
    return {};
  }
  SmallVector<condition, 4> conditions;
  collect(found->guard->getCondition(), found->way == 0, conditions);
  auto of_x = made_from(*thread.getArg(2)), of_y = made_from(*thread.getArg(3));
  if (!can_be_told_apart(conditions, of_x, of_y)) {
    return {};
  }
  return {make_together(thread), make_alone(thread)};
}

}  // namespace sb::pass
