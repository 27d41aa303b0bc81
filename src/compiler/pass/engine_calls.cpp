#include "compiler/pass/engine_calls.hpp"

#include <llvm/IR/Module.h>

namespace sb::pass {

using namespace llvm;

Value* number_of_thread(IRBuilderBase& builder) {
  Module& module = *builder.GetInsertBlock()->getModule();
  return builder.CreateCall(builtin_function(module, "__sb_linear_tid", builder.getInt32Ty()));
}

CallInst* call_engine(IRBuilderBase& builder, slot which, Type* result, ArrayRef<Value*> args) {
  SmallVector<Type*, 8> types;
  for (Value* argument : args) {
    types.push_back(argument->getType());
  }
  Module& module = *builder.GetInsertBlock()->getModule();
  return builder.CreateCall(runtime_function(module, which, result, types), args);
}

}  // namespace sb::pass
