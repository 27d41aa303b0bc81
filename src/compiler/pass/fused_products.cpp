#include "compiler/pass/fused_products.hpp"

#include <llvm/ADT/STLExtras.h>
#include <llvm/Analysis/LoopInfo.h>
#include <llvm/IR/IRBuilder.h>
#include <llvm/IR/InstIterator.h>
#include <llvm/IR/Module.h>
#include <llvm/IR/Operator.h>
#include <llvm/IR/PatternMatch.h>
#include <llvm/Transforms/Utils/Local.h>

namespace sb::pass {

using namespace llvm;

namespace {

// A sum that rounds once: whichever sides have their signs changed.
struct fused_sum {
  Instruction* sum = nullptr;
  BinaryOperator* product = nullptr;
  unsigned other = 0;  // the operand that it is added to
  bool minus_product = false, minus_other = false;
};

bool is_sum(const Instruction& inst) {
  return (inst.getOpcode() == Instruction::FAdd || inst.getOpcode() == Instruction::FSub) &&
         inst.hasAllowContract();
}

// What is made of it: sums, or its negative, of which sums are made.
bool is_used_by_sums(const Value& value, unsigned depth = 0) {
  return all_of(value.users(), [&](const User* user) {
    auto* inst = dyn_cast<Instruction>(user);
    return inst && (is_sum(*inst) || (inst->getOpcode() == Instruction::FNeg && depth == 0 &&
                                      is_used_by_sums(*inst, 1)));
  });
}

class function_fuser {
 public:
  explicit function_fuser(const LoopInfo& loops) : loops_(loops) {}

  std::vector<fused_sum> find(Function& function) const {
    std::vector<fused_sum> found;
    for (Instruction& inst : instructions(function)) {
      if (!is_sum(inst)) {
        continue;
      }
      for (unsigned side : {0u, 1u}) {
        if (fused_sum one = at_side(inst, side); one.product) {
          found.push_back(one);
          break;
        }
      }
    }
    return found;
  }

 private:
  fused_sum at_side(Instruction& sum, unsigned side) const {
    fused_sum one{.sum = &sum, .other = 1 - side};
    Value* value = sum.getOperand(side);
    const bool subtracts = sum.getOpcode() == Instruction::FSub;
    one.minus_product = subtracts && side == 1;
    one.minus_other = subtracts && side == 0;
    if (Value* inner = nullptr;
        PatternMatch::match(value, PatternMatch::m_FNeg(PatternMatch::m_Value(inner)))) {
      one.minus_product = !one.minus_product;
      value = inner;
    }
    auto* product = dyn_cast<BinaryOperator>(value);
    if (product && product->getOpcode() == Instruction::FMul && product->hasAllowContract() &&
        is_used_by_sums(*product) && !is_made_before_loop(*product, sum)) {
      one.product = product;
    }
    return one;
  }

  // The device's compiler moves it out of the loop, and has it made by then.
  bool is_made_before_loop(const BinaryOperator& product, const Instruction& sum) const {
    const Loop* loop = loops_.getLoopFor(sum.getParent());
    return loop && loop->isLoopInvariant(product.getOperand(0)) &&
           loop->isLoopInvariant(product.getOperand(1));
  }

  const LoopInfo& loops_;
};

void fuse(const fused_sum& one) {
  IRBuilder<> builder(one.sum);
  Value* factor = one.product->getOperand(0);
  Value* other = one.sum->getOperand(one.other);
  if (one.minus_product) {
    factor = builder.CreateFNeg(factor);
  }
  if (one.minus_other) {
    other = builder.CreateFNeg(other);
  }
  Value* fused = builder.CreateIntrinsic(Intrinsic::fma, {one.sum->getType()},
                                         {factor, one.product->getOperand(1), other});
  fused->takeName(one.sum);
  one.sum->replaceAllUsesWith(fused);
  one.sum->eraseFromParent();
}

void forbid_fusing(Function& function) {
  for (Instruction& inst : instructions(function)) {
    if (isa<FPMathOperator>(inst)) {
      inst.setHasAllowContract(false);
    }
  }
}

}  // namespace

void fuse_products(Module& module, FunctionAnalysisManager& analyses) {
  for (Function& function : module) {
    if (function.isDeclaration()) {
      continue;
    }
    auto found = function_fuser(analyses.getResult<LoopAnalysis>(function)).find(function);
    SmallVector<WeakTrackingVH, 16> products;
    for (const fused_sum& one : found) {
      products.push_back(one.product);
      fuse(one);
    }
    RecursivelyDeleteTriviallyDeadInstructionsPermissive(products);
    forbid_fusing(function);
    analyses.invalidate(function, PreservedAnalyses::none());
  }
}

}  // namespace sb::pass
