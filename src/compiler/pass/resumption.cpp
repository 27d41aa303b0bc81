#include "compiler/pass/resumption.hpp"

#include <llvm/IR/InstIterator.h>
#include <llvm/IR/Module.h>
#include <llvm/Transforms/Utils/BasicBlockUtils.h>

#include "compiler/pass/kept_values.hpp"
#include "compiler/pass/lane_calls.hpp"
#include "compiler/pass/meeting_bits.hpp"
#include "compiler/pass/runtime_abi.hpp"
#include "compiler/pass/spin_loops.hpp"
#include "compiler/pass/switches.hpp"
#include "compiler/pass/thread_times.hpp"

namespace sb::pass {

using namespace llvm;

namespace {

// Of a kernel whose warps are resumed, with a copy of what several of its barriers lead to.
constexpr std::size_t most_instructions = 6000;

// A loop that sees something else in each round gets on. It has as many before others have a turn.
constexpr std::uint32_t patience = 64;

// A loop with barriers or warp operations that sees the same in each round may get on by what it
// does on the way. It counts as such for so many rounds, and as one that looks in vain for as many.
constexpr std::uint32_t rounds_of_each = 16;

// One that looks at other places all the time has so many turns before it stops. Even, as most
// rings of places are: it stops where it did before.
constexpr std::uint32_t roaming_turns = 32;

class resumption {
 public:
  // `same`: what is the same for a warp, if it goes on together.
  resumption(Function& body, stops where, resumed who, const uniformity* same)
      : body_(body),
        context_(body.getContext()),
        barriers_(std::move(where.barriers)),
        spins_(std::move(where.spins)),
        warp_calls_(std::move(where.warp_calls)),
        asked_(std::move(where.asked)),
        between_looks_(std::move(where.between_looks)),
        sleeps_(std::move(where.sleeps)),
        timed_(where.timed),
        begin_(where.begin),
        who_(who),
        same_(same) {}

  std::vector<meeting> build() {
    enter();
    meet();
    if (barriers_close()) {
      meet_at_closed();
    }
    if (any_of(barriers_, [](const CallInst* one) { return is_grid_barrier(*one); })) {
      meet_grid();
    }
    for (unsigned i = 0; i < barriers_.size(); ++i) {
      stop_at(*barriers_[i], i + 1);
    }
    for (unsigned i = 0; i < spins_.size(); ++i) {
      stop_spinning(*spins_[i], static_cast<std::uint32_t>(barriers_.size()) + i + 1);
    }
    for (unsigned i = 0; i < warp_calls_.size(); ++i) {
      stop_in_warp(*warp_calls_[i],
                   static_cast<std::uint32_t>(barriers_.size() + spins_.size()) + i + 1);
    }
    for (unsigned i = 0; i < sleeps_.size(); ++i) {
      stop_asleep(*sleeps_[i], first_sleep() + i);
    }
    for (ReturnInst* end : returns_) {
      IRBuilder<> builder(end);
      if (!warp_calls_.empty()) {
        create_lane_leaves(builder);
      }
      builder.CreateStore(builder.getInt32(gone), place_);
      arrive(builder, builder.getInt32(0), builder.getInt32(moved_flag));
      end->eraseFromParent();
    }
    keep_values(body_, same_);
    if (!warp_calls_.empty() && body_.getInstructionCount() > most_instructions) {
      return {};
    }
    if (who_ != resumed::threads) {
      // A warp that goes on in the middle of a loop would enter it by another way than others.
      // Lanes that have returned are masked, which takes ways that are entered at one place.
      part_ways_of(*resume_, *end_,
                   who_ == resumed::warps ? in_common::plain_ways : in_common::nothing);
      if (body_.getInstructionCount() > most_instructions || is_tangled(body_)) {
        return {};
      }
    }
    return std::move(meetings_);
  }

 private:
  static constexpr std::uint32_t gone = ~0u;

  // There are other places to stop at than barriers, which do not open while somebody is there.
  [[nodiscard]] bool barriers_close() const {
    return !spins_.empty() || !warp_calls_.empty() || !sleeps_.empty();
  }

