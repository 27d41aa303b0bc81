# NVIDIA GeForce GTX 1050 with 3 GB: 6 multiprocessors of compute capability 6.1. (The one with 2 GB has 5.)

base = h200
origin = published figures: GeForce GTX 1050 specifications, NVIDIA's Pascal tuning guide, CUDA C++ Programming Guide; what calls cost is the H200's

name = NVIDIA GeForce GTX 1050
compute_major = 6
compute_minor = 1
global_bytes = 3221225472
used_at_start_bytes = 104857600
memory_clock_khz = 3504000
memory_bus_bits = 96                    # 84 GB/s
l2_bytes = 786432
persisting_l2_bytes = 0
access_policy_window_bytes = 0
ecc = no
shared_per_block_optin = 49152
reserved_shared_per_block = 0
greatest_priority = -1
multiprocessors = 6
clock_khz = 1518000
shared_per_multiprocessor = 98304
single_to_double_ratio = 32
resident_kernels = 32
cluster_launch = no
memory_sync_domains = 1
copy_engines = 2
pci_device_id = 0x1c8310de
pci_subsystem_id = 0x000010de
gpu_direct_rdma = no
memory_pool_handle_types = 1

# Rates: 128 single-precision units a multiprocessor, 1/32 of that in double and 1/64 in half precision; memory
# at the share of its peak that an H200 reaches
memory_bytes_per_ns = 72
copy_bytes_per_ns = 70
fill_bytes_per_ns = 60
fp32_per_ns = 2332
fp64_per_ns = 73
fp16_per_ns = 36
issue_per_ns = 1166                     # four warps a clock and multiprocessor
special_per_ns = 291                    # 32 a clock and multiprocessor
integer_per_ns = 1166                   # 128 a clock and multiprocessor
l2_bytes_per_ns = 300                   # the H200's, by multiprocessors and clock, as the next ones
l2_requests_per_ns = 5.4
blocks_per_ns = 1.3
l1_load_ns = 47
l2_load_ns = 215
step_ns = 4                             # six clocks
address_atomics_per_ns = 1
address_float_atomics_per_ns = 0.4
shared_bytes_per_ns = 1166
atomics_per_ns = 7

# PCIe 3 x16
host_read_bytes_per_ns = 11           # estimated, as the next ones: an H200's share of its link
host_written_bytes_per_ns = 11.3
host_requests_per_ns = 0.13
host_load_ns = 1500
to_device.pinned_bytes_per_ns = 12
to_host.pinned_bytes_per_ns = 12.5
to_device.pageable_bytes_per_ns = 6
to_host.pageable_bytes_per_ns = 6
to_host.small_bytes_per_ns = 12.5
stage_bytes_per_ns = 6
