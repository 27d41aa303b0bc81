#include "compiler/pass/instruction_costs.hpp"

#include <llvm/ADT/StringSwitch.h>
#include <llvm/IR/Constants.h>
#include <llvm/IR/Instructions.h>
#include <llvm/IR/IntrinsicInst.h>

#include "compiler/pass/alignment.hpp"
#include "compiler/pass/operation_counts.hpp"
#include "compiler/pass/runtime_abi.hpp"
#include "compiler/pass/shifts.hpp"

namespace sb::pass {

using namespace llvm;

namespace {

// In steps of an addition (h200/rates.tsv: chain.*, follow.shared, shuffles.chain).
constexpr unsigned barrier_issued = 9;
constexpr unsigned shared_steps = 6, local_steps = 8, warp_steps = 6, double_steps = 2;
// By parts: below, what a function of a wider type takes more.
constexpr unsigned wide_division = 70, narrow_division = 28, constant_division = 4;

struct function_cost {
  unsigned issued, special, steps;
};

// Of single precision, as the device's own code for them (h200/rates.tsv: full.*).
function_cost single_function(StringRef name) {
  return StringSwitch<function_cost>(name)
      .Cases("sin", "cos", {29, 0, 27})
      .Cases("sincos", "sinpi", "cospi", {40, 0, 29})
      .Cases("exp", "exp2", "exp10", {8, 1, 14})
      .Cases("log", "log2", "log10", "log1p", {31, 0, 20})
      .Case("pow", {82, 2, 45})
      .Case("sqrt", {13, 1, 16})
      .Cases("tanh", "sinh", "cosh", {19, 2, 25})
      .Cases("fmod", "remainder", {45, 1, 40})
      .Default({30, 1, 25});
}

// The quick ones (__sinf): an instruction for special functions, and what brings its argument into
// range.
function_cost quick_function(StringRef name) {
  return StringSwitch<function_cost>(name)
      .Cases("sin", "cos", {2, 1, 5})
      .Case("tan", {7, 3, 12})
      .Case("tanh", {1, 1, 4})
      .Cases("exp", "exp10", {5, 1, 7})
      .Case("exp2", {4, 1, 6})
      .Cases("log", "log10", {5, 1, 7})
      .Case("log2", {4, 1, 6})
      .Case("pow", {9, 2, 13})
      .Default(single_function(name));
}

// Of double precision: instructions of its own pipe.
function_cost double_function(StringRef name) {
  return StringSwitch<function_cost>(name)
      .Case("sqrt", {15, 1, 24})
      .Cases("exp", "exp2", "exp10", {23, 0, 36})
      .Cases("sin", "cos", {33, 0, 40})
      .Cases("log", "log2", "log10", {35, 1, 45})
      .Case("pow", {85, 1, 100})
      .Default({35, 1, 45});
}

instruction_cost arithmetic(const Type* type) {
  const Type* scalar = type->getScalarType();
  if (scalar->isDoubleTy()) return {.issued = 1, .fp64 = 1, .steps = double_steps};
  if (scalar->isFloatTy()) return {.issued = 1, .fp32 = 1, .steps = 1};
  return {.issued = 1, .steps = 1};
}

// Marked as the quick variant of a function (fast_math_functions.h).
bool is_quick(const Instruction& inst) {
  return isa<FPMathOperator>(inst) && inst.getType()->isFloatTy() && inst.hasAllowReciprocal();
}

instruction_cost function(StringRef name, const Type* type, bool quick) {
  if (type->getScalarType()->isDoubleTy()) {
    const function_cost f = double_function(name);
    return {.issued = f.issued + f.issued / 3,
            .fp64 = f.issued,
            .special = f.special,
            .steps = f.steps};
  }
  const function_cost f = quick ? quick_function(name) : single_function(name);
  return {.issued = f.issued,
          .fp32 = f.issued / 2,
          .special = f.special,
          .steps = f.steps,
          .branches = name == "sqrt" && !quick};
}

bool is_root(const Value* value) {
  auto* call = dyn_cast<CallBase>(value);
  const Function* callee = call ? call->getCalledFunction() : nullptr;
  return callee && (callee->getName().starts_with("llvm.sqrt") || callee->getName() == "sqrtf");
}

bool is_one(const Value* value) {
  auto* number = dyn_cast<ConstantFP>(value);
  return number && number->isExactlyValue(1.0);
}

instruction_cost division(const Instruction& inst) {
  if (inst.getType()->getScalarType()->isDoubleTy()) {
    return {.issued = 19, .fp64 = 14, .special = 1, .steps = 24};
  }
  // 1 / sqrt(x) is an instruction, whose root is free.
  if (is_one(inst.getOperand(0)) && is_root(inst.getOperand(1))) {
    return {.issued = 4, .fp32 = 2, .special = 1, .steps = 10};
  }
  if (is_quick(inst)) {  // a reciprocal, and a product
    return {.issued = 2, .fp32 = 1, .special = 1, .steps = 5};
  }
  return {.issued = 17, .fp32 = 9, .special = 1, .steps = 18, .branches = true};
}

unsigned words(const Type* type) {
  return type->isIntegerTy() && type->getIntegerBitWidth() > 32 ? 2 : 1;
}

bool is_bits(const Instruction& inst) {
  return inst.getOpcode() == Instruction::And || inst.getOpcode() == Instruction::Or ||
         inst.getOpcode() == Instruction::Xor;
}

instruction_cost integer(const Instruction& inst) {
  const unsigned parts = words(inst.getType());
  bool constant = isa<Constant>(inst.getOperand(1));
  switch (inst.getOpcode()) {
    case Instruction::UDiv:
    case Instruction::SDiv:
    case Instruction::URem:
    case Instruction::SRem: {
      const unsigned all = constant     ? constant_division
                           : parts == 2 ? wide_division
                                        : narrow_division;
      return {.issued = all, .logic = all / 3, .special = constant ? 0u : 1u, .steps = all * 2 / 3};
    }
    case Instruction::Mul:
      return joins_its_user(inst)
                 ? instruction_cost{}
                 : instruction_cost{.issued = parts == 2 ? 3u : 1u, .steps = parts};
    case Instruction::Add:
    case Instruction::Sub:
      return {.issued = parts, .steps = parts};
    case Instruction::Shl:
      return joins_its_user(inst) ? instruction_cost{}
                                  : instruction_cost{.issued = parts, .steps = 1};
    case Instruction::And:
    case Instruction::Or:
    case Instruction::Xor:
      if (joins_its_user(inst)) {
        return {};
      }
      [[fallthrough]];
    default:
      return {.issued = parts, .logic = parts, .steps = 1};
  }
}

instruction_cost called(const CallBase& call) {
  if (auto which = lowered_slot(call)) {
    if (*which == slot::barrier || is_convergent(*which)) {
      bool barrier = *which == slot::barrier;
      return {.issued = barrier ? barrier_issued : 1, .steps = barrier ? 0 : warp_steps};
    }
    return {};
  }
  const Function* callee = call.getCalledFunction();
  if (callee && is_texture_instruction(*callee)) {
    return {.issued = 1, .loads = true};
  }
  if (!callee || !callee->isDeclaration() || call.isDebugOrPseudoInst() ||
      call.isLifetimeStartOrEnd()) {
    return {};
  }
  StringRef name = callee->getName();
  name = callee->isIntrinsic() ? name.drop_front(5).split('.').first : name;
  name.consume_front("__streambed_");
  const Type* type = call.getType();
  if (type->isFPOrFPVectorTy()) {
    if (type->isFloatTy() && !callee->isIntrinsic() && name.ends_with("f")) {
      name = name.drop_back();
    }
    if (is_root(&call) && call.hasOneUse() && call.user_back()->getOpcode() == Instruction::FDiv &&
        is_one(call.user_back()->getOperand(0))) {
      return {};
    }
    auto simple = StringSwitch<int>(name)
                      .Cases("fma", "fmuladd", "fmin", "fmax", "minnum", "maxnum", 1)
                      .Cases("floor", "ceil", "trunc", "rint", "nearbyint", "round", "roundeven", 2)
                      .Cases("fabs", "copysign", "canonicalize", 0)
                      .Default(-1);
    if (simple == 0) return {};
    if (simple == 1) return arithmetic(type);
    if (simple == 2) return {.issued = 1, .special = 1, .steps = 4};
    return function(name, type, is_quick(call));
  }
  if (name == "fptosi" || name == "fptoui") {
    return {.issued = 1, .special = 1, .steps = 4};
  }
  if (callee->isIntrinsic() && type->isIntOrIntVectorTy() && call.doesNotAccessMemory()) {
    return {.issued = words(type), .logic = words(type), .steps = 1};
  }
  return {};
}

instruction_cost access(const Value* pointer, bool result) {
  switch (space_of(pointer)) {
    case space::own:
      return {};
    case space::constant:
      return {.steps = 1};  // an operand
    case space::shared:
      return {.issued = 1, .steps = result ? shared_steps : 0};
    case space::local:
      return {.issued = 1, .steps = result ? local_steps : 0};
    case space::global:
      return {.issued = 1, .loads = result};
  }
  return {};
}

}  // namespace

bool joins_its_user(const Instruction& inst) {
  if (!inst.hasOneUse()) {
    return false;
  }
  auto* user = dyn_cast<Instruction>(inst.user_back());
  if (!user || user->getParent() != inst.getParent()) {
    return false;
  }
  if (is_bits(inst)) {
    return is_bits(*user);
  }
  if (inst.getOpcode() == Instruction::FMul) {
    bool adds = user->getOpcode() == Instruction::FAdd || user->getOpcode() == Instruction::FSub;
    return adds && inst.hasAllowContract() && user->hasAllowContract();
  }
  bool shifts = inst.getOpcode() == Instruction::Shl || inst.getOpcode() == Instruction::Mul;
  return shifts && (user->getOpcode() == Instruction::Add || isa<GetElementPtrInst>(user));
}

instruction_cost cost_of(const Instruction& inst) {
  if (is_alignment_mark(inst) || clamps_shift(inst)) {
    return {};
  }
  if (auto* load = dyn_cast<LoadInst>(&inst)) {
    return access(load->getPointerOperand(), true);
  }
  if (auto* store = dyn_cast<StoreInst>(&inst)) {
    return access(store->getPointerOperand(), false);
  }
  if (isa<AtomicRMWInst, AtomicCmpXchgInst>(inst)) {
    return access(inst.getOperand(0), !inst.use_empty());
  }
  if (auto* call = dyn_cast<CallBase>(&inst)) {
    return called(*call);
  }
  if (auto* address = dyn_cast<GetElementPtrInst>(&inst)) {
    // Constant parts are in the access itself.
    bool computed = !address->hasAllConstantIndices();
    return {.issued = computed ? 1u : 0u, .steps = computed ? 1u : 0u};
  }
  if (auto* branch = dyn_cast<BranchInst>(&inst)) {
    return {.issued = branch->isConditional() ? 1u : 0u};
  }
  if (isa<CmpInst>(inst)) {
    const Type* operand = inst.getOperand(0)->getType();
    if (operand->isDoubleTy()) {
      return arithmetic(operand);
    }
    return {.issued = words(operand), .logic = words(operand), .steps = 1};
  }
  if (inst.getOpcode() == Instruction::FDiv || inst.getOpcode() == Instruction::FRem) {
    return division(inst);
  }
  if (inst.getOpcode() == Instruction::FNeg) {
    return {};  // a sign of the next operand
  }
  if (inst.isBinaryOp()) {
    if (!inst.getType()->isFPOrFPVectorTy()) {
      return integer(inst);
    }
    return joins_its_user(inst) ? instruction_cost{} : arithmetic(inst.getType());
  }
  if (isa<SelectInst, SIToFPInst, UIToFPInst>(inst)) {
    return {.issued = 1, .logic = 1, .steps = 1};
  }
  if (isa<FPToSIInst, FPToUIInst>(inst)) {
    return {.issued = 1, .special = 1, .steps = 4};
  }
  if (isa<FPExtInst, FPTruncInst>(inst)) {
    return {.issued = 1, .special = 1, .steps = 4};
  }
  return {};
}

}  // namespace sb::pass
