// Loads and stores under masks that are constants: LLVM makes such of a loop of three threads,
// where the processor has masked ones. Without the mask they are plain accesses of what it lets
// through.
#pragma once

#include <llvm/IR/Function.h>

namespace sb::pass {

void drop_constant_masks(llvm::Function& function);

}  // namespace sb::pass