  [[nodiscard]] std::size_t stops_count() const {
    return barriers_.size() + spins_.size() + warp_calls_.size() + sleeps_.size();
  }

  [[nodiscard]] std::uint32_t first_sleep() const {
    return static_cast<std::uint32_t>(stops_count() - sleeps_.size()) + 1;
  }

  AllocaInst* variable(Type* type, const char* name) {
    BasicBlock& entry = body_.getEntryBlock();
    IRBuilder<> builder(&entry, entry.begin());
    AllocaInst* memory = builder.CreateAlloca(type, nullptr, name);
    builder.SetInsertPoint(entry.getTerminator());
    builder.CreateStore(Constant::getNullValue(type), memory);
    return memory;
  }

  // What comes first is run once; behind it a thread goes on where it was.
  void enter() {
    BasicBlock& entry = body_.getEntryBlock();
    Instruction* first = begin_ ? begin_ : &*entry.getFirstNonPHIOrDbgOrAlloca();
    // Where some spin, others should not have begun what only one of them can do.
    while (!barriers_close() && !first->isTerminator() && !is_contained(barriers_, first)) {
      first = first->getNextNode();
    }
    BasicBlock* before = first->getParent();
    BasicBlock* start = SplitBlock(before, first);
    for (BasicBlock& block : body_) {
      if (auto* end = dyn_cast<ReturnInst>(block.getTerminator())) {
        returns_.push_back(end);
      }
    }
    compute_early(body_);
    again_ = BasicBlock::Create(context_, "again", &body_, start);
    before->getTerminator()->setSuccessor(0, again_);
    IRBuilder<> builder(again_);
    Type* word = builder.getInt32Ty();
    place_ = variable(word, "place");
    total_ = builder.CreatePHI(word, 2, "total");
    total_->addIncoming(builder.getInt32(0), before);
    end_ = BasicBlock::Create(context_, "stops", &body_);
    {
      IRBuilder<> at_end(end_);
      arrives_ = at_end.CreatePHI(word, 4, "arrives");
      if (barriers_close()) {
        tells_ = at_end.CreatePHI(word, 4, "tells");
        closed_ = builder.CreatePHI(builder.getInt1Ty(), 2, "closed");
        closed_->addIncoming(builder.getFalse(), before);
        brought_ = variable(word, "brought");
        seen_ = variable(builder.getInt64Ty(), "seen");
        rounds_ = who_ == resumed::threads ? variable(word, "rounds") : nullptr;
        if (!spins_.empty() && spins_.size() != stops_count()) {
          spun_at_ = variable(word, "spun.at");
          same_rounds_ = variable(word, "same.rounds");
        }
      }
    }
    choose(builder, *start);
  }

  void choose(IRBuilder<>& builder, BasicBlock& start) {
    LoadInst* own = builder.CreateLoad(builder.getInt32Ty(), place_);
    const auto cases = static_cast<unsigned>(stops_count()) + 1;
    if (who_ == resumed::lanes_that_stay) {
      // Those that have returned have the least number.
      Value* place = greatest_in_warp(builder, own);
      auto* stay = BasicBlock::Create(context_, "stay", &body_, &start);
      builder.CreateCondBr(builder.CreateICmpNE(own, builder.getInt32(gone)), stay, end_);
      arrive_from(again_, builder.getInt32(0), builder.getInt32(0));
      builder.SetInsertPoint(stay);
      wait_at_closed(builder, place, start);
      resume_ = builder.CreateSwitch(place, &start, cases);
      return;
    }
    if (who_ == resumed::warps) {
      mark_same_in_warp(*own);
    }
    wait_at_closed(builder, own, start);
    resume_ = builder.CreateSwitch(own, end_, cases);
    resume_->addCase(builder.getInt32(0), &start);
    arrive_from(builder.GetInsertBlock(), builder.getInt32(0), builder.getInt32(0));
  }

