#include "compiler/pass/joined_start.hpp"

#include <llvm/ADT/SetVector.h>
#include <llvm/Analysis/LoopInfo.h>
#include <llvm/Analysis/PostDominators.h>
#include <llvm/IR/Dominators.h>
#include <llvm/IR/IRBuilder.h>
#include <llvm/IR/InstIterator.h>
#include <llvm/Transforms/Utils/BasicBlockUtils.h>
#include <llvm/Transforms/Utils/Cloning.h>
#include <llvm/Transforms/Utils/Local.h>

#include "compiler/pass/address_spaces.hpp"
#include "compiler/pass/entry_builder.hpp"
#include "compiler/pass/joined_blocks.hpp"
#include "compiler/pass/runtime_abi.hpp"

namespace sb::pass {

using namespace llvm;

namespace {

constexpr unsigned most_kept = 4;   // values
constexpr unsigned most_steps = 6;  // to compute a value again

std::string memory_name(unsigned number) { return ("__sb_start_memory_" + Twine(number)).str(); }

// Only what no other block could notice comes before the cut.
bool belongs_to_block(const Instruction& inst) {
  auto* call = dyn_cast<CallBase>(&inst);
  return (call && called_slot(*call)) || any_of(inst.operands(), [](const Use& operand) {
           auto* variable = dyn_cast<GlobalVariable>(operand);
           return isa<ConstantExpr>(operand) || (variable && is_shared(*variable));
         });
}

// Where a kernel is cut: all threads come here once, behind a loop.
struct cut {
  BasicBlock* block = nullptr;
  SetVector<BasicBlock*> after;
};

SetVector<BasicBlock*> reached_from(BasicBlock* start) {
  SetVector<BasicBlock*> blocks;
  blocks.insert(start);
  for (unsigned i = 0; i < blocks.size(); ++i) {
    blocks.insert(succ_begin(blocks[i]), succ_end(blocks[i]));
  }
  return blocks;
}

// The last place before which nothing belongs to a block.
cut find_cut(Function& body) {
  DominatorTree dominators(body);
  PostDominatorTree ends(body);
  LoopInfo loops(dominators);
  BasicBlock* entry = &body.getEntryBlock();
  cut found;
  for (BasicBlock& block : body) {
    if (&block == entry || loops.getLoopFor(&block) || !ends.dominates(&block, entry)) {
      continue;
    }
    auto after = reached_from(&block);
    bool has_loop = false;
    bool good = all_of(after, [&](BasicBlock* one) { return dominators.dominates(&block, one); });
    for (BasicBlock& one : body) {
      if (!after.contains(&one)) {
        has_loop |= loops.getLoopFor(&one) != nullptr;
        good = good && none_of(one, belongs_to_block);
      }
    }
    if (good && has_loop && (!found.block || found.after.contains(&block))) {
      found = {&block, std::move(after)};
    }
  }
  return found;
}

// Builtins, parameters, and arithmetic with them: quicker computed again than kept.
bool can_be_made_again(const Value* value, unsigned steps = most_steps) {
  if (isa<Argument, Constant>(value)) {
    return true;
  }
  auto* inst = dyn_cast<Instruction>(value);
  if (!inst || steps == 0) {
    return false;
  }
  if (auto* call = dyn_cast<CallBase>(inst)) {
    const Function* callee = call->getCalledFunction();
    return callee && callee->getName().starts_with("__sb_") && call->arg_empty() &&
           call->doesNotAccessMemory() && !called_slot(*call);
  }
  if (auto* load = dyn_cast<LoadInst>(inst)) {
    const Value* pointer = load->getPointerOperand()->stripInBoundsConstantOffsets();
    return load->isSimple() && pointer == inst->getFunction()->getArg(0);
  }
  return (isa<BinaryOperator, CastInst, GetElementPtrInst, CmpInst>(inst)) &&
         all_of(inst->operands(),
                [&](const Use& operand) { return can_be_made_again(operand, steps - 1); });
}

bool can_be_kept(const Value& value) {
  Type* type = value.getType();
  return (type->isIntegerTy() && type->getIntegerBitWidth() % 8 == 0) || type->isFloatTy() ||
         type->isDoubleTy() || type->isPointerTy();
}

// What the code behind the cut uses of the code before it.
SetVector<Instruction*> needed_behind(const cut& at) {
  SetVector<Instruction*> needed;
  for (BasicBlock* block : at.after) {
    for (Instruction& inst : *block) {
      if (block == at.block && isa<PHINode>(inst)) {
        if (!inst.use_empty()) {
          needed.insert(&inst);
        }
        continue;
      }
      for (Value* operand : inst.operands()) {
        auto* from = dyn_cast<Instruction>(operand);
        if (from && !at.after.contains(from->getParent())) {
          needed.insert(from);
        }
      }
    }
  }
  return needed;
}

Value* word(IRBuilder<>& builder, StringRef name) {
  Module& module = *builder.GetInsertBlock()->getModule();
  return builder.CreateCall(builtin_function(module, name, builder.getInt32Ty()));
}

Value* memory_of(IRBuilder<>& builder, unsigned number, Type* type, Value* place) {
  Module& module = *builder.GetInsertBlock()->getModule();
  Value* memory =
      builder.CreateCall(builtin_function(module, memory_name(number), builder.getPtrTy()));
  return builder.CreateInBoundsGEP(type, memory, place);
}

// What only the other part needs must not keep this one from being joined.
void drop_unused(Function& function) {
  EliminateUnreachableBlocks(function);
  bool again = true;
  while (again) {
    again = false;
    for (Instruction& inst : make_early_inc_range(instructions(function))) {
      if (isInstructionTriviallyDead(&inst)) {
        inst.eraseFromParent();
        again = true;
      }
    }
  }
}

// The start ends at the cut, and leaves what is needed.
Function* make_start(Function& body, const cut& at, ArrayRef<Instruction*> kept) {
  ValueToValueMapTy map;
  Function* start = CloneFunction(&body, map);
  auto* end = cast<BasicBlock>(map[at.block]);
  Instruction* behind = end->getFirstNonPHI();
  BasicBlock* dropped = end->splitBasicBlock(behind);
  end->getTerminator()->eraseFromParent();
  IRBuilder<> builder(end);
  Value* place = builder.CreateZExt(word(builder, "__sb_start_place"), builder.getInt64Ty());
  for (auto [number, value] : enumerate(kept)) {
    builder.CreateStore(map[value], memory_of(builder, number, value->getType(), place));
  }
  builder.CreateRetVoid();
  drop_unused(*dropped->getParent());
  return start;
}

// The rest starts at the cut, with what was left.
class rest_builder {
 public:
  rest_builder(Function& body, const cut& at) {
    rest_ = CloneFunction(&body, map_);
    begin_ = BasicBlock::Create(rest_->getContext(), "rest", rest_, &rest_->getEntryBlock());
    at_ = cast<BasicBlock>(map_[at.block]);
    builder_ = std::make_unique<IRBuilder<>>(begin_);
  }

