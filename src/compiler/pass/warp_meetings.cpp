#include <llvm/IR/InstIterator.h>
#include <llvm/IR/Module.h>
#include <llvm/IR/PatternMatch.h>
#include <llvm/Transforms/Utils/BasicBlockUtils.h>

#include "compiler/pass/parted_lanes.hpp"
#include "compiler/pass/runtime_abi.hpp"
#include "compiler/pass/uniformity.hpp"
#include "compiler/pass/warp_function.hpp"

namespace sb::pass {

using namespace llvm;

namespace {

bool is_warp_slot(slot which) {
  switch (which) {
    case slot::warp_sync:
    case slot::shuffle:
    case slot::vote:
    case slot::match:
    case slot::reduce:
    case slot::active_mask:
      return true;
    default:
      return false;
  }
}

bool is_warp_call(const Instruction& inst) {
  auto* call = dyn_cast<CallInst>(&inst);
  auto which = call ? called_slot(*call) : std::nullopt;
  return which && is_warp_slot(*which);
}

std::optional<std::uint64_t> constant(const CallInst& call, unsigned argument) {
  auto* number = dyn_cast<ConstantInt>(call.getArgOperand(argument));
  return number ? std::optional(number->getZExtValue()) : std::nullopt;
}

bool can_lower(const CallInst& call) {
  switch (*called_slot(call)) {
    case slot::shuffle:
    case slot::vote:
    case slot::reduce:
    case slot::match:
      return constant(call, 1).has_value();
    default:
      return true;
  }
}

class lowering {
 public:
  explicit lowering(CallInst& call) : call_(call), builder_(&call) {
    module_ = call.getModule();
    word_ = builder_.getInt32Ty();
  }

  meeting lower() {
    slot which = *called_slot(call_);
    // The call goes to a block of its own; what it brings stays before it.
    prepare(which);
    auto callee = module_->getOrInsertFunction(warp_meeting_name, word_);
    meeting_.place = builder_.CreateCall(callee);
    meeting_.place->setConvergent();
    Value* result = nullptr;
    switch (which) {
      case slot::shuffle:
        result = take_shuffled();
        break;
      case slot::vote:
        result = take_votes();
        break;
      case slot::reduce:
        result = meeting_.tally ? meeting_.place : take_reduced();
        break;
      case slot::match:
        result = take_matches();
        break;
      case slot::active_mask:
        result = live_lanes();
        break;
      default:
        break;
    }
    if (result) {
      call_.replaceAllUsesWith(builder_.CreateZExtOrTrunc(result, call_.getType()));
    }
    call_.eraseFromParent();
    SplitBlock(meeting_.place->getParent(), meeting_.place);
    return meeting_;
  }

 private:
  Value* builtin(StringRef name) {
    return builder_.CreateCall(builtin_function(*module_, name, word_));
  }
  Value* lane() { return lane_ ? lane_ : lane_ = builtin("__sb_laneid"); }
  Value* bit() { return builder_.CreateShl(builder_.getInt32(1), lane()); }
  // Not a builtin: it must stay where it is until it is known what it means there.
  Value* live_lanes() {
    return builder_.CreateCall(module_->getOrInsertFunction(active_lanes_name, word_));
  }
  bool is_for_all() const { return constant(call_, 0) == 0xffffffffu; }
  // The lanes that take part with this one.
  Value* present() {
    if (is_for_all()) {
      return live_lanes();
    }
    Value* mask = builder_.CreateOr(call_.getArgOperand(0), bit());
    return builder_.CreateAnd(mask, live_lanes());
  }

  AllocaInst* memory(Type* type, unsigned elements, const char* name) {
    BasicBlock& entry = call_.getFunction()->getEntryBlock();
    IRBuilder<> at(&entry, entry.begin());
    auto* slot = at.CreateAlloca(ArrayType::get(type, elements), nullptr, name);
    slot->setAlignment(Align(64));
    mark_team_memory(*slot);
    return slot;
  }

  Value* wide(Value* value) { return builder_.CreateZExt(value, builder_.getInt64Ty()); }

  // What a lane sent. There is room on both sides of the 32, for distances from any of them.
  Value* received(Value* wide_lane) {
    Value* index = builder_.CreateAdd(wide_lane, builder_.getInt64(32));
    return builder_.CreateLoad(payload_, builder_.CreateInBoundsGEP(payload_, meeting_.to, index));
  }

  void send(Value* value) {
    payload_ = value->getType();
    meeting_.from = memory(payload_, 32, "sent");
    meeting_.to = memory(payload_, meeting_.order.empty() ? 96 : 32, "received");
    meeting_.to_offset =
        meeting_.order.empty() ? 32 * module_->getDataLayout().getTypeAllocSize(payload_) : 0;
    builder_.CreateStore(value, builder_.CreateInBoundsGEP(payload_, meeting_.from, wide(lane())));
  }

