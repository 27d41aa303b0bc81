#include "compiler/pass/stride_loops.hpp"

#include <llvm/ADT/SmallSet.h>
#include <llvm/Analysis/LoopInfo.h>
#include <llvm/Analysis/ValueTracking.h>
#include <llvm/IR/CFG.h>
#include <llvm/IR/Dominators.h>
#include <llvm/IR/IRBuilder.h>
#include <llvm/IR/PatternMatch.h>
#include <llvm/Transforms/Utils/BasicBlockUtils.h>
#include <llvm/Transforms/Utils/Cloning.h>

#include <memory>

#include "compiler/pass/joined_blocks.hpp"
#include "compiler/pass/processor.hpp"
#include "compiler/pass/reading_ahead.hpp"
#include "compiler/pass/stride_matching.hpp"
#include "compiler/pass/thread_extent.hpp"

namespace sb::pass {

using namespace llvm;
using namespace llvm::PatternMatch;

namespace {

constexpr std::size_t largest_sum = 16;
constexpr std::uint64_t line_bytes = 64;
constexpr unsigned most_streams = 4;
constexpr unsigned deepest_step = 8;

// The value, computed where the builder stands; null if it depends on more than what was there
// before the loop.
Value* before_round(IRBuilder<>& builder, Value* value, const Loop& loop, unsigned depth = 0) {
  auto* inst = dyn_cast<Instruction>(value);
  if (!inst || !loop.contains(inst)) {
    return value;
  }
  auto* load = dyn_cast<LoadInst>(inst);
  if (isa<PHINode>(inst) || depth == deepest_step ||
      !(isSafeToSpeculativelyExecute(inst) || (load && reads_constant(*load)))) {
    return nullptr;
  }
  SmallVector<Value*, 4> operands;
  for (Value* operand : inst->operands()) {
    Value* made = before_round(builder, operand, loop, depth + 1);
    if (!made) {
      return nullptr;
    }
    operands.push_back(made);
  }
  Instruction* fresh = inst->clone();
  for (unsigned i = 0; i < operands.size(); ++i) {
    fresh->setOperand(i, operands[i]);
  }
  fresh->dropDbgRecords();
  return builder.Insert(fresh);
}

// What comes to the index in `index + 256`, which is the same for all threads: zero for the index
// itself. Null if the place is something else, or that of a neighbour, whose lines others ask for.
Value* added_to_index(IRBuilder<>& builder, Value* place, const stride_loop& found,
                      const uniformity& uniform) {
  if (place == found.index) {
    return ConstantInt::get(place->getType(), 0);
  }
  Value* one = nullptr;
  bool adds = match(place, m_c_Add(m_Specific(found.index), m_Value(one)));
  auto* number = dyn_cast_or_null<ConstantInt>(one);
  adds = adds && !(number && number->getValue().abs().ult(line_bytes));
  return adds && uniform.is_uniform(one) ? before_round(builder, one, *found.loop) : nullptr;
}

// Loads of elements side by side, as the next round will do them.
void mark_later_loads(const stride_loop& found, const uniformity& uniform, BasicBlock* body,
                      Value* index) {
  const DataLayout& layout = body->getModule()->getDataLayout();
  IRBuilder<> builder(body, body->getFirstInsertionPt());
  Value* step = before_round(builder, found.step, *found.loop);
  if (!step) {
    return;
  }
  Value* later = nullptr;
  SmallSet<std::pair<Value*, Value*>, 4> places;
  for (BasicBlock* block : found.loop->blocks()) {
    for (Instruction& inst : *block) {
      auto* load = dyn_cast<LoadInst>(&inst);
      auto* address = load ? dyn_cast<GEPOperator>(load->getPointerOperand()) : nullptr;
      if (!address || address->getNumIndices() != 1) {
        continue;
      }
      Value* base = address->getPointerOperand();
      Value* at = address->getOperand(1);
      Value* plain = isa<SExtInst, ZExtInst>(at) ? cast<Instruction>(at)->getOperand(0) : at;
      std::uint64_t size = layout.getTypeAllocSize(address->getSourceElementType());
      if (!uniform.is_uniform(base) || size == 0 || size > line_bytes ||
          places.size() == most_streams || places.contains({base, plain})) {
        continue;
      }
      Value* more = added_to_index(builder, plain, found, uniform);
      places.insert({base, plain});
      base = more ? before_round(builder, base, *found.loop) : nullptr;
      if (!base) {
        continue;
      }
      if (!later) {
        later = builder.CreateAdd(index, step);
      }
      Value* there = builder.CreateAdd(later, more);
      Value* wide = isa<SExtInst>(at)   ? builder.CreateSExt(there, at->getType())
                    : isa<ZExtInst>(at) ? builder.CreateZExt(there, at->getType())
                                        : there;
      mark_ahead(builder, builder.CreateGEP(address->getSourceElementType(), base, wide),
                 static_cast<unsigned>(line_bytes / size));
    }
  }
}

// In the common rounds nothing wraps between the threads: an index that is extended is that of the
// first thread, extended, and the thread's own.
void extend_plainly(const stride_loop& found, const uniformity& uniform, Value* index, Value* low,
                    ArrayRef<BasicBlock*> rounds) {
  Value* thread = counting_thread(found, uniform);
  if (!thread || thread->getType() != found.start->getType()) {
    return;
  }
  bool is_signed = CmpInst::isSigned(found.condition.predicate);
  for (User* user : make_early_inc_range(index->users())) {
    auto* extends = dyn_cast<CastInst>(user);
    if (!extends || !is_contained(rounds, extends->getParent()) ||
        extends->getOpcode() != (is_signed ? Instruction::SExt : Instruction::ZExt)) {
      continue;
    }
    IRBuilder<> builder(extends);
    Value* first = builder.CreateCast(extends->getOpcode(), low, extends->getType());
    Value* own = builder.CreateZExt(thread, extends->getType());
    extends->replaceAllUsesWith(builder.CreateAdd(first, own, "", !is_signed, true));
  }
}

// One round of the loop, again.
struct round_copy {
  ValueToValueMapTy map;
  SmallVector<BasicBlock*, 8> blocks;
  BasicBlock* first = nullptr;
  BasicBlock* back = nullptr;  // where it ends; without a terminator

