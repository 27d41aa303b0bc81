#include "compiler/pass/assertions.hpp"

#include <llvm/IR/InstIterator.h>

#include "compiler/pass/runtime_abi.hpp"

namespace sb::pass {

using namespace llvm;

bool go_on_after_assertions(Function& function) {
  SmallVector<CallBase*, 8> calls;
  for (Instruction& inst : instructions(function)) {
    auto* call = dyn_cast<CallBase>(&inst);
    if (call && called_slot(*call) == slot::assert_fail &&
        isa_and_nonnull<UnreachableInst>(call->getNextNonDebugInstruction())) {
      calls.push_back(call);
    }
  }
  for (CallBase* call : calls) {
    auto note = runtime_function(*function.getParent(), slot::note_assertion, call->getType(),
                                 call->getFunctionType()->params());
    call->setCalledFunction(note);
    call->removeFnAttr(Attribute::NoReturn);
    Instruction* end = call->getParent()->getTerminator();
    IRBuilder<>(end).CreateRetVoid();
    end->eraseFromParent();
  }
  return !calls.empty();
}

void end_after_assertions(IRBuilder<>& builder) {
  Module& module = *builder.GetInsertBlock()->getModule();
  builder.CreateCall(runtime_function(module, slot::end_if_asserted, builder.getVoidTy(), {}));
}

}  // namespace sb::pass
