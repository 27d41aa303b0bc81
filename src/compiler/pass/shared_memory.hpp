// __shared__ variables become offsets into the block's shared memory.
//
// A kernel's static part holds what the kernel reaches and nothing else. Functions that stay calls
// may be reached by several kernels, so the variables that they name come first, at offsets that
// are the same for all kernels; the kernel's own variables follow. Dynamic memory starts behind the
// static part.
#pragma once

#include <llvm/ADT/MapVector.h>
#include <llvm/IR/Module.h>

#include "compiler/pass/effects.hpp"

namespace sb::pass {

struct kernel;

// `extern __shared__`: its size is the launch's.
bool is_dynamic(const llvm::GlobalVariable& variable);
// Where it starts, behind the static part.
inline constexpr std::uint64_t dynamic_alignment = 128;

class shared_layout {
 public:
  // Sets static_shared_bytes of the kernels.
  shared_layout(llvm::Module& module, llvm::MutableArrayRef<kernel> kernels,
                const call_reach& reach);

  // Where the variable lies for code of the function; nothing for dynamic (extern) variables.
  std::optional<std::uint64_t> offset(const llvm::Function& function,
                                      const llvm::GlobalVariable& variable) const;
  // Where dynamic memory starts for code of the function; nothing where only the block knows.
  std::optional<std::uint64_t> dynamic_offset(const llvm::Function& function) const;

 private:
  using offsets = llvm::MapVector<const llvm::GlobalVariable*, std::uint64_t>;
  offsets common_;
  llvm::DenseMap<const llvm::Function*, offsets> own_;  // by kernel body
  llvm::DenseMap<const llvm::Function*, std::uint64_t> static_bytes_;
};

// Replaces every use of a __shared__ variable by its address in the running block's memory.
// `shared_base` and `dynamic_base` give values valid at the function's entry.
void lower_shared_variables(llvm::Function& function, const shared_layout& layout,
                            llvm::function_ref<llvm::Value*()> shared_base,
                            llvm::function_ref<llvm::Value*()> dynamic_base);

// Makes instructions of the constant expressions that name shared variables; before any of the
// above.
void expand_shared_constants(llvm::Module& module);

}  // namespace sb::pass
