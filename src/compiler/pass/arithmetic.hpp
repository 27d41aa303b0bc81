// Operations that are undefined for LLVM and defined on the device.
#pragma once

#include <llvm/IR/Module.h>

namespace sb::pass {

// Division by zero gives all ones, the remainder gives the dividend, the least number divided by -1
// wraps; conversions from floating point saturate.
void lower_arithmetic(llvm::Module& module);

}  // namespace sb::pass