  void prepare(slot which) {
    if (which == slot::shuffle) {
      Value* value = call_.getArgOperand(2);
      // Four bytes travel as eight; they need no more memory than they are.
      Value* narrow = nullptr;
      if (PatternMatch::match(value, PatternMatch::m_ZExt(PatternMatch::m_Value(narrow))) &&
          narrow->getType() == word_) {
        value = narrow;
      }
      meeting_.order = known_order();
      own_ = value;
      send(value);
    } else if (which == slot::vote) {
      Value* yes = builder_.CreateIsNotNull(call_.getArgOperand(2));
      Value* votes = builder_.CreateSelect(yes, bit(), builder_.getInt32(0));
      meeting_.tally = create_tally(builder_, abi::reduce_kind::or_, votes);
    } else if (which == slot::match || (which == slot::reduce && !is_for_all())) {
      send(call_.getArgOperand(2));
    } else if (which == slot::reduce) {
      auto kind = static_cast<abi::reduce_kind>(*constant(call_, 1));
      meeting_.tally = create_tally(builder_, kind, call_.getArgOperand(2));
    }
  }

  // The value that came from `source`. The distance is mostly the same for all lanes: then their
  // loads lie side by side, which the select between them keeps, and vectors are made of them.
  Value* take_from(abi::shuffle_kind kind, Value* source, Value* argument) {
    auto least = [&](Value* distance) {
      return wide(builder_.CreateBinaryIntrinsic(Intrinsic::umin, distance, builder_.getInt32(32)));
    };
    switch (kind) {
      case abi::shuffle_kind::index:
        break;
      case abi::shuffle_kind::up:
        return received(builder_.CreateSub(wide(lane()), least(argument)));
      case abi::shuffle_kind::down:
        return received(builder_.CreateAdd(wide(lane()), least(argument)));
      case abi::shuffle_kind::xor_: {
        // One bit: those without it take from above, those with it from below.
        Value* distance = least(argument);
        Value* has = builder_.CreateIsNotNull(builder_.CreateAnd(lane(), argument));
        Value* near =
            builder_.CreateSelect(has, received(builder_.CreateSub(wide(lane()), distance)),
                                  received(builder_.CreateAdd(wide(lane()), distance)));
        Value* bits = builder_.CreateUnaryIntrinsic(Intrinsic::ctpop, argument);
        Value* any = received(wide(builder_.CreateAnd(source, 31)));
        return builder_.CreateSelect(builder_.CreateICmpEQ(bits, builder_.getInt32(1)), near, any);
      }
    }
    return received(wide(builder_.CreateAnd(source, 31)));
  }

  // PTX: lanes form segments of `width`; a source outside the segment leaves the lane its own
  // value, and so does one that takes no part.
  Value* take_shuffled() {
    Value* one = builder_.getInt32(1);
    Value* width = call_.getArgOperand(4);
    Value* whole = builder_.CreateOr(builder_.CreateIsNull(width),
                                     builder_.CreateICmpUGT(width, builder_.getInt32(32)));
    width = builder_.CreateSelect(whole, builder_.getInt32(32), width);
    Value* inside = builder_.CreateSub(width, one);
    Value* segment = builder_.CreateAnd(lane(), builder_.CreateNot(inside));
    Value* last = builder_.CreateOr(segment, inside);
    Value* argument = call_.getArgOperand(3);
    Value* source = nullptr;
    Value* in_range = builder_.getTrue();
    auto kind = static_cast<abi::shuffle_kind>(*constant(call_, 1));
    switch (kind) {
      case abi::shuffle_kind::index:
        source = builder_.CreateOr(segment, builder_.CreateAnd(argument, inside));
        break;
      case abi::shuffle_kind::up:
        in_range = builder_.CreateICmpULE(argument, builder_.CreateSub(lane(), segment));
        source = builder_.CreateSub(lane(), argument);
        break;
      case abi::shuffle_kind::down:
        in_range = builder_.CreateICmpULE(argument, builder_.CreateSub(last, lane()));
        source = builder_.CreateAdd(lane(), argument);
        break;
      case abi::shuffle_kind::xor_:
        source = builder_.CreateXor(lane(), argument);
        in_range = builder_.CreateICmpULE(source, last);
        break;
    }
    Value* place = builder_.CreateAnd(source, 31);
    Value* takes_part =
        builder_.CreateTrunc(builder_.CreateLShr(present(), place), builder_.getInt1Ty());
    Value* there = builder_.CreateAnd(in_range, takes_part);
    store_flag(call_.getArgOperand(5), in_range);
    if (!meeting_.order.empty()) {
      Value* at = builder_.CreateInBoundsGEP(payload_, meeting_.to, wide(lane()));
      return builder_.CreateSelect(there, builder_.CreateLoad(payload_, at), own_);
    }
    return builder_.CreateSelect(there, take_from(kind, source, argument), received(wide(lane())));
  }

