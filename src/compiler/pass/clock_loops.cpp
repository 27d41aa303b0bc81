#include "compiler/pass/clock_loops.hpp"

#include <llvm/ADT/SetVector.h>
#include <llvm/Analysis/LoopInfo.h>
#include <llvm/IR/Dominators.h>
#include <llvm/IR/IRBuilder.h>
#include <llvm/IR/InstIterator.h>
#include <llvm/IR/IntrinsicInst.h>

#include <cmath>
#include <optional>

#include "compiler/pass/runtime_abi.hpp"

namespace sb::pass {

using namespace llvm;

namespace {

// How a value follows the clock within one iteration: by what factor, if at all. Values from
// earlier iterations are history and stand still.
struct slope {
  double sign = 0;              // +1, -1; 0: does not depend on the clock
  Value* multiplied = nullptr;  // invariant factor (or divisor), only for scaled values
  bool divided = false;
  double constant = 1;
  CallInst* clock = nullptr;

  bool exact() const { return !multiplied && constant == 1; }
};

class clock_slope {
 public:
  explicit clock_slope(const Loop& loop) : loop_(loop) {}

  // Nothing when the dependence is not linear.
  std::optional<slope> of(Value* value) {
    auto* inst = dyn_cast<Instruction>(value);
    if (!inst || !loop_.contains(inst)) {
      return slope{};
    }
    if (reads_clock(*inst)) {
      slope one;
      one.sign = 1;
      one.clock = cast<CallInst>(inst);
      return one;
    }
    if (depth_ > 32) {
      return std::nullopt;
    }
    ++depth_;
    auto result = of_instruction(*inst);
    --depth_;
    return result;
  }

 private:
  std::optional<slope> of_instruction(Instruction& inst) {
    switch (inst.getOpcode()) {
      case Instruction::Trunc:
      case Instruction::SExt:
      case Instruction::ZExt:
      case Instruction::SIToFP:
      case Instruction::UIToFP:
      case Instruction::FPExt:
      case Instruction::FPTrunc:
      case Instruction::Freeze:
        return of(inst.getOperand(0));
      case Instruction::Add:
      case Instruction::FAdd:
      case Instruction::Sub:
      case Instruction::FSub:
        return of_sum(
            inst, inst.getOpcode() == Instruction::Sub || inst.getOpcode() == Instruction::FSub);
      case Instruction::Mul:
      case Instruction::FMul:
      case Instruction::UDiv:
      case Instruction::SDiv:
      case Instruction::FDiv:
      case Instruction::Shl:
      case Instruction::LShr:
      case Instruction::AShr:
        return of_product(inst);
      case Instruction::Select:
        // now > start ? now - start : now + (wrap - start)
        return of_alternatives(inst.getOperand(1), inst.getOperand(2));
      case Instruction::PHI:
        if (inst.getParent() == loop_.getHeader()) {
          return slope{};
        }
        if (inst.getNumOperands() == 2) {
          return of_alternatives(inst.getOperand(0), inst.getOperand(1));
        }
        return inst.getNumOperands() == 1 ? of(inst.getOperand(0)) : std::nullopt;
      case Instruction::Call:
        return of_call(cast<CallInst>(inst));
      default:
        return depends_on_clock(inst) ? std::nullopt : std::optional(slope{});
    }
  }

  std::optional<slope> of_call(CallInst& call) {
    switch (call.getIntrinsicID()) {
      case Intrinsic::fptosi_sat:
      case Intrinsic::fptoui_sat:
        return of(call.getArgOperand(0));
      case Intrinsic::fma:
      case Intrinsic::fmuladd:
      default:
        return depends_on_clock(call) ? std::nullopt : std::optional(slope{});
    }
  }

  std::optional<slope> of_sum(Instruction& inst, bool subtracts) {
    auto left = of(inst.getOperand(0));
    auto right = of(inst.getOperand(1));
    if (!left || !right || (left->sign != 0 && right->sign != 0)) {
      return std::nullopt;
    }
    if (subtracts) {
      right->sign = -right->sign;
    }
    return left->sign != 0 ? left : right;
  }

