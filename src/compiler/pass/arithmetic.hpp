// Operations that are undefined for LLVM and defined on the device.
#pragma once

#include <llvm/IR/IRBuilder.h>
#include <llvm/IR/Module.h>

namespace sb::pass {

// Division by zero gives all ones, the remainder gives the dividend, the least number divided by -1
// wraps; conversions from floating point saturate.
void lower_arithmetic(llvm::Module& module);

// A divisor that may be divided by whatever it was: one, where that division would fault.
struct safe_divisor {
  llvm::Value* value;
  llvm::Value* was_zero;
};
safe_divisor divide_by(llvm::IRBuilderBase& builder, unsigned operation, llvm::Value* dividend,
                       llvm::Value* divisor);

}  // namespace sb::pass