  // While others spin no barrier opens: who is at one brings there what it brought before.
  void wait_at_closed(IRBuilder<>& builder, Value* place, BasicBlock& start) {
    if (!barriers_close() || barriers_.empty()) {
      return;
    }
    auto* wait = BasicBlock::Create(context_, "wait", &body_, &start);
    auto* go = BasicBlock::Create(context_, "go", &body_, &start);
    Value* at_barrier =
        builder.CreateICmpULT(builder.CreateSub(place, builder.getInt32(1)),
                              builder.getInt32(static_cast<std::uint32_t>(barriers_.size())));
    builder.CreateCondBr(builder.CreateAnd(closed_, at_barrier), wait, go);
    builder.SetInsertPoint(wait);
    arrive(builder, builder.CreateLoad(builder.getInt32Ty(), brought_), builder.getInt32(0));
    builder.SetInsertPoint(go);
  }

  Value* greatest_in_warp(IRBuilder<>& builder, Value* number) {
    Type* word = builder.getInt32Ty();
    auto reduce = runtime_function(*body_.getParent(), slot::reduce, word, {word, word, word});
    auto kind = builder.getInt32(static_cast<std::uint32_t>(abi::reduce_kind::max_s));
    CallInst* call = builder.CreateCall(reduce, {builder.getInt32(~0u), kind, number});
    call->setConvergent();
    return call;
  }

  // All have come to a barrier or returned.
  void meet() {
    IRBuilder<> builder(end_);
    meeting all;
    all.tally = create_tally(builder, abi::reduce_kind::add, arrives_);
    auto* meet = BasicBlock::Create(context_, "meet", &body_);
    builder.CreateBr(meet);
    builder.SetInsertPoint(meet);
    all.place = create_barrier(builder, abi::barrier_kind::plain, builder.getInt32(0));
    all.place->setConvergent();
    auto* over = BasicBlock::Create(context_, "over", &body_);
    Value* there = builder.CreateLShr(all.place, there_shift);
    builder.CreateCondBr(builder.CreateIsNotNull(there), again_, over);
    total_->addIncoming(all.place, meet);
    open_ = meet;
    ReturnInst::Create(context_, over);
    meetings_.push_back(all);
  }

  // Then, if some of them are elsewhere, these go on at once, once one of them has got on; or else,
  // if somebody spins, when other blocks have had a turn.
  void meet_at_closed() {
    CallInst* total = meetings_.front().place;
    BasicBlock* meet = total->getParent();
    Instruction* choice = meet->getTerminator();
    BasicBlock* tell = SplitBlock(meet, choice);
    IRBuilder<> builder(end_->getTerminator());
    meeting all;
    all.tally = create_tally(builder, abi::reduce_kind::or_, tells_);
    builder.SetInsertPoint(choice);
    all.place = create_barrier(builder, abi::barrier_kind::plain, builder.getInt32(0));
    all.place->setConvergent();
    meetings_.push_back(all);

    auto* closed = BasicBlock::Create(context_, "closed", &body_);
    Value* elsewhere = builder.CreateAnd(all.place, spins_flag | in_warp_flag | sleeps_flag);
    open_ = BasicBlock::Create(context_, "open", &body_);
    builder.CreateCondBr(builder.CreateIsNotNull(elsewhere), closed, open_);
    choice->moveBefore(*open_, open_->end());
    total_->replaceIncomingBlockWith(tell, open_);
    closed_->addIncoming(builder.getFalse(), open_);

    tell_round(closed, all.place);
  }

