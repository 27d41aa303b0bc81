// Inline PTX: known instructions become IR, the rest is refused by name at the user's line.
#pragma once

#include <llvm/IR/Module.h>

namespace sb::pass {

void lower_inline_asm(llvm::Module& module);

}  // namespace sb::pass
