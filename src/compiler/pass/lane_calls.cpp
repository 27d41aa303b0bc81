#include "compiler/pass/lane_calls.hpp"

#include "compiler/pass/engine_calls.hpp"

namespace sb::pass {

using namespace llvm;

namespace {

// What an operation brings: abi::lane_operation, and its arguments in the order of lane_comes.
struct brought {
  abi::lane_operation what = abi::lane_operation::sync;
  Value* how = nullptr;
  Value* mask = nullptr;
  Value* value = nullptr;
  Value* argument = nullptr;
  Value* width = nullptr;
  Value* flag = nullptr;  // where a second result goes
};

std::optional<brought> what_is_brought(const CallBase& call) {
  auto which = called_slot(call);
  if (!which) {
    return std::nullopt;
  }
  auto operand = [&](unsigned i) { return call.getArgOperand(i); };
  brought all;
  all.mask = call.arg_empty() ? nullptr : operand(0);
  switch (*which) {
    case slot::warp_sync:
      return all;
    case slot::shuffle:
      all.what = abi::lane_operation::shuffle;
      all.how = operand(1);
      all.value = operand(2);
      all.argument = operand(3);
      all.width = operand(4);
      all.flag = operand(5);
      return all;
    case slot::vote:
      all.what = abi::lane_operation::vote;
      all.how = operand(1);
      all.argument = operand(2);
      return all;
    case slot::match:
      all.what = abi::lane_operation::match;
      all.how = operand(1);
      all.value = operand(2);
      all.flag = operand(3);
      return all;
    case slot::reduce:
      all.what = abi::lane_operation::reduce;
      all.how = operand(1);
      all.value = operand(2);
      return all;
    case slot::active_mask:
      all.what = abi::lane_operation::ask;
      return all;
    default:
      return std::nullopt;
  }
}

}  // namespace

bool is_lane_call(const CallBase& call) { return what_is_brought(call).has_value(); }

Value* create_lane_comes(IRBuilderBase& builder, CallInst& call, std::uint32_t place,
                         Value* in_vain) {
  brought all = *what_is_brought(call);
  if (all.what == abi::lane_operation::ask) {
    all.argument = builder.getInt32(place);
    all.how = in_vain;
  }
  auto word = [&](Value* value) -> Value* { return value ? value : builder.getInt32(0); };
  Value* value = all.value ? builder.CreateZExt(all.value, builder.getInt64Ty())
                           : static_cast<Value*>(builder.getInt64(0));
  Value* here = call_engine(
      builder, slot::lane_comes, builder.getInt32Ty(),
      {number_of_thread(builder), builder.getInt32(static_cast<std::uint32_t>(all.what)),
       word(all.how), word(all.mask), value, word(all.argument), word(all.width)});
  return builder.CreateIsNotNull(here);
}

void create_lane_rests(IRBuilderBase& builder) {
  auto number = [&](std::uint32_t value) { return builder.getInt32(value); };
  call_engine(
      builder, slot::lane_comes, builder.getInt32Ty(),
      {number_of_thread(builder), number(static_cast<std::uint32_t>(abi::lane_operation::rest)),
       number(0), number(0), builder.getInt64(0), number(0), number(0)});
}

Value* create_lane_waits(IRBuilderBase& builder) {
  return builder.CreateIsNotNull(
      call_engine(builder, slot::lane_waits, builder.getInt32Ty(), {number_of_thread(builder)}));
}

void replace_by_lane_takes(CallInst& call) {
  IRBuilder<> builder(&call);
  const brought all = *what_is_brought(call);
  Value* flag = all.flag ? all.flag : ConstantPointerNull::get(builder.getPtrTy());
  Value* result = call_engine(builder, slot::lane_takes, builder.getInt64Ty(),
                              {number_of_thread(builder), flag});
  if (!call.getType()->isVoidTy()) {
    call.replaceAllUsesWith(builder.CreateTrunc(result, call.getType()));
  }
  call.eraseFromParent();
}

void create_lane_leaves(IRBuilderBase& builder) {
  call_engine(builder, slot::lane_leaves, builder.getVoidTy(), {number_of_thread(builder)});
}

}  // namespace sb::pass
