#include "compiler/pass/guard_splitting.hpp"

#include <llvm/Analysis/LoopInfo.h>
#include <llvm/Analysis/ScalarEvolution.h>
#include <llvm/Analysis/ScalarEvolutionExpressions.h>
#include <llvm/IR/Dominators.h>
#include <llvm/IR/IRBuilder.h>
#include <llvm/IR/IntrinsicInst.h>
#include <llvm/IR/PatternMatch.h>
#include <llvm/Transforms/Scalar/EarlyCSE.h>
#include <llvm/Transforms/Scalar/LoopDeletion.h>
#include <llvm/Transforms/Scalar/LoopPassManager.h>
#include <llvm/Transforms/Scalar/SimplifyCFG.h>
#include <llvm/Transforms/Utils/BasicBlockUtils.h>
#include <llvm/Transforms/Utils/Cloning.h>
#include <llvm/Transforms/Utils/LoopSimplify.h>
#include <llvm/Transforms/Utils/LoopUtils.h>
#include <llvm/Transforms/Utils/ScalarEvolutionExpander.h>

#include <memory>

#include "compiler/pass/guard_condition.hpp"
#include "compiler/pass/guard_range.hpp"
#include "compiler/pass/guard_stride.hpp"
#include "compiler/pass/plain_steps.hpp"
#include "compiler/pass/thread_marks.hpp"
#include "compiler/pass/usual_blocks.hpp"
#include "compiler/pass/whole_rows.hpp"

namespace sb::pass {

using namespace llvm;
using namespace llvm::PatternMatch;

namespace {

constexpr std::uint64_t vector_bytes = 16;
constexpr std::uint64_t shortest_whole = 16;  // rounds
constexpr unsigned most_splits = 3;           // of a loop and what became of it

// A branch that guards something which cannot run unasked.
BranchInst* find_guard(const Loop& loop, guard_ranges& ranges) {
  for (BasicBlock* block : loop.blocks()) {
    auto* branch = dyn_cast<BranchInst>(block->getTerminator());
    if (branch && branch->isConditional() && block != loop.getLoopLatch() &&
        !loop.isLoopInvariant(branch->getCondition()) && ranges.can_solve(branch->getCondition())) {
      return branch;
    }
  }
  return nullptr;
}

bool has_effect(const Instruction& inst) {
  auto* told = dyn_cast<IntrinsicInst>(&inst);
  return inst.mayHaveSideEffects() && !(told && told->isAssumeLikeIntrinsic());
}

class splitter {
 public:
  // `question` is null if no block is asked whether all of its threads pass.
  splitter(Loop& loop, LoopInfo& loops, DominatorTree& dominators, ScalarEvolution& evolution,
           CallInst* question)
      : loop_(loop),
        loops_(loops),
        dominators_(dominators),
        evolution_(evolution),
        question_(question) {}

  // The loops that it became, but for one that keeps the condition; none if it stays.
  SmallVector<Loop*, 3> split() {
    BasicBlock* before = loop_.getLoopPreheader();
    IRBuilder<> builder(before->getTerminator());
    if (auto parts = split_by_stride(builder); !parts.empty()) {
      return parts;
    }
    // Nothing is emitted while nothing is found.
    guard_ranges probe(loop_, evolution_, builder, nullptr);
    BranchInst* guard = find_guard(loop_, probe);
    if (!guard) {
      return {};
    }
    Value* rounds = count_rounds(builder);
    std::optional<round_range> range;
    for (decided_ = guard->getCondition(); decided_; decided_ = changing_part(decided_)) {
      guard_ranges ranges(loop_, evolution_, builder, rounds);
      range = ranges.solve(decided_);
      if (range) {
        counting_.assign(ranges.counting().begin(), ranges.counting().end());
        break;
      }
    }
    if (!range) {
      return {};
    }
    Value* begin = range->begin ? range->begin : builder.getInt64(0);
    Value* end = range->end ? range->end : rounds;
    if (range->valid) {
      begin = builder.CreateSelect(range->valid, begin, builder.getInt64(0));
      end = builder.CreateSelect(range->valid, end, builder.getInt64(0));
    }
    // An empty stretch lies at its beginning, so that the three follow each other.
    end = builder.CreateBinaryIntrinsic(Intrinsic::umax, begin, end);
    if (auto holds = ask_for_all(builder, *range, begin, end, rounds)) {
      return divide(*guard, {{builder.getInt64(0), rounds, *holds}});
    }
    auto parts = parts_of(builder, *guard, *range, begin, end, rounds);
    if (isa<ConstantInt>(rounds) && !range->others) {
      keep_whole(builder, parts, begin, end, rounds);
    }
    return divide(*guard, std::move(parts));
  }