  // Each is told in a block of its own, behind which the next round begins.
  void tell_round(BasicBlock* closed, CallInst* told) {
    CallInst* total = meetings_.front().place;
    IRBuilder<> builder(closed);
    auto any = [&](std::uint32_t flags) {
      return builder.CreateIsNotNull(builder.CreateAnd(told, flags));
    };
    auto tell_engine = [&](const char* name, abi::round_outcome what) {
      auto* block = BasicBlock::Create(context_, name, &body_);
      IRBuilder<> at(block);
      meeting one;
      one.place = create_barrier(at, abi::barrier_kind::plain, at.getInt32(0));
      one.place->setConvergent();
      one.told = meeting::told::round;
      one.round = what;
      at.CreateBr(again_);
      total_->addIncoming(total, block);
      closed_->addIncoming(at.getTrue(), block);
      meetings_.push_back(one);
      return block;
    };
    // The first that holds, or else the last.
    SmallVector<std::pair<Value*, BasicBlock*>, 4> cases;
    cases.emplace_back(any(moved_flag), tell_engine("got.on", abi::round_outcome::got_on));
    if (timed_) {
      // Who had a turn before another went to sleep may see what that one did.
      Value* naps =
          builder.CreateAnd(any(naps_flag), any(spins_flag | in_vain_flag | in_warp_flag));
      cases.emplace_back(naps, tell_engine("naps", abi::round_outcome::naps));
    }
    cases.emplace_back(any(spins_flag | in_vain_flag),
                       tell_engine("in.vain", abi::round_outcome::spins));
    if (timed_) {
      cases.emplace_back(any(sleeps_flag), tell_engine("asleep", abi::round_outcome::sleeps));
    }
    if (!warp_calls_.empty()) {
      cases.emplace_back(nullptr, tell_engine("stuck", abi::round_outcome::is_stuck));
    }
    for (unsigned i = 0; i + 2 < cases.size(); ++i) {
      auto* otherwise = BasicBlock::Create(context_, "or.else", &body_);
      builder.CreateCondBr(cases[i].first, cases[i].second, otherwise);
      builder.SetInsertPoint(otherwise);
    }
    const auto& [last, told_then] = cases[cases.size() - 2];
    builder.CreateCondBr(last, told_then, cases.back().second);
  }

  // Before they go on, the block stops if they wait for the others.
  void meet_grid() {
    CallInst* total = meetings_.front().place;
    auto* which = BasicBlock::Create(context_, "which", &body_);
    auto* stop = BasicBlock::Create(context_, "stop", &body_);
    open_->getTerminator()->replaceSuccessorWith(again_, which);
    IRBuilder<> builder(which);
    Value* holds = builder.CreateAnd(total, holds_mask);
    Value* of_grid = builder.CreateICmpUGT(holds, builder.CreateLShr(total, there_shift));
    builder.CreateCondBr(of_grid, stop, again_);
    builder.SetInsertPoint(stop);
    meeting all;
    all.place = create_grid_barrier(builder);
    all.told = meeting::told::at_grid;
    builder.CreateBr(again_);
    total_->replaceIncomingBlockWith(open_, which);
    total_->addIncoming(total, stop);
    if (barriers_close()) {
      closed_->replaceIncomingBlockWith(open_, which);
      closed_->addIncoming(builder.getFalse(), stop);
    }
    meetings_.push_back(all);
  }

  void arrive(IRBuilder<>& builder, Value* what, Value* tells) {
    arrive_from(builder.GetInsertBlock(), what, tells);
    builder.CreateBr(end_);
  }

  void arrive_from(BasicBlock* block, Value* what, Value* tells) {
    arrives_->addIncoming(what, block);
    if (barriers_close()) {
      tells_->addIncoming(tells, block);
    }
  }

  void stop_at(CallInst& barrier, std::uint32_t number) {
    BasicBlock* before = barrier.getParent();
    BasicBlock* behind = SplitBlock(before, &barrier);
    resume_->addCase(ConstantInt::get(Type::getInt32Ty(context_), number), behind);
    Instruction* end = before->getTerminator();
    IRBuilder<> builder(end);
    builder.CreateStore(builder.getInt32(number), place_);
    Value* brings = builder.getInt32(one_for_grid);
    if (!is_grid_barrier(barrier)) {
      Value* holds = builder.CreateIsNotNull(barrier.getArgOperand(1));
      brings = builder.CreateAdd(builder.CreateZExt(holds, builder.getInt32Ty()),
                                 builder.getInt32(one_there));
    }
    if (barriers_close()) {
      builder.CreateStore(brings, brought_);
    }
    if (!asked_.empty()) {
      create_lane_rests(builder);
    }
    arrive(builder, brings, told_on_the_way(builder, barrier, 0));
    end->eraseFromParent();
    builder.SetInsertPoint(&barrier);
    barrier.replaceAllUsesWith(result_of(builder, kind_of_barrier(barrier)));
    barrier.eraseFromParent();
  }