  std::optional<slope> of_product(Instruction& inst) {
    auto left = of(inst.getOperand(0));
    auto right = of(inst.getOperand(1));
    if (!left || !right || (left->sign != 0 && right->sign != 0)) {
      return std::nullopt;
    }
    if (left->sign == 0 && right->sign == 0) {
      return slope{};
    }
    unsigned opcode = inst.getOpcode();
    bool commutes = opcode == Instruction::Mul || opcode == Instruction::FMul;
    if (left->sign == 0 && !commutes) {
      return std::nullopt;
    }
    slope result = left->sign != 0 ? *left : *right;
    Value* factor = inst.getOperand(left->sign != 0 ? 1 : 0);
    double known = 0;
    if (auto* number = dyn_cast<ConstantInt>(factor)) {
      known = number->getValue().signedRoundToDouble();
    } else if (auto* real = dyn_cast<ConstantFP>(factor)) {
      APFloat wide = real->getValueAPF();
      bool lost = false;
      wide.convert(APFloat::IEEEdouble(), APFloat::rmNearestTiesToEven, &lost);
      known = wide.convertToDouble();
    }
    if (known > 0) {
      switch (opcode) {
        case Instruction::Mul:
        case Instruction::FMul:
          result.constant *= known;
          return result;
        case Instruction::Shl:
          result.constant *= std::ldexp(1.0, int(known));
          return result;
        case Instruction::LShr:
        case Instruction::AShr:
          result.constant /= std::ldexp(1.0, int(known));
          return result;
        default:
          result.constant /= known;
          return result;
      }
    }
    bool shift =
        opcode == Instruction::Shl || opcode == Instruction::LShr || opcode == Instruction::AShr;
    if (known != 0 || shift || result.multiplied || !loop_.isLoopInvariant(factor)) {
      return std::nullopt;
    }
    result.multiplied = factor;
    result.divided = !commutes;
    return result;
  }

  std::optional<slope> of_alternatives(Value* first, Value* second) {
    auto a = of(first);
    auto b = of(second);
    if (!a || !b) {
      return std::nullopt;
    }
    bool same = a->sign == b->sign && a->multiplied == b->multiplied &&
                a->constant == b->constant && a->divided == b->divided;
    return same ? a : std::nullopt;
  }

  bool depends_on_clock(Instruction& inst) {
    for (Value* operand : inst.operands()) {
      auto found = of(operand);
      if (!found || found->sign != 0) {
        return true;
      }
    }
    return false;
  }

