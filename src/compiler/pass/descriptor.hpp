// K.sb: what the engine reads about a kernel (abi::kernel_info).
#pragma once

#include "compiler/pass/kernel_discovery.hpp"

namespace sb::pass {

void emit_descriptor(llvm::Module& module, const kernel& kernel);

}  // namespace sb::pass
