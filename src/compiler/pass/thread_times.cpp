#include "compiler/pass/thread_times.hpp"

#include "compiler/pass/engine_calls.hpp"

namespace sb::pass {

using namespace llvm;

namespace {

abi::sleep_kind kind_of_sleep(const CallInst& call) {
  switch (*called_slot(call)) {
    case slot::wait_until:
      return abi::sleep_kind::until_clock;
    case slot::wait_until_timer:
      return abi::sleep_kind::until_timer;
    default:
      return abi::sleep_kind::for_ns;
  }
}

}  // namespace

Value* create_thread_sleeps(IRBuilderBase& builder, const CallInst& call) {
  Value* kind = builder.getInt32(static_cast<std::uint32_t>(kind_of_sleep(call)));
  Value* time = builder.CreateZExt(call.getArgOperand(0), builder.getInt64Ty());
  return builder.CreateIsNotNull(call_engine(builder, slot::thread_sleeps, builder.getInt32Ty(),
                                             {number_of_thread(builder), kind, time}));
}

Value* create_thread_is_asleep(IRBuilderBase& builder) {
  return builder.CreateIsNotNull(call_engine(builder, slot::thread_is_asleep, builder.getInt32Ty(),
                                             {number_of_thread(builder)}));
}

Value* create_thread_looks(IRBuilderBase& builder, Value* value) {
  return call_engine(builder, slot::thread_looks, builder.getInt32Ty(),
                     {number_of_thread(builder), value});
}

}  // namespace sb::pass