  // A thread that saw something new looks again. Lanes of a warp stop together, whatever each saw.
  void stop_spinning(CallInst& spin, std::uint32_t number) {
    BasicBlock* before = spin.getParent();
    BasicBlock* behind = SplitBlock(before, &spin);
    Instruction* end = before->getTerminator();
    IRBuilder<> builder(end);
    Value* value = spin.arg_empty() ? builder.getInt64(0) : spin.getArgOperand(0);
    if (timed_) {
      ask_engine(builder, value, number, *behind);
    }
    Value* moved = is_roaming(spin) && rounds_ ? look_around(builder, value, *behind)
                                               : look_again(builder, value, *behind);
    moved = builder.CreateOr(moved, comes_from_elsewhere(builder, moved, number));
    builder.CreateStore(builder.getInt32(number), place_);
    Value* told = builder.CreateSelect(moved, builder.getInt32(spins_flag | moved_flag),
                                       builder.getInt32(spins_flag));
    arrive(builder, builder.getInt32(0), told);
    end->eraseFromParent();
    spin.eraseFromParent();
    // Behind it the thread may come from two places.
    resume_->addCase(ConstantInt::get(Type::getInt32Ty(context_), number),
                     timed_ ? wait_asleep(*behind) : behind);
  }

  // Who has slept on the way round goes on, as it has let others run; who asked for the time too
  // often sleeps now. Builds on where the thread stops as others do.
  void ask_engine(IRBuilder<>& builder, Value* value, std::uint32_t number, BasicBlock& behind) {
    Value* answer = create_thread_looks(builder, value);
    auto* asleep = BasicBlock::Create(context_, "sleeps", &body_, &behind);
    auto* stop = BasicBlock::Create(context_, "looks", &body_, &behind);
    auto of = [&](abi::look_answer one) {
      return builder.getInt32(static_cast<std::uint32_t>(one));
    };
    SwitchInst* choice = builder.CreateSwitch(answer, stop, 2);
    choice->addCase(of(abi::look_answer::goes_on), &behind);
    choice->addCase(of(abi::look_answer::sleeps), asleep);
    builder.SetInsertPoint(asleep);
    fall_asleep(builder, number);
    builder.SetInsertPoint(stop);
  }

  void fall_asleep(IRBuilder<>& builder, std::uint32_t number) {
    builder.CreateStore(builder.getInt32(number), place_);
    arrive(builder, builder.getInt32(0), builder.getInt32(sleeps_flag | naps_flag));
  }

  // The thread goes on behind its stop unless it still sleeps there.
  BasicBlock* wait_asleep(BasicBlock& behind) {
    auto* look = BasicBlock::Create(context_, "wakes", &body_, &behind);
    auto* wait = BasicBlock::Create(context_, "asleep", &body_, &behind);
    IRBuilder<> builder(look);
    builder.CreateCondBr(create_thread_is_asleep(builder), wait, &behind);
    builder.SetInsertPoint(wait);
    arrive(builder, builder.getInt32(0), builder.getInt32(sleeps_flag));
    return look;
  }

  void stop_asleep(CallInst& call, std::uint32_t number) {
    BasicBlock* before = call.getParent();
    BasicBlock* behind = SplitBlock(before, &call);
    Instruction* end = before->getTerminator();
    IRBuilder<> builder(end);
    auto* asleep = BasicBlock::Create(context_, "sleeps", &body_, behind);
    builder.CreateCondBr(create_thread_sleeps(builder, call), asleep, behind);
    end->eraseFromParent();
    call.eraseFromParent();
    builder.SetInsertPoint(asleep);
    fall_asleep(builder, number);
    resume_->addCase(builder.getInt32(number), wait_asleep(*behind));
  }