  Value* of(Value* value) const {
    auto at = map.find(value);
    return at != map.end() ? static_cast<Value*>(at->second) : value;
  }
};

// `variable` says what the loop's variables are in this round.
void copy_round(const Loop& loop, BasicBlock* before, round_copy& copy,
                function_ref<Value*(PHINode&)> variable) {
  for (BasicBlock* block : loop.blocks()) {
    BasicBlock* fresh = CloneBasicBlock(block, copy.map, ".common", before->getParent());
    fresh->moveBefore(before);
    copy.map[block] = fresh;
    copy.blocks.push_back(fresh);
  }
  copy.first = cast<BasicBlock>(copy.map[loop.getHeader()]);
  copy.back = cast<BasicBlock>(copy.map[loop.getLoopLatch()]);
  for (PHINode& phi : loop.getHeader()->phis()) {
    cast<PHINode>(copy.map[&phi])->eraseFromParent();
    copy.map[&phi] = variable(phi);
  }
  remapInstructionsInBlocks(copy.blocks, copy.map);
  copy.back->getTerminator()->eraseFromParent();
}

using loop_variables = MapVector<PHINode*, PHINode*>;  // and what they are in the common rounds

// Reads, and changes nothing but its own variables.
bool only_adds_up(const Loop& loop) {
  std::size_t size = 0;
  bool reads = false;
  for (BasicBlock* block : loop.blocks()) {
    for (Instruction& inst : *block) {
      auto* load = dyn_cast<LoadInst>(&inst);
      reads |= load != nullptr;
      if ((load && !load->isSimple()) || inst.mayHaveSideEffects() ||
          (!load && inst.mayReadOrWriteMemory()) || ++size > largest_sum) {
        return false;
      }
    }
  }
  return reads && loop.getNumBlocks() == 1;
}

// How many rounds of a sum go together, each of which reads elsewhere. On a Neoverse N1 (and the
// core that it comes from) rounds of one grid tend to share places of the first cache, and one at a
// time is best; a V1 is quicker by half with four.
unsigned rounds_together() { return is_neoverse_n1() ? 1 : 4; }

// Some rounds, one behind the other.
struct several_rounds {
  std::vector<std::unique_ptr<round_copy>> rounds;
  SmallVector<Value*, 4> sums, indices;  // where each begins
  Value* next = nullptr;                 // and the one behind them
  BasicBlock* first = nullptr;
  BasicBlock* back = nullptr;

