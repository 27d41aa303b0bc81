// What cudaFuncGetAttributes tells about a kernel's use of the multiprocessor. The numbers are
// estimates: nothing here allocates device registers.
#pragma once

#include "compiler/pass/effects.hpp"
#include "compiler/pass/kernel_discovery.hpp"

namespace sb::pass {

void estimate_resources(kernel& kernel, const call_reach& reach);

}  // namespace sb::pass
