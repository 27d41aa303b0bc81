// Operations from the parameters of a call, for live calls and for nodes of explicit graphs alike.
#pragma once

#include <cuda_runtime_api.h>

#include "base/status.hpp"
#include "cudart/context.hpp"
#include "engine/operation.hpp"

namespace sb::cudart {

// Checks as the call does; the device is where the operation will run. No staging is done.
// A copy's source as it is now. What does not fit into the staging memory gets memory of its own.
enum class snapshot : std::uint8_t { staged, too_large };
snapshot take_snapshot(engine::copy_operation& op, device_id device);
result<engine::operation> copy_operation_of(const cudaMemcpy3DParms& params, device_id device);
result<engine::operation> fill_operation_of(const cudaMemsetParams& params, device_id device);
// Checks configuration and function as a launch does.
result<engine::operation> kernel_operation_of(const cudaKernelNodeParams& params, device_id device,
                                              bool cooperative = false);

// After a fault of the device the function is not called; faults.tsv pending.hostfunc.ran
engine::host_operation host_operation_of(const cudaHostNodeParams& params);

}  // namespace sb::cudart
