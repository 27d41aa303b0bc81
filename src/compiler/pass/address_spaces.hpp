// clang marks __device__, __constant__ and __shared__ variables by (fake) address spaces.
#pragma once

#include <llvm/IR/Module.h>

namespace sb::pass {

inline constexpr unsigned device_space = 7;
inline constexpr unsigned constant_space = 8;
inline constexpr unsigned shared_space = 9;

// Moves all of them to the ordinary address space, so that no later pass meets another one.
// __device__ and __constant__ variables stay in the image and are exported under their names. Loads
// of constants become invariant: a kernel never sees them change. __shared__ variables are only
// marked.
void lower_address_spaces(llvm::Module& module);

bool is_shared(const llvm::GlobalVariable& variable);
bool is_constant(const llvm::GlobalVariable& variable);  // __constant__

// Reports a use of a special address space that is still there.
bool check_address_spaces(llvm::Module& module);

}  // namespace sb::pass
