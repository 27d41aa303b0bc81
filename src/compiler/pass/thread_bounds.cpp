#include "compiler/pass/thread_bounds.hpp"

#include <llvm/IR/IntrinsicInst.h>
#include <llvm/IR/PatternMatch.h>

#include <optional>

#include "compiler/pass/runtime_abi.hpp"
#include "compiler/pass/uniformity.hpp"

namespace sb::pass {

using namespace llvm;
using namespace llvm::PatternMatch;

namespace {

constexpr unsigned deepest_sum = 12;
constexpr unsigned first_axis = 2;  // among the arguments

bool does_nothing(const Instruction& inst) {
  return isa<DbgInfoIntrinsic, PseudoProbeInst, NoAliasScopeDeclInst>(inst) ||
         !inst.mayHaveSideEffects();
}

// Whether a thread that comes here only leaves.
bool only_leaves(const BasicBlock* block) {
  for (unsigned depth = 0; depth < deepest_sum; ++depth) {
    if (!all_of(*block, does_nothing)) {
      return false;
    }
    if (isa<ReturnInst>(block->getTerminator())) {
      return true;
    }
    block = block->getSingleSuccessor();
    if (!block) {
      return false;
    }
  }
  return false;
}

class bound_finder {
 public:
  bound_finder(IRBuilder<>& builder, Function& thread, ArrayRef<Value*> args)
      : builder_(builder), thread_(thread), args_(args) {}

  thread_bounds find() {
    BasicBlock* block = &thread_.getEntryBlock();
    for (unsigned depth = 0; block && depth < deepest_sum; ++depth) {
      if (!all_of(*block, [](Instruction& inst) {
            return does_nothing(inst) && !inst.isAtomic() && !inst.isVolatile();
          })) {
        break;
      }
      auto* branch = dyn_cast<BranchInst>(block->getTerminator());
      if (!branch) {
        break;
      }
      BasicBlock* next = branch->getSuccessor(0);
      if (branch->isConditional()) {
        bool when = only_leaves(branch->getSuccessor(1));
        if (!when && !only_leaves(branch->getSuccessor(0))) {
          break;
        }
        note(branch->getCondition(), when);
        next = branch->getSuccessor(when ? 0 : 1);
      }
      block = next->getSinglePredecessor() ? next : nullptr;
    }
    return found_;
  }

 private:
  // Whoever has something to do has this condition.
  void note(Value* condition, bool truth, unsigned depth = 0) {
    Value* one = nullptr;
    Value* other = nullptr;
    if (depth == deepest_sum) {
      return;
    }
    if (match(condition, m_Not(m_Value(one)))) {
      note(one, !truth, depth + 1);
    } else if (truth ? match(condition, m_LogicalAnd(m_Value(one), m_Value(other)))
                     : match(condition, m_LogicalOr(m_Value(one), m_Value(other)))) {
      note(one, truth, depth + 1);
      note(other, truth, depth + 1);
    } else if (auto* compare = dyn_cast<ICmpInst>(condition)) {
      compare_with(*compare, truth ? compare->getPredicate() : compare->getInversePredicate());
    }
  }

  void compare_with(ICmpInst& compare, CmpInst::Predicate predicate) {
    Value* left = compare.getOperand(0);
    Value* right = compare.getOperand(1);
    if (!left->getType()->isIntegerTy(32)) {
      return;
    }
    if (is_same_for_all(left)) {
      std::swap(left, right);
      predicate = CmpInst::getSwappedPredicate(predicate);
    }
    auto axis = axis_of(left);
    if (!axis || !is_same_for_all(right)) {
      return;
    }
    axis_bounds& bounds = found_.axis[*axis];
    if (predicate == CmpInst::ICMP_EQ) {
      // One index only, whatever wraps.
      if (!bounds.only) {
        bounds.only = builder_.CreateFreeze(builder_.CreateSub(made(right), rest_of(left)));
      }
      return;
    }
    if (*axis == 0 || left != thread_.getArg(first_axis + *axis)) {
      return;
    }
    Value* limit = nullptr;
    switch (predicate) {
      case CmpInst::ICMP_SLT:
      case CmpInst::ICMP_ULT:
        limit = builder_.CreateFreeze(made(right));
        if (predicate == CmpInst::ICMP_SLT) {
          limit = builder_.CreateBinaryIntrinsic(Intrinsic::smax, limit, builder_.getInt32(0));
        }
        bounds.end =
            bounds.end ? builder_.CreateBinaryIntrinsic(Intrinsic::umin, bounds.end, limit) : limit;
        break;
      case CmpInst::ICMP_SGE:
      case CmpInst::ICMP_UGE:
        limit = builder_.CreateFreeze(made(right));
        if (predicate == CmpInst::ICMP_SGE) {
          limit = builder_.CreateBinaryIntrinsic(Intrinsic::smax, limit, builder_.getInt32(0));
        }
        bounds.begin = bounds.begin
                           ? builder_.CreateBinaryIntrinsic(Intrinsic::umax, bounds.begin, limit)
                           : limit;
        break;
      default:
        break;
    }
  }

