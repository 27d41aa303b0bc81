// Parameters of a kernel as the host passes them.
//
// The IR signature says little: the ABI splits, coerces and hides C++ parameters. Debug info tells
// each parameter's size and the memory in which the function keeps it, also for empty, huge and
// non-trivially copyable ones.
#pragma once

#include <llvm/IR/Function.h>

#include <cstdint>
#include <optional>
#include <vector>

#include "base/device_abi.hpp"

namespace sb::pass {

struct kernel;

struct parameter {
  std::uint32_t offset = 0;  // in the packed buffer
  std::uint32_t size = 0;
  std::uint32_t alignment = 1;
  std::uint32_t flags = 0;  // abi::param_flags
};

// Moves the code of kernel.source into kernel.body, whose parameters come from the packed buffer,
// and fills in the layout. False after reporting an error.
bool build_body(kernel& kernel);

// Sets the flags of plain pointer parameters from what the (canonical) body does with them.
void infer_pointer_flags(kernel& kernel);

}  // namespace sb::pass