  // Whether the thread was at another stop before.
  Value* comes_from_elsewhere(IRBuilder<>& builder, Value* moved, std::uint32_t number) {
    Type* word = builder.getInt32Ty();
    Value* here = builder.getInt32(number);
    if (!spun_at_) {
      return builder.CreateICmpNE(builder.CreateLoad(word, place_), here);
    }
    Value* from_other_loop = builder.CreateICmpNE(builder.CreateLoad(word, spun_at_), here);
    builder.CreateStore(here, spun_at_);
    Value* more = builder.CreateAdd(builder.CreateLoad(word, same_rounds_), builder.getInt32(1));
    Value* is_new = builder.CreateOr(moved, from_other_loop);
    more = builder.CreateSelect(is_new, builder.getInt32(0), more);
    builder.CreateStore(more, same_rounds_);
    Value* place = builder.CreateLoad(word, place_);
    Value* from_barrier = builder.CreateICmpNE(place, here);
    if (!sleeps_.empty() || !asked_.empty()) {  // to sleep is no work, nor is to ask
      const std::uint32_t first = first_sleep() - static_cast<std::uint32_t>(asked_.size());
      from_barrier =
          builder.CreateAnd(from_barrier, builder.CreateICmpULT(place, builder.getInt32(first)));
    }
    return builder.CreateOr(from_other_loop,
                            builder.CreateAnd(from_barrier, counts_as_work(builder, more)));
  }

  static Value* counts_as_work(IRBuilder<>& builder, Value* same_rounds) {
    return builder.CreateIsNull(builder.CreateAnd(same_rounds, builder.getInt32(rounds_of_each)));
  }

  // What a thread tells that comes to a barrier or to a warp operation.
  Value* told_on_the_way(IRBuilder<>& builder, const CallInst& stop, std::uint32_t other) {
    if (!same_rounds_ || !between_looks_.contains(&stop)) {
      return builder.getInt32(other | moved_flag);
    }
    Value* same = builder.CreateLoad(builder.getInt32Ty(), same_rounds_);
    Value* works =
        asked_.contains(&stop) ? builder.CreateIsNull(same) : counts_as_work(builder, same);
    return builder.CreateSelect(works, builder.getInt32(other | moved_flag),
                                builder.getInt32(other | in_vain_flag));
  }

  // Goes on behind the stop as long as the thread sees something new; else builds on where it
  // stops: whether it got on since the last time.
  Value* look_again(IRBuilder<>& builder, Value* value, BasicBlock& behind) {
    Value* moved = is_new(builder, value);
    // The time is new in each look, and passes while others have their turn.
    if (!rounds_ || timed_) {
      return moved;
    }
    Value* rounds = builder.CreateLoad(builder.getInt32Ty(), rounds_);
    Value* patient = builder.CreateICmpULT(rounds, builder.getInt32(patience));
    go_round(builder, builder.CreateAnd(moved, patient), rounds, behind);
    return builder.CreateOr(moved, builder.CreateIsNotNull(rounds));
  }

  // The same for a loop that looks at other places all the time: what it sees there is often new,
  // and says nothing.
  Value* look_around(IRBuilder<>& builder, Value* value, BasicBlock& behind) {
    Value* rounds = builder.CreateLoad(builder.getInt32Ty(), rounds_);
    Value* early = builder.CreateICmpULT(rounds, builder.getInt32(roaming_turns - 1));
    go_round(builder, early, rounds, behind);
    return is_new(builder, value);
  }

  Value* is_new(IRBuilder<>& builder, Value* value) {
    Value* before = builder.CreateLoad(builder.getInt64Ty(), seen_);
    builder.CreateStore(value, seen_);
    return builder.CreateICmpNE(value, before, "moved");
  }

  void go_round(IRBuilder<>& builder, Value* whether, Value* rounds, BasicBlock& behind) {
    auto* on = BasicBlock::Create(context_, "looks.again", &body_, &behind);
    auto* stop = BasicBlock::Create(context_, "spins", &body_, &behind);
    builder.CreateCondBr(whether, on, stop);
    builder.SetInsertPoint(on);
    builder.CreateStore(builder.CreateAdd(rounds, builder.getInt32(1)), rounds_);
    builder.CreateBr(&behind);
    builder.SetInsertPoint(stop);
    builder.CreateStore(builder.getInt32(0), rounds_);
  }

