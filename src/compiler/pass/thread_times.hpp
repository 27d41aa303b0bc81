// Threads that share a fiber and have times of their own (abi::thread_times): what each of them
// says of itself to the engine.
#pragma once

#include <llvm/IR/IRBuilder.h>
#include <llvm/IR/Instructions.h>

namespace sb::pass {

// In place of a call of nanosleep, wait_until or wait_until_timer, which stays: whether the thread
// now sleeps.
llvm::Value* create_thread_sleeps(llvm::IRBuilderBase& builder, const llvm::CallInst& call);
llvm::Value* create_thread_is_asleep(llvm::IRBuilderBase& builder);
// The thread saw `value`, 64 bits, at the back edge of its loop: abi::look_answer.
llvm::Value* create_thread_looks(llvm::IRBuilderBase& builder, llvm::Value* value);

}  // namespace sb::pass
