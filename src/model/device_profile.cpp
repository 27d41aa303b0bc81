#include "model/device_profile.hpp"

namespace sb {

// All values of the H200 are here and nowhere else. They are recorded in props.tsv, except the
// texture and surface limits that have no attribute, and what a fresh context takes of the memory.
const device_profile& h200_profile() {
  static const device_profile profile{
      .name = "NVIDIA H200",
      .compute_major = 9,
      .compute_minor = 0,

      .global_bytes = 150'109'880'320,
      .used_at_start_bytes = 566'231'040,
      .constant_bytes = 65536,
      .max_pitch_bytes = 2'147'483'647,
      .memory_clock_khz = 3'201'000,
      .memory_bus_bits = 6016,
      .l2_bytes = 62'914'560,
      .persisting_l2_bytes = 39'321'600,
      .access_policy_window_bytes = 134'217'728,
      .ecc = true,

      .warp_size = 32,
      .max_threads_per_block = 1024,
      .max_block = {1024, 1024, 64},
      .max_grid = {2'147'483'647, 65535, 65535},
      .shared_per_block = 49152,
      .shared_per_block_optin = 232'448,
      .reserved_shared_per_block = 1024,
      .registers_per_block = 65536,
      .least_priority = 0,
      .greatest_priority = -5,

      .multiprocessors = 132,
      .clock_khz = 1'980'000,
      .threads_per_multiprocessor = 2048,
      .blocks_per_multiprocessor = 32,
      .shared_per_multiprocessor = 233'472,
      .registers_per_multiprocessor = 65536,
      .single_to_double_ratio = 2,
      .resident_kernels = 128,

      .stack_bytes = 1024,
      .printf_bytes = 8'650'752,
      .malloc_heap_bytes = 8'388'608,
      .pending_device_launches = 2048,
      .l2_fetch_bytes = 64,
      .persisting_l2_reserved_bytes = 11'796'480,

      .async_engines = 3,
      .default_connections = 8,
      .memory_sync_domains = 4,

      .pci_domain = 0,
      .pci_bus = 0,
      .pci_device = 6,
      .pci_device_id = 0x2335'10de,
      .pci_subsystem_id = 0x18bf'10de,
      .numa_config = 0,
      .numa_id = -1,
      .host_numa_id = 0,

      .texture =
          {
              .alignment = 512,
              .pitch_alignment = 32,
              .width_1d = 131'072,
              .width_1d_mipmap = 32768,
              .width_1d_linear = 268'435'456,
              .size_2d = {131'072, 65536},
              .size_2d_mipmap = {32768, 32768},
              .size_2d_gather = {32768, 32768},
              .linear_2d = {131'072, 65000, 2'097'120},
              .size_3d = {16384, 16384, 16384},
              .size_3d_alternate = {8192, 8192, 32768},
              .width_cubemap = 32768,
              .layered_1d = {32768, 2048},
              .layered_2d = {32768, 32768, 2048},
              .layered_cubemap = {32768, 2046},
          },
      .surface =
          {
              .alignment = 512,
              .width_1d = 32768,
              .size_2d = {131'072, 65536},
              .size_3d = {16384, 16384, 16384},
              .width_cubemap = 32768,
              .layered_1d = {32768, 2048},
              .layered_2d = {32768, 32768, 2048},
              .layered_cubemap = {32768, 2046},
          },

      .integrated = false,
      .can_map_host_memory = true,
      .kernel_timeout = false,
      .tcc_driver = false,
      .unified_addressing = true,
      .concurrent_kernels = true,
      .stream_priorities = true,
      .cooperative_launch = true,
      .cluster_launch = true,
      .compute_preemption = true,
      .multi_gpu_board = false,
      .mps = false,
      .unified_function_pointers = true,
      .multi_gpu_board_group = 0,
      .global_l1_cache = true,
      .local_l1_cache = true,
      .managed_memory = true,
      .concurrent_managed_access = true,
      .pageable_memory_access = false,
      .pageable_uses_host_page_tables = false,
      .direct_managed_access_from_host = false,
      .host_native_atomics = false,
      .host_pointer_for_registered_memory = true,
      .can_flush_remote_writes = false,
      .host_register = true,
      .host_register_read_only = true,
      .sparse_arrays = true,
      .deferred_mapping_arrays = true,
      .timeline_semaphores = true,
      .ipc_events = true,
      .memory_pools = true,
      .host_memory_pools = true,
      .host_numa_memory_pools = true,
      .host_numa_multinode_ipc = false,
      .memory_pool_handle_types = 9,  // file descriptors and fabric handles
      .gpu_direct_rdma = true,
      .gpu_direct_rdma_flush_options = 1,
      .gpu_direct_rdma_ordering = 100,
      .compute_mode = 0,
      .d3d12_cig = false,
      .vulkan_cig = false,
      .partial_host_native_atomics = false,
  };
  return profile;
}

std::span<const named_profile> built_in_profiles() {
  static const named_profile profiles[] = {{"h200", &h200_profile()}};
  return profiles;
}

const device_profile* find_profile(std::string_view name) {
  for (const named_profile& entry : built_in_profiles()) {
    if (entry.key == name) return entry.profile;
  }
  return nullptr;
}

}  // namespace sb