 private:
  struct stretch {
    Value* from;
    Value* to;
    std::optional<bool> holds;  // what the guard is there
    Value* first = nullptr;     // the round at `from`, if they are apart
    Value* stride = nullptr;
    Value* when = nullptr;  // it is run; null: if it is not empty
  };

  Value* count_rounds(IRBuilder<>& builder) {
    SCEVExpander expander(evolution_, loop_.getHeader()->getDataLayout(), "rounds");
    const SCEV* again = evolution_.getBackedgeTakenCount(&loop_);
    Value* more = expander.expandCodeFor(again, again->getType(), builder.GetInsertPoint());
    more = isa<ConstantInt>(more) ? more : builder.CreateFreeze(more);
    return builder.CreateAdd(builder.CreateZExt(more, builder.getInt64Ty()), builder.getInt64(1));
  }

  // Rounds that a guard lets through at even distances, if the others do nothing.
  SmallVector<Loop*, 3> split_by_stride(IRBuilder<>& builder) {
    for (BasicBlock* block : loop_.blocks()) {
      auto* branch = dyn_cast<BranchInst>(block->getTerminator());
      if (!branch || !branch->isConditional() || block == loop_.getLoopLatch()) {
        continue;
      }
      auto* test = cast_or_null<ICmpInst>(find_stride(branch->getCondition()));
      bool equal = test && test->getPredicate() == CmpInst::ICMP_EQ;
      if (!test || !does_nothing(*branch, test, !equal)) {
        continue;
      }
      decided_ = test;
      Value* rounds = count_rounds(builder);
      round_stride found = solve_stride(*test, loop_, evolution_, builder, rounds);
      Value* none = builder.getInt64(0);
      SmallVector<stretch, 4> parts;
      parts.push_back({none, builder.CreateSelect(found.valid, found.count, none), equal,
                       found.first, found.stride});
      parts.push_back({builder.CreateSelect(found.valid, rounds, none), rounds, std::nullopt});
      return divide(*branch, std::move(parts));
    }
    return {};
  }

  Value* find_stride(Value* condition) {
    Value* one = nullptr;
    Value* other = nullptr;
    if (match(condition, m_LogicalAnd(m_Value(one), m_Value(other))) ||
        match(condition, m_LogicalOr(m_Value(one), m_Value(other)))) {
      Value* found = find_stride(one);
      return found ? found : find_stride(other);
    }
    return is_stride_test(*condition, loop_, evolution_) ? condition : nullptr;
  }

  // Whether a round changes nothing if a part of the guard's condition has this value.
  bool does_nothing(BranchInst& guard, const Value* part, bool value) {
    auto taken = implied(guard.getCondition(), part, value);
    if (!taken || !loop_.getExitBlock()->phis().empty()) {
      return false;
    }
    for (PHINode& phi : loop_.getHeader()->phis()) {
      if (!step_of(phi)) {
        return false;
      }
    }
    BasicBlockEdge other(guard.getParent(), guard.getSuccessor(*taken ? 1 : 0));
    return guard.getSuccessor(0) != guard.getSuccessor(1) &&
           all_of(loop_.blocks(), [&](BasicBlock* block) {
             return dominators_.dominates(other, block) || none_of(*block, has_effect);
           });
  }

