// Access to src/base/device_abi.hpp from generated code: table slots, offsets, context fields.
#pragma once

#include <llvm/IR/IRBuilder.h>
#include <llvm/IR/Module.h>

#include <optional>

#include "base/device_abi.hpp"

namespace sb::pass {

// The slots of abi::device_table, by name and in its order.
enum class slot : unsigned {
#define SB_SLOT(type, name, params) name,
  SB_DEVICE_TABLE(SB_SLOT)
#undef SB_SLOT
};

// "barrier" -> slot::barrier.
std::optional<slot> slot_by_name(llvm::StringRef name);
llvm::StringRef slot_name(slot which);

// The prefix of the functions through which headers reach the table: __sb_rt_NAME.
inline constexpr llvm::StringLiteral runtime_prefix = "__sb_rt_";
// The functions of texture_sampling.h: on a device each is one instruction, whose last argument
// says how many bytes it loads.
inline constexpr llvm::StringLiteral texture_prefix = "__sb_texture_";
bool is_texture_instruction(const llvm::Function& function);
// Notes them at the call: nothing else uses the argument, so it does not last.
void mark_texture_bytes(llvm::CallBase& call);
std::uint64_t texture_bytes(const llvm::CallBase& call);
// The slot that a call of __sb_rt_NAME asks for; nothing for other calls.
std::optional<slot> called_slot(const llvm::CallBase& call);
// The same for calls that already go through the table.
void mark_lowered_slot(llvm::CallBase& call, slot which);
std::optional<slot> lowered_slot(const llvm::CallBase& call);
// A declaration of __sb_rt_NAME. Passes that run before the context is lowered insert calls of
// these.
llvm::FunctionCallee runtime_function(llvm::Module& module, slot which, llvm::Type* result,
                                      llvm::ArrayRef<llvm::Type*> params, bool variadic = false);
// Operations that threads do together: a copy of one on a second path would be another meeting
// point.
bool is_convergent(slot which);
// Reads of one of the clocks, whatever for.
bool tells_time(slot which);

// What a thread is never changes while it runs: reading it costs nothing and depends on nothing.
void mark_context_builtin(llvm::Function& function);
// A declaration of one of the argument-less builtins (__sb_tid_x ...), with the attributes they
// deserve.
llvm::FunctionCallee builtin_function(llvm::Module& module, llvm::StringRef name,
                                      llvm::Type* result);

// Loads the slot's address from the image's table. The engine sets the table before anything runs,
// so the loads are invariant.
llvm::Value* load_slot(llvm::IRBuilderBase& builder, slot which);

// Loads a field that lies `offset` bytes into the object; invariant during a kernel.
llvm::LoadInst* load_field(llvm::IRBuilderBase& builder, llvm::Type* type, llvm::Value* object,
                           std::size_t offset, const char* name, bool invariant);

// Reports at the instruction's own source line; compilation then fails.
void report_error(const llvm::Instruction& at, const llvm::Twine& message);
void report_error(const llvm::Function& in, const llvm::Twine& message);

}  // namespace sb::pass
