#include "compiler/pass/resumed_threads.hpp"

#include <llvm/ADT/PostOrderIterator.h>
#include <llvm/Analysis/CFG.h>
#include <llvm/Analysis/LoopInfo.h>
#include <llvm/IR/Dominators.h>
#include <llvm/IR/InstIterator.h>
#include <llvm/IR/Module.h>
#include <llvm/Transforms/Utils/BasicBlockUtils.h>
#include <llvm/Transforms/Utils/Local.h>

#include "compiler/pass/runtime_abi.hpp"
#include "compiler/pass/switches.hpp"
#include "compiler/pass/uniformity.hpp"
#include "compiler/pass/warp_function.hpp"

namespace sb::pass {

using namespace llvm;

namespace {

// In the total of a meeting: who is there, and in the lower bits for whom the predicate holds. Who
// waits for the other blocks counts there twice, so that more than all say that some do. A block
// has 1024 threads at most.
constexpr unsigned there_shift = 16;
constexpr unsigned holds_mask = 0xffff;
constexpr std::uint32_t one_there = 1u << there_shift;
constexpr std::uint32_t one_for_grid = one_there + 2;

// Of a kernel whose warps are resumed, with a copy of what several of its barriers lead to.
constexpr std::size_t most_instructions = 6000;
constexpr StringLiteral resumed_mark = "sb-resumed-warps";

std::vector<CallInst*> barriers_of(Function& body) {
  std::vector<CallInst*> barriers;
  for (Instruction& inst : instructions(body)) {
    auto* call = dyn_cast<CallInst>(&inst);
    auto which = call ? called_slot(*call) : std::nullopt;
    if (!which) {
      continue;
    }
    bool waits =
        *which == slot::wait_until || *which == slot::wait_until_timer || *which == slot::nanosleep;
    if (waits || *which == slot::grid_sync) {
      return {};
    }
    if (*which == slot::barrier) {
      barriers.push_back(call);
    }
  }
  return barriers;
}

// Costs next to nothing, and does no harm where nobody asks for it.
bool is_cheap(const Instruction& inst) {
  if (auto* call = dyn_cast<CallInst>(&inst)) {
    return call->getCalledFunction() && call->arg_empty() &&
           call->getCalledFunction()->getName().starts_with("__sb_") && !called_slot(*call) &&
           call->doesNotAccessMemory() && call->willReturn();
  }
  return isa<CastInst, ICmpInst, GetElementPtrInst, SelectInst>(inst) ||
         (isa<BinaryOperator>(inst) && inst.getType()->isIntegerTy() && !inst.isIntDivRem());
}

// What can be known before everything else is computed there, so that it need not be kept.
void compute_early(Function& body) {
  Instruction* end = body.getEntryBlock().getTerminator();
  ReversePostOrderTraversal<Function*> order(&body);
  for (BasicBlock* block : order) {
    if (block == &body.getEntryBlock()) {
      continue;
    }
    for (Instruction& inst : make_early_inc_range(*block)) {
      bool early = is_cheap(inst) && all_of(inst.operand_values(), [&](const Value* operand) {
                     auto* made = dyn_cast<Instruction>(operand);
                     return !made || made->getParent() == end->getParent();
                   });
      if (early) {
        inst.dropUBImplyingAttrsAndMetadata();
        inst.moveBefore(end);
        inst.setDebugLoc({});
      }
    }
  }
}

// Who goes on together: each thread for itself; or the warp, which is at one barrier with all of
// its lanes, or with those that have not returned.
enum class resumed { threads, warps, lanes_that_stay };

class resumption {
 public:
  // `same`: what is the same for a warp, if it goes on together.
  resumption(Function& body, std::vector<CallInst*> barriers, resumed who, const uniformity* same)
      : body_(body),
        context_(body.getContext()),
        barriers_(std::move(barriers)),
        who_(who),
        same_(same) {}