  SmallVector<stretch, 4> parts_of(IRBuilder<>& builder, BranchInst& guard,
                                   const round_range& range, Value* begin, Value* end,
                                   Value* rounds) {
    Value* zero = ConstantInt::get(rounds->getType(), 0);
    SmallVector<stretch, 4> parts;
    if (range.valid && does_nothing(guard, decided_, range.others)) {
      parts.push_back({begin, end, !range.others});
      parts.push_back({builder.CreateSelect(range.valid, rounds, zero), rounds, std::nullopt});
      return parts;
    }
    if (range.begin) {
      parts.push_back({zero, begin, range.others});
    }
    parts.push_back({begin, end, !range.others});
    if (range.end || range.valid) {
      parts.push_back({end, rounds, range.valid ? std::nullopt : std::optional(range.others)});
    }
    return parts;
  }

  // A row of threads whose length is known stays one where the guard lets all of them through: a
  // few vectors without a rest.
  void keep_whole(IRBuilder<>& builder, SmallVectorImpl<stretch>& parts, Value* begin, Value* end,
                  Value* rounds) {
    auto branches = count_if(loop_.blocks(), [](BasicBlock* block) {
      return block->getTerminator()->getNumSuccessors() > 1;
    });
    if (parts.size() < 2 || branches > 2 ||
        cast<ConstantInt>(rounds)->getZExtValue() < shortest_whole ||
        is_usual_version(*loop_.getHeader()->getParent())) {
      return;
    }
    Value* zero = ConstantInt::get(rounds->getType(), 0);
    Value* all = builder.CreateAnd(builder.CreateICmpEQ(begin, zero),
                                   builder.CreateICmpEQ(end, rounds), "all");
    if (isa<Constant>(all)) {
      return;
    }
    for (stretch& part : parts) {
      part.from = builder.CreateSelect(all, rounds, part.from);
      part.to = builder.CreateSelect(all, rounds, part.to);
    }
    stretch whole = {zero, rounds, true};
    whole.when = all;
    parts.insert(parts.begin(), whole);
  }

  // What the guard is in this block, as blocks in which not all of its threads agree do not come
  // here any more; nothing if they do.
  std::optional<bool> ask_for_all(IRBuilder<>& builder, const round_range& range, Value* begin,
                                  Value* end, Value* rounds) {
    const DataLayout& layout = loop_.getHeader()->getDataLayout();
    if (!question_ || !isa<ConstantInt>(rounds) || range.others ||
        (folded(begin, layout) && folded(end, layout))) {
      return std::nullopt;
    }
    // `i < n` holds in most blocks, and `i >= n` does not.
    bool holds = range.end != nullptr;
    Value* all = holds ? builder.CreateAnd(builder.CreateIsNull(begin),
                                           builder.CreateICmpEQ(end, rounds), "all")
                       : builder.CreateICmpEQ(begin, rounds, "none");
    if (range.valid) {
      all = builder.CreateAnd(all, range.valid);
    }
    return ask_for(*question_, all) ? std::optional(holds) : std::nullopt;
  }

  struct variable {  // of the loop: a phi at its top
    PHINode* phi;
    Value* start;
    Value* step;     // by which it grows in every round; null where that is not so simple
    Value* carried;  // where the last part left it, if there is no step
  };

  SmallVector<Loop*, 3> divide(BranchInst& guard, SmallVector<stretch, 4> parts) {
    if (parts.size() == 1 && !parts.front().holds) {
      return {};
    }
    if (is_usual_version(*loop_.getHeader()->getParent())) {
      divide_evenly(parts);
    }
    find_variables();
    // What was computed before the loop stays where it is; the copies get empty preheaders.
    BasicBlock* decide = loop_.getLoopPreheader();
    BasicBlock* preheader = SplitBlock(decide, decide->getTerminator(), &dominators_, &loops_);
    BasicBlock* exit = loop_.getExitBlock();
    for (PHINode& phi : exit->phis()) {
      leaving_.push_back({&phi, phi.getIncomingValueForBlock(loop_.getLoopLatch()),
                          PoisonValue::get(phi.getType())});
    }
    std::vector<std::unique_ptr<ValueToValueMapTy>> maps;
    SmallVector<Loop*, 3> loops, known;
    for (unsigned i = 0; i + 1 < parts.size(); ++i) {
      SmallVector<BasicBlock*, 8> blocks;
      maps.push_back(std::make_unique<ValueToValueMapTy>());
      loops.push_back(cloneLoopWithPreheader(exit, preheader, &loop_, *maps.back(), ".split",
                                             &loops_, &dominators_, blocks));
      remapInstructionsInBlocks(blocks, *maps.back());
    }
    loops.push_back(&loop_);
    BasicBlock* old_latch = loop_.getLoopLatch();
    for (unsigned i = 0; i < parts.size(); ++i) {
      map_ = i < maps.size() ? maps[i].get() : nullptr;
      auto* branch = cast<BranchInst>(here(&guard));
      decide = insert(parts[i], decide, cast<BasicBlock>(here(preheader)),
                      cast<BasicBlock>(here(loop_.getHeader())), cast<BasicBlock>(here(old_latch)));
      if (parts[i].holds) {
        IRBuilder<> builder(branch);
        branch->setCondition(
            known_condition(builder, branch->getCondition(), builder.getInt1(*parts[i].holds)));
        count_plainly();
        known.push_back(loops[i]);
      }
    }
    IRBuilder<>(decide).CreateBr(exit);
    for (const departure& one : leaving_) {
      int at = one.phi->getBasicBlockIndex(old_latch);
      one.phi->setIncomingBlock(at, decide);
      one.phi->setIncomingValue(at, one.carried);
    }
    return known;
  }

