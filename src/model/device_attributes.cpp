// The numbering of cudaDeviceAttr, which programs compile in.
#include "model/device_profile.hpp"

namespace sb {

std::optional<int> device_attribute(const device_profile& p, int attribute) {
  const texture_limits& t = p.texture;
  const surface_limits& s = p.surface;
  const auto number = [](auto value) { return static_cast<int>(value); };
  // clang-format off
  switch (attribute) {
    case 1: return p.max_threads_per_block;
    case 2: return p.max_block[0];
    case 3: return p.max_block[1];
    case 4: return p.max_block[2];
    case 5: return p.max_grid[0];
    case 6: return p.max_grid[1];
    case 7: return p.max_grid[2];
    case 8: return number(p.shared_per_block);
    case 9: return number(p.constant_bytes);
    case 10: return p.warp_size;
    case 11: return number(p.max_pitch_bytes);
    case 12: return number(p.registers_per_block);
    case 13: return p.clock_khz;
    case 14: return number(t.alignment);
    case 15: return p.async_engines > 0;
    case 16: return p.multiprocessors;
    case 17: return p.kernel_timeout;
    case 18: return p.integrated;
    case 19: return p.can_map_host_memory;
    case 20: return p.compute_mode;
    case 21: return t.width_1d;
    case 22: return t.size_2d[0];
    case 23: return t.size_2d[1];
    case 24: return t.size_3d[0];
    case 25: return t.size_3d[1];
    case 26: return t.size_3d[2];
    case 27: return t.layered_2d[0];
    case 28: return t.layered_2d[1];
    case 29: return t.layered_2d[2];
    case 30: return number(s.alignment);
    case 31: return p.concurrent_kernels;
    case 32: return p.ecc;
    case 33: return p.pci_bus;
    case 34: return p.pci_device;
    case 35: return p.tcc_driver;
    case 36: return p.memory_clock_khz;
    case 37: return p.memory_bus_bits;
    case 38: return p.l2_bytes;
    case 39: return p.threads_per_multiprocessor;
    case 40: return p.async_engines;
    case 41: return p.unified_addressing;
    case 42: return t.layered_1d[0];
    case 43: return t.layered_1d[1];
    case 45: return t.size_2d_gather[0];
    case 46: return t.size_2d_gather[1];
    case 47: return t.size_3d_alternate[0];
    case 48: return t.size_3d_alternate[1];
    case 49: return t.size_3d_alternate[2];
    case 50: return p.pci_domain;
    case 51: return number(t.pitch_alignment);
    case 52: return t.width_cubemap;
    case 53: return t.layered_cubemap[0];
    case 54: return t.layered_cubemap[1];
    case 55: return s.width_1d;
    case 56: return s.size_2d[0];
    case 57: return s.size_2d[1];
    case 58: return s.size_3d[0];
    case 59: return s.size_3d[1];
    case 60: return s.size_3d[2];
    case 61: return s.layered_1d[0];
    case 62: return s.layered_1d[1];
    case 63: return s.layered_2d[0];
    case 64: return s.layered_2d[1];
    case 65: return s.layered_2d[2];
    case 66: return s.width_cubemap;
    case 67: return s.layered_cubemap[0];
    case 68: return s.layered_cubemap[1];
    case 69: return t.width_1d_linear;
    case 70: return t.linear_2d[0];
    case 71: return t.linear_2d[1];
    case 72: return t.linear_2d[2];
    case 73: return t.size_2d_mipmap[0];
    case 74: return t.size_2d_mipmap[1];
    case 75: return p.compute_major;
    case 76: return p.compute_minor;
    case 77: return t.width_1d_mipmap;
    case 78: return p.stream_priorities;
    case 79: return p.global_l1_cache;
    case 80: return p.local_l1_cache;
    case 81: return number(p.shared_per_multiprocessor);
    case 82: return number(p.registers_per_multiprocessor);
    case 83: return p.managed_memory;
    case 84: return p.multi_gpu_board;
    case 85: return p.multi_gpu_board_group;
    case 86: return p.host_native_atomics;
    case 87: return p.single_to_double_ratio;
    case 88: return p.pageable_memory_access;
    case 89: return p.concurrent_managed_access;
    case 90: return p.compute_preemption;
    case 91: return p.host_pointer_for_registered_memory;
    case 95: return p.cooperative_launch;
    case 97: return number(p.shared_per_block_optin);
    case 98: return p.can_flush_remote_writes;
    case 99: return p.host_register;
    case 100: return p.pageable_uses_host_page_tables;
    case 101: return p.direct_managed_access_from_host;
    case 106: return p.blocks_per_multiprocessor;
    case 108: return p.persisting_l2_bytes;
    case 109: return p.access_policy_window_bytes;
    case 111: return number(p.reserved_shared_per_block);
    case 112: return p.sparse_arrays;
    case 113: return p.host_register_read_only;
    case 114: return p.timeline_semaphores;
    case 115: return p.memory_pools;
    case 116: return p.gpu_direct_rdma;
    case 117: return number(p.gpu_direct_rdma_flush_options);
    case 118: return p.gpu_direct_rdma_ordering;
    case 119: return number(p.memory_pool_handle_types);
    case 120: return p.cluster_launch;
    case 121: return p.deferred_mapping_arrays;
    case 125: return p.ipc_events;
    case 126: return p.memory_sync_domains;
    case 130: return p.numa_config;
    case 131: return p.numa_id;
    case 133: return p.mps;
    case 134: return p.host_numa_id;
    case 135: return p.d3d12_cig;
    case 138: return p.vulkan_cig;
    case 139: return number(p.pci_device_id);
    case 140: return number(p.pci_subsystem_id);
    case 142: return p.host_numa_memory_pools;
    case 143: return p.host_numa_multinode_ipc;
    case 144: return p.host_memory_pools;
    case 147: return p.partial_host_native_atomics;
    // Reserved in the runtime's numbering, answered all the same (props.tsv attr.*).
    case 44: case 96: case 102: case 103: case 107: case 110: case 122: case 123: case 124:
    case 127: case 128: case 129: case 141: case 145:
      return 1;
    case 92: case 93: case 94: case 104: case 105: case 132: case 136: case 137: case 146:
      return 0;
    default: return std::nullopt;
  }
  // clang-format on
}

}  // namespace sb