  Function* build(ArrayRef<Instruction*> kept, ArrayRef<Instruction*> again) {
    DenseMap<Instruction*, Value*> values;
    Value* place = row_place();
    for (auto [number, value] : enumerate(kept)) {
      Type* type = value->getType();
      values[value] = builder_->CreateLoad(type, memory_of(*builder_, number, type, place));
    }
    for (Instruction* value : again) {
      values[value] = make_again(value);
    }
    builder_->CreateBr(at_);
    for (auto [value, fresh] : values) {
      auto* old = cast<Instruction>(map_[value]);
      old->replaceAllUsesWith(fresh);
    }
    while (auto* phi = dyn_cast<PHINode>(&at_->front())) {
      phi->replaceAllUsesWith(PoisonValue::get(phi->getType()));
      phi->eraseFromParent();
    }
    drop_unused(*rest_);
    return rest_;
  }

 private:
  // Rows of the block are as long as the row of blocks.
  Value* row_place() {
    auto wide = [&](StringRef name) {
      return builder_->CreateZExt(word(*builder_, name), builder_->getInt64Ty());
    };
    Value* width = wide("__sb_ntid_x");
    Value* row = builder_->CreateNUWMul(width, wide("__sb_row_blocks"));
    Value* line = builder_->CreateNUWAdd(
        wide("__sb_tid_y"), builder_->CreateNUWMul(wide("__sb_ntid_y"), wide("__sb_tid_z")));
    Value* first = builder_->CreateNUWAdd(builder_->CreateNUWMul(width, wide("__sb_row_at")),
                                          builder_->CreateNUWMul(row, line));
    return builder_->CreateNUWAdd(first, wide("__sb_tid_x"));
  }

