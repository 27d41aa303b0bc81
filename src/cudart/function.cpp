// Functions: attributes, settings, occupancy.
#include <algorithm>
#include <map>
#include <shared_mutex>

#include "cudart/call_name.hpp"
#include "cudart/functions.hpp"
#include "cudart/process.hpp"
#include "engine/images.hpp"
#include "model/occupancy.hpp"

namespace sb::cudart {
namespace {

struct settings_book {
  std::shared_mutex mutex;
  std::map<std::pair<std::uint32_t, const void*>, function_settings> by_function;
};
settings_book& book() {
  static auto* all = new settings_book;
  return *all;
}

// Sizes that the shared part of a multiprocessor's memory can have, in KiB (compute
// capability 9.0).
constexpr std::uint32_t carveouts_kib[] = {0, 8, 16, 32, 64, 100, 132, 164, 196, 228};

// How much shared memory a multiprocessor offers a function: the preferred part, more where one
// block needs it.
std::uint32_t shared_of_multiprocessor(const device_profile& profile, int carveout,
                                       std::uint32_t one_block) {
  if (carveout < 0) return profile.shared_per_multiprocessor;
  const std::uint64_t wanted =
      std::uint64_t{profile.shared_per_multiprocessor} * static_cast<std::uint32_t>(carveout) / 100;
  for (const std::uint32_t kib : carveouts_kib) {
    if (kib * 1024 >= wanted && kib * 1024 >= one_block) return kib * 1024;
  }
  return profile.shared_per_multiprocessor;
}

std::size_t dynamic_limit(const abi::kernel_info& kernel, const function_settings& settings,
                          const device_profile& profile) {
  if (settings.max_dynamic_shared >= 0) {
    return static_cast<std::size_t>(settings.max_dynamic_shared);
  }
  const std::size_t plain = profile.shared_per_block;
  return kernel.static_shared_bytes < plain ? plain - kernel.static_shared_bytes : 0;
}

bool within(const dim3& what, const extent3& most) {
  const unsigned values[] = {what.x, what.y, what.z};
  for (int i = 0; i < 3; ++i) {
    if (values[i] == 0 || values[i] > static_cast<unsigned>(most[i])) return false;
  }
  return true;
}

template <class Change>
cudaError_t change_settings(const void* stub, Change&& change) {
  return entry(call_kind::device, [&]() -> status {
    const auto kernel = find_function(stub, current_device());
    if (!kernel) return kernel.error();
    the_engine().load(**kernel, current_device());  // further.tsv lazy.after.setattribute.runs
    settings_book& all = book();
    const std::unique_lock lock(all.mutex);
    return change(all.by_function[{self().device, stub}], **kernel);
  });
}

}  // namespace

function_settings settings_of(const void* stub, device_id device) {
  settings_book& all = book();
  const std::shared_lock lock(all.mutex);
  const auto found = all.by_function.find({device.value, stub});
  return found != all.by_function.end() ? found->second : function_settings{};
}

void forget_function_settings(device_id device) {
  settings_book& all = book();
  const std::unique_lock lock(all.mutex);
  std::erase_if(all.by_function,
                [&](const auto& entry) { return entry.first.first == device.value; });
}

result<const abi::kernel_info*> find_function(const void* stub, device_id device) {
  if (stub == nullptr) return status::invalid_device_function;
  auto kernel = engine::find_kernel(stub, device);
  // CUDA: what is no kernel may be a handle, and is an invalid one; runtime.tsv launch.unknown.func
  if (!kernel && kernel.error() == status::invalid_device_function) {
    return status::invalid_resource_handle;
  }
  return kernel;
}

status check_shape(const abi::kernel_info& kernel, const void* stub, const launch_shape& shape,
                   device_id device) {
  const device_profile& profile = the_engine().profile(device);
  if (!within(shape.grid, profile.max_grid)) return status::invalid_value;
  if (!within(shape.block, profile.max_block)) return status::invalid_value;
  const std::uint64_t threads = std::uint64_t{shape.block.x} * shape.block.y * shape.block.z;
  const auto most = std::min(static_cast<std::uint32_t>(profile.max_threads_per_block),
                             kernel.max_threads_per_block);
  if (threads > most) return status::invalid_value;
  const std::size_t shared = kernel.static_shared_bytes + shape.dynamic_shared;
  if (shared > profile.shared_per_block) {
    const function_settings settings = settings_of(stub, device);
    if (shape.dynamic_shared > dynamic_limit(kernel, settings, profile) ||
        shared > profile.shared_per_block_optin) {
      return status::invalid_value;
    }
  }
  if (shape.cooperative) {
    const std::uint32_t resident =
        resident_blocks(kernel, settings_of(stub, device), static_cast<std::uint32_t>(threads),
                        shape.dynamic_shared, profile);
    const std::uint64_t blocks = std::uint64_t{shape.grid.x} * shape.grid.y * shape.grid.z;
    if (blocks > std::uint64_t{resident} * static_cast<std::uint32_t>(profile.multiprocessors)) {
      return status::cooperative_launch_too_large;
    }
  }
  return status::success;
}

std::uint32_t resident_blocks(const abi::kernel_info& kernel, const function_settings& settings,
                              std::uint32_t block_size, std::size_t dynamic_shared,
                              const device_profile& profile) {
  // Launch bounds do not count here: props.tsv occupancy.bounds.512.value
  if (block_size > static_cast<std::uint32_t>(profile.max_threads_per_block)) return 0;
  if (dynamic_shared > dynamic_limit(kernel, settings, profile)) return 0;
  const auto shared = static_cast<std::uint32_t>(kernel.static_shared_bytes + dynamic_shared);
  multiprocessor_limits limits = multiprocessor_of(profile);
  limits.shared_bytes = shared_of_multiprocessor(profile, settings.carveout,
                                                 shared + profile.reserved_shared_per_block);
  return blocks_per_multiprocessor(limits,
                                   footprint_of(limits, block_size, shared, kernel.registers));
}

SB_API cudaError_t CUDARTAPI cudaFuncGetAttributes(cudaFuncAttributes* out, const void* stub) {
  return entry(call_kind::device, [&]() -> status {
    if (out == nullptr) return status::invalid_value;
    const auto kernel = find_function(stub, current_device());
    if (!kernel) return kernel.error();
    the_engine().load(**kernel, current_device());
    const device_profile& profile = the_engine().profile(current_device());
    const function_settings settings = settings_of(stub, current_device());
    cudaFuncAttributes a{};
    a.sharedSizeBytes = (*kernel)->static_shared_bytes;
    a.constSizeBytes = constant_bytes_beside(stub);
    a.localSizeBytes = (*kernel)->local_bytes;
    a.maxThreadsPerBlock = static_cast<int>((*kernel)->max_threads_per_block);
    a.numRegs = static_cast<int>((*kernel)->registers);
    a.ptxVersion = profile.compute_major * 10 + profile.compute_minor;
    a.binaryVersion = a.ptxVersion;
    a.maxDynamicSharedSizeBytes = static_cast<int>(dynamic_limit(**kernel, settings, profile));
    a.preferredShmemCarveout = settings.carveout;
    a.requiredClusterWidth = settings.cluster[0];
    a.requiredClusterHeight = settings.cluster[1];
    a.requiredClusterDepth = settings.cluster[2];
    a.clusterSchedulingPolicyPreference = settings.cluster_policy;
    a.nonPortableClusterSizeAllowed = settings.non_portable_clusters;
    *out = a;
    return status::success;
  });
}

SB_API cudaError_t CUDARTAPI cudaFuncSetAttribute(const void* stub, cudaFuncAttribute attribute,
                                                  int value) {
  return as_call([&] {
    return change_settings(
        stub, [&](function_settings& f, const abi::kernel_info& kernel) -> status {
          const device_profile& profile = the_engine().profile(current_device());
          switch (attribute) {
            case cudaFuncAttributeMaxDynamicSharedMemorySize:
              if (value < 0 || kernel.static_shared_bytes + static_cast<std::uint32_t>(value) >
                                   profile.shared_per_block_optin) {
                return status::invalid_value;
              }
              f.max_dynamic_shared = value;
              return status::success;
            case cudaFuncAttributePreferredSharedMemoryCarveout:
              if (value < cudaSharedmemCarveoutDefault || value > cudaSharedmemCarveoutMaxShared) {
                return status::invalid_value;
              }
              f.carveout = value;
              return status::success;
            case cudaFuncAttributeRequiredClusterWidth:
            case cudaFuncAttributeRequiredClusterHeight:
            case cudaFuncAttributeRequiredClusterDepth:
              if (value < 0) return status::invalid_value;
              f.cluster[attribute - cudaFuncAttributeRequiredClusterWidth] = value;
              return status::success;
            case cudaFuncAttributeNonPortableClusterSizeAllowed:
              f.non_portable_clusters = value != 0;
              return status::success;
            case cudaFuncAttributeClusterSchedulingPolicyPreference:
              f.cluster_policy = value;
              return status::success;
            default:
              return status::invalid_value;
          }
        });
  });
}

// Preferences between cache and shared memory: accepted, and of no effect.
SB_API cudaError_t CUDARTAPI cudaFuncSetCacheConfig(const void* stub, cudaFuncCache config) {
  return as_call([&] {
    return change_settings(stub, [&](function_settings&, const abi::kernel_info&) {
      const bool valid = config >= cudaFuncCachePreferNone && config <= cudaFuncCachePreferEqual;
      return valid ? status::success : status::invalid_value;
    });
  });
}

SB_API cudaError_t CUDARTAPI cudaFuncSetSharedMemConfig(const void* stub,
                                                        cudaSharedMemConfig config) {
  return as_call([&] {
    return change_settings(stub, [&](function_settings&, const abi::kernel_info&) {
      const bool valid =
          config >= cudaSharedMemBankSizeDefault && config <= cudaSharedMemBankSizeEightByte;
      return valid ? status::success : status::invalid_value;
    });
  });
}

SB_API cudaError_t CUDARTAPI cudaFuncGetName(const char** name, const void* stub) {
  return entry(call_kind::device, [&]() -> status {
    if (name == nullptr) return status::invalid_value;
    const auto kernel = find_function(stub, current_device());
    if (!kernel) return kernel.error();
    *name = registered_name(stub);
    return status::success;
  });
}

SB_API cudaError_t CUDARTAPI cudaFuncGetParamInfo(const void* stub, size_t index, size_t* offset,
                                                  size_t* size) {
  return entry(call_kind::device, [&]() -> status {
    if (offset == nullptr) return status::invalid_value;
    const auto kernel = find_function(stub, current_device());
    if (!kernel) return kernel.error();
    if (index >= (*kernel)->param_count) return status::invalid_value;
    *offset = (*kernel)->params[index].offset;
    if (size != nullptr) *size = (*kernel)->params[index].size;
    return status::success;
  });
}

SB_API cudaError_t CUDARTAPI cudaOccupancyMaxActiveBlocksPerMultiprocessorWithFlags(
    int* blocks, const void* stub, int block_size, size_t dynamic_shared, unsigned flags) {
  return entry(call_kind::device, [&]() -> status {
    if (blocks == nullptr || block_size <= 0) return status::invalid_value;
    if ((flags & ~unsigned{cudaOccupancyDisableCachingOverride}) != 0) return status::invalid_value;
    const auto kernel = find_function(stub, current_device());
    if (!kernel) return kernel.error();
    the_engine().load(**kernel, current_device());  // further.tsv lazy.after.occupancy.runs
    *blocks = static_cast<int>(resident_blocks(
        **kernel, settings_of(stub, current_device()), static_cast<std::uint32_t>(block_size),
        dynamic_shared, the_engine().profile(current_device())));
    return status::success;
  });
}

SB_API cudaError_t CUDARTAPI cudaOccupancyMaxActiveBlocksPerMultiprocessor(int* blocks,
                                                                           const void* stub,
                                                                           int block_size,
                                                                           size_t dynamic_shared) {
  return as_call([&] {
    return cudaOccupancyMaxActiveBlocksPerMultiprocessorWithFlags(
        blocks, stub, block_size, dynamic_shared, cudaOccupancyDefault);
  });
}

SB_API cudaError_t CUDARTAPI cudaOccupancyAvailableDynamicSMemPerBlock(size_t* bytes,
                                                                       const void* stub, int blocks,
                                                                       int block_size) {
  return entry(call_kind::device, [&]() -> status {
    if (bytes == nullptr || blocks <= 0 || block_size <= 0) return status::invalid_value;
    const auto kernel = find_function(stub, current_device());
    if (!kernel) return kernel.error();
    const device_profile& profile = the_engine().profile(current_device());
    const function_settings settings = settings_of(stub, current_device());
    if (static_cast<std::uint32_t>(blocks) >
        resident_blocks(**kernel, settings, static_cast<std::uint32_t>(block_size), 0, profile)) {
      return status::invalid_value;
    }
    std::size_t share = profile.shared_per_block_optin;
    if (blocks > 1) {
      const std::size_t whole = shared_of_multiprocessor(profile, settings.carveout, 0);
      share = std::min(share, whole / static_cast<unsigned>(blocks));
    }
    const std::size_t own = (*kernel)->static_shared_bytes;
    *bytes = share > own ? share - own : 0;
    return status::success;
  });
}

}  // namespace sb::cudart