  void make(const stride_loop& found, BasicBlock* top, BasicBlock* before, Value* index, Value* sum,
            const loop_variables& variables) {
    IRBuilder<> builder(top);
    Value* step = before_round(builder, found.step, *found.loop);
    unsigned count = rounds_together();
    if (!step || count < 2) {
      return;
    }
    for (unsigned i = 0; i < count; ++i) {
      sums.push_back(i == 0 ? sum : builder.CreateAdd(sums.back(), step));
      indices.push_back(i == 0 ? index : builder.CreateAdd(found.start, sums.back()));
      const round_copy* last = i == 0 ? nullptr : rounds.back().get();
      auto round = std::make_unique<round_copy>();
      copy_round(*found.loop, before, *round, [&](PHINode& phi) -> Value* {
        return &phi == found.index ? indices.back()
               : last ? last->of(phi.getIncomingValueForBlock(found.loop->getLoopLatch()))
                      : variables.lookup(&phi);
      });
      if (last) {
        BranchInst::Create(round->first, last->back);
      }
      rounds.push_back(std::move(round));
    }
    next = builder.CreateAdd(sums.back(), step);
    first = rounds.front()->first;
    back = rounds.back()->back;
  }

  Value* of(Value* value) const { return rounds.back()->of(value); }

  void close(const stride_loop& found, BasicBlock* top, PHINode* sum,
             const loop_variables& variables) {
    sum->addIncoming(next, back);
    for (auto [phi, variable] : variables) {
      variable->addIncoming(of(phi->getIncomingValueForBlock(found.loop->getLoopLatch())), back);
    }
    BranchInst::Create(top, back);
  }
};

// A value of the loop's last round, behind the common rounds: the variable that takes it into the
// next round, if there is one.
Value* carry(Value* value, const loop_variables& variables, const stride_loop& found,
             BasicBlock* top, const round_copy& round, const several_rounds& several) {
  if (round.of(value) == value) {
    return value;  // not of the loop
  }
  for (auto [phi, variable] : variables) {
    if (phi->getIncomingValueForBlock(found.loop->getLoopLatch()) == value) {
      return variable;
    }
  }
  auto* fresh = PHINode::Create(value->getType(), 2, "", top->begin());
  fresh->addIncoming(PoisonValue::get(value->getType()), found.guard);
  fresh->addIncoming(round.of(value), round.back);
  if (several.back) {
    fresh->addIncoming(several.of(value), several.back);
  }
  return fresh;
}

// What leaves the loop, as it is where the builder stands: the exit's own computations, too. `left`
// says what the exit's phis are.
void copy_exit(IRBuilder<>& builder, BasicBlock* exit, ValueToValueMapTy& gone,
               function_ref<Value*(PHINode&)> left) {
  for (PHINode& phi : exit->phis()) {
    gone[&phi] = left(phi);
  }
  for (Instruction& inst : make_range(exit->getFirstNonPHIIt(), exit->end())) {
    if (!inst.isTerminator() && !inst.isDebugOrPseudoInst()) {
      Instruction* copy = inst.clone();
      copy->dropDbgRecords();
      builder.Insert(copy);
      RemapInstruction(copy, gone, RF_NoModuleLevelChanges | RF_IgnoreMissingLocals);
      gone[&inst] = copy;
    }
  }
}

Value* mapped(const ValueToValueMapTy& map, Value* value) {
  auto at = map.find(value);
  return at != map.end() ? static_cast<Value*>(at->second) : value;
}

// Puts the common rounds between the guard and the loop; adds their first blocks to `starts`.
void separate(const stride_loop& found, const uniformity& uniform,
              std::vector<BasicBlock*>& starts) {
  Loop& loop = *found.loop;
  Function& function = *found.guard->getParent();
  LLVMContext& context = function.getContext();
  BasicBlock* header = loop.getHeader();
  BasicBlock* preheader = loop.getLoopPreheader();
  BasicBlock* latch = loop.getLoopLatch();
  BasicBlock* exit = loop.getExitBlock();
  auto* top = BasicBlock::Create(context, "common", &function, preheader);
  auto* rest = BasicBlock::Create(context, "rest", &function, preheader);

  IRBuilder<> builder(found.guard->getTerminator());
  Value* first = value_in(builder, found.start, uniform, extreme::first);
  Value* last = value_in(builder, found.start, uniform, extreme::last);
  // Between the first and the last thread the index grows, and wraps nowhere.
  Value* apart = builder.CreateZExt(builder.CreateSub(last, first), builder.getInt64Ty());
  Value* regular = builder.CreateICmpEQ(apart, extent(builder, found.start, uniform));

  // The variables of the loop, first of all how far it has come.
  builder.SetInsertPoint(top);
  Type* type = found.start->getType();
  auto* sum = builder.CreatePHI(type, 2, "common.sum");
  auto* went = builder.CreatePHI(builder.getInt1Ty(), 2, "common.went");
  loop_variables variables;
  for (PHINode& phi : header->phis()) {
    if (&phi != found.index) {
      variables[&phi] = builder.CreatePHI(phi.getType(), 2, phi.getName() + ".common");
    }
  }
  Value* index = builder.CreateAdd(found.start, sum, found.index->getName() + ".common");
  sum->addIncoming(ConstantInt::get(type, 0), found.guard);
  went->addIncoming(builder.getFalse(), found.guard);
  for (auto [phi, variable] : variables) {
    variable->addIncoming(phi->getIncomingValueForBlock(preheader), found.guard);
  }
  round_copy round;
  copy_round(loop, preheader, round,
             [&](PHINode& phi) -> Value* { return &phi == found.index ? index : variables[&phi]; });
  several_rounds several;
  if (is_joined(function) && only_adds_up(loop)) {
    several.make(found, top, preheader, index, sum, variables);
  }
  // The rounds of joined blocks are long enough for the core to see by itself.
  if (!is_joined(function) && uniform.of() == team::block) {
    mark_later_loads(found, uniform, round.first, index);
  }
  IRBuilder<> closing(round.back);
  sum->addIncoming(closing.CreateAdd(sum, round.of(found.step)), round.back);
  went->addIncoming(closing.getTrue(), round.back);
  for (auto [phi, variable] : variables) {
    variable->addIncoming(round.of(phi->getIncomingValueForBlock(latch)), round.back);
  }
  closing.CreateBr(top);

  // All threads go round if the last one does, and the first does not lie behind it; none if the
  // first does not.
  bool is_signed = CmpInst::isSigned(found.condition.predicate);
  Value* low = builder.CreateAdd(first, sum);
  Value* high = builder.CreateAdd(last, sum);
  Value* ordered = builder.CreateAnd(
      builder.CreateICmp(is_signed ? CmpInst::ICMP_SLE : CmpInst::ICMP_ULE, low, high), regular);
  auto goes = [&](Value* at) {
    return builder.CreateICmp(found.condition.predicate, at, found.condition.limit);
  };
  Value* all = builder.CreateAnd(ordered, goes(high));
  Value* none = builder.CreateAnd(ordered, builder.CreateNot(goes(low)));
  extend_plainly(found, uniform, index, low, round.blocks);
  starts.push_back(round.first);
  if (several.first) {
    // Each of them is common.
    Value* each = all;
    for (unsigned i = 0; i < several.rounds.size(); ++i) {
      Value* bottom = low;
      if (i > 0) {
        bottom = builder.CreateAdd(first, several.sums[i]);
        Value* end = builder.CreateAdd(last, several.sums[i]);
        Value* grows =
            builder.CreateICmp(is_signed ? CmpInst::ICMP_SLE : CmpInst::ICMP_ULE, bottom, end);
        each = builder.CreateAnd(each, builder.CreateAnd(grows, goes(end)));
      }
      extend_plainly(found, uniform, several.indices[i], bottom, several.rounds[i]->blocks);
    }
    starts.push_back(several.first);
    auto* one = BasicBlock::Create(context, "common.one", &function, preheader);
    builder.CreateCondBr(each, several.first, one);
    builder.SetInsertPoint(one);
    went->addIncoming(builder.getTrue(), several.back);
    several.close(found, top, sum, variables);
  }
  builder.CreateCondBr(all, round.first, rest);

  builder.SetInsertPoint(rest);
  ValueToValueMapTy gone;
  copy_exit(builder, exit, gone, [&](PHINode& phi) {
    return carry(phi.getIncomingValueForBlock(latch), variables, found, top, round, several);
  });
  SmallVector<std::pair<PHINode*, Value*>, 4> leaving;
  for (PHINode& phi : found.after->phis()) {
    Value* skipped = phi.getIncomingValueForBlock(found.guard);
    Value* after = mapped(gone, phi.getIncomingValueForBlock(exit));
    leaving.emplace_back(&phi, builder.CreateSelect(went, after, skipped));
  }
  auto* single = BasicBlock::Create(context, "rest.single", &function, preheader);
  builder.CreateCondBr(none, found.after, single);
  SmallVector<BasicBlock*, 3> skips = {rest, single};
  builder.SetInsertPoint(single);
  if (uniform.of() == team::warp) {
    // Where the step is longer than the warp, each lane has one round at most, and where nothing
    // wraps in it.
    Value* step = before_round(builder, found.step, loop);
    Value* beyond = step ? builder.CreateAdd(high, step) : nullptr;
    if (step) {
      Value* longer = builder.CreateICmpUGT(builder.CreateZExtOrTrunc(step, builder.getInt64Ty()),
                                            extent(builder, found.start, uniform));
      Value* grows =
          builder.CreateICmp(is_signed ? CmpInst::ICMP_SLT : CmpInst::ICMP_ULT, high, beyond);
      Value* one_is_left = builder.CreateAnd(ordered, builder.CreateAnd(longer, grows));
      auto* final = BasicBlock::Create(context, "rest.last", &function, preheader);
      auto* over = BasicBlock::Create(context, "rest.over", &function, preheader);
      auto* alone = BasicBlock::Create(context, "rest.alone", &function, preheader);
      round_copy copied;
      copy_round(loop, over, copied, [&](PHINode& phi) -> Value* {
        return &phi == found.index ? index : variables[&phi];
      });
      BranchInst::Create(over, copied.back);
      builder.CreateCondBr(one_is_left, final, alone);
      builder.SetInsertPoint(final);
      // So many lanes from the first on, where they count one by one.
      Value* goes_on = goes(index);
      if (Value* lane = counting_thread(found, uniform)) {
        CmpInst::Predicate below = found.condition.predicate;
        goes_on = builder.CreateICmp(is_signed ? CmpInst::getUnsignedPredicate(below) : below, lane,
                                     builder.CreateSub(found.condition.limit, low));
      }
      builder.CreateCondBr(goes_on, copied.first, found.after);
      extend_plainly(found, uniform, index, low, copied.blocks);
      builder.SetInsertPoint(over);
      ValueToValueMapTy ended;
      copy_exit(builder, exit, ended,
                [&](PHINode& phi) { return copied.of(phi.getIncomingValueForBlock(latch)); });
      for (PHINode& phi : found.after->phis()) {
        phi.addIncoming(mapped(ended, phi.getIncomingValueForBlock(exit)), over);
      }
      builder.CreateBr(found.after);
      builder.SetInsertPoint(alone);
      skips = {rest, final, alone};
      starts.push_back(final);
      starts.push_back(alone);
    }
  }
  builder.CreateCondBr(goes(index), preheader, found.after);
  for (PHINode& phi : header->phis()) {
    phi.setIncomingValueForBlock(preheader, round.of(&phi));
  }
  for (auto [phi, value] : leaving) {
    phi->removeIncomingValue(found.guard, false);
    for (BasicBlock* from : skips) {
      phi->addIncoming(value, from);
    }
  }
  found.guard->getTerminator()->eraseFromParent();
  IRBuilder<>(found.guard).CreateBr(top);
}

}  // namespace

std::vector<BasicBlock*> separate_common_rounds(Function& body, team team) {
  return separate_common_rounds(body, team, [](const Loop&) { return true; });
}

std::vector<BasicBlock*> separate_common_rounds(Function& body, team team,
                                                function_ref<bool(const Loop&)> wanted) {
  std::vector<BasicBlock*> starts;
  DominatorTree dominators(body);
  LoopInfo loops(dominators);
  if (loops.empty()) {
    return starts;
  }
  for (Loop* loop : loops.getLoopsInPreorder()) {
    if (wanted(*loop)) {
      load_limit_once(*loop);
    }
  }
  uniformity uniform(body, team);
  std::vector<stride_loop> found;
  for (Loop* loop : loops.getLoopsInPreorder()) {
    if (auto one = wanted(*loop) ? match_stride_loop(*loop, uniform) : std::nullopt) {
      found.push_back(*one);
    }
  }
  for (const stride_loop& one : found) {
    separate(one, uniform, starts);
  }
  return starts;
}

}  // namespace sb::pass