  Value* make_again(Value* value) {
    auto* inst = dyn_cast<Instruction>(value);
    if (!inst) {
      auto* argument = dyn_cast<Argument>(value);
      return argument ? rest_->getArg(argument->getArgNo()) : value;
    }
    if (Value* made = made_.lookup(inst)) {
      return made;
    }
    Instruction* copy = inst->clone();
    for (Use& operand : copy->operands()) {
      operand.set(isa<Function>(operand) ? operand.get() : make_again(operand));
    }
    copy->dropDbgRecords();
    copy->setDebugLoc(DebugLoc());
    builder_->Insert(copy);
    return made_[inst] = copy;
  }

  ValueToValueMapTy map_;
  Function* rest_ = nullptr;
  BasicBlock* begin_ = nullptr;
  BasicBlock* at_ = nullptr;
  std::unique_ptr<IRBuilder<>> builder_;
  DenseMap<Instruction*, Value*> made_;
};

void replace_calls(Function& function, StringRef name, function_ref<Value*(IRBuilder<>&)> make) {
  for (Instruction& inst : make_early_inc_range(instructions(function))) {
    auto* call = dyn_cast<CallInst>(&inst);
    if (call && call->getCalledFunction() && call->getCalledFunction()->getName() == name) {
      IRBuilder<> builder(call);
      call->replaceAllUsesWith(make(builder));
      call->eraseFromParent();
    }
  }
}

}  // namespace

kernel_parts split_start(Function& body) {
  cut at = find_cut(body);
  if (!at.block) {
    return {};
  }
  SmallVector<Instruction*, 8> kept, again;
  for (Instruction* value : needed_behind(at)) {
    bool is_again = !isa<PHINode>(value) && can_be_made_again(value);
    if (isa<AllocaInst>(value) || (!is_again && !can_be_kept(*value))) {
      return {};
    }
    (is_again ? again : kept).push_back(value);
  }
  if (kept.empty() || kept.size() > most_kept) {
    return {};
  }
  kernel_parts parts;
  for (Instruction* value : kept) {
    parts.kept.push_back(value->getType());
  }
  parts.start = make_start(body, at, kept);
  parts.rest = rest_builder(body, at).build(kept, again);
  return parts;
}

void bind_start(Function& start) {
  replace_calls(start, "__sb_start_place",
                [](IRBuilder<>& builder) { return word(builder, "__sb_linear_tid"); });
}

Function* put_together(const kernel& kernel, const kernel_parts& parts, Function& start,
                       Function& rest) {
  Function* both = create_entry(kernel);
  IRBuilder<> builder(BasicBlock::Create(both->getContext(), "entry", both));
  builder.SetCurrentDebugLocation(attach_debug_info(*both, kernel));
  Value* count = builder.getInt64(1);
  for (const char* name : {"__sb_ntid_x", "__sb_ntid_y", "__sb_ntid_z", "__sb_row_blocks"}) {
    Value* size = builder.CreateZExt(word(builder, name), builder.getInt64Ty());
    count = builder.CreateNUWMul(count, size);
  }
  SmallVector<Value*, 4> memory;
  for (Type* type : parts.kept) {
    auto* array = builder.CreateAlloca(type, count, "start");
    array->setAlignment(Align(64));  // arrays begin on cache lines
    memory.push_back(array);
  }
  CallInst* calls[] = {builder.CreateCall(&start, {both->getArg(0), both->getArg(1)}),
                       builder.CreateCall(&rest, {both->getArg(0), both->getArg(1)})};
  builder.CreateRetVoid();
  for (CallInst* call : calls) {
    InlineFunctionInfo info;
    InlineFunction(*call, info);
  }
  for (unsigned i = 0; i < memory.size(); ++i) {
    replace_calls(*both, memory_name(i), [&](IRBuilder<>&) { return memory[i]; });
  }
  start.eraseFromParent();
  rest.eraseFromParent();
  return both;
}

}  // namespace sb::pass
