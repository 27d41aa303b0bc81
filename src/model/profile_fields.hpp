// Every key of a profile and the member that it stands for: the one table that reading, printing
// and showing go by.
#pragma once

#include "model/profile.hpp"

namespace sb {

// Calls f(key, member, least) for each; `least` is the least value that makes sense. Rates are
// divided by, so they are not 0.
template <class Profile, class F>
void visit_fields(Profile& p, F&& f) {
  auto& d = p.device;
  f("name", d.name, 0);
  f("compute_major", d.compute_major, 1);
  f("compute_minor", d.compute_minor, 0);

  f("global_bytes", d.global_bytes, 1);
  f("used_at_start_bytes", d.used_at_start_bytes, 0);
  f("constant_bytes", d.constant_bytes, 0);
  f("max_pitch_bytes", d.max_pitch_bytes, 0);
  f("memory_clock_khz", d.memory_clock_khz, 1);
  f("memory_bus_bits", d.memory_bus_bits, 1);
  f("l2_bytes", d.l2_bytes, 1);
  f("persisting_l2_bytes", d.persisting_l2_bytes, 0);
  f("access_policy_window_bytes", d.access_policy_window_bytes, 0);
  f("ecc", d.ecc, 0);

  f("warp_size", d.warp_size, 32);
  f("max_threads_per_block", d.max_threads_per_block, 32);
  f("max_block", d.max_block, 1);
  f("max_grid", d.max_grid, 1);
  f("shared_per_block", d.shared_per_block, 0);
  f("shared_per_block_optin", d.shared_per_block_optin, 0);
  f("reserved_shared_per_block", d.reserved_shared_per_block, 0);
  f("registers_per_block", d.registers_per_block, 1);
  f("least_priority", d.least_priority, -5);
  f("greatest_priority", d.greatest_priority, -5);

  f("multiprocessors", d.multiprocessors, 1);
  f("clock_khz", d.clock_khz, 1);
  f("threads_per_multiprocessor", d.threads_per_multiprocessor, 32);
  f("blocks_per_multiprocessor", d.blocks_per_multiprocessor, 1);
  f("shared_per_multiprocessor", d.shared_per_multiprocessor, 1);
  f("registers_per_multiprocessor", d.registers_per_multiprocessor, 1);
  f("single_to_double_ratio", d.single_to_double_ratio, 1);
  f("resident_kernels", d.resident_kernels, 1);

  f("stack_bytes", d.stack_bytes, 0);
  f("printf_bytes", d.printf_bytes, 0);
  f("malloc_heap_bytes", d.malloc_heap_bytes, 0);
  f("pending_device_launches", d.pending_device_launches, 0);
  f("l2_fetch_bytes", d.l2_fetch_bytes, 0);
  f("persisting_l2_reserved_bytes", d.persisting_l2_reserved_bytes, 0);

  f("copy_engines", d.async_engines, 0);
  f("connections", d.default_connections, 1);
  f("hardware_queues", d.hardware_queues, 1);
  f("memory_sync_domains", d.memory_sync_domains, 0);

  f("pci_domain", d.pci_domain, 0);
  f("pci_bus", d.pci_bus, 0);
  f("pci_device", d.pci_device, 0);
  f("pci_device_id", d.pci_device_id, 0);
  f("pci_subsystem_id", d.pci_subsystem_id, 0);
  f("numa_config", d.numa_config, 0);
  f("numa_id", d.numa_id, -1);
  f("host_numa_id", d.host_numa_id, -1);

  auto& t = d.texture;
  f("texture.alignment", t.alignment, 0);
  f("texture.pitch_alignment", t.pitch_alignment, 0);
  f("texture.width_1d", t.width_1d, 0);
  f("texture.width_1d_mipmap", t.width_1d_mipmap, 0);
  f("texture.width_1d_linear", t.width_1d_linear, 0);
  f("texture.size_2d", t.size_2d, 0);
  f("texture.size_2d_mipmap", t.size_2d_mipmap, 0);
  f("texture.size_2d_gather", t.size_2d_gather, 0);
  f("texture.linear_2d", t.linear_2d, 0);
  f("texture.size_3d", t.size_3d, 0);
  f("texture.size_3d_alternate", t.size_3d_alternate, 0);
  f("texture.width_cubemap", t.width_cubemap, 0);
  f("texture.layered_1d", t.layered_1d, 0);
  f("texture.layered_2d", t.layered_2d, 0);
  f("texture.layered_cubemap", t.layered_cubemap, 0);
  auto& s = d.surface;
  f("surface.alignment", s.alignment, 0);
  f("surface.width_1d", s.width_1d, 0);
  f("surface.size_2d", s.size_2d, 0);
  f("surface.size_3d", s.size_3d, 0);
  f("surface.width_cubemap", s.width_cubemap, 0);
  f("surface.layered_1d", s.layered_1d, 0);
  f("surface.layered_2d", s.layered_2d, 0);
  f("surface.layered_cubemap", s.layered_cubemap, 0);

  f("integrated", d.integrated, 0);
  f("can_map_host_memory", d.can_map_host_memory, 0);
  f("kernel_timeout", d.kernel_timeout, 0);
  f("tcc_driver", d.tcc_driver, 0);
  f("unified_addressing", d.unified_addressing, 0);
  f("concurrent_kernels", d.concurrent_kernels, 0);
  f("stream_priorities", d.stream_priorities, 0);
  f("cooperative_launch", d.cooperative_launch, 0);
  f("cluster_launch", d.cluster_launch, 0);
  f("compute_preemption", d.compute_preemption, 0);
  f("multi_gpu_board", d.multi_gpu_board, 0);
  f("mps", d.mps, 0);
  f("unified_function_pointers", d.unified_function_pointers, 0);
  f("multi_gpu_board_group", d.multi_gpu_board_group, 0);
  f("global_l1_cache", d.global_l1_cache, 0);
  f("local_l1_cache", d.local_l1_cache, 0);
  f("managed_memory", d.managed_memory, 0);
  f("concurrent_managed_access", d.concurrent_managed_access, 0);
  f("pageable_memory_access", d.pageable_memory_access, 0);
  f("pageable_uses_host_page_tables", d.pageable_uses_host_page_tables, 0);
  f("direct_managed_access_from_host", d.direct_managed_access_from_host, 0);
  f("host_native_atomics", d.host_native_atomics, 0);
  f("host_pointer_for_registered_memory", d.host_pointer_for_registered_memory, 0);
  f("can_flush_remote_writes", d.can_flush_remote_writes, 0);
  f("host_register", d.host_register, 0);
  f("host_register_read_only", d.host_register_read_only, 0);
  f("sparse_arrays", d.sparse_arrays, 0);
  f("deferred_mapping_arrays", d.deferred_mapping_arrays, 0);
  f("timeline_semaphores", d.timeline_semaphores, 0);
  f("ipc_events", d.ipc_events, 0);
  f("memory_pools", d.memory_pools, 0);
  f("host_memory_pools", d.host_memory_pools, 0);
  f("host_numa_memory_pools", d.host_numa_memory_pools, 0);
  f("host_numa_multinode_ipc", d.host_numa_multinode_ipc, 0);
  f("memory_pool_handle_types", d.memory_pool_handle_types, 0);
  f("gpu_direct_rdma", d.gpu_direct_rdma, 0);
  f("gpu_direct_rdma_flush_options", d.gpu_direct_rdma_flush_options, 0);
  f("gpu_direct_rdma_ordering", d.gpu_direct_rdma_ordering, 0);
  f("compute_mode", d.compute_mode, 0);
  f("d3d12_cig", d.d3d12_cig, 0);
  f("vulkan_cig", d.vulkan_cig, 0);
  f("partial_host_native_atomics", d.partial_host_native_atomics, 0);

  constexpr double rate = 1e-6;
  auto& m = p.timing;
  f("call_ns", m.call_ns, 1);
  f("captured_call_ns", m.captured_call_ns, 0);
  f("first_graph_ns", m.first_graph_ns, 0);
  f("node.instantiate_ns", m.node.instantiate_ns, 0);
  f("node.instantiate_kernel_ns", m.node.instantiate_kernel_ns, 0);
  f("node.upload_ns", m.node.upload_ns, 0);
  f("node.upload_kernel_ns", m.node.upload_kernel_ns, 0);
  f("node.launch_copy_ns", m.node.launch_copy_ns, 0);
  f("node.launch_fill_ns", m.node.launch_fill_ns, 0);
  f("node.launch_host_ns", m.node.launch_host_ns, 0);
  f("node.launch_turn_ns", m.node.launch_turn_ns, 0);
  f("node.launch_first_ns", m.node.launch_first_ns, 0);
  f("node.update_ns", m.node.update_ns, 0);
  f("node.clone_ns", m.node.clone_ns, 0);
  f("node.destroy_ns", m.node.destroy_ns, 0);
  f("node.destroy_exec_ns", m.node.destroy_exec_ns, 0);
  f("timed_record_ns", m.timed_record_ns, 0);
  f("inside_copy_ns", m.inside_copy_ns, 0);
  f("other_stream_ns", m.other_stream_ns, 0);
  f("contended_ns", m.contended_ns, 0);
  f("stage_bytes_per_ns", m.stage_bytes_per_ns, rate);
  f("pin_bytes_per_ns", m.pin_bytes_per_ns, rate);
  f("unpin_bytes_per_ns", m.unpin_bytes_per_ns, rate);
  f("register_bytes_per_ns", m.register_bytes_per_ns, rate);
  f("pool_grow_ns", m.pool_grow_ns, 0);
  f("pool_chunk_ns", m.pool_chunk_ns, 0);
  f("pool_return_ns", m.pool_return_ns, 0);
  f("wake_ns", m.wake_ns, 0);
  f("long_wake_ns", m.long_wake_ns, 0);
  f("long_wait_ns", m.long_wait_ns, 0);
  f("host_function_ns", m.host_function_ns, 0);
  f("host_function_idle_ns", m.host_function_idle_ns, 0);
  f("host_function_interrupt_ns", m.host_function_interrupt_ns, 0);
  f("host_function_soon_ns", m.host_function_soon_ns, 0);
  f("host_function_deep_ns", m.host_function_deep_ns, 0);
  f("host_thread_sleeps_ns", m.host_thread_sleeps_ns, 0);
  f("host_thread_soon_ns", m.host_thread_soon_ns, 0);
  f("host_thread_deep_ns", m.host_thread_deep_ns, 0);
  f("submit_ns", m.submit_ns, 0);
  f("kernel_submit_ns", m.kernel_submit_ns, 0);
  f("record_ns", m.record_ns, 0);
  f("kernel_ns", m.kernel_ns, 0);
  f("kernel_gap_ns", m.kernel_gap_ns, 0);
  f("graph_gap_ns", m.graph_gap_ns, 0);
  f("graph_spread_ns", m.graph_spread_ns, 0);
  f("graph_turn_ns", m.graph_turn_ns, 0);
  f("graph_join_ns", m.graph_join_ns, 0);
  f("engine_gap_ns", m.engine_gap_ns, 0);
  f("copy_switch_ns", m.copy_switch_ns, 0);
  f("copy_look_ns", m.copy_look_ns, 0);
  f("wait_gap_ns", m.wait_gap_ns, 0);
  f("block_ns", m.block_ns, 0);
  f("block_turn_ns", m.block_turn_ns, 0);
  f("blocks_per_ns", m.blocks_per_ns, rate);
  f("memory_latency_ns", m.memory_latency_ns, 0);
  f("l1_load_ns", m.l1_load_ns, 0);
  f("l2_load_ns", m.l2_load_ns, 0);
  f("memory_load_ns", m.memory_load_ns, 0);
  f("store_beside_ns", m.store_beside_ns, 0);
  f("step_ns", m.step_ns, 0);
  f("fill_ns", m.fill_ns, 0);
  f("fill_bytes_per_ns", m.fill_bytes_per_ns, rate);
  f("memory_bytes_per_ns", m.memory_bytes_per_ns, rate);
  f("l2_bytes_per_ns", m.l2_bytes_per_ns, rate);
  f("l2_requests_per_ns", m.l2_requests_per_ns, rate);
  f("host_read_bytes_per_ns", m.host_read_bytes_per_ns, rate);
  f("host_written_bytes_per_ns", m.host_written_bytes_per_ns, rate);
  f("host_requests_per_ns", m.host_requests_per_ns, rate);
  f("host_load_ns", m.host_load_ns, 0);
  f("copy_bytes_per_ns", m.copy_bytes_per_ns, rate);
  f("copy_inside_ns", m.copy_inside_ns, 0);
  f("issue_per_ns", m.issue_per_ns, rate);
  f("fp32_per_ns", m.fp32_per_ns, rate);
  f("fp64_per_ns", m.fp64_per_ns, rate);
  f("fp16_per_ns", m.fp16_per_ns, rate);
  f("special_per_ns", m.special_per_ns, rate);
  f("integer_per_ns", m.integer_per_ns, rate);
  f("shared_bytes_per_ns", m.shared_bytes_per_ns, rate);
  f("atomics_per_ns", m.atomics_per_ns, rate);
  f("address_atomics_per_ns", m.address_atomics_per_ns, rate);
  f("atomic_spread", m.atomic_spread, 0);
  f("address_float_atomics_per_ns", m.address_float_atomics_per_ns, rate);
  f("shared_retry_ns", m.shared_retry_ns, 0);
  f("barrier_ns", m.barrier_ns, 0);
  f("look_ns", m.look_ns, 0);
  f("looks_per_ns", m.looks_per_ns, rate);
  f("meeting_ns", m.meeting_ns, 0);
  f("meeting_blocks_per_ns", m.meeting_blocks_per_ns, rate);
  f("overlap_norm", m.overlap_norm, 1);
  f("older_first", m.older_first, 0);
  f("to_device.small_ns", m.to_device.small_ns, 0);
  f("to_device.small_bytes_per_ns", m.to_device.small_bytes_per_ns, rate);
  f("to_device.pinned_ns", m.to_device.pinned_ns, 0);
  f("to_device.pinned_bytes_per_ns", m.to_device.pinned_bytes_per_ns, rate);
  f("to_device.pageable_ns", m.to_device.pageable_ns, 0);
  f("to_device.pageable_bytes_per_ns", m.to_device.pageable_bytes_per_ns, rate);
  f("to_host.small_ns", m.to_host.small_ns, 0);
  f("to_host.small_bytes_per_ns", m.to_host.small_bytes_per_ns, rate);
  f("to_host.pinned_ns", m.to_host.pinned_ns, 0);
  f("to_host.pinned_bytes_per_ns", m.to_host.pinned_bytes_per_ns, rate);
  f("to_host.pageable_ns", m.to_host.pageable_ns, 0);
  f("to_host.pageable_bytes_per_ns", m.to_host.pageable_bytes_per_ns, rate);
  f("both_directions", m.both_directions, rate);
  f("peer_ns", m.peer_ns, 0);
  f("peer_bytes_per_ns", m.peer_bytes_per_ns, rate);
}

}  // namespace sb
