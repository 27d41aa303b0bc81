// State of the process per device, and the making and retiring of streams.
#pragma once

#include <cuda_runtime_api.h>

#include <atomic>
#include <cstdint>
#include <mutex>
#include <vector>

#include "cudart/context.hpp"

namespace sb::cudart {

// What cudaGetDeviceFlags answers before anybody set them; props.tsv deviceflags.value
inline constexpr unsigned initial_device_flags = cudaDeviceMapHost;

struct device_state {
  std::atomic<CUstream_st*> legacy{nullptr};
  std::atomic<std::uint32_t> generation{0};  // of cudaDeviceReset
  std::atomic<bool> lost{false};             // reset after a fault
  std::mutex mutex;                          // guards the rest, and the making of `legacy`
  unsigned flags = initial_device_flags;
  cudaFuncCache cache_config = cudaFuncCachePreferNone;
  std::vector<std::size_t> limits;   // by cudaLimit
  std::vector<std::uint32_t> peers;  // that this device may access
};

device_state& device_of(device_id device);
// Whether cudaDeviceEnablePeerAccess allowed kernels of `device` the memory of `other`.
bool may_access(device_id device, device_id other);

CUstream_st* make_stream(device_id device, stream_kind kind, unsigned flags, int priority);
// Ends the handle; pending work still runs. False when it was not a live stream.
bool retire(CUstream_st* stream);

// Forgets what launches said about functions of a device (cudaFuncSetAttribute).
void forget_function_settings(device_id device);

}  // namespace sb::cudart