  // The first of the conditions that this one consists of, but for those that stay the same.
  Value* changing_part(Value* condition) const {
    Value* one = nullptr;
    Value* other = nullptr;
    if (match(condition, m_Not(m_Value(one)))) {
      return one;
    }
    if (match(condition, m_LogicalAnd(m_Value(one), m_Value(other))) ||
        match(condition, m_LogicalOr(m_Value(one), m_Value(other)))) {
      return loop_.isLoopInvariant(one) ? other : one;
    }
    return nullptr;
  }

  // A guard's condition in a part of the loop, where what was solved is known.
  Value* known_condition(IRBuilder<>& builder, Value* condition, ConstantInt* holds) {
    if (condition == here(decided_)) {
      return holds;
    }
    Value* one = nullptr;
    Value* other = nullptr;
    bool is_and = match(condition, m_LogicalAnd(m_Value(one), m_Value(other)));
    if (is_and || match(condition, m_LogicalOr(m_Value(one), m_Value(other)))) {
      Value* first = known_condition(builder, one, holds);
      Value* second = known_condition(builder, other, holds);
      if (auto* known = dyn_cast<ConstantInt>(first)) {
        return known->isOne() == is_and ? second : known;
      }
      if (auto* known = dyn_cast<ConstantInt>(second)) {
        return known->isOne() == is_and ? first : known;
      }
      return first == one && second == other ? condition
             : is_and                        ? builder.CreateLogicalAnd(first, second)
                                             : builder.CreateLogicalOr(first, second);
    }
    if (match(condition, m_Not(m_Value(one)))) {
      Value* inside = known_condition(builder, one, holds);
      return inside == one ? condition : builder.CreateNot(inside);
    }
    return condition;
  }

  // In a loop that will be written out (usual_blocks.hpp) parts begin where whole vectors do, so
  // that what one such loop stores another one finds in the same vectors.
  void divide_evenly(SmallVectorImpl<stretch>& parts) {
    const DataLayout& layout = loop_.getHeader()->getDataLayout();
    std::uint64_t widest = 1;
    for (BasicBlock* block : loop_.blocks()) {
      for (Instruction& inst : *block) {
        if (isa<LoadInst, StoreInst>(inst)) {
          widest =
              std::max(widest, layout.getTypeStoreSize(getLoadStoreType(&inst)).getFixedValue());
        }
      }
    }
    std::uint64_t lanes = std::max<std::uint64_t>(1, vector_bytes / widest);
    SmallVector<stretch, 4> even;
    for (stretch part : parts) {
      if (part.stride) {
        even.push_back(part);
        continue;
      }
      auto* from = dyn_cast_or_null<ConstantInt>(folded(part.from, layout));
      auto* to = dyn_cast_or_null<ConstantInt>(folded(part.to, layout));
      if (from && to) {
        part = {from, to, part.holds};
        std::uint64_t begin = alignTo(from->getZExtValue(), lanes);
        if (begin != from->getZExtValue() && begin < to->getZExtValue()) {
          even.push_back({from, ConstantInt::get(from->getType(), begin), part.holds});
          part.from = even.back().to;
        }
      }
      even.push_back(part);
    }
    parts.assign(even.begin(), even.end());
  }

