// Pointers that a kernel may not follow, among its arguments: ordinary host memory, and memory of
// another device without peer access (documented, not recorded).
//
// CUDA: a kernel that touches pageable host memory gets cudaErrorIllegalAddress; h200/faults.tsv
// host.pointer. Here the memory is within reach of the kernel, so the argument itself is changed
// into an address that no process has: the kernel faults at its first access, as on the device.
// A pointer whose value the kernel may see (abi::param_is_carried) arrives as it was sent.
#pragma once

#include <cstdint>

#include "base/device_abi.hpp"
#include "model/ids.hpp"

namespace sb::cudart {

// Looks at the pointers that the kernel only dereferences, in its packed parameters.
void bar_host_pointers(const abi::kernel_info& kernel, char* params, device_id device);

}  // namespace sb::cudart
