#include "compiler/pass/meetings.hpp"

#include <llvm/IR/InstIterator.h>
#include <llvm/IR/Module.h>
#include <llvm/Transforms/Utils/BasicBlockUtils.h>

#include "compiler/pass/runtime_abi.hpp"

namespace sb::pass {

using namespace llvm;

namespace {

constexpr StringLiteral tally_name = "sb.tally";
constexpr StringLiteral grid_mark = "sb-of-grid";

abi::reduce_kind kind_of_tally(const CallInst& call) {
  return static_cast<abi::reduce_kind>(cast<ConstantInt>(call.getArgOperand(0))->getZExtValue());
}

CallInst* create_grid_sync(IRBuilderBase& builder) {
  Module& module = *builder.GetInsertBlock()->getModule();
  return builder.CreateCall(
      runtime_function(module, slot::grid_sync, builder.getVoidTy(), ArrayRef<Type*>()));
}

void create_spun(IRBuilderBase& builder, abi::round_outcome how) {
  Module& module = *builder.GetInsertBlock()->getModule();
  auto spun = runtime_function(module, slot::spun, builder.getVoidTy(), {builder.getInt32Ty()});
  builder.CreateCall(spun, {builder.getInt32(static_cast<std::uint32_t>(how))});
}

}  // namespace

abi::barrier_kind kind_of_barrier(const CallInst& call) {
  auto* kind = dyn_cast<ConstantInt>(call.getArgOperand(0));
  return static_cast<abi::barrier_kind>(kind ? kind->getZExtValue() : 0);
}

CallInst* create_tally(IRBuilderBase& builder, abi::reduce_kind kind, Value* value) {
  Module& module = *builder.GetInsertBlock()->getModule();
  auto callee = module.getOrInsertFunction(tally_name, builder.getVoidTy(), builder.getInt32Ty(),
                                           builder.getInt32Ty());
  return builder.CreateCall(callee, {builder.getInt32(static_cast<std::uint32_t>(kind)), value});
}

bool is_tally(const CallInst& call) {
  return call.getCalledFunction() && call.getCalledFunction()->getName() == tally_name;
}

Value* combine(IRBuilderBase& builder, abi::reduce_kind kind, Value* one, Value* other) {
  switch (kind) {
    case abi::reduce_kind::add:
      return builder.CreateAdd(one, other);
    case abi::reduce_kind::min_s:
      return builder.CreateBinaryIntrinsic(Intrinsic::smin, one, other);
    case abi::reduce_kind::max_s:
      return builder.CreateBinaryIntrinsic(Intrinsic::smax, one, other);
    case abi::reduce_kind::min_u:
      return builder.CreateBinaryIntrinsic(Intrinsic::umin, one, other);
    case abi::reduce_kind::max_u:
      return builder.CreateBinaryIntrinsic(Intrinsic::umax, one, other);
    case abi::reduce_kind::and_:
      return builder.CreateAnd(one, other);
    case abi::reduce_kind::or_:
      return builder.CreateOr(one, other);
    case abi::reduce_kind::xor_:
      return builder.CreateXor(one, other);
  }
  return one;
}

ConstantInt* start_of_reduction(IRBuilderBase& builder, abi::reduce_kind kind) {
  auto number = [&](const APInt& value) { return ConstantInt::get(builder.getContext(), value); };
  switch (kind) {
    case abi::reduce_kind::min_s:
      return number(APInt::getSignedMaxValue(32));
    case abi::reduce_kind::max_s:
      return number(APInt::getSignedMinValue(32));
    case abi::reduce_kind::min_u:
    case abi::reduce_kind::and_:
      return number(APInt::getAllOnes(32));
    default:
      return number(APInt::getZero(32));
  }
}

void lower_tally(CallInst& call, Value* total) {
  IRBuilder<> builder(&call);
  Value* before = builder.CreateLoad(builder.getInt32Ty(), total);
  builder.CreateStore(combine(builder, kind_of_tally(call), before, call.getArgOperand(1)), total);
  call.eraseFromParent();
}

ConstantInt* start_of_tally(IRBuilderBase& builder, const CallInst& call) {
  return start_of_reduction(builder, kind_of_tally(call));
}

CallInst* create_barrier(IRBuilderBase& builder, abi::barrier_kind kind, Value* counts) {
  Type* word = builder.getInt32Ty();
  auto barrier =
      runtime_function(*builder.GetInsertBlock()->getModule(), slot::barrier, word, {word, word});
  return builder.CreateCall(barrier, {builder.getInt32(static_cast<std::uint32_t>(kind)), counts});
}

CallInst* create_grid_barrier(IRBuilderBase& builder) {
  CallInst* barrier = create_barrier(builder, abi::barrier_kind::plain, builder.getInt32(0));
  barrier->addFnAttr(Attribute::get(builder.getContext(), grid_mark));
  barrier->setConvergent();
  return barrier;
}

bool is_grid_barrier(const CallInst& barrier) { return barrier.hasFnAttr(grid_mark); }

void make_grid_barriers(Function& body) {
  for (Instruction& inst : make_early_inc_range(instructions(body))) {
    auto* call = dyn_cast<CallInst>(&inst);
    if (call && called_slot(*call) == slot::grid_sync) {
      IRBuilder<> builder(call);
      create_grid_barrier(builder);
      call->eraseFromParent();
    }
  }
}

void unmake_grid_barriers(Function& body) {
  for (Instruction& inst : make_early_inc_range(instructions(body))) {
    auto* call = dyn_cast<CallInst>(&inst);
    if (call && is_grid_barrier(*call)) {
      IRBuilder<> builder(call);
      create_grid_sync(builder)->setConvergent();
      call->eraseFromParent();
    }
  }
}

void create_told(IRBuilderBase& builder, const meeting& one) {
  switch (one.told) {
    case meeting::told::nothing:
      break;
    case meeting::told::at_grid:
      create_grid_sync(builder);
      break;
    case meeting::told::round:
      create_spun(builder, one.round);
      break;
  }
}

std::vector<meeting> find_barriers(Function& body) {
  std::vector<meeting> found;
  for (Instruction& inst : instructions(body)) {
    auto* call = dyn_cast<CallInst>(&inst);
    auto which = call ? called_slot(*call) : std::nullopt;
    if (which && *which == slot::barrier) {
      meeting one;
      one.place = call;
      one.told = is_grid_barrier(*call) ? meeting::told::at_grid : meeting::told::nothing;
      one.result = kind_of_barrier(*call) == abi::barrier_kind::and_  ? meeting::result::all
                   : kind_of_barrier(*call) == abi::barrier_kind::or_ ? meeting::result::any
                                                                      : meeting::result::total;
      found.push_back(one);
    }
  }
  for (meeting& one : found) {
    BasicBlock* block = one.place->getParent();
    // What counts for a barrier belongs to the region before it.
    bool leads = &*block->getFirstNonPHIOrDbg() == one.place && block != &body.getEntryBlock() &&
                 kind_of_barrier(*one.place) == abi::barrier_kind::plain;
    if (!leads) {
      SplitBlock(block, one.place);
    }
  }
  return found;
}

void insert_tallies(std::vector<meeting>& barriers) {
  for (meeting& one : barriers) {
    if (kind_of_barrier(*one.place) != abi::barrier_kind::plain) {
      IRBuilder<> builder(one.place->getParent()->getSinglePredecessor()->getTerminator());
      Value* given = one.place->getArgOperand(1);
      // All of those that are here, if nobody says no.
      Value* counts = one.result == meeting::result::all ? builder.CreateIsNull(given)
                                                         : builder.CreateIsNotNull(given);
      one.tally = create_tally(builder, abi::reduce_kind::add,
                               builder.CreateZExt(counts, builder.getInt32Ty()));
    }
  }
}

void remove_tallies(std::vector<meeting>& barriers) {
  for (meeting& one : barriers) {
    if (one.tally) {
      one.tally->eraseFromParent();
      one.tally = nullptr;
    }
  }
}

}  // namespace sb::pass
