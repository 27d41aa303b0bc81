#include "compiler/pass/whole_rows.hpp"

#include <llvm/Analysis/ValueTracking.h>
#include <llvm/IR/Dominators.h>
#include <llvm/IR/IRBuilder.h>
#include <llvm/IR/InstIterator.h>
#include <llvm/IR/MDBuilder.h>
#include <llvm/IR/Module.h>

#include "base/device_abi.hpp"

namespace sb::pass {

using namespace llvm;

namespace {

constexpr StringLiteral question_name = "sb.asks.whole.row";
constexpr unsigned deepest = 24, most_instructions = 64;

// Where the loop over a row of blocks says which one it is at (block_rows.hpp).
StoreInst* place_of_block(Function& function) {
  const DataLayout& layout = function.getParent()->getDataLayout();
  for (Instruction& inst : instructions(function)) {
    auto* store = dyn_cast<StoreInst>(&inst);
    if (!store || !isa<PHINode>(store->getValueOperand())) {
      continue;
    }
    APInt offset(64, 0);
    Value* base =
        store->getPointerOperand()->stripAndAccumulateConstantOffsets(layout, offset, true);
    auto* block = dyn_cast<LoadInst>(base);
    if (block && block->getPointerOperand()->stripInBoundsConstantOffsets() == function.getArg(1) &&
        offset == offsetof(abi::block_context, row_at)) {
      return store;
    }
  }
  return nullptr;
}

Function* question_function(Module& module) {
  LLVMContext& context = module.getContext();
  auto* type = FunctionType::get(Type::getInt1Ty(context), {Type::getInt32Ty(context)}, false);
  auto* function = cast<Function>(module.getOrInsertFunction(question_name, type).getCallee());
  function->setDoesNotAccessMemory();
  for (auto kind : {Attribute::NoUnwind, Attribute::WillReturn, Attribute::NoFree,
                    Attribute::NoSync, Attribute::NoDuplicate}) {
    function->addFnAttr(kind);
  }
  return function;
}

// The version for any blocks runs one block: its context is a copy in which the row is that long.
void run_by_itself(IRBuilder<>& builder, Function& usual, Function& any, Value* number) {
  IRBuilder<> entry(&*usual.getEntryBlock().getFirstInsertionPt());
  auto space = [&](std::size_t bytes) {
    auto* memory = entry.CreateAlloca(ArrayType::get(entry.getInt8Ty(), bytes));
    memory->setAlignment(Align(16));
    return memory;
  };
  auto* self = space(sizeof(abi::thread_context));
  auto* block = space(sizeof(abi::block_context));
  auto at = [&](Value* object, std::size_t offset) {
    return builder.CreateConstInBoundsGEP1_64(builder.getInt8Ty(), object, offset);
  };
  Value* old_self = usual.getArg(1);
  Value* old_block =
      builder.CreateLoad(builder.getPtrTy(), at(old_self, offsetof(abi::thread_context, block)));
  builder.CreateMemCpy(self, Align(16), old_self, Align(8), sizeof(abi::thread_context));
  builder.CreateMemCpy(block, Align(16), old_block, Align(8), sizeof(abi::block_context));
  builder.CreateStore(block, at(self, offsetof(abi::thread_context, block)));
  Value* index = at(block, offsetof(abi::block_context, block_idx));
  Value* first = builder.CreateLoad(builder.getInt32Ty(), index);
  builder.CreateStore(builder.CreateAdd(first, number), index);
  builder.CreateStore(builder.getInt32(1), at(block, offsetof(abi::block_context, row_blocks)));
  builder.CreateCall(&any, {usual.getArg(0), self});
}

// Copies of what a value is made of, before an instruction; what is there already is not copied.
class earlier_values {
 public:
  earlier_values(Instruction& before, const DominatorTree& dominators)
      : before_(before), dominators_(dominators) {}

  // Null if it takes more than arithmetic.
  Value* make(Value* value, unsigned depth = 0) {
    auto* inst = dyn_cast<Instruction>(value);
    if (!inst || dominators_.dominates(inst, &before_)) {
      return value;
    }
    if (Value* made = made_.lookup(inst)) {
      return made;
    }
    if (isa<PHINode>(inst) || depth == deepest || made_.size() == most_instructions ||
        inst->mayReadOrWriteMemory() || !isSafeToSpeculativelyExecute(inst)) {
      return nullptr;
    }
    SmallVector<Value*, 4> operands;
    for (Value* operand : inst->operands()) {
      operands.push_back(make(operand, depth + 1));
      if (!operands.back()) {
        return nullptr;
      }
    }
    Instruction* fresh = inst->clone();
    for (unsigned i = 0; i < operands.size(); ++i) {
      fresh->setOperand(i, operands[i]);
    }
    // Threads that would make it hold may not come to where it was.
    fresh->dropPoisonGeneratingFlags();
    fresh->dropDbgRecords();
    fresh->insertBefore(&before_);
    made_[inst] = fresh;
    order_.push_back(fresh);
    return fresh;
  }

  void forget() {
    for (Instruction* inst : reverse(order_)) {
      inst->eraseFromParent();
    }
  }

 private:
  Instruction& before_;
  const DominatorTree& dominators_;
  DenseMap<Instruction*, Value*> made_;
  SmallVector<Instruction*, 16> order_;
};

}  // namespace

bool ask_each_block(Function& usual, Function& any) {
  StoreInst* store = place_of_block(usual);
  auto* number = store ? cast<PHINode>(store->getValueOperand()) : nullptr;
  BasicBlock* top = store ? store->getParent() : nullptr;
  auto* start = top ? dyn_cast<BranchInst>(top->getTerminator()) : nullptr;
  if (!start || start->isConditional() || number->getParent() != top ||
      number->getNumIncomingValues() != 2) {
    return false;
  }
  bool enters_first = number->getIncomingBlock(0) == &usual.getEntryBlock();
  BasicBlock* next = number->getIncomingBlock(enters_first ? 1 : 0);
  if (!next->phis().empty()) {
    return false;
  }
  LLVMContext& context = usual.getContext();
  auto* alone = BasicBlock::Create(context, "alone", &usual);
  IRBuilder<> builder(start);
  Value* all = builder.CreateCall(question_function(*usual.getParent()), {number});
  builder.CreateCondBr(all, start->getSuccessor(0), alone,
                       MDBuilder(context).createLikelyBranchWeights());
  builder.SetInsertPoint(alone);
  builder.SetCurrentDebugLocation(start->getDebugLoc());
  run_by_itself(builder, usual, any, number);
  builder.CreateBr(next);
  start->eraseFromParent();
  return true;
}

CallInst* question_of(Function& usual) {
  Function* function = usual.getParent()->getFunction(question_name);
  if (function) {
    for (User* user : function->users()) {
      auto* call = cast<CallInst>(user);
      if (call->getFunction() == &usual) {
        return call;
      }
    }
  }
  return nullptr;
}

bool ask_for(CallInst& question, Value* condition) {
  DominatorTree dominators(*question.getFunction());
  earlier_values values(question, dominators);
  Value* known = values.make(condition);
  if (!known) {
    values.forget();
    return false;
  }
  IRBuilder<> builder(question.getNextNode());
  auto* frozen = builder.CreateFreeze(known);
  Value* both = builder.CreateAnd(&question, frozen);
  question.replaceUsesWithIf(both, [&](Use& use) { return use.getUser() != both; });
  return true;
}

void end_question(CallInst& question) {
  question.replaceAllUsesWith(ConstantInt::getTrue(question.getContext()));
  question.eraseFromParent();
}

}  // namespace sb::pass
