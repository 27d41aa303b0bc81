// Kernels as the border knows them: settings of a function, checks of a launch, occupancy.
#pragma once

#include <cuda_runtime_api.h>

#include <cstdint>

#include "base/device_abi.hpp"
#include "base/status.hpp"
#include "cudart/context.hpp"
#include "model/device_profile.hpp"

namespace sb::cudart {

// What cudaFuncSetAttribute can change.
struct function_settings {
  int max_dynamic_shared = -1;  // bytes; -1: not set
  int carveout = cudaSharedmemCarveoutDefault;
  bool non_portable_clusters = false;
  int cluster_policy = cudaClusterSchedulingPolicyDefault;
  int cluster[3] = {0, 0, 0};
};

function_settings settings_of(const void* stub, device_id device);

// invalid_device_function for null, invalid_resource_handle for what is not a kernel of this
// program.
result<const abi::kernel_info*> find_function(const void* stub, device_id device);
// The mangled name a stub was registered with; null for an unknown one.
const char* registered_name(const void* stub);
// Bytes of __constant__ variables in the image of a kernel.
std::size_t constant_bytes_beside(const void* stub);

struct launch_shape {
  dim3 grid, block;
  std::size_t dynamic_shared = 0;
  bool cooperative = false;
};

// Whether the device can run this launch. CUDA answers invalid_value for an impossible
// configuration; errors.tsv launch.*
status check_shape(const abi::kernel_info& kernel, const void* stub, const launch_shape& shape,
                   device_id device);

// Resident blocks per multiprocessor, as CUDA's occupancy calculation has it.
std::uint32_t resident_blocks(const abi::kernel_info& kernel, const function_settings& settings,
                              std::uint32_t block_size, std::size_t dynamic_shared,
                              const device_profile& profile);

}  // namespace sb::cudart
