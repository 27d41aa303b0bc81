#include "compiler/pass/fused_products.hpp"

#include <llvm/ADT/STLExtras.h>
#include <llvm/IR/IRBuilder.h>
#include <llvm/IR/InstIterator.h>
#include <llvm/IR/Operator.h>

namespace sb::pass {

using namespace llvm;

namespace {

bool can_be_fused(const Value* value, const Instruction& sum) {
  auto* product = dyn_cast<BinaryOperator>(value);
  return product && product->getOpcode() == Instruction::FMul && product->hasAllowContract() &&
         product->hasOneUse() && product->getParent() == sum.getParent();
}

bool has_a_choice(const Instruction& inst) {
  bool is_sum = inst.getOpcode() == Instruction::FAdd || inst.getOpcode() == Instruction::FSub;
  return is_sum && inst.hasAllowContract() && can_be_fused(inst.getOperand(0), inst) &&
         can_be_fused(inst.getOperand(1), inst);
}

}  // namespace

PreservedAnalyses fuse_products::run(Function& function, FunctionAnalysisManager&) {
  bool changed = false;
  for (Instruction& inst : make_early_inc_range(instructions(function))) {
    if (!has_a_choice(inst)) {
      continue;
    }
    auto* left = cast<Instruction>(inst.getOperand(0));
    IRBuilder<> builder(&inst);
    builder.setFastMathFlags(inst.getFastMathFlags());
    Value* right = inst.getOperand(1);
    if (inst.getOpcode() == Instruction::FSub) {
      right = builder.CreateFNeg(right);
    }
    Value* fused =
        builder.CreateIntrinsic(Intrinsic::fmuladd, {inst.getType()},
                                {left->getOperand(0), left->getOperand(1), right}, &inst);
    fused->takeName(&inst);
    inst.replaceAllUsesWith(fused);
    inst.eraseFromParent();
    left->eraseFromParent();
    changed = true;
  }
  if (!changed) {
    return PreservedAnalyses::all();
  }
  PreservedAnalyses kept;
  kept.preserveSet<CFGAnalyses>();
  return kept;
}

}  // namespace sb::pass
