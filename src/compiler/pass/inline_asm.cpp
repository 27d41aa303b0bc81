#include "compiler/pass/inline_asm.hpp"

#include <llvm/IR/InlineAsm.h>
#include <llvm/IR/InstIterator.h>

#include "compiler/pass/runtime_abi.hpp"

namespace sb::pass {

using namespace llvm;

void lower_inline_asm(Module& module) {
  for (Function& function : module) {
    for (Instruction& inst : make_early_inc_range(instructions(function))) {
      auto* call = dyn_cast<CallBase>(&inst);
      if (call && call->isInlineAsm()) {
        report_error(*call, "inline PTX is not supported");
      }
    }
  }
}

}  // namespace sb::pass
