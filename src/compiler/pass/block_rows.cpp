#include "compiler/pass/block_rows.hpp"

#include <llvm/IR/DebugInfoMetadata.h>
#include <llvm/IR/IRBuilder.h>
#include <llvm/IR/InstIterator.h>

#include "compiler/pass/runtime_abi.hpp"

namespace sb::pass {

using namespace llvm;

namespace {

// Arrays are made before the loop, with the computation of their sizes.
void move_with_operands(Instruction& inst, BasicBlock& from, Instruction& before) {
  if (inst.getParent() != &from) {
    return;
  }
  for (Value* operand : inst.operands()) {
    if (auto* needed = dyn_cast<Instruction>(operand)) {
      move_with_operands(*needed, from, before);
    }
  }
  inst.moveBefore(&before);
}

}  // namespace

void loop_over_blocks(Function& function) {
  LLVMContext& context = function.getContext();
  Module& module = *function.getParent();
  BasicBlock& body = function.getEntryBlock();
  auto* entry = BasicBlock::Create(context, "row", &function, &body);
  auto* top = BasicBlock::Create(context, "row.block", &function, &body);
  auto* next = BasicBlock::Create(context, "row.next", &function);
  auto* end = BasicBlock::Create(context, "row.end", &function);
  SmallVector<AllocaInst*, 8> memory;
  SmallVector<CallInst*, 8> indices, places;
  SmallVector<ReturnInst*, 4> returns;
  for (Instruction& inst : instructions(function)) {
    auto* call = dyn_cast<CallInst>(&inst);
    if (auto* one = dyn_cast<AllocaInst>(&inst); one && one->getParent() == &body) {
      memory.push_back(one);
    } else if (auto* leaves = dyn_cast<ReturnInst>(&inst)) {
      returns.push_back(leaves);
    } else if (call && call->getCalledFunction() &&
               call->getCalledFunction()->getName() == "__sb_ctaid_x") {
      indices.push_back(call);
    } else if (call && call->getCalledFunction() &&
               call->getCalledFunction()->getName() == "__sb_row_at") {
      places.push_back(call);
    }
  }

  IRBuilder<> builder(entry);
  if (auto* subprogram = function.getSubprogram()) {
    builder.SetCurrentDebugLocation(DILocation::get(context, subprogram->getLine(), 0, subprogram));
  }
  auto word = [&](StringRef name) -> Value* {
    return builder.CreateCall(builtin_function(module, name, builder.getInt32Ty()));
  };
  Value* first = word("__sb_ctaid_x");
  Value* blocks = word("__sb_row_blocks");
  Value* block = load_field(builder, builder.getPtrTy(), function.getArg(1),
                            offsetof(abi::thread_context, block), "sb.block", true);
  Value* at = builder.CreateConstInBoundsGEP1_64(builder.getInt8Ty(), block,
                                                 offsetof(abi::block_context, row_at));
  Instruction* start = builder.CreateBr(top);
  for (AllocaInst* one : memory) {
    move_with_operands(*one, body, *start);
  }

  builder.SetInsertPoint(top);
  auto* number = builder.CreatePHI(builder.getInt32Ty(), 2, "row.at");
  number->addIncoming(builder.getInt32(0), entry);
  builder.CreateStore(number, at)->setNoSanitizeMetadata();  // the engine's, not the program's
  Value* index = builder.CreateNUWAdd(first, number, "ctaid");
  builder.CreateBr(&body);
  builder.SetInsertPoint(next);
  Value* following = builder.CreateNUWAdd(number, builder.getInt32(1));
  number->addIncoming(following, next);
  builder.CreateCondBr(builder.CreateICmpULT(following, blocks), top, end);
  builder.SetInsertPoint(end);
  builder.CreateRetVoid();

  for (ReturnInst* leaves : returns) {
    BranchInst::Create(next, leaves->getParent());
    leaves->eraseFromParent();
  }
  for (CallInst* call : indices) {
    call->replaceAllUsesWith(IRBuilder<>(call).CreateZExtOrTrunc(index, call->getType()));
    call->eraseFromParent();
  }
  for (CallInst* call : places) {
    call->replaceAllUsesWith(number);
    call->eraseFromParent();
  }
}

}  // namespace sb::pass