  // Which lane each takes from, where that is known now. Those that take nothing get something.
  std::vector<int> known_order() const {
    auto given = constant(call_, 3);
    auto width = constant(call_, 4);
    if (!given || !width) {
      return {};
    }
    unsigned argument = static_cast<unsigned>(*given);
    unsigned inside = *width == 0 || *width > 32 ? 31 : static_cast<unsigned>(*width) - 1;
    std::vector<int> order;
    for (unsigned lane = 0; lane < 32; ++lane) {
      unsigned source = lane;
      switch (static_cast<abi::shuffle_kind>(*constant(call_, 1))) {
        case abi::shuffle_kind::index:
          source = (lane & ~inside) | (argument & inside);
          break;
        case abi::shuffle_kind::up:
          source = lane - argument;
          break;
        case abi::shuffle_kind::down:
          source = lane + argument;
          break;
        case abi::shuffle_kind::xor_:
          source = lane ^ argument;
          break;
      }
      order.push_back(static_cast<int>(source % 32));
    }
    return order;
  }

  // Goes over what the lanes sent: `step` makes the next value from the last one, what a lane sent
  // and whether it takes part.
  Value* over_lanes(Value* start, Value* lanes,
                    function_ref<Value*(Value*, Value*, Value*, Value*)> step) {
    BasicBlock* before = builder_.GetInsertBlock();
    BasicBlock* after = SplitBlock(before, &call_);
    auto* loop = BasicBlock::Create(call_.getContext(), "lanes", call_.getFunction(), after);
    before->getTerminator()->setSuccessor(0, loop);
    builder_.SetInsertPoint(loop);
    PHINode* one = builder_.CreatePHI(word_, 2, "lane");
    PHINode* value = builder_.CreatePHI(word_, 2, "value");
    Value* there = builder_.CreateTrunc(builder_.CreateLShr(lanes, one), builder_.getInt1Ty());
    Value* sent = received(wide(one));
    Value* made = step(value, sent, there, one);
    Value* next = builder_.CreateAdd(one, builder_.getInt32(1));
    builder_.CreateCondBr(builder_.CreateICmpULT(next, builder_.getInt32(32)), loop, after);
    one->addIncoming(builder_.getInt32(0), before);
    one->addIncoming(next, loop);
    value->addIncoming(start, before);
    value->addIncoming(made, loop);
    builder_.SetInsertPoint(&call_);
    return made;
  }

  Value* take_reduced() {
    auto kind = static_cast<abi::reduce_kind>(*constant(call_, 1));
    return over_lanes(start_of_reduction(builder_, kind), present(),
                      [&](Value* value, Value* sent, Value* there, Value*) {
                        return builder_.CreateSelect(there, combine(builder_, kind, value, sent),
                                                     value);
                      });
  }

  Value* take_matches() {
    Value* lanes = present();
    Value* own = received(wide(lane()));
    Value* same = over_lanes(
        builder_.getInt32(0), lanes, [&](Value* value, Value* sent, Value* there, Value* one) {
          Value* equal = builder_.CreateAnd(there, builder_.CreateICmpEQ(sent, own));
          Value* bit = builder_.CreateShl(builder_.CreateZExt(equal, word_), one);
          return builder_.CreateOr(value, bit);
        });
    if (*constant(call_, 1) == 0) {
      return same;
    }
    Value* all = builder_.CreateICmpEQ(same, lanes);
    store_flag(call_.getArgOperand(3), all);
    return builder_.CreateSelect(all, same, builder_.getInt32(0));
  }

  void store_flag(Value* pointer, Value* flag) {
    if (!isa<ConstantPointerNull>(pointer)) {
      builder_.CreateStore(builder_.CreateZExt(flag, word_), pointer);
    }
  }

  Value* take_votes() {
    Value* lanes = present();
    Value* votes = builder_.CreateAnd(meeting_.place, lanes);
    Value* all = builder_.CreateICmpEQ(votes, lanes);
    Value* none = builder_.CreateIsNull(votes);
    switch (static_cast<abi::vote_kind>(*constant(call_, 1))) {
      case abi::vote_kind::all:
        return all;
      case abi::vote_kind::any:
        return builder_.CreateNot(none);
      case abi::vote_kind::uniform:
        return builder_.CreateOr(all, none);
      case abi::vote_kind::ballot:
        return votes;
    }
    return votes;
  }

  CallInst& call_;
  IRBuilder<> builder_;
  Module* module_;
  Type* word_;
  Type* payload_ = nullptr;
  Value* lane_ = nullptr;
  Value* own_ = nullptr;  // what the lane sent
  meeting meeting_;
};

}  // namespace

bool has_warp_meetings(const Function& function) {
  return any_of(instructions(function), is_warp_call);
}

bool has_warp_meetings(const BasicBlock& block) { return any_of(block, is_warp_call); }

std::optional<std::vector<meeting>> lower_warp_meetings(Function& function) {
  std::vector<CallInst*> calls;
  for (Instruction& inst : instructions(function)) {
    if (is_warp_call(inst)) {
      calls.push_back(cast<CallInst>(&inst));
      if (!can_lower(*calls.back())) {
        return std::nullopt;
      }
    }
  }
  std::vector<meeting> meetings;
  for (CallInst* call : calls) {
    meetings.push_back(lowering(*call).lower());
  }
  return meetings;
}

}  // namespace sb::pass