  // The axis whose index the value is, with something that is the same for all threads added.
  std::optional<unsigned> axis_of(const Value* value, unsigned depth = 0) {
    for (unsigned axis = 0; axis < 3; ++axis) {
      if (value == thread_.getArg(first_axis + axis)) {
        return axis;
      }
    }
    const Value* one = nullptr;
    const Value* other = nullptr;
    if (depth == deepest_sum || !match(value, m_Add(m_Value(one), m_Value(other)))) {
      return std::nullopt;
    }
    return is_same_for_all(other) ? axis_of(one, depth + 1)
           : is_same_for_all(one) ? axis_of(other, depth + 1)
                                  : std::nullopt;
  }

  // What is added to the index.
  Value* rest_of(Value* value) {
    if (isa<Argument>(value)) {
      return builder_.getInt32(0);
    }
    auto* sum = cast<Instruction>(value);
    bool second = is_same_for_all(sum->getOperand(1));
    return builder_.CreateAdd(made(sum->getOperand(second ? 1 : 0)),
                              rest_of(sum->getOperand(second ? 0 : 1)));
  }

  // Whether the value can be computed before the threads take their turns.
  bool is_same_for_all(const Value* value, unsigned depth = 0) {
    if (isa<Constant>(value)) {
      return true;
    }
    if (auto* argument = dyn_cast<Argument>(value)) {
      return argument->getArgNo() < first_axis ||
             (argument->getArgNo() >= first_axis + 3 && argument->getType()->isIntegerTy() &&
              !isa<PoisonValue>(args_[argument->getArgNo()]));
    }
    auto* inst = cast<Instruction>(value);
    if (depth == deepest_sum || isa<PHINode, AllocaInst, FreezeInst>(inst)) {
      return false;
    }
    if (auto* call = dyn_cast<CallBase>(inst)) {
      return call->arg_empty() && call->getCalledFunction() && !called_slot(*call) &&
             names_block(call->getCalledFunction()->getName());
    }
    auto* load = dyn_cast<LoadInst>(inst);
    bool good = load ? reads_parameter(*load)
                     : (isa<BinaryOperator>(inst) && !inst->isIntDivRem()) ||
                           isa<CastInst, GetElementPtrInst>(inst);
    return good && all_of(inst->operands(),
                          [&](const Use& operand) { return is_same_for_all(operand, depth + 1); });
  }

  static bool names_block(StringRef name) {
    return name.starts_with("__sb_ntid_") || name.starts_with("__sb_ctaid_") ||
           name.starts_with("__sb_nctaid_");
  }

  Value* made(Value* value) {
    if (isa<Constant>(value)) {
      return value;
    }
    if (auto* argument = dyn_cast<Argument>(value)) {
      return args_[argument->getArgNo()];
    }
    Instruction* copy = cast<Instruction>(value)->clone();
    for (Use& operand : copy->operands()) {
      if (!isa<Function>(operand)) {
        operand.set(made(operand));
      }
    }
    copy->dropPoisonGeneratingFlags();
    copy->dropUnknownNonDebugMetadata();
    copy->setDebugLoc(DebugLoc());
    copy->dropDbgRecords();
    return builder_.Insert(copy);
  }

  IRBuilder<>& builder_;
  Function& thread_;
  ArrayRef<Value*> args_;
  thread_bounds found_;
};

}  // namespace

thread_bounds find_thread_bounds(IRBuilder<>& builder, Function& thread, ArrayRef<Value*> args) {
  return bound_finder(builder, thread, args).find();
}

}  // namespace sb::pass