  // What the guard compares is the start plus the round, with nothing in between that could wrap.
  void count_plainly() {
    for (const counting_value& one : counting_) {
      auto* value = dyn_cast<Instruction>(here(one.value));
      if (!value || !value->getParent()) {
        continue;
      }
      IRBuilder<> builder(value);
      Value* plain = builder.CreateAdd(one.start, builder.CreateTrunc(round_, value->getType()), "",
                                       !one.is_signed, one.is_signed);
      for (User* user : make_early_inc_range(value->users())) {
        bool extends = one.is_signed ? isa<SExtInst>(user) : isa<ZExtInst>(user);
        if (extends && user->getType()->isIntegerTy(64)) {
          auto* wide = cast<Instruction>(user);
          Value* start = one.is_signed ? builder.CreateSExt(one.start, wide->getType())
                                       : builder.CreateZExt(one.start, wide->getType());
          wide->replaceAllUsesWith(builder.CreateNSWAdd(start, round_));
        }
      }
      value->replaceAllUsesWith(plain);
    }
  }

  // By how much a variable grows in every round, if that is the same for all.
  const SCEV* step_of(PHINode& phi) {
    auto* line =
        phi.getType()->isIntegerTy() ? dyn_cast<SCEVAddRecExpr>(evolution_.getSCEV(&phi)) : nullptr;
    SCEVExpander expander(evolution_, loop_.getHeader()->getDataLayout(), "step");
    bool good = line && line->getLoop() == &loop_ && line->isAffine() &&
                expander.isSafeToExpand(line->getStepRecurrence(evolution_));
    return good ? line->getStepRecurrence(evolution_) : nullptr;
  }

  void find_variables() {
    BasicBlock* before = loop_.getLoopPreheader();
    SCEVExpander expander(evolution_, before->getDataLayout(), "step");
    for (PHINode& phi : loop_.getHeader()->phis()) {
      Value* start = phi.getIncomingValueForBlock(before);
      variable one = {&phi, start, nullptr, start};
      if (const SCEV* step = step_of(phi)) {
        one.step = expander.expandCodeFor(step, phi.getType(), before->getTerminator());
      }
      variables_.push_back(one);
    }
  }

  // The value in the part that is being put in.
  Value* here(Value* value) {
    if (!map_) {
      return value;
    }
    auto found = map_->find(value);
    return found != map_->end() ? static_cast<Value*>(found->second) : value;
  }

  // Puts a part behind `decide`: skipped when it is empty, else from its first round to its last.
  // Gives back the block where both ways meet.
  BasicBlock* insert(const stretch& part, BasicBlock* decide, BasicBlock* preheader,
                     BasicBlock* header, BasicBlock* latch) {
    auto* join = BasicBlock::Create(header->getContext(), "guard.join", header->getParent(),
                                    loop_.getExitBlock());
    if (Loop* outside = loop_.getParentLoop()) {
      outside->addBasicBlockToLoop(join, loops_);
    }
    if (Instruction* end = decide->getTerminator()) {
      end->eraseFromParent();
    }
    IRBuilder<> builder(decide);
    builder.CreateCondBr(part.when ? part.when : builder.CreateICmpULT(part.from, part.to),
                         preheader, join);

    builder.SetInsertPoint(preheader->getTerminator());
    for (variable& one : variables_) {
      Value* begins = one.carried;
      auto* phi = cast<PHINode>(here(one.phi));
      if (one.step) {
        Type* type = phi->getType();
        Value* round = builder.CreateZExtOrTrunc(part.first ? part.first : part.from, type);
        begins = builder.CreateAdd(one.start, builder.CreateMul(round, one.step));
        if (part.stride) {
          Value* far = builder.CreateMul(builder.CreateZExtOrTrunc(part.stride, type), one.step);
          IRBuilder<> at_end(latch->getTerminator());
          phi->setIncomingValueForBlock(latch, at_end.CreateAdd(phi, far));
        }
      }
      phi->setIncomingValueForBlock(preheader, begins);
    }
    builder.SetInsertPoint(header, header->begin());
    PHINode* round = round_ = builder.CreatePHI(builder.getInt64Ty(), 2, "round");
    auto* end = cast<BranchInst>(latch->getTerminator());
    builder.SetInsertPoint(end);
    Value* next = builder.CreateAdd(round, builder.getInt64(1), "", true, true);
    round->addIncoming(part.from, preheader);
    round->addIncoming(next, latch);
    end->setCondition(builder.CreateICmpULT(next, part.to));
    end->setSuccessor(0, header);
    end->setSuccessor(1, join);

    builder.SetInsertPoint(join);
    auto joined = [&](Value* ran, Value* skipped) {
      auto* phi = builder.CreatePHI(ran->getType(), 2);
      phi->addIncoming(ran, latch);
      phi->addIncoming(skipped, decide);
      return phi;
    };
    for (variable& one : variables_) {
      if (!one.step && map_) {
        auto* phi = cast<PHINode>(here(one.phi));
        one.carried = joined(phi->getIncomingValueForBlock(latch), one.carried);
      }
    }
    for (departure& one : leaving_) {
      one.carried = joined(here(one.value), one.carried);
    }
    return join;
  }

