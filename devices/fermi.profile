# NVIDIA Tesla C2050 (Fermi): 14 multiprocessors of compute capability 2.0. One hardware work queue for all
# streams: work of one stream that is not ready holds what was issued after it in every other.

base = h200
origin = published figures: NVIDIA's Fermi whitepaper, Tesla C2050 board specification, CUDA C Programming Guide 4.2; what calls cost is the H200's

name = Tesla C2050
compute_major = 2
compute_minor = 0
global_bytes = 2817982464               # 3 GB, less what ECC takes
used_at_start_bytes = 62914560
memory_clock_khz = 1500000
memory_bus_bits = 384                   # 144 GB/s
l2_bytes = 786432
persisting_l2_bytes = 0
access_policy_window_bytes = 0
max_grid = 65535 65535 65535
shared_per_block_optin = 49152
reserved_shared_per_block = 0
registers_per_block = 32768
greatest_priority = 0                   # no stream priorities
stream_priorities = no
multiprocessors = 14
clock_khz = 1147000
threads_per_multiprocessor = 1536
blocks_per_multiprocessor = 8
shared_per_multiprocessor = 49152
registers_per_multiprocessor = 32768
resident_kernels = 16
connections = 1
hardware_queues = 1
memory_sync_domains = 1
copy_engines = 2
pci_device_id = 0x06d110de
pci_subsystem_id = 0x077110de
cooperative_launch = no
cluster_launch = no
compute_preemption = no
concurrent_managed_access = no
gpu_direct_rdma = no
memory_pool_handle_types = 1

# Rates: 32 units a multiprocessor; memory at the share of its peak that an H200 reaches
memory_bytes_per_ns = 124
copy_bytes_per_ns = 120
fill_bytes_per_ns = 100
fp32_per_ns = 1028
fp64_per_ns = 514
fp16_per_ns = 1028
issue_per_ns = 514                      # a warp a clock and multiprocessor
special_per_ns = 64                     # 4 a clock and multiprocessor
integer_per_ns = 514                    # 32 a clock and multiprocessor
l2_bytes_per_ns = 230
l2_requests_per_ns = 4                  # estimated, as the next ones
blocks_per_ns = 0.5
l1_load_ns = 70
l2_load_ns = 320
memory_load_ns = 600
step_ns = 16                            # 18 clocks
address_atomics_per_ns = 0.3
address_float_atomics_per_ns = 0.1
shared_bytes_per_ns = 1028
atomics_per_ns = 7

# PCIe 2 x16
host_read_bytes_per_ns = 5.3           # estimated, as the next ones: an H200's share of its link
host_written_bytes_per_ns = 5.5
host_requests_per_ns = 0.06
host_load_ns = 2000
to_device.pinned_bytes_per_ns = 5.8
to_host.pinned_bytes_per_ns = 6.2
to_device.pageable_bytes_per_ns = 3.5
to_host.pageable_bytes_per_ns = 3
to_host.small_bytes_per_ns = 6.2
stage_bytes_per_ns = 3.5
