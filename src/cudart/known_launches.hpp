// Launches that the calling thread made before: one that is like them needs none of the checks that
// they passed, until anything changes that those looked at (engine/checked_state.hpp).
//
// Only launches that ran in their call are kept (engine::launch_at_once): for the others the checks
// are the smaller part.
#pragma once

#include <cuda_runtime_api.h>

#include <cstdint>

#include "cudart/functions.hpp"
#include "engine/engine.hpp"

namespace sb::cudart {

// Runs the launch in this call if the thread knows one like it, and nothing is before it. False:
// nothing happened.
bool launch_known(const void* stub, const dim3& grid, const dim3& block, std::size_t shared,
                  cudaStream_t stream, void** arguments, const engine::launch_place& place);

// Packs what the arguments point to as the kernel wants it.
void pack_arguments(const abi::kernel_info& kernel, void** arguments, char* params);

// `as_of` is checked_state::before_checks(), from before its stream and its kernel were looked up.
void remember_launch(const void* stub, cudaStream_t stream, const engine::quick_launch& quick,
                     engine::kernel_operation operation, std::uint64_t as_of);

}  // namespace sb::cudart
