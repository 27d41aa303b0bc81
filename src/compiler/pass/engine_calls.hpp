// Calls of the engine for one of the threads that share a fiber.
#pragma once

#include <llvm/IR/IRBuilder.h>

#include "compiler/pass/runtime_abi.hpp"

namespace sb::pass {

// The number of the calling thread in its block.
llvm::Value* number_of_thread(llvm::IRBuilderBase& builder);
llvm::CallInst* call_engine(llvm::IRBuilderBase& builder, slot which, llvm::Type* result,
                            llvm::ArrayRef<llvm::Value*> args);

}  // namespace sb::pass
