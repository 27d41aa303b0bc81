// __managed__ variables live in the host program; device code reaches V through the pointer
// V.sb_managed, which the engine sets after loading the image.
#pragma once

#include <llvm/IR/Module.h>

namespace sb::pass {

void mark_managed(llvm::GlobalVariable& variable);

// After address spaces were lowered.
void lower_managed_variables(llvm::Module& module);

}  // namespace sb::pass