  std::vector<meeting> build() {
    enter();
    meet();
    if (any_of(barriers_, [](const CallInst* one) { return is_grid_barrier(*one); })) {
      meet_grid();
    }
    for (unsigned i = 0; i < barriers_.size(); ++i) {
      stop_at(*barriers_[i], i + 1);
    }
    for (ReturnInst* end : returns_) {
      IRBuilder<> builder(end);
      builder.CreateStore(builder.getInt32(gone), place_);
      arrive(builder, builder.getInt32(0));
      end->eraseFromParent();
    }
    keep_values();
    if (who_ != resumed::threads) {
      // A warp that goes on in the middle of a loop would enter it by another way than others.
      // Lanes that have returned are masked, which takes ways that are entered at one place.
      part_ways_of(*resume_, *end_,
                   who_ == resumed::warps ? in_common::plain_ways : in_common::nothing);
      if (body_.getInstructionCount() > most_instructions || is_tangled()) {
        return {};
      }
    }
    return std::move(meetings_);
  }

 private:
  static constexpr std::uint32_t gone = ~0u;

  // The first block is run once; behind it a thread goes on where it was.
  void enter() {
    BasicBlock& entry = body_.getEntryBlock();
    Instruction* first = &*entry.getFirstNonPHIOrDbgOrAlloca();
    for (Instruction& inst : entry) {
      first = &inst;
      if (is_contained(barriers_, &inst)) {
        break;
      }
    }
    BasicBlock* start = SplitBlock(&entry, first);
    for (BasicBlock& block : body_) {
      if (auto* end = dyn_cast<ReturnInst>(block.getTerminator())) {
        returns_.push_back(end);
      }
    }
    compute_early(body_);
    again_ = BasicBlock::Create(context_, "again", &body_, start);
    entry.getTerminator()->setSuccessor(0, again_);
    IRBuilder<> builder(&entry, entry.begin());
    place_ = builder.CreateAlloca(builder.getInt32Ty(), nullptr, "place");
    builder.SetInsertPoint(entry.getTerminator());
    builder.CreateStore(builder.getInt32(0), place_);
    builder.SetInsertPoint(again_);
    total_ = builder.CreatePHI(builder.getInt32Ty(), 2, "total");
    total_->addIncoming(builder.getInt32(0), &entry);
    end_ = BasicBlock::Create(context_, "stops", &body_);
    choose(builder, *start);
  }

  void choose(IRBuilder<>& builder, BasicBlock& start) {
    LoadInst* own = builder.CreateLoad(builder.getInt32Ty(), place_);
    unsigned cases = static_cast<unsigned>(barriers_.size()) + 1;
    if (who_ == resumed::lanes_that_stay) {
      // Those that have returned have the least number.
      Value* place = greatest_in_warp(builder, own);
      auto* stay = BasicBlock::Create(context_, "stay", &body_, &start);
      builder.CreateCondBr(builder.CreateICmpNE(own, builder.getInt32(gone)), stay, end_);
      builder.SetInsertPoint(stay);
      resume_ = builder.CreateSwitch(place, &start, cases);
      return;
    }
    if (who_ == resumed::warps) {
      mark_same_in_warp(*own);
    }
    resume_ = builder.CreateSwitch(own, end_, cases);
    resume_->addCase(builder.getInt32(0), &start);
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
    arrives_ = builder.CreatePHI(builder.getInt32Ty(), 4, "arrives");
    arrives_->addIncoming(builder.getInt32(0), again_);
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
    ReturnInst::Create(context_, over);
    meetings_.push_back(all);
  }

  // Before they go on, the block stops if they wait for the others.
  void meet_grid() {
    CallInst* total = meetings_.front().place;
    BasicBlock* meet = total->getParent();
    auto* which = BasicBlock::Create(context_, "which", &body_);
    auto* stop = BasicBlock::Create(context_, "stop", &body_);
    meet->getTerminator()->replaceSuccessorWith(again_, which);
    IRBuilder<> builder(which);
    Value* holds = builder.CreateAnd(total, holds_mask);
    Value* of_grid = builder.CreateICmpUGT(holds, builder.CreateLShr(total, there_shift));
    builder.CreateCondBr(of_grid, stop, again_);
    builder.SetInsertPoint(stop);
    meeting all;
    all.place = create_grid_barrier(builder);
    all.of_grid = true;
    builder.CreateBr(again_);
    total_->replaceIncomingBlockWith(meet, which);
    total_->addIncoming(total, stop);
    meetings_.push_back(all);
  }

  void arrive(IRBuilder<>& builder, Value* what) {
    arrives_->addIncoming(what, builder.GetInsertBlock());
    builder.CreateBr(end_);
  }

