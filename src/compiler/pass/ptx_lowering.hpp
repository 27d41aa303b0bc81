// Instructions of inline PTX as IR.
#pragma once

#include <llvm/ADT/StringMap.h>
#include <llvm/IR/IRBuilder.h>

#include "compiler/pass/ptx_parser.hpp"
#include "compiler/pass/runtime_abi.hpp"

namespace sb::pass {

// A PTX type such as u32, f64, pred.
struct ptx_type {
  char kind = 'b';  // u, s, b, f, p
  unsigned bits = 0;

  static std::optional<ptx_type> parse(std::string_view text);
  [[nodiscard]] bool is_signed() const { return kind == 's'; }
  [[nodiscard]] bool is_float() const { return kind == 'f'; }
  [[nodiscard]] llvm::Type* ir(llvm::LLVMContext& context) const;
};

// Lowers one asm statement. Registers are values: the code is straight, so each name has one value
// at a time. False from a member means that the instruction is not one we know.
class ptx_lowering {
 public:
  explicit ptx_lowering(llvm::Instruction* at) : builder_(at), at_(at) {}

  void set(llvm::StringRef name, llvm::Value* value) { registers_[name] = value; }
  // Null when the text never wrote it.
  llvm::Value* get(llvm::StringRef name) { return registers_.lookup(name); }

  // A register that every thread has.
  bool is_special(llvm::StringRef name) { return special_register(name) != nullptr; }

  bool lower(const ptx_instruction& inst);
  // The condition of @p, true without one; null when p is unknown.
  llvm::Value* guard(const ptx_instruction& inst);
  llvm::IRBuilder<>& builder() { return builder_; }
  // Converts without changing bits where sizes agree.
  llvm::Value* fit(llvm::Value* value, llvm::Type* type, bool is_signed = false);

 private:
  bool lower_unguarded(const ptx_instruction& inst);
  bool lower_integer(const ptx_instruction& inst);
  bool lower_carry(const ptx_instruction& inst);
  bool lower_bits(const ptx_instruction& inst);
  bool lower_float(const ptx_instruction& inst);
  bool lower_move(const ptx_instruction& inst);
  bool lower_compare(const ptx_instruction& inst);
  bool lower_threads(const ptx_instruction& inst);
  bool lower_memory(const ptx_instruction& inst);
  bool lower_load(const ptx_instruction& inst);
  bool lower_store(const ptx_instruction& inst);
  bool lower_atomic(const ptx_instruction& inst);
  bool lower_async_copy(const ptx_instruction& inst);

  // The value of an operand as the type; null when it names nothing.
  llvm::Value* read(const ptx_operand& operand, ptx_type type);
  llvm::Value* read(llvm::StringRef name, ptx_type type);
  llvm::Value* special_register(llvm::StringRef name);
  llvm::Value* address(const ptx_instruction& inst, const ptx_operand& operand);
  void write(const ptx_operand& operand, llvm::Value* value);

  llvm::Value* builtin(const char* name);
  llvm::Value* runtime(slot which, llvm::Type* result, llvm::ArrayRef<llvm::Value*> args);
  llvm::Value* shared_base();

  llvm::IRBuilder<> builder_;
  llvm::Instruction* at_;
  llvm::StringMap<llvm::Value*> registers_;
  llvm::Value* carry_ = nullptr;  // of .cc instructions, an i1
};

}  // namespace sb::pass