  struct departure {  // what the exit's phi takes from the loop
    PHINode* phi;
    Value* value;
    Value* carried;
  };

  Loop& loop_;
  LoopInfo& loops_;
  DominatorTree& dominators_;
  ScalarEvolution& evolution_;
  CallInst* question_;
  SmallVector<variable, 4> variables_;
  SmallVector<departure, 4> leaving_;
  SmallVector<counting_value, 4> counting_;
  ValueToValueMapTy* map_ = nullptr;
  Value* decided_ = nullptr;  // what the parts know: the guard's condition, or one in it
  PHINode* round_ = nullptr;  // of the part that was put in last
};

// Whether anything was changed.
bool split_loops(Function& function, FunctionAnalysisManager& analyses, CallInst* question) {
  auto& loops = analyses.getResult<LoopAnalysis>(function);
  let_lane_loops_go(loops);
  auto& evolution = analyses.getResult<ScalarEvolutionAnalysis>(function);
  SmallVector<std::pair<Loop*, unsigned>, 8> work;
  bool changed = false;
  for (Loop* loop : loops.getLoopsInPreorder()) {
    if (loop->isInnermost() && is_thread_loop(*loop)) {
      work.emplace_back(loop, most_splits);
      if (make_steps_plain(*loop)) {
        evolution.forgetLoop(loop);
        changed = true;
      }
    }
  }
  if (work.empty()) {
    return false;
  }
  auto& dominators = analyses.getResult<DominatorTreeAnalysis>(function);
  while (!work.empty()) {
    auto [loop, left] = work.pop_back_val();
    if (left == 0 || !counts_rounds(*loop, evolution)) {
      continue;
    }
    auto parts = splitter(*loop, loops, dominators, evolution, question).split();
    if (parts.empty()) {
      continue;
    }
    changed = true;
    dominators.recalculate(function);
    evolution.forgetAllLoops();
    for (Loop* part : parts) {
      simplifyLoop(part, &dominators, &loops, &evolution, nullptr, nullptr, true);
      formLCSSARecursively(*part, dominators, &loops, &evolution);
      work.emplace_back(part, left - 1);
    }
  }
  return changed;
}

}  // namespace

PreservedAnalyses split_guards::run(Function& function, FunctionAnalysisManager& analyses) {
  CallInst* question = question_of(function);
  bool changed = split_loops(function, analyses, question);
  if (question) {
    end_question(*question);
  }
  if (!changed && !question) {
    return PreservedAnalyses::all();
  }
  // The vectoriser must not see branches that are decided, nor stretches where nothing is left.
  analyses.invalidate(function, PreservedAnalyses::none());
  FunctionPassManager cleanup;
  cleanup.addPass(SimplifyCFGPass());
  cleanup.addPass(EarlyCSEPass());
  cleanup.addPass(createFunctionToLoopPassAdaptor(LoopDeletionPass()));
  cleanup.run(function, analyses);
  return PreservedAnalyses::none();
}

}  // namespace sb::pass
