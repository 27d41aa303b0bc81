// Devices: which there are, which one the thread uses, their state, peers.
#include <algorithm>
#include <cstdio>
#include <cstring>
#include <memory>

#include "cudart/array.hpp"
#include "cudart/capture.hpp"
#include "cudart/context.hpp"
#include "cudart/pool_hooks.hpp"
#include "cudart/process.hpp"
#include "cudart/properties.hpp"
#include "engine/checked_state.hpp"
#include "engine/device_heap.hpp"
#include "engine/images.hpp"
#include "engine/memory.hpp"
#include "engine/print_fifo.hpp"

namespace sb::cudart {
namespace {

bool known(int device) {
  return device >= 0 && static_cast<std::uint32_t>(device) < the_engine().device_count();
}

device_id id_of(int device) { return device_id{static_cast<std::uint32_t>(device)}; }

constexpr unsigned known_flags =
    cudaDeviceScheduleMask | cudaDeviceMapHost | cudaDeviceLmemResizeToMax | cudaDeviceSyncMemops;

// At most one way of waiting may be named.
bool valid_flags(unsigned flags) {
  const unsigned schedule = flags & cudaDeviceScheduleMask;
  return (flags & ~known_flags) == 0 && (schedule & (schedule - 1)) == 0;
}

// Ends every handle of the device: streams, and by their generation events.
void forget_handles(device_id device) {
  device_state& state = device_of(device);
  state.generation.fetch_add(1);
  engine::checked_state::changed();
  const std::lock_guard lock(state.mutex);
  state.legacy.store(nullptr);
  state.peers.clear();
  state.limits.clear();
  state.cache_config = cudaFuncCachePreferNone;
  state.flags = initial_device_flags;
}

constexpr std::size_t round_up(std::size_t value, std::size_t step) {
  return (value + step - 1) / step * step;
}

constexpr std::size_t any_size = ~std::size_t{0};

struct limit_rule {
  cudaLimit limit;
  std::size_t initial;
  std::size_t step;  // values are rounded up to a multiple
  std::size_t least = 0, most = any_size;
};
// As an H200 reports and rounds them (h200/limits.tsv). The depth of device-side synchronisation is
// gone from CUDA 12 on.
constexpr limit_rule limit_rules[] = {
    {cudaLimitStackSize, 1024, 16, 0, 512 << 10},
    {cudaLimitPrintfFifoSize, engine::print_fifo::usual_bytes, 256, 512 << 10},
    {cudaLimitMallocHeapSize, engine::device_heap::usual_bytes, 65536, 4 << 20},
    {cudaLimitDevRuntimePendingLaunchCount, 2048, 1},
    {cudaLimitMaxL2FetchGranularity, 64, 1},
    {cudaLimitPersistingL2CacheSize, 11796480, 1},
};

const limit_rule* find_limit(cudaLimit limit) {
  for (const limit_rule& rule : limit_rules) {
    if (rule.limit == limit) return &rule;
  }
  return nullptr;
}

std::size_t& limit_value(device_state& state, const limit_rule& rule) {
  if (state.limits.empty()) {
    state.limits.resize(cudaLimitPersistingL2CacheSize + 1);
    for (const limit_rule& r : limit_rules) state.limits[r.limit] = r.initial;
  }
  return state.limits[rule.limit];
}

}  // namespace

device_state& device_of(device_id device) {
  // Kept for good: streams and events are looked at until the process ends.
  static auto* states = new std::unique_ptr<device_state[]>(
      std::make_unique<device_state[]>(the_engine().device_count()));
  return (*states)[device.value];
}

SB_API cudaError_t CUDARTAPI cudaGetDeviceCount(int* count) {
  return entry_in_any_process([&]() -> status {
    if (count == nullptr) return status::invalid_value;
    *count = static_cast<int>(the_engine().device_count());
    return *count == 0 ? status::no_device : status::success;
  });
}

SB_API cudaError_t CUDARTAPI cudaGetDevice(int* device) {
  return entry(call_kind::light, [&]() -> status {
    if (device == nullptr) return status::invalid_value;
    *device = static_cast<int>(self().device);
    return status::success;
  });
}

SB_API cudaError_t CUDARTAPI cudaSetDevice(int device) {
  return entry(call_kind::light, [&]() -> status {
    if (!known(device)) return status::invalid_device;
    self().device = static_cast<std::uint32_t>(device);
    return status::success;
  });
}

SB_API cudaError_t CUDARTAPI cudaInitDevice(int device, unsigned device_flags, unsigned flags) {
  return entry(call_kind::light, [&]() -> status {
    if (!known(device)) return status::invalid_device;
    if ((flags & cudaInitDeviceFlagsAreValid) == 0) return status::success;
    if (!valid_flags(device_flags)) return status::invalid_value;
    device_state& state = device_of(id_of(device));
    const std::lock_guard lock(state.mutex);
    state.flags = device_flags | cudaDeviceMapHost;
    return status::success;
  });
}

SB_API cudaError_t CUDARTAPI cudaSetValidDevices(int* devices, int count) {
  return entry(call_kind::light, [&]() -> status {
    if (count < 0 || (count > 0 && devices == nullptr)) return status::invalid_value;
    // The order of preference only matters where a device can be busy; none can here.
    return std::all_of(devices, devices + count, known) ? status::success : status::invalid_value;
  });
}

SB_API cudaError_t CUDARTAPI cudaChooseDevice(int* device, const cudaDeviceProp* wanted) {
  return entry(call_kind::plain, [&]() -> status {
    if (device == nullptr || wanted == nullptr) return status::invalid_value;
    // All devices have one profile: the first is as near as any.
    *device = 0;
    return status::success;
  });
}

SB_API cudaError_t CUDARTAPI cudaGetDeviceProperties(cudaDeviceProp* out, int device) {
  return entry_in_any_process([&]() -> status {
    if (out == nullptr) return status::invalid_value;
    if (!known(device)) return status::invalid_device;
    *out = properties_of(the_engine().profile(id_of(device)), static_cast<std::uint32_t>(device));
    return status::success;
  });
}

SB_API cudaError_t CUDARTAPI cudaDeviceGetAttribute(int* value, cudaDeviceAttr attribute,
                                                    int device) {
  return entry(call_kind::light, [&]() -> status {
    if (value == nullptr) return status::invalid_value;
    if (!known(device)) return status::invalid_device;
    const auto found = device_attribute(the_engine().profile(id_of(device)), attribute);
    if (!found) return status::invalid_value;
    *value = attribute == cudaDevAttrPciBusId ? *found + device : *found;
    return status::success;
  });
}

SB_API cudaError_t CUDARTAPI cudaDeviceGetPCIBusId(char* out, int length, int device) {
  return entry(call_kind::light, [&]() -> status {
    constexpr int needed = 13;  // "0000:00:00.0" and its end
    if (out == nullptr || length < needed) return status::invalid_value;
    if (!known(device)) return status::invalid_device;
    const device_profile& profile = the_engine().profile(id_of(device));
    std::snprintf(out, static_cast<std::size_t>(length), "%04X:%02X:%02X.0",
                  static_cast<unsigned>(profile.pci_domain),
                  static_cast<unsigned>(profile.pci_bus + device),
                  static_cast<unsigned>(profile.pci_device));
    return status::success;
  });
}

SB_API cudaError_t CUDARTAPI cudaDeviceGetByPCIBusId(int* out, const char* text) {
  return entry(call_kind::light, [&]() -> status {
    if (out == nullptr || text == nullptr) return status::invalid_value;
    unsigned domain = 0;
    unsigned bus = 0;
    unsigned slot = 0;
    unsigned function = 0;
    if (std::sscanf(text, "%x:%x:%x.%x", &domain, &bus, &slot, &function) < 3) {
      domain = 0;
      if (std::sscanf(text, "%x:%x.%x", &bus, &slot, &function) < 2) return status::invalid_value;
    }
    for (std::uint32_t d = 0; d < the_engine().device_count(); ++d) {
      const device_profile& profile = the_engine().profile(device_id{d});
      if (domain == static_cast<unsigned>(profile.pci_domain) &&
          bus == static_cast<unsigned>(profile.pci_bus) + d &&
          slot == static_cast<unsigned>(profile.pci_device) && function == 0) {
        *out = static_cast<int>(d);
        return status::success;
      }
    }
    return status::invalid_device;
  });
}

SB_API cudaError_t CUDARTAPI cudaDeviceSynchronize() {
  return entry(call_kind::device, []() -> status {
    const device_id device = current_device();
    if (const status s = admit_device_wait(device); s != status::success) return s;
    sched::wait_target target;
    target.scope = sched::wait_scope::device;
    target.device = device;
    return wait_and_release(target, device);
  });
}

SB_API cudaError_t CUDARTAPI cudaDeviceReset() {
  return entry(call_kind::light, []() -> status {
    if (the_engine().device_count() == 0) return status::no_device;
    const device_id device = current_device();
    end_captures(device);
    // CUDA: a process that lost its device by a fault does not get it back; faults.tsv *.reset.*
    const bool faulted = the_engine().sticky_error(device) != status::success;
    forget_handles(device);
    forget_function_settings(device);
    forget_arrays(device);
    the_engine().reset(device);
    if (faulted) device_of(device).lost.store(true);
    engine::checked_state::changed();
    return status::success;
  });
}

SB_API cudaError_t CUDARTAPI cudaSetDeviceFlags(unsigned flags) {
  return entry(call_kind::light, [&]() -> status {
    if (the_engine().device_count() == 0) return status::no_device;
    if (!valid_flags(flags)) return status::invalid_value;
    device_state& state = device_of(current_device());
    const std::lock_guard lock(state.mutex);
    state.flags = flags | cudaDeviceMapHost;
    return status::success;
  });
}

SB_API cudaError_t CUDARTAPI cudaGetDeviceFlags(unsigned* flags) {
  return entry(call_kind::light, [&]() -> status {
    if (the_engine().device_count() == 0) return status::no_device;
    if (flags == nullptr) return status::invalid_value;
    device_state& state = device_of(current_device());
    const std::lock_guard lock(state.mutex);
    *flags = state.flags;
    return status::success;
  });
}

SB_API cudaError_t CUDARTAPI cudaDeviceSetLimit(cudaLimit limit, size_t value) {
  return entry(call_kind::capture_unsafe, [&]() -> status {
    const limit_rule* rule = find_limit(limit);
    if (rule == nullptr) return status::unsupported_limit;
    device_state& state = device_of(current_device());
    if (value > rule->most) return status::invalid_value;
    const std::lock_guard lock(state.mutex);
    const std::size_t rounded =
        round_up(std::clamp(value, rule->least, any_size - rule->step), rule->step);
    // CUDA: too late once a kernel has used it; h200/limits.tsv late.*
    if (limit == cudaLimitMallocHeapSize &&
        !the_engine().resize_kernel_heap(current_device(), rounded))
      return status::invalid_value;
    if (limit == cudaLimitPrintfFifoSize &&
        !the_engine().resize_print_buffer(current_device(), rounded))
      return status::invalid_value;
    limit_value(state, *rule) = rounded;
    return status::success;
  });
}

SB_API cudaError_t CUDARTAPI cudaDeviceGetLimit(size_t* value, cudaLimit limit) {
  return entry(call_kind::device, [&]() -> status {
    if (value == nullptr) return status::invalid_value;
    const limit_rule* rule = find_limit(limit);
    if (rule == nullptr) return status::unsupported_limit;
    device_state& state = device_of(current_device());
    const std::lock_guard lock(state.mutex);
    *value = limit_value(state, *rule);
    return status::success;
  });
}

SB_API cudaError_t CUDARTAPI cudaDeviceSetCacheConfig(cudaFuncCache config) {
  return entry(call_kind::device, [&]() -> status {
    if (config < cudaFuncCachePreferNone || config > cudaFuncCachePreferEqual) {
      return status::invalid_value;
    }
    device_state& state = device_of(current_device());
    const std::lock_guard lock(state.mutex);
    state.cache_config = config;
    return status::success;
  });
}

SB_API cudaError_t CUDARTAPI cudaDeviceGetCacheConfig(cudaFuncCache* config) {
  return entry(call_kind::device, [&]() -> status {
    if (config == nullptr) return status::invalid_value;
    device_state& state = device_of(current_device());
    const std::lock_guard lock(state.mutex);
    *config = state.cache_config;
    return status::success;
  });
}

// Shared memory has banks of four bytes since Maxwell; another wish is accepted and has no effect.
SB_API cudaError_t CUDARTAPI cudaDeviceSetSharedMemConfig(cudaSharedMemConfig config) {
  return entry(call_kind::device, [&]() -> status {
    const bool valid =
        config >= cudaSharedMemBankSizeDefault && config <= cudaSharedMemBankSizeEightByte;
    return valid ? status::success : status::invalid_value;
  });
}

SB_API cudaError_t CUDARTAPI cudaDeviceGetSharedMemConfig(cudaSharedMemConfig* config) {
  return entry(call_kind::device, [&]() -> status {
    if (config == nullptr) return status::invalid_value;
    *config = cudaSharedMemBankSizeFourByte;
    return status::success;
  });
}

SB_API cudaError_t CUDARTAPI cudaDeviceGetStreamPriorityRange(int* least, int* greatest) {
  return entry(call_kind::device, [&]() -> status {
    const device_profile& profile = the_engine().profile(current_device());
    if (least != nullptr) *least = profile.least_priority;
    if (greatest != nullptr) *greatest = profile.greatest_priority;
    return status::success;
  });
}

SB_API cudaError_t CUDARTAPI cudaCtxResetPersistingL2Cache() {
  return entry(call_kind::device, [] { return status::success; });
}

SB_API cudaError_t CUDARTAPI cudaDeviceCanAccessPeer(int* can, int device, int peer) {
  return entry(call_kind::light, [&]() -> status {
    if (can == nullptr) return status::invalid_value;
    if (!known(device) || !known(peer)) return status::invalid_device;
    *can = device != peer ? 1 : 0;  // errors.tsv peer.self.value
    return status::success;
  });
}

bool may_access(device_id device, device_id other) {
  device_state& state = device_of(device);
  const std::lock_guard lock(state.mutex);
  return std::count(state.peers.begin(), state.peers.end(), other.value) != 0;
}

SB_API cudaError_t CUDARTAPI cudaDeviceEnablePeerAccess(int peer, unsigned flags) {
  return entry(call_kind::device, [&]() -> status {
    if (flags != 0) return status::invalid_value;
    if (!known(peer)) return status::invalid_device;
    if (static_cast<std::uint32_t>(peer) == self().device) return status::peer_access_unsupported;
    device_state& state = device_of(current_device());
    const std::lock_guard lock(state.mutex);
    if (std::count(state.peers.begin(), state.peers.end(), static_cast<std::uint32_t>(peer)) != 0) {
      return status::peer_access_already_enabled;
    }
    state.peers.push_back(static_cast<std::uint32_t>(peer));
    return status::success;
  });
}

SB_API cudaError_t CUDARTAPI cudaDeviceDisablePeerAccess(int peer) {
  return entry(call_kind::device, [&]() -> status {
    if (!known(peer)) return status::invalid_device;
    device_state& state = device_of(current_device());
    const std::lock_guard lock(state.mutex);
    const auto removed = std::erase(state.peers, static_cast<std::uint32_t>(peer));
    return removed != 0 ? status::success : status::peer_access_not_enabled;
  });
}

SB_API cudaError_t CUDARTAPI cudaDeviceGetP2PAttribute(int* value, cudaDeviceP2PAttr attribute,
                                                       int from, int to) {
  return entry(call_kind::light, [&]() -> status {
    if (value == nullptr) return status::invalid_value;
    if (!known(from) || !known(to) || from == to) return status::invalid_device;
    switch (attribute) {
      case cudaDevP2PAttrPerformanceRank:
      case cudaDevP2PAttrOnlyPartialNativeAtomicSupported:
        *value = 0;
        return status::success;
      case cudaDevP2PAttrAccessSupported:
      case cudaDevP2PAttrNativeAtomicSupported:
      case cudaDevP2PAttrCudaArrayAccessSupported:
        *value = 1;
        return status::success;
    }
    return status::invalid_value;
  });
}

}  // namespace sb::cudart
