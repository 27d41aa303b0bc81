// How much memory graphs own.
#include "cudart/graph_memory.hpp"

namespace sb::cudart {
namespace {

bool known(int device) {
  return device >= 0 && static_cast<std::uint32_t>(device) < the_engine().device_count();
}

}  // namespace

SB_API cudaError_t CUDARTAPI cudaDeviceGraphMemTrim(int device) {
  return entry(call_kind::device, [&]() -> status {
    if (!known(device)) return status::invalid_device;
    trim_graph_memory(device_id{static_cast<std::uint32_t>(device)});
    return status::success;
  });
}

SB_API cudaError_t CUDARTAPI cudaDeviceGetGraphMemAttribute(int device,
                                                            cudaGraphMemAttributeType attribute,
                                                            void* value) {
  return entry(call_kind::device, [&]() -> status {
    if (!known(device)) return status::invalid_device;
    if (value == nullptr) return status::invalid_value;
    const graph_memory_use use = graph_memory_of(device_id{static_cast<std::uint32_t>(device)});
    auto& out = *static_cast<std::uint64_t*>(value);
    switch (attribute) {
      case cudaGraphMemAttrUsedMemCurrent:
        out = use.used;
        return status::success;
      case cudaGraphMemAttrUsedMemHigh:
        out = use.used_high;
        return status::success;
      case cudaGraphMemAttrReservedMemCurrent:
        out = use.reserved;
        return status::success;
      case cudaGraphMemAttrReservedMemHigh:
        out = use.reserved_high;
        return status::success;
    }
    return status::invalid_value;
  });
}

SB_API cudaError_t CUDARTAPI cudaDeviceSetGraphMemAttribute(int device,
                                                            cudaGraphMemAttributeType attribute,
                                                            void* value) {
  return entry(call_kind::device, [&]() -> status {
    if (!known(device)) return status::invalid_device;
    // Only the high-water marks can be set, and only back to zero.
    if (attribute != cudaGraphMemAttrUsedMemHigh && attribute != cudaGraphMemAttrReservedMemHigh) {
      return status::invalid_value;
    }
    if (value == nullptr || *static_cast<const std::uint64_t*>(value) != 0) {
      return status::invalid_value;
    }
    reset_graph_memory_high(device_id{static_cast<std::uint32_t>(device)});
    return status::success;
  });
}

}  // namespace sb::cudart
