#include "cudart/properties.hpp"

#include <algorithm>
#include <cstring>

namespace sb::cudart {
namespace {

template <std::size_t N>
void copy(int (&to)[N], const std::array<std::int32_t, N>& from) {
  std::copy(from.begin(), from.end(), to);
}

void fill_memory(cudaDeviceProp& p, const device_profile& d) {
  p.totalGlobalMem = d.global_bytes;
  p.sharedMemPerBlock = d.shared_per_block;
  p.memPitch = d.max_pitch_bytes;
  p.totalConstMem = d.constant_bytes;
  p.memoryBusWidth = d.memory_bus_bits;
  p.l2CacheSize = d.l2_bytes;
  p.persistingL2CacheMaxSize = d.persisting_l2_bytes;
  p.accessPolicyMaxWindowSize = d.access_policy_window_bytes;
  p.sharedMemPerMultiprocessor = d.shared_per_multiprocessor;
  p.sharedMemPerBlockOptin = d.shared_per_block_optin;
  p.reservedSharedMemPerBlock = d.reserved_shared_per_block;
  p.ECCEnabled = d.ecc;
  p.globalL1CacheSupported = d.global_l1_cache;
  p.localL1CacheSupported = d.local_l1_cache;
  p.managedMemory = d.managed_memory;
  p.concurrentManagedAccess = d.concurrent_managed_access;
  p.pageableMemoryAccess = d.pageable_memory_access;
  p.pageableMemoryAccessUsesHostPageTables = d.pageable_uses_host_page_tables;
  p.directManagedMemAccessFromHost = d.direct_managed_access_from_host;
  p.canMapHostMemory = d.can_map_host_memory;
  p.unifiedAddressing = d.unified_addressing;
  p.hostNativeAtomicSupported = d.host_native_atomics;
  p.canUseHostPointerForRegisteredMem = d.host_pointer_for_registered_memory;
  p.hostRegisterSupported = d.host_register;
  p.hostRegisterReadOnlySupported = d.host_register_read_only;
  p.memoryPoolsSupported = d.memory_pools;
  p.memoryPoolSupportedHandleTypes = d.memory_pool_handle_types;
  p.gpuDirectRDMASupported = d.gpu_direct_rdma;
  p.gpuDirectRDMAFlushWritesOptions = d.gpu_direct_rdma_flush_options;
  p.gpuDirectRDMAWritesOrdering = d.gpu_direct_rdma_ordering;
  p.sparseCudaArraySupported = d.sparse_arrays;
  p.deferredMappingCudaArraySupported = d.deferred_mapping_arrays;
}

void fill_execution(cudaDeviceProp& p, const device_profile& d) {
  p.major = d.compute_major;
  p.minor = d.compute_minor;
  p.warpSize = d.warp_size;
  p.regsPerBlock = static_cast<int>(d.registers_per_block);
  p.regsPerMultiprocessor = static_cast<int>(d.registers_per_multiprocessor);
  p.maxThreadsPerBlock = d.max_threads_per_block;
  copy(p.maxThreadsDim, d.max_block);
  copy(p.maxGridSize, d.max_grid);
  p.multiProcessorCount = d.multiprocessors;
  p.maxThreadsPerMultiProcessor = d.threads_per_multiprocessor;
  p.maxBlocksPerMultiProcessor = d.blocks_per_multiprocessor;
  p.concurrentKernels = d.concurrent_kernels;
  p.asyncEngineCount = d.async_engines;
  p.streamPrioritiesSupported = d.stream_priorities;
  p.cooperativeLaunch = d.cooperative_launch;
  p.clusterLaunch = d.cluster_launch;
  p.computePreemptionSupported = d.compute_preemption;
  p.timelineSemaphoreInteropSupported = d.timeline_semaphores;
  p.ipcEventSupported = d.ipc_events;
  p.unifiedFunctionPointers = d.unified_function_pointers;
  p.integrated = d.integrated;
  p.tccDriver = d.tcc_driver;
  p.isMultiGpuBoard = d.multi_gpu_board;
  p.multiGpuBoardGroupID = d.multi_gpu_board_group;
  p.mpsEnabled = d.mps;
}

void fill_textures(cudaDeviceProp& p, const device_profile& d) {
  const texture_limits& t = d.texture;
  p.textureAlignment = t.alignment;
  p.texturePitchAlignment = t.pitch_alignment;
  p.maxTexture1D = t.width_1d;
  p.maxTexture1DMipmap = t.width_1d_mipmap;
  p.maxTexture1DLinear = t.width_1d_linear;
  copy(p.maxTexture2D, t.size_2d);
  copy(p.maxTexture2DMipmap, t.size_2d_mipmap);
  copy(p.maxTexture2DLinear, t.linear_2d);
  copy(p.maxTexture2DGather, t.size_2d_gather);
  copy(p.maxTexture3D, t.size_3d);
  copy(p.maxTexture3DAlt, t.size_3d_alternate);
  p.maxTextureCubemap = t.width_cubemap;
  copy(p.maxTexture1DLayered, t.layered_1d);
  copy(p.maxTexture2DLayered, t.layered_2d);
  copy(p.maxTextureCubemapLayered, t.layered_cubemap);
  const surface_limits& s = d.surface;
  p.surfaceAlignment = s.alignment;
  p.maxSurface1D = s.width_1d;
  copy(p.maxSurface2D, s.size_2d);
  copy(p.maxSurface3D, s.size_3d);
  p.maxSurfaceCubemap = s.width_cubemap;
  copy(p.maxSurface1DLayered, s.layered_1d);
  copy(p.maxSurface2DLayered, s.layered_2d);
  copy(p.maxSurfaceCubemapLayered, s.layered_cubemap);
}

void fill_identity(cudaDeviceProp& p, const device_profile& d, std::uint32_t index) {
  d.name.copy(p.name, sizeof p.name - 1);
  std::memcpy(p.uuid.bytes, "streambed device", sizeof p.uuid.bytes);
  p.uuid.bytes[sizeof p.uuid.bytes - 1] = static_cast<char>('0' + index);
  p.pciDomainID = d.pci_domain;
  p.pciBusID = d.pci_bus + static_cast<int>(index);
  p.pciDeviceID = d.pci_device;
  p.gpuPciDeviceID = d.pci_device_id;
  p.gpuPciSubsystemID = d.pci_subsystem_id;
  p.deviceNumaConfig = d.numa_config;
  p.deviceNumaId = d.numa_id;
  p.hostNumaId = d.host_numa_id;
  p.hostNumaMultinodeIpcSupported = d.host_numa_multinode_ipc;
}

// Gone from CUDA 13, read by older programs.
void fill_older(cudaDeviceProp& p, const device_profile& d) {
  p.clockRate = d.clock_khz;
  p.deviceOverlap = d.async_engines > 0;
  p.kernelExecTimeoutEnabled = d.kernel_timeout;
  p.computeMode = d.compute_mode;
  p.memoryClockRate = d.memory_clock_khz;
  p.singleToDoublePrecisionPerfRatio = d.single_to_double_ratio;
  p.cooperativeMultiDeviceLaunch = 0;
}

}  // namespace

cudaDeviceProp properties_of(const device_profile& profile, std::uint32_t index) {
  cudaDeviceProp p{};
  fill_memory(p, profile);
  fill_execution(p, profile);
  fill_textures(p, profile);
  fill_identity(p, profile, index);
  fill_older(p, profile);
  return p;
}

}  // namespace sb::cudart
