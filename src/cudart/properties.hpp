// A device profile as cudaGetDeviceProperties tells it.
#pragma once

#include <cuda_runtime_api.h>

#include <cstdint>

#include "model/device_profile.hpp"

namespace sb::cudart {

// `index` is the device's: devices of one profile differ in bus and identity.
cudaDeviceProp properties_of(const device_profile& profile, std::uint32_t index);

}  // namespace sb::cudart
