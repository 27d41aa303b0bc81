// The properties of a device as plain data: everything that cudaGetDeviceProperties,
// cudaDeviceGetAttribute and cudaMemGetInfo report, and what occupancy and arbitration need.
// Names follow what the value says; units are in the name or in the comment.
#pragma once

#include <array>
#include <cstdint>
#include <optional>
#include <string>

namespace sb {

using extent2 = std::array<std::int32_t, 2>;
using extent3 = std::array<std::int32_t, 3>;

struct texture_limits {
  std::uint32_t alignment, pitch_alignment;
  std::int32_t width_1d, width_1d_mipmap, width_1d_linear;
  extent2 size_2d, size_2d_mipmap, size_2d_gather;
  extent3 linear_2d;  // width, height, pitch in bytes
  extent3 size_3d, size_3d_alternate;
  std::int32_t width_cubemap;
  extent2 layered_1d;  // width, layers
  extent3 layered_2d;  // width, height, layers
  extent2 layered_cubemap;
};

struct surface_limits {
  std::uint32_t alignment;
  std::int32_t width_1d;
  extent2 size_2d;
  extent3 size_3d;
  std::int32_t width_cubemap;
  extent2 layered_1d;
  extent3 layered_2d;
  extent2 layered_cubemap;
};

struct device_profile {
  std::string name;  // what a program sees, such as "NVIDIA H200"
  std::int32_t compute_major, compute_minor;

  // Memory
  std::uint64_t global_bytes;         // totalGlobalMem, and the total of cudaMemGetInfo
  std::uint64_t used_at_start_bytes;  // what a fresh context takes of it (total - free)
  std::uint32_t constant_bytes;
  std::uint64_t max_pitch_bytes;
  std::int32_t memory_clock_khz, memory_bus_bits;
  std::int32_t l2_bytes, persisting_l2_bytes, access_policy_window_bytes;
  bool ecc;

  // Launch limits
  std::int32_t warp_size;
  std::int32_t max_threads_per_block;
  extent3 max_block, max_grid;
  std::uint32_t shared_per_block, shared_per_block_optin;
  std::uint32_t reserved_shared_per_block;  // the system's own part of each block's shared memory
  std::uint32_t registers_per_block;
  std::int32_t least_priority, greatest_priority;  // greatest priority is the lower number

  // Multiprocessors
  std::int32_t multiprocessors, clock_khz;
  std::int32_t threads_per_multiprocessor, blocks_per_multiprocessor;
  std::uint32_t shared_per_multiprocessor, registers_per_multiprocessor;
  std::int32_t single_to_double_ratio;
  std::int32_t resident_kernels;  // grids that may run at once

  // What cudaDeviceGetLimit answers before anything was set
  std::uint64_t stack_bytes, printf_bytes, malloc_heap_bytes;
  std::uint64_t pending_device_launches, l2_fetch_bytes, persisting_l2_reserved_bytes;

  // Engines and connections
  std::int32_t async_engines;
  std::int32_t default_connections;  // when CUDA_DEVICE_MAX_CONNECTIONS is unset
  std::int32_t hardware_queues;      // more connections there are not, whatever one sets
  std::int32_t memory_sync_domains;

  // Identity on the bus; the border tells virtual devices apart.
  std::int32_t pci_domain, pci_bus, pci_device;
  std::uint32_t pci_device_id, pci_subsystem_id;
  std::int32_t numa_config, numa_id, host_numa_id;

  texture_limits texture;
  surface_limits surface;

  // What the device and its driver can do
  bool integrated, can_map_host_memory, kernel_timeout, tcc_driver, unified_addressing;
  bool concurrent_kernels, stream_priorities, cooperative_launch, cluster_launch;
  bool compute_preemption, multi_gpu_board, mps, unified_function_pointers;
  std::int32_t multi_gpu_board_group;
  bool global_l1_cache, local_l1_cache;
  bool managed_memory, concurrent_managed_access, pageable_memory_access;
  bool pageable_uses_host_page_tables, direct_managed_access_from_host;
  bool host_native_atomics, host_pointer_for_registered_memory, can_flush_remote_writes;
  bool host_register, host_register_read_only, sparse_arrays, deferred_mapping_arrays;
  bool timeline_semaphores, ipc_events;
  bool memory_pools, host_memory_pools, host_numa_memory_pools, host_numa_multinode_ipc;
  std::uint32_t memory_pool_handle_types;  // bits of cudaMemAllocationHandleType
  bool gpu_direct_rdma;
  std::uint32_t gpu_direct_rdma_flush_options;
  std::int32_t gpu_direct_rdma_ordering;
  std::int32_t compute_mode;
  bool d3d12_cig, vulkan_cig, partial_host_native_atomics;
};

// Of the device that is active unless another one is asked for (profile.hpp).
[[nodiscard]] const device_profile& h200_profile();

// What cudaDeviceGetAttribute answers for an attribute's number; nothing for a number it does not
// know.
[[nodiscard]] std::optional<int> device_attribute(const device_profile& profile, int attribute);

}  // namespace sb