  void stop_at(CallInst& barrier, std::uint32_t number) {
    BasicBlock* before = barrier.getParent();
    BasicBlock* behind = SplitBlock(before, &barrier);
    resume_->addCase(ConstantInt::get(Type::getInt32Ty(context_), number), behind);
    Instruction* end = before->getTerminator();
    IRBuilder<> builder(end);
    builder.CreateStore(builder.getInt32(number), place_);
    if (is_grid_barrier(barrier)) {
      arrive(builder, builder.getInt32(one_for_grid));
    } else {
      Value* holds = builder.CreateIsNotNull(barrier.getArgOperand(1));
      arrive(builder, builder.CreateAdd(builder.CreateZExt(holds, builder.getInt32Ty()),
                                        builder.getInt32(one_there)));
    }
    end->eraseFromParent();
    builder.SetInsertPoint(&barrier);
    barrier.replaceAllUsesWith(result_of(builder, kind_of_barrier(barrier)));
    barrier.eraseFromParent();
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

  // What is made before a barrier and used behind it goes through memory.
  void keep_values() {
    DominatorTree dominators(body_);
    SmallVector<Instruction*, 16> kept;
    for (Instruction& inst : instructions(body_)) {
      bool lost =
          any_of(inst.uses(), [&](const Use& use) { return !dominators.dominates(&inst, use); });
      if (lost) {
        kept.push_back(&inst);
      }
    }
    BasicBlock& entry = body_.getEntryBlock();
    for (Instruction* inst : kept) {
      bool same = same_ && same_->is_uniform(inst);
      AllocaInst* memory = DemoteRegToStack(*inst, false, entry.begin());
      for (User* user : memory->users()) {
        if (auto* load = dyn_cast<LoadInst>(user); load && same) {
          mark_same_in_warp(*load);
        }
      }
    }
  }

  bool is_tangled() {
    DominatorTree dominators(body_);
    LoopInfo loops(dominators);
    ReversePostOrderTraversal<Function*> order(&body_);
    return containsIrreducibleCFG<BasicBlock*>(order, loops);
  }

  Function& body_;
  LLVMContext& context_;
  std::vector<CallInst*> barriers_;
  resumed who_;
  const uniformity* same_;
  SmallVector<ReturnInst*, 4> returns_;
  AllocaInst* place_ = nullptr;  // the barrier at which a thread is; 0 at first
  PHINode* total_ = nullptr;     // of the meeting before
  BasicBlock* again_ = nullptr;
  SwitchInst* resume_ = nullptr;
  BasicBlock* end_ = nullptr;
  PHINode* arrives_ = nullptr;
  std::vector<meeting> meetings_;
};

void put_alone(CallInst& barrier) {
  SplitBlock(barrier.getParent(), &barrier);
  SplitBlock(barrier.getParent(), barrier.getNextNode());
}

bool come_together(ArrayRef<CallInst*> barriers, const uniformity& uniform) {
  return all_of(barriers, [&](const CallInst* barrier) {
    return uniform.is_reached_together(barrier->getParent());
  });
}

bool has_variables_inside(const Function& body) {
  return any_of(instructions(body), [&](const Instruction& inst) {
    return isa<AllocaInst>(inst) && inst.getParent() != &body.getEntryBlock();
  });
}

// Lanes that have returned cost a mask, which a kernel without such does not need.
std::vector<meeting> resume_warps(Function& body, const std::vector<CallInst*>& barriers) {
  if (has_variables_inside(body)) {
    return {};
  }
  for_each(barriers, [](CallInst* barrier) { put_alone(*barrier); });
  for (auto [ends, who] : {std::pair(way_ends::barriers_and_returns, resumed::warps),
                           std::pair(way_ends::barriers, resumed::lanes_that_stay)}) {
    uniformity same(body, team::warp, ends);
    if (come_together(barriers, same)) {
      body.addFnAttr(resumed_mark);
      return resumption(body, barriers, who, &same).build();
    }
  }
  return {};
}

}  // namespace

std::vector<meeting> resume_threads(Function& body) {
  std::vector<CallInst*> barriers = barriers_of(body);
  if (barriers.empty()) {
    return {};
  }
  if (has_warp_meetings(body)) {
    return resume_warps(body, barriers);
  }
  return resumption(body, std::move(barriers), resumed::threads, nullptr).build();
}

bool has_resumed_warps(const Function& function) { return function.hasFnAttribute(resumed_mark); }

}  // namespace sb::pass