  const Loop& loop_;
  unsigned depth_ = 0;
};

bool only_waits(const Loop& loop) {
  for (BasicBlock* block : loop.blocks()) {
    for (Instruction& inst : *block) {
      if (reads_clock(inst) || isa<DbgInfoIntrinsic, LifetimeIntrinsic>(inst)) {
        continue;
      }
      if (inst.mayHaveSideEffects() || inst.isVolatile() || inst.isAtomic()) {
        return false;
      }
    }
  }
  return true;
}

// The loop goes on while `value` (which follows the clock) is on the near side of `limit`.
struct clock_condition {
  Value* value = nullptr;
  Value* limit = nullptr;
  slope follows;
  bool is_signed = false;
  bool reaches = false;  // goes on at equality too
};

std::optional<clock_condition> analyze(const Loop& loop, CmpInst& compare, bool exits_when_true) {
  CmpInst::Predicate predicate =
      exits_when_true ? compare.getInversePredicate() : compare.getPredicate();
  clock_condition result;
  result.value = compare.getOperand(0);
  result.limit = compare.getOperand(1);
  clock_slope slopes(loop);
  auto left = slopes.of(result.value);
  auto right = slopes.of(result.limit);
  if (!left || !right || (left->sign == 0) == (right->sign == 0)) {
    return std::nullopt;
  }
  result.follows = *left;
  if (left->sign == 0) {
    std::swap(result.value, result.limit);
    result.follows = *right;
    predicate = CmpInst::getSwappedPredicate(predicate);
  }
  // The limit may be computed in the loop, or be history; it must not follow the clock.
  bool rising = false;
  switch (predicate) {
    case CmpInst::ICMP_SLT:
    case CmpInst::ICMP_SLE:
    case CmpInst::ICMP_ULT:
    case CmpInst::ICMP_ULE:
    case CmpInst::FCMP_OLT:
    case CmpInst::FCMP_OLE:
    case CmpInst::FCMP_ULT:
    case CmpInst::FCMP_ULE:
      rising = true;
      break;
    case CmpInst::ICMP_SGT:
    case CmpInst::ICMP_SGE:
    case CmpInst::ICMP_UGT:
    case CmpInst::ICMP_UGE:
    case CmpInst::FCMP_OGT:
    case CmpInst::FCMP_OGE:
    case CmpInst::FCMP_UGT:
    case CmpInst::FCMP_UGE:
      break;
    default:
      return std::nullopt;
  }
  if (rising != (result.follows.sign > 0)) {
    return std::nullopt;
  }
  result.is_signed = ICmpInst::isSigned(predicate);
  result.reaches = CmpInst::isNonStrictPredicate(predicate);
  return result;
}

// Cycles until the condition fails, at least one; an i64.
Value* remaining_cycles(IRBuilder<>& builder, const clock_condition& condition) {
  bool rising = condition.follows.sign > 0;
  Value* from = rising ? condition.value : condition.limit;
  Value* to = rising ? condition.limit : condition.value;
  auto* i64 = builder.getInt64Ty();
  Type* type = condition.value->getType();
  if (type->isIntegerTy() && condition.follows.exact()) {
    // The condition says from <= to, so the difference fits the type as an unsigned number.
    Value* distance = builder.CreateZExtOrTrunc(builder.CreateSub(to, from), i64);
    return condition.reaches ? builder.CreateAdd(distance, builder.getInt64(1)) : distance;
  }
  auto* real = builder.getDoubleTy();
  auto as_double = [&](Value* value) {
    if (!value->getType()->isIntegerTy()) {
      return builder.CreateFPCast(value, real);
    }
    return condition.is_signed || value == condition.follows.multiplied
               ? builder.CreateSIToFP(value, real)
               : builder.CreateUIToFP(value, real);
  };
  Value* distance = builder.CreateFSub(as_double(to), as_double(from));
  distance = builder.CreateFDiv(distance, ConstantFP::get(real, condition.follows.constant));
  if (condition.follows.multiplied) {
    Value* factor = as_double(condition.follows.multiplied);
    distance = condition.follows.divided ? builder.CreateFMul(distance, factor)
                                         : builder.CreateFDiv(distance, factor);
  }
  distance = builder.CreateUnaryIntrinsic(Intrinsic::ceil, distance);
  Value* cycles = builder.CreateIntrinsic(Intrinsic::fptoui_sat, {i64, real}, {distance});
  return builder.CreateBinaryIntrinsic(Intrinsic::umax, cycles, builder.getInt64(1));
}

bool solve(Loop& loop, DominatorTree& dominators) {
  BasicBlock* exiting = loop.getExitingBlock();
  BasicBlock* latch = loop.getLoopLatch();
  if (!exiting || !latch || !only_waits(loop)) {
    return false;
  }
  auto* branch = dyn_cast<BranchInst>(exiting->getTerminator());
  if (!branch || !branch->isConditional()) {
    return false;
  }
  auto* compare = dyn_cast<CmpInst>(branch->getCondition());
  if (!compare) {
    return false;
  }
  bool exits_when_true = !loop.contains(branch->getSuccessor(0));
  auto condition = analyze(loop, *compare, exits_when_true);
  if (!condition || !dominators.dominates(condition->follows.clock, latch->getTerminator()) ||
      !dominators.dominates(compare, latch->getTerminator())) {
    return false;
  }
  // On the edge that goes on: split it when the latch itself decides.
  Instruction* where = latch->getTerminator();
  if (exiting == latch) {
    BasicBlock* header = loop.getHeader();
    auto* back = BasicBlock::Create(header->getContext(), "sb.wait", header->getParent());
    IRBuilder<> jump(back);
    jump.SetCurrentDebugLocation(branch->getDebugLoc());
    where = jump.CreateBr(header);
    for (unsigned i = 0; i < 2; ++i) {
      if (branch->getSuccessor(i) == header) {
        branch->setSuccessor(i, back);
      }
    }
    header->replacePhiUsesWith(latch, back);
  }
  IRBuilder<> builder(where);
  CallInst* clock = condition->follows.clock;
  bool timer = *called_slot(*clock) == slot::global_timer;
  Value* now = builder.CreateZExtOrTrunc(clock, builder.getInt64Ty());
  Value* until = builder.CreateAdd(now, remaining_cycles(builder, *condition));
  auto wait =
      runtime_function(*clock->getModule(), timer ? slot::wait_until_timer : slot::wait_until,
                       builder.getVoidTy(), {builder.getInt64Ty()});
  builder.CreateCall(wait, {until});
  return true;
}

}  // namespace

bool reads_clock(const Instruction& inst) {
  auto* call = dyn_cast<CallBase>(&inst);
  auto which = call ? called_slot(*call) : std::nullopt;
  return which && (*which == slot::clock || *which == slot::global_timer);
}

void solve_clock_loops(Module& module, FunctionAnalysisManager& analyses) {
  for (Function& function : module) {
    if (function.isDeclaration() || none_of(instructions(function), reads_clock)) {
      continue;
    }
    bool changed = false;
    auto& dominators = analyses.getResult<DominatorTreeAnalysis>(function);
    auto& loops = analyses.getResult<LoopAnalysis>(function);
    SmallVector<Loop*, 8> all = loops.getLoopsInPreorder();
    for (Loop* loop : all) {
      if (loop->isInnermost()) {
        changed |= solve(*loop, dominators);
      }
    }
    if (changed) {
      analyses.invalidate(function, PreservedAnalyses::none());
    }
  }
}

}  // namespace sb::pass
