#include "compiler/pass/uniformity.hpp"

#include <llvm/ADT/SetVector.h>
#include <llvm/ADT/StringSwitch.h>
#include <llvm/Analysis/ValueTracking.h>
#include <llvm/IR/CFG.h>
#include <llvm/IR/IRBuilder.h>
#include <llvm/IR/InstIterator.h>
#include <llvm/IR/PatternMatch.h>

#include "compiler/pass/aligned_warps.hpp"
#include "compiler/pass/convergence.hpp"
#include "compiler/pass/linear_warps.hpp"
#include "compiler/pass/runtime_abi.hpp"
#include "compiler/pass/thread_numbers.hpp"

namespace sb::pass {

using namespace llvm;

namespace {

enum class builtin { none, of_thread, of_row, of_warp, of_block };

builtin builtin_of(const CallBase& call) {
  const Function* callee = call.getCalledFunction();
  if (!callee || !callee->getName().starts_with("__sb_") || called_slot(call)) {
    return builtin::none;
  }
  return StringSwitch<builtin>(callee->getName())
      .Cases("__sb_tid_x", "__sb_laneid", "__sb_linear_tid", "__sb_start_place", builtin::of_thread)
      .Cases("__sb_tid_y", "__sb_tid_z", builtin::of_row)
      .Case("__sb_warpid", builtin::of_warp)
      .StartsWith("__sb_context_", builtin::of_thread)
      .Default(builtin::of_block);
}

bool calls(const Value* value, std::initializer_list<StringRef> names) {
  auto* call = dyn_cast<CallBase>(value);
  const Function* callee = call ? call->getCalledFunction() : nullptr;
  return callee && is_contained(names, callee->getName());
}

const Value* before_extension(const Value* value) {
  while (isa<ZExtInst, SExtInst>(value)) {
    value = cast<Instruction>(value)->getOperand(0);
  }
  return value;
}

// Zero in the first row of a block.
bool counts_rows(const Value* value, unsigned depth = 0) {
  const Value* one = nullptr;
  const Value* other = nullptr;
  value = before_extension(value);
  if (calls(value, {"__sb_tid_y", "__sb_tid_z"})) {
    return true;
  }
  if (depth < 4 && PatternMatch::match(value, PatternMatch::m_Add(PatternMatch::m_Value(one),
                                                                  PatternMatch::m_Value(other)))) {
    return counts_rows(one, depth + 1) && counts_rows(other, depth + 1);
  }
  return depth < 4 &&
         PatternMatch::match(value, PatternMatch::m_Mul(PatternMatch::m_Value(one),
                                                        PatternMatch::m_Value(other))) &&
         (counts_rows(one, depth + 1) || counts_rows(other, depth + 1));
}

// The threads in the rows above this thread's: rows times the block's width. A multiple of 32 where
// warps lie in one row each.
bool counts_threads_above(const Value* value) {
  const Value* one = nullptr;
  const Value* other = nullptr;
  value = before_extension(value);
  if (PatternMatch::match(
          value, PatternMatch::m_Add(PatternMatch::m_Value(one), PatternMatch::m_Value(other)))) {
    return counts_threads_above(one) && counts_threads_above(other);
  }
  SmallVector<const Value*, 4> factors = {value};
  bool width = false;
  bool rows = false;
  for (unsigned i = 0; i < factors.size() && i < 8; ++i) {
    factors[i] = before_extension(factors[i]);
    if (PatternMatch::match(factors[i], PatternMatch::m_Mul(PatternMatch::m_Value(one),
                                                            PatternMatch::m_Value(other)))) {
      factors.append({one, other});
    } else {
      width |= calls(factors[i], {"__sb_ntid_x"});
      rows |= counts_rows(factors[i]);
    }
  }
  return width && rows;
}

// A number that grows by one from lane to lane and is a multiple of 32 in the first of them.
enum class lane_count { none, wraps, plain };  // it may be negative; never

// The thread's x, or its linear index, or one of these behind whole warps.
lane_count counts_lanes(const Value* value, warp_shape warps) {
  value = before_extension(value);
  if (calls(value, {"__sb_linear_tid"}) || (!warps.is_linear && calls(value, {"__sb_tid_x"}))) {
    return lane_count::plain;
  }
  const Value* one = nullptr;
  const Value* other = nullptr;
  if (!PatternMatch::match(
          value, PatternMatch::m_CombineOr(
                     PatternMatch::m_Add(PatternMatch::m_Value(one), PatternMatch::m_Value(other)),
                     PatternMatch::m_DisjointOr(PatternMatch::m_Value(one),
                                                PatternMatch::m_Value(other))))) {
    return lane_count::none;
  }
  auto is_behind = [&](const Value* before) {
    return counts_whole_warps(before, warps) ||
           (!warps.is_linear && counts_threads_above(before) && is_of_row(before));
  };
  if (!is_behind(other)) {
    std::swap(one, other);
  }
  lane_count counts = is_behind(other) ? counts_lanes(one, warps) : lane_count::none;
  if (counts == lane_count::none) {
    return counts;
  }
  bool is_first_of_its_kind = calls(before_extension(one), {"__sb_tid_x", "__sb_linear_tid"});
  bool is_plain = most_of(value) || (counts == lane_count::plain && warps.is_aligned &&
                                     is_first_of_its_kind && counts_threads_before(other));
  return is_plain ? lane_count::plain : lane_count::wraps;
}

// `if (t / 32 == 2)`, as LLVM writes it for a `t` with a sign: `t - 64 < 32`, and for none
// `t + 31 < 63`. Numbers that are not negative are in such a range with their whole warp, or
// without.
bool compares_whole_warps(const Instruction& inst, warp_shape warps) {
  CmpInst::Predicate predicate;
  const Value* number = nullptr;
  const APInt* shift = nullptr;
  const APInt* size = nullptr;
  if (!PatternMatch::match(&inst,
                           PatternMatch::m_ICmp(predicate,
                                                PatternMatch::m_Add(PatternMatch::m_Value(number),
                                                                    PatternMatch::m_APInt(shift)),
                                                PatternMatch::m_APInt(size))) ||
      (predicate != CmpInst::ICMP_ULT && predicate != CmpInst::ICMP_UGT)) {
    return false;
  }
  // Below the size, or not.
  APInt end = predicate == CmpInst::ICMP_ULT ? *size : *size + 1;
  return shift->isStrictlyPositive() && end.sgt(*shift) && (end - *shift).countr_zero() >= 5 &&
         counts_lanes(number, warps) == lane_count::plain;
}

// Cut off or compared at a multiple of 32, such a number is the same for all lanes.
bool is_same_in_warp(const Instruction& inst, warp_shape warps) {
  const APInt* number = nullptr;
  if (inst.getNumOperands() != 2 ||
      !PatternMatch::match(inst.getOperand(1), PatternMatch::m_APInt(number))) {
    return false;
  }
  lane_count counts = counts_lanes(inst.getOperand(0), warps);
  if (counts == lane_count::none) {
    return compares_whole_warps(inst, warps);
  }
  if (inst.getOpcode() == Instruction::And) {
    return number->countr_zero() >= 5;
  }
  if (number->getActiveBits() > 32) {
    return false;
  }
  std::uint64_t value = number->getZExtValue();
  switch (inst.getOpcode()) {
    case Instruction::LShr:
    case Instruction::AShr:
      return value >= 5;
    case Instruction::UDiv:
      return value % 32 == 0;
    case Instruction::SDiv:
      return value % 32 == 0 && counts == lane_count::plain;
    case Instruction::ICmp:
      switch (cast<ICmpInst>(inst).getPredicate()) {
        case CmpInst::ICMP_ULT:
        case CmpInst::ICMP_SLT:
        case CmpInst::ICMP_UGE:
        case CmpInst::ICMP_SGE:
          return value % 32 == 0;
        case CmpInst::ICMP_ULE:
        case CmpInst::ICMP_SLE:
        case CmpInst::ICMP_UGT:
        case CmpInst::ICMP_SGT:
          return (value + 1) % 32 == 0;
        default:
          return false;
      }
    default:
      return false;
  }
}

// What such a number leaves of 32.
bool is_lane(const Instruction& inst, warp_shape warps) {
  const APInt* number = nullptr;
  unsigned kind = inst.getOpcode();
  bool cuts = kind == Instruction::And || kind == Instruction::URem || kind == Instruction::SRem;
  if (!cuts || !PatternMatch::match(inst.getOperand(1), PatternMatch::m_APInt(number)) ||
      *number != (kind == Instruction::And ? 31 : 32)) {
    return false;
  }
  lane_count counts = counts_lanes(inst.getOperand(0), warps);
  return counts == lane_count::plain || (counts == lane_count::wraps && kind != Instruction::SRem);
}

constexpr StringLiteral team_memory_mark = "sb.team";
constexpr StringLiteral same_in_warp_mark = "sb.same.in.warp";

bool has_barrier(const BasicBlock& block) {
  return any_of(block, [](const Instruction& inst) {
    auto* call = dyn_cast<CallBase>(&inst);
    return call && called_slot(*call) == slot::barrier;
  });
}

// All lanes of the warp, from one of them.
bool takes_from_lane(const CallBase& shuffle) {
  auto is = [&](unsigned argument, std::uint32_t number) {
    auto* given = dyn_cast<ConstantInt>(shuffle.getArgOperand(argument));
    return given && given->getZExtValue() == number;
  };
  return is(0, ~0u) && is(1, static_cast<std::uint32_t>(abi::shuffle_kind::index)) && is(4, 32);
}

// From the one that every warp has.
bool takes_from_first(const CallBase& shuffle) {
  auto* lane = dyn_cast<ConstantInt>(shuffle.getArgOperand(3));
  return takes_from_lane(shuffle) && lane && lane->isZero();
}

// Whether all lanes bring the same.
bool asks_for_all(const CallBase& match) {
  auto* all = dyn_cast<ConstantInt>(match.getArgOperand(1));
  return all && !all->isZero();
}

}  // namespace

bool knows_warps(const Function& function) {
  warp_shape warps = warp_shape_of(function);
  warps.is_aligned = true;
  return any_of(instructions(function),
                [&](const Instruction& inst) { return is_same_in_warp(inst, warps); });
}

bool knows_more_if_aligned(const Function& function) {
  const warp_shape any = {false, false}, aligned = {false, true};
  return !has_linear_warps(function) &&
         any_of(instructions(function), [&](const Instruction& inst) {
           return is_same_in_warp(inst, aligned) && !is_same_in_warp(inst, any);
         });
}

namespace {

// What such a number is in the warp's first lane.
Value* in_first_lane(IRBuilder<>& builder, Value* value) {
  auto* inst = dyn_cast<Instruction>(value);
  if (calls(value, {"__sb_tid_x", "__sb_linear_tid"})) {
    StringRef name = calls(value, {"__sb_tid_x"}) ? first_tid_name : first_linear_tid_name;
    return builder.CreateCall(builtin_function(*inst->getModule(), name, inst->getType()));
  }
  if (!inst || (!isa<CastInst>(inst) && inst->getOpcode() != Instruction::Add &&
                inst->getOpcode() != Instruction::Or)) {
    return value;
  }
  SmallVector<Value*, 2> operands;
  for (Value* operand : inst->operands()) {
    operands.push_back(in_first_lane(builder, operand));
  }
  Instruction* fresh = inst->clone();
  fresh->dropDbgRecords();
  fresh->dropPoisonGeneratingFlags();
  for (unsigned i = 0; i < operands.size(); ++i) {
    fresh->setOperand(i, operands[i]);
  }
  return builder.Insert(fresh);
}

}  // namespace

void name_lanes(Function& function) {
  warp_shape warps = warp_shape_of(function);
  for (Instruction& inst : make_early_inc_range(instructions(function))) {
    IRBuilder<> builder(&inst);
    if (is_same_in_warp(inst, warps)) {
      inst.setOperand(0, in_first_lane(builder, inst.getOperand(0)));
    } else if (is_lane(inst, warps)) {
      auto lane = builtin_function(*function.getParent(), "__sb_laneid", builder.getInt32Ty());
      inst.replaceAllUsesWith(builder.CreateZExtOrTrunc(builder.CreateCall(lane), inst.getType()));
      inst.eraseFromParent();
    }
  }
}

void mark_team_memory(AllocaInst& memory) {
  memory.setMetadata(team_memory_mark, MDNode::get(memory.getContext(), {}));
}

bool is_team_memory(const Instruction& inst) {
  return isa<AllocaInst>(inst) && inst.hasMetadata(team_memory_mark);
}

void mark_same_in_warp(LoadInst& load) {
  load.setMetadata(same_in_warp_mark, MDNode::get(load.getContext(), {}));
}

bool is_warp_meeting(const Instruction& inst) {
  auto* call = dyn_cast<CallBase>(&inst);
  return call && call->getCalledFunction() &&
         call->getCalledFunction()->getName() == warp_meeting_name;
}

bool reads_constant(const LoadInst& load) {
  if (!load.isSimple()) {
    return false;
  }
  auto* argument = dyn_cast<Argument>(getUnderlyingObject(load.getPointerOperand()));
  return load.hasMetadata(LLVMContext::MD_invariant_load) ||
         (argument && argument->hasNoAliasAttr() && argument->onlyReadsMemory());
}

bool reads_parameter(const LoadInst& load) {
  return reads_constant(load) &&
         isa<Argument>(load.getPointerOperand()->stripInBoundsConstantOffsets());
}

uniformity::uniformity(Function& function, team team, way_ends ends)
    : team_(team), ends_(ends), warps_(warp_shape_of(function)) {
  for (const BasicBlock& block : function) {
    number_[&block] = static_cast<int>(blocks_.size());
    blocks_.push_back(&block);
  }
  find_meetings();
  for (const Instruction& inst : instructions(function)) {
    if (is_own(inst)) {
      mark(&inst);
    }
  }
  while (!work_.empty()) {
    const Instruction* inst = work_.back();
    work_.pop_back();
    for (const Use& use : inst->uses()) {
      auto* next = dyn_cast<Instruction>(use.getUser());
      if (!next || !depends_on(use)) {
        continue;
      }
      if (next->isTerminator() && next->getNumSuccessors() > 1) {
        part_ways(next->getParent());
      } else if (!is_always_same(*next)) {
        mark(next);
      }
    }
  }
}

void uniformity::find_meetings() {
  int end = static_cast<int>(blocks_.size());  // of threads that return, where others go on
  int root = end + 1;
  successor_lists graph(blocks_.size() + 2);
  graph[end].push_back(root);
  for (const BasicBlock* block : blocks_) {
    auto& next = graph[number_[block]];
    if (ends_ != way_ends::returns && has_barrier(*block)) {
      next.push_back(root);
      continue;
    }
    for (const BasicBlock* one : successors(block)) {
      next.push_back(number_[one]);
    }
    if (isa<ReturnInst>(block->getTerminator()) && ends_ != way_ends::barriers) {
      next.push_back(end);
    }
  }
  meeting_ = immediate_post_dominators(graph, root);
}

bool uniformity::branches_together(const BasicBlock* block) const {
  const Instruction* end = block->getTerminator();
  if (auto* branch = dyn_cast<BranchInst>(end)) {
    return branch->isUnconditional() || is_uniform(branch->getCondition());
  }
  if (auto* choice = dyn_cast<SwitchInst>(end)) {
    return is_uniform(choice->getCondition());
  }
  return end->getNumSuccessors() <= 1;
}

const BasicBlock* uniformity::meeting_of(const BasicBlock* block) const {
  int number = meeting_[number_.lookup(block)];
  return number >= 0 && number < static_cast<int>(blocks_.size()) ? blocks_[number] : nullptr;
}

bool uniformity::is_always_same(const Instruction& inst) const {
  auto* call = dyn_cast<CallBase>(&inst);
  auto which = call ? called_slot(*call) : std::nullopt;
  if (team_ == team::warp) {
    return is_warp_meeting(inst) || is_same_in_warp(inst, warps_) ||
           (isa<LoadInst>(inst) && inst.hasMetadata(same_in_warp_mark));
  }
  return which && *which == slot::barrier;
}

// What lanes that ask together are told.
bool uniformity::is_answer(const Instruction& inst) const {
  auto* call = ends_ != way_ends::returns ? dyn_cast<CallBase>(&inst) : nullptr;
  auto which = call ? called_slot(*call) : std::nullopt;
  return which == slot::vote || which == slot::reduce || which == slot::active_mask ||
         which == slot::shuffle || (which == slot::match && asks_for_all(*call));
}

// Votes, sums and matches of all are the same for lanes that name the same lanes, and a shuffle for
// lanes that give the same, or take from the same one if that is there: the first one always is, as
// long as none has returned, and the others are where no warp has fewer lanes.
bool uniformity::depends_on(const Use& use) const {
  auto* call = ends_ != way_ends::returns ? dyn_cast<CallBase>(use.getUser()) : nullptr;
  if (!call || !is_answer(*call)) {
    return true;
  }
  if (*called_slot(*call) != slot::shuffle) {
    return use.getOperandNo() == 0;
  }
  bool from_one = ends_ == way_ends::barriers_and_returns &&
                  (takes_from_first(*call) || (warps_.is_aligned && takes_from_lane(*call)));
  return use.getOperandNo() == (from_one ? 3 : 2);
}

bool uniformity::is_own(const Instruction& inst) const {
  if (auto* load = dyn_cast<LoadInst>(&inst)) {
    return !load->isSimple();
  }
  if (auto* call = dyn_cast<CallBase>(&inst)) {
    if (auto which = called_slot(*call)) {
      return *which != slot::barrier && *which != slot::sm_id && !is_answer(inst);
    }
    if (is_warp_meeting(inst)) {
      return team_ != team::warp;
    }
    switch (builtin_of(*call)) {
      case builtin::of_thread:
        return true;
      case builtin::of_row:
        return team_ == team::block || warps_.is_linear;
      case builtin::of_warp:
        return team_ == team::block;
      case builtin::of_block:
        return false;
      case builtin::none:
        break;
    }
    return !call->doesNotAccessMemory() && !call->getType()->isVoidTy();
  }
  if (is_team_memory(inst)) {
    return false;
  }
  return isa<AllocaInst, AtomicRMWInst, AtomicCmpXchgInst, VAArgInst>(inst);
}

void uniformity::mark(const Instruction* inst) {
  if (divergent_.insert(inst).second) {
    work_.push_back(inst);
  }
}

// The threads go on by different ways until these meet. What the ways decide is each thread's own:
// which value a phi takes, and, where a loop is left, which round a value comes from.
void uniformity::part_ways(const BasicBlock* block) {
  const BasicBlock* meeting = meeting_of(block);
  SmallSetVector<const BasicBlock*, 16> between;
  for (const BasicBlock* next : successors(block)) {
    if (next != meeting) {
      between.insert(next);
    }
  }
  for (unsigned i = 0; i < between.size(); ++i) {
    for (const BasicBlock* next : successors(between[i])) {
      if (next != meeting) {
        between.insert(next);
      }
    }
  }
  for (const BasicBlock* one : between) {
    for (const PHINode& phi : one->phis()) {
      mark(&phi);
    }
    if (parted_.insert(one).second) {
      for (const Instruction& inst : *one) {
        auto* load = dyn_cast<LoadInst>(&inst);
        if ((load && !reads_constant(*load)) || is_answer(inst)) {
          mark(&inst);
        }
      }
    }
  }
  if (!meeting) {
    return;
  }
  for (const PHINode& phi : meeting->phis()) {
    const Value* only = nullptr;
    bool same = true;
    for (unsigned i = 0; i < phi.getNumIncomingValues(); ++i) {
      const BasicBlock* way = phi.getIncomingBlock(i);
      if (way != block && !between.contains(way)) {
        continue;
      }
      const Value* value = phi.getIncomingValue(i);
      auto* inst = dyn_cast<Instruction>(value);
      same &= (!only || only == value) && !(inst && between.contains(inst->getParent()));
      only = value;
    }
    if (!same) {
      mark(&phi);
    }
  }
}

}  // namespace sb::pass
