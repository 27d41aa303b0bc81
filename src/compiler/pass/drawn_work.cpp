#include "compiler/pass/drawn_work.hpp"

#include <llvm/ADT/SetVector.h>
#include <llvm/Analysis/ValueTracking.h>
#include <llvm/IR/InstIterator.h>
#include <llvm/IR/IntrinsicInst.h>
#include <llvm/IR/Module.h>
#include <llvm/IR/PatternMatch.h>

#include "compiler/pass/runtime_abi.hpp"

namespace sb::pass {

using namespace llvm;
using namespace llvm::PatternMatch;

namespace {

constexpr unsigned deepest = 8;

// Memory that an instruction reads or writes; no address if it is none of one place.
struct place {
  const Value* address = nullptr;
  std::int64_t bytes = 0;
};

place place_of(const Instruction& inst, const DataLayout& layout) {
  auto at = [&](const Value* address, Type* type) {
    return place{address, static_cast<std::int64_t>(layout.getTypeStoreSize(type))};
  };
  if (auto* load = dyn_cast<LoadInst>(&inst)) {
    return at(load->getPointerOperand(), load->getType());
  }
  if (auto* store = dyn_cast<StoreInst>(&inst)) {
    return at(store->getPointerOperand(), store->getValueOperand()->getType());
  }
  if (auto* update = dyn_cast<AtomicRMWInst>(&inst)) {
    return at(update->getPointerOperand(), update->getType());
  }
  if (auto* exchange = dyn_cast<AtomicCmpXchgInst>(&inst)) {
    return at(exchange->getPointerOperand(), exchange->getCompareOperand()->getType());
  }
  return {};
}

// Both lie at constant distances from one address, beside each other.
bool are_apart(const place& one, const place& other, const DataLayout& layout) {
  std::int64_t first = 0, second = 0;
  return GetPointerBaseWithConstantOffset(one.address, first, layout) ==
             GetPointerBaseWithConstantOffset(other.address, second, layout) &&
         (first + one.bytes <= second || second + other.bytes <= first);
}

bool are_one_place(const Value* one, const Value* other, const DataLayout& layout) {
  std::int64_t first = 0, second = 0;
  return GetPointerBaseWithConstantOffset(one, first, layout) ==
             GetPointerBaseWithConstantOffset(other, second, layout) &&
         first == second;
}

// Two variables. What parameters point to may be one object, and a variable.
bool are_two_objects(const Value* one, const Value* other) {
  return one != other && isa<GlobalVariable, AllocaInst>(one) &&
         isa<GlobalVariable, AllocaInst>(other);
}

// A sum of what nobody knows, or of numbers that no counter is made of.
bool is_sum(const Instruction& inst) {
  auto* update = dyn_cast<AtomicRMWInst>(&inst);
  return update &&
         (update->isFloatingPointOperation() || (update->getOperation() == AtomicRMWInst::Add &&
                                                 !isa<ConstantInt>(update->getValOperand())));
}

bool is_one_object(const Value* one, const Value* other, const DataLayout& layout) {
  auto* load = dyn_cast<LoadInst>(one);
  auto* second = dyn_cast<LoadInst>(other);
  return one == other ||
         (load && second &&
          are_one_place(load->getPointerOperand(), second->getPointerOperand(), layout));
}

// By a vote of a warp, or of a block at a barrier: what is so for all that draw is so for all whom
// it matters for.
Value* what_is_asked(Value* answer) {
  auto* call = dyn_cast<CallBase>(answer);
  auto which = call ? called_slot(*call) : std::nullopt;
  Value* asked = nullptr;
  if (which == slot::vote) {
    auto* kind = dyn_cast<ConstantInt>(call->getArgOperand(1));
    const auto uniform = static_cast<std::uint64_t>(abi::vote_kind::uniform);
    asked = kind && kind->getZExtValue() != uniform ? call->getArgOperand(2) : nullptr;
  } else if (which == slot::barrier) {
    asked = call->getArgOperand(1);
  }
  Value* condition = nullptr;
  return asked && match(asked, m_ZExt(m_Value(condition))) && condition->getType()->isIntegerTy(1)
             ? condition
             : nullptr;
}

bool counts_something(const CallBase& call) {
  const Function* callee = call.getCalledFunction();
  if (!callee) {
    return false;
  }
  if (auto* bits = dyn_cast<IntrinsicInst>(&call);
      bits && bits->getIntrinsicID() == Intrinsic::ctpop) {
    // Who asks which lanes are here is one of them.
    auto* mask = dyn_cast<CallBase>(bits->getArgOperand(0));
    return mask && called_slot(*mask) == slot::active_mask;
  }
  return callee->getName().starts_with("__sb_ntid_") ||
         callee->getName().starts_with("__sb_nctaid_");
}

}  // namespace

std::optional<drawn_work::way> drawn_work::way_of(const Value* step, unsigned depth) {
  if (auto* number = dyn_cast<ConstantInt>(step)) {
    return number->isZero() ? std::nullopt
                            : std::optional(number->isNegative() ? way::down : way::up);
  }
  if (auto* call = dyn_cast<CallBase>(step)) {
    return counts_something(*call) ? std::optional(way::up) : std::nullopt;
  }
  auto* inst = dyn_cast<Instruction>(step);
  if (!inst || depth == deepest) {
    return std::nullopt;
  }
  if (isa<ZExtInst, SExtInst, TruncInst, FreezeInst>(inst) ||
      (inst->getOpcode() == Instruction::Shl && isa<ConstantInt>(inst->getOperand(1)))) {
    return way_of(inst->getOperand(0), depth + 1);
  }
  if (match(inst, m_Neg(m_Value()))) {
    auto other = way_of(inst->getOperand(1), depth + 1);
    return other ? std::optional(back_from(*other)) : std::nullopt;
  }
  if (inst->getOpcode() != Instruction::Mul && inst->getOpcode() != Instruction::Add) {
    return std::nullopt;
  }
  auto one = way_of(inst->getOperand(0), depth + 1);
  auto other = way_of(inst->getOperand(1), depth + 1);
  if (!one || !other) {
    return std::nullopt;
  }
  if (inst->getOpcode() == Instruction::Mul) {
    return *one == *other ? way::up : way::down;
  }
  return *one == *other ? one : std::nullopt;
}

// The only way in which it can move what it updates.
std::optional<drawn_work::way> drawn_work::way_of(const AtomicRMWInst& update) {
  switch (update.getOperation()) {
    case AtomicRMWInst::Add:
      return way_of(update.getValOperand());
    case AtomicRMWInst::Sub: {
      auto step = way_of(update.getValOperand());
      return step ? std::optional(back_from(*step)) : std::nullopt;
    }
    case AtomicRMWInst::Max:
    case AtomicRMWInst::UMax:
      return way::up;
    case AtomicRMWInst::Min:
    case AtomicRMWInst::UMin:
      return way::down;
    default:
      return std::nullopt;
  }
}

// A plain store is none to a counter from which others draw at the same time, unless it says so;
// nor is a sum, by another name.
bool drawn_work::may_write_counter(const Instruction& inst) const {
  const DataLayout& layout = draw_->getModule()->getDataLayout();
  const place written = place_of(inst, layout), counter = place_of(*draw_, layout);
  const bool is_plain = isa<StoreInst>(inst) && cast<StoreInst>(inst).isSimple();
  const Value* one = getUnderlyingObject(written.address, 0);
  const Value* other = getUnderlyingObject(counter.address, 0);
  if (!is_one_object(one, other, layout)) {
    return !is_plain && !is_sum(inst) && !are_two_objects(one, other);
  }
  return is_plain ? are_one_place(written.address, counter.address, layout)
                  : !are_apart(written, counter, layout);
}

bool drawn_work::moves_back(const Instruction& inst) const {
  if (&inst == draw_ || !inst.mayWriteToMemory() || isa<FenceInst>(inst)) {
    return false;
  }
  // What only looks, and the engine, write to no counter.
  if (auto* call = dyn_cast<CallBase>(&inst)) {
    return isa<MemIntrinsic>(call) || !(isa<IntrinsicInst>(call) || called_slot(*call));
  }
  auto* update = dyn_cast<AtomicRMWInst>(&inst);
  const bool moves_on = update && way_of(*update) == way_;
  return !moves_on && !isa<LoadInst>(inst) && may_write_counter(inst);
}

bool drawn_work::is_written(const LoadInst& load) const {
  const DataLayout& layout = draw_->getModule()->getDataLayout();
  const place read = place_of(load, layout);
  const Value* object = getUnderlyingObject(read.address, 0);
  return any_of(loop_.blocks(), [&](const BasicBlock* block) {
    return any_of(*block, [&](const Instruction& inst) {
      const place written = place_of(inst, layout);
      return written.address && !isa<LoadInst>(inst) &&
             is_one_object(getUnderlyingObject(written.address, 0), object, layout) &&
             !are_apart(written, read, layout);
    });
  });
}

// The same in every turn, as far as the loop itself goes.
bool drawn_work::is_fixed(const Value* value, unsigned depth) const {
  auto* inst = dyn_cast<Instruction>(value);
  if (!inst || !loop_.contains(inst)) {
    return true;
  }
  if (depth == deepest) {
    return false;
  }
  if (auto* load = dyn_cast<LoadInst>(inst)) {
    return load->isSimple() && is_fixed(load->getPointerOperand(), depth + 1) && !is_written(*load);
  }
  auto* call = dyn_cast<CallBase>(inst);
  if (!isa<CastInst, BinaryOperator, GetElementPtrInst, CmpInst, SelectInst, FreezeInst>(inst) &&
      !(call && call->doesNotAccessMemory() && !call->isConvergent())) {
    return false;
  }
  return all_of(inst->operands(),
                [&](const Use& operand) { return is_fixed(operand.get(), depth + 1); });
}

// Fills `ways_`.
bool drawn_work::meets_before_next_draw(const BasicBlock* block) {
  ways_.clear();
  SmallVector<const BasicBlock*, 16> open = {draw_->getParent()};
  while (!open.empty()) {
    const BasicBlock* from = open.pop_back_val();
    for (const BasicBlock* to : successors(from)) {
      if (!loop_.contains(to) || !ways_.insert({from, to}).second || to == block) {
        continue;
      }
      if (to == draw_->getParent()) {
        return false;
      }
      open.push_back(to);
    }
  }
  return true;
}

bool drawn_work::depends_on_draw(const Value* value) const {
  SmallSetVector<const Value*, 16> reached;
  reached.insert(value);
  for (unsigned i = 0; i < reached.size(); ++i) {
    auto* inst = dyn_cast<Instruction>(reached[i]);
    if (inst == draw_) {
      return true;
    }
    if (inst && loop_.contains(inst)) {
      reached.insert(inst->op_begin(), inst->op_end());
    }
  }
  return false;
}

// What is cut off is more than a step, so that the rest moves as well.
bool drawn_work::keeps_step(const Instruction& cast) const {
  auto* step = dyn_cast<ConstantInt>(draw_->getValOperand());
  const unsigned bits = cast.getType()->getIntegerBitWidth();
  return !isa<TruncInst>(cast) || (step ? step->getValue().isSignedIntN(bits) : bits >= 32);
}

// It grows as what was drawn does. Of two operands one has to be: which one is clear, so that
// whatever was looked at twice is in the chain, and a round of phis is what comes into it.
bool drawn_work::is_drawn(const Value* value) {
  auto* inst = dyn_cast<Instruction>(value);
  if (inst == draw_ || (inst && !followed_.insert(inst).second)) {
    return true;
  }
  if (!inst || !loop_.contains(inst)) {
    return false;
  }
  if (isa<ZExtInst, SExtInst, TruncInst, FreezeInst>(inst)) {
    return keeps_step(*inst) && is_drawn(inst->getOperand(0));
  }
  if (auto* phi = dyn_cast<PHINode>(inst)) {
    return is_drawn_in_all_ways(*phi);
  }
  if (auto* call = dyn_cast<CallBase>(inst)) {
    return called_slot(*call) == slot::shuffle && is_drawn(call->getArgOperand(2)) &&
           none_of(call->args(), [&](const Use& argument) {
             return call->getArgOperandNo(&argument) != 2 && depends_on_draw(argument.get());
           });
  }
  if (!isa<BinaryOperator>(inst)) {
    return false;
  }
  const Value* one = inst->getOperand(0);
  const Value* other = inst->getOperand(1);
  const DataLayout& layout = draw_->getModule()->getDataLayout();
  // The number of a lane, of a thread.
  auto is_small = [&](const Value* part) {
    KnownBits known = computeKnownBits(part, layout);
    return known.countMinLeadingZeros() + 16 >= known.getBitWidth();
  };
  auto adds_little = [&](const Value* part) { return is_fixed(part) || is_small(part); };
  switch (inst->getOpcode()) {
    case Instruction::Add:
    case Instruction::Or:
      if (inst->getOpcode() == Instruction::Or && !cast<PossiblyDisjointInst>(inst)->isDisjoint()) {
        return false;
      }
      return (adds_little(other) && is_drawn(one)) ||
             (!adds_little(other) && adds_little(one) && is_drawn(other));
    case Instruction::Sub:
      return adds_little(other) && is_drawn(one);
    case Instruction::Shl:
    case Instruction::AShr:
      return isa<ConstantInt>(other) && is_drawn(one);
    case Instruction::UDiv:
    case Instruction::LShr:
      return is_fixed(other) && is_drawn(one);
    case Instruction::SDiv:
      return way_of(other) == way::up && is_fixed(other) && is_drawn(one);
    case Instruction::Mul:
      return way_of(other) == way::up ? is_drawn(one) : way_of(one) == way::up && is_drawn(other);
    default:
      return false;
  }
}

bool drawn_work::is_drawn_in_all_ways(const PHINode& phi) {
  bool any = false;
  for (unsigned i = 0; i < phi.getNumIncomingValues(); ++i) {
    if (ways_.contains({phi.getIncomingBlock(i), phi.getParent()})) {
      any = true;
      if (!is_drawn(phi.getIncomingValue(i))) {
        return false;
      }
    }
  }
  return any;
}

// Whoever goes this way is out of the loop, at once or because a flag says so behind it.
bool drawn_work::leaves(const BasicBlock* from, const BasicBlock* to, unsigned depth) const {
  if (!loop_.contains(to)) {
    return true;
  }
  const Instruction* end = to->getTerminator();
  const BasicBlock* next = to->getSingleSuccessor();
  auto* branch = dyn_cast<BranchInst>(end);
  auto* choice = dyn_cast<SwitchInst>(end);
  const Value* flag = choice                              ? choice->getCondition()
                      : branch && branch->isConditional() ? branch->getCondition()
                                                          : nullptr;
  auto* phi = dyn_cast_or_null<PHINode>(flag);
  auto* known = phi && phi->getParent() == to
                    ? dyn_cast<ConstantInt>(phi->getIncomingValueForBlock(from))
                    : nullptr;
  if (known) {
    next = choice ? choice->findCaseValue(known)->getCaseSuccessor()
                  : branch->getSuccessor(known->isZero() ? 1 : 0);
  }
  return next && to != loop_.getHeader() && depth < deepest && leaves(to, next, depth + 1);
}

// Where `condition` is `holds` the loop is left, sooner or later, because of what was drawn.
bool drawn_work::is_past_end(Value* condition, bool holds) {
  Value *one = nullptr, *other = nullptr;
  if (match(condition, m_Not(m_Value(one)))) {
    return is_past_end(one, !holds);
  }
  if (holds ? match(condition, m_LogicalOr(m_Value(one), m_Value(other)))
            : match(condition, m_LogicalAnd(m_Value(one), m_Value(other)))) {
    return is_past_end(one, holds) || is_past_end(other, holds);
  }
  auto* comparison = dyn_cast<ICmpInst>(condition);
  if (comparison && comparison->isEquality() && match(comparison->getOperand(1), m_Zero())) {
    Value* asked = what_is_asked(comparison->getOperand(0));
    return asked && is_past_end(asked, holds == (comparison->getPredicate() == CmpInst::ICMP_NE));
  }
  if (!comparison || !comparison->isRelational()) {
    return false;
  }
  CmpInst::Predicate predicate =
      holds ? comparison->getPredicate() : comparison->getInversePredicate();
  const Value* drawn = comparison->getOperand(0);
  const Value* end = comparison->getOperand(1);
  if (is_fixed(drawn)) {
    std::swap(drawn, end);
    predicate = CmpInst::getSwappedPredicate(predicate);
  }
  bool is_up = ICmpInst::isGT(predicate) || ICmpInst::isGE(predicate);
  while (match(drawn, m_Sub(m_Value(one), m_Value(other))) && is_fixed(one)) {
    drawn = other;
    is_up = !is_up;
  }
  followed_.clear();
  return is_up == (way_ == way::up) && is_fixed(end) && is_drawn(drawn);
}

// Elsewhere in the kernel. A search may have an end that is never reached, because whoever finds
// something moves the counter there: those who draw have to let it. A small step is no such end.
bool drawn_work::moves_to_end(const Instruction& inst) const {
  if (loop_.contains(&inst) || !inst.mayWriteToMemory() || isa<FenceInst, LoadInst>(inst)) {
    return false;
  }
  if (auto* call = dyn_cast<CallBase>(&inst)) {
    return !(isa<IntrinsicInst>(call) || called_slot(*call));
  }
  if (auto* store = dyn_cast<StoreInst>(&inst); store && store->isSimple()) {
    return false;
  }
  auto* update = dyn_cast<AtomicRMWInst>(&inst);
  const bool steps = update && (update->getOperation() == AtomicRMWInst::Add ||
                                update->getOperation() == AtomicRMWInst::Sub);
  auto* number = steps ? dyn_cast<ConstantInt>(update->getValOperand()) : nullptr;
  constexpr unsigned small_bits = 16;
  const bool is_small =
      number ? number->getValue().isSignedIntN(small_bits) : steps && way_of(*update).has_value();
  return !is_small && may_write_counter(inst);
}

bool drawn_work::begin(const AtomicRMWInst& draw) {
  const bool adds =
      draw.getOperation() == AtomicRMWInst::Add || draw.getOperation() == AtomicRMWInst::Sub;
  if (!adds || match(draw.getValOperand(), m_Zero())) {
    return false;
  }
  draw_ = &draw;
  way_ = way_of(draw).value_or(way::up);
  return is_fixed(draw.getPointerOperand()) &&
         none_of(loop_.blocks(),
                 [&](BasicBlock* block) {
                   return any_of(*block, [&](const Instruction& inst) { return moves_back(inst); });
                 }) &&
         none_of(instructions(draw.getFunction()),
                 [&](const Instruction& inst) { return moves_to_end(inst); });
}

bool drawn_work::ends_by(const AtomicRMWInst& draw) {
  if (!begin(draw) || !way_of(draw)) {
    return false;
  }
  return any_of(loop_.blocks(), [&](const BasicBlock* block) {
    auto* branch = dyn_cast<BranchInst>(block->getTerminator());
    if (!branch || branch->isUnconditional()) {
      return false;
    }
    const bool if_so = leaves(block, branch->getSuccessor(0));
    const bool if_not = leaves(block, branch->getSuccessor(1));
    return if_so != if_not && meets_before_next_draw(block) &&
           is_past_end(branch->getCondition(), if_so);
  });
}

bool drawn_work::may_end_by(const AtomicRMWInst& draw) { return begin(draw); }

}  // namespace sb::pass