  // Who is the last to come goes on at once.
  void stop_in_warp(CallInst& call, std::uint32_t number) {
    BasicBlock* before = call.getParent();
    BasicBlock* behind = SplitBlock(before, &call);
    Instruction* end = before->getTerminator();
    IRBuilder<> builder(end);
    auto* stop = BasicBlock::Create(context_, "comes", &body_, behind);
    auto* look = BasicBlock::Create(context_, "looks", &body_, behind);
    auto* wait = BasicBlock::Create(context_, "waits", &body_, behind);
    const bool looks = same_rounds_ && between_looks_.contains(&call);
    Value* in_vain = looks ? builder.CreateLoad(builder.getInt32Ty(), same_rounds_) : nullptr;
    Value* here = create_lane_comes(builder, call, asked_.lookup(&call), in_vain);
    builder.CreateCondBr(here, behind, stop);
    end->eraseFromParent();
    builder.SetInsertPoint(stop);
    builder.CreateStore(builder.getInt32(number), place_);
    arrive(builder, builder.getInt32(0), told_on_the_way(builder, call, in_warp_flag));
    builder.SetInsertPoint(look);
    builder.CreateCondBr(create_lane_waits(builder), wait, behind);
    builder.SetInsertPoint(wait);
    arrive(builder, builder.getInt32(0), builder.getInt32(in_warp_flag));
    resume_->addCase(builder.getInt32(number), look);
    replace_by_lane_takes(call);
  }

  Value* result_of(IRBuilder<>& builder, abi::barrier_kind kind) {
    Value* holds = builder.CreateAnd(total_, holds_mask);
    Value* there = builder.CreateLShr(total_, there_shift);
    switch (kind) {
      case abi::barrier_kind::plain:
        break;
      case abi::barrier_kind::count:
        return holds;
      case abi::barrier_kind::and_:
        return builder.CreateZExt(builder.CreateICmpEQ(holds, there), builder.getInt32Ty());
      case abi::barrier_kind::or_:
        return builder.CreateZExt(builder.CreateIsNotNull(holds), builder.getInt32Ty());
    }
    return builder.getInt32(0);
  }

  Function& body_;
  LLVMContext& context_;
  std::vector<CallInst*> barriers_;
  std::vector<CallInst*> spins_;
  std::vector<CallInst*> warp_calls_;
  DenseMap<const CallInst*, std::uint32_t> asked_;  // the last of warp_calls_
  DenseSet<const CallInst*> between_looks_;
  std::vector<CallInst*> sleeps_;
  bool timed_;
  Instruction* begin_;
  resumed who_;
  const uniformity* same_;
  SmallVector<ReturnInst*, 4> returns_;
  AllocaInst* place_ = nullptr;  // the barrier at which a thread is; 0 at first
  PHINode* total_ = nullptr;     // of the meeting before
  BasicBlock* again_ = nullptr;
  SwitchInst* resume_ = nullptr;
  BasicBlock* end_ = nullptr;
  PHINode* arrives_ = nullptr;
  BasicBlock* open_ = nullptr;  // decides whether the block is over, when all are at barriers
  // If barriers close:
  PHINode* tells_ = nullptr;
  PHINode* closed_ = nullptr;  // no barrier opens, since somebody does
  AllocaInst* brought_ = nullptr;
  AllocaInst* seen_ = nullptr;    // by the thread's last look
  AllocaInst* rounds_ = nullptr;  // since its last stop; null for warps
  // If there are barriers or warp operations beside spins:
  AllocaInst* spun_at_ = nullptr;      // the last such stop
  AllocaInst* same_rounds_ = nullptr;  // since the thread saw something new at one
  std::vector<meeting> meetings_;
};

}  // namespace

std::vector<meeting> resume(Function& body, stops where, resumed who, const uniformity* same) {
  return resumption(body, std::move(where), who, same).build();
}

}  // namespace sb::pass
