# NVIDIA V100 (SXM2, 16 GB): 80 multiprocessors of compute capability 7.0.

base = h200
origin = published figures: NVIDIA's Volta architecture whitepaper, V100 datasheet, CUDA C++ Programming Guide; what calls cost is the H200's

name = Tesla V100-SXM2-16GB
compute_major = 7
compute_minor = 0
global_bytes = 16945512448
used_at_start_bytes = 440401920
memory_clock_khz = 877000
memory_bus_bits = 4096                  # 900 GB/s
l2_bytes = 6291456
persisting_l2_bytes = 0
access_policy_window_bytes = 0
shared_per_block_optin = 98304
reserved_shared_per_block = 0
multiprocessors = 80
clock_khz = 1530000
shared_per_multiprocessor = 98304
cluster_launch = no
memory_sync_domains = 1
copy_engines = 6                        # some drivers say 5; what is past 3 changes nothing here
pci_device_id = 0x1db110de
pci_subsystem_id = 0x121210de

# Rates: the published peaks, memory at the share of its peak that an H200 reaches
memory_bytes_per_ns = 775
copy_bytes_per_ns = 750
fill_bytes_per_ns = 640
fp32_per_ns = 15700
fp64_per_ns = 7800
fp16_per_ns = 31400
issue_per_ns = 15667                    # four warps a clock and multiprocessor
special_per_ns = 1958                   # 16 a clock and multiprocessor
integer_per_ns = 7834                   # 64 a clock and multiprocessor
l2_bytes_per_ns = 2150
l2_requests_per_ns = 73                 # the H200's, by multiprocessors and clock, as the next ones
blocks_per_ns = 1.33
l1_load_ns = 45
l2_load_ns = 210
step_ns = 2.8
address_atomics_per_ns = 1.1
address_float_atomics_per_ns = 0.45
shared_bytes_per_ns = 15667             # 128 bytes a clock and multiprocessor
atomics_per_ns = 90

# PCIe 3 x16
host_read_bytes_per_ns = 11.3           # estimated, as the next ones: an H200's share of its link
host_written_bytes_per_ns = 11.6
host_requests_per_ns = 0.14
host_load_ns = 1400
to_device.pinned_bytes_per_ns = 12.3
to_host.pinned_bytes_per_ns = 12.9
to_device.pageable_bytes_per_ns = 6
to_host.pageable_bytes_per_ns = 6
to_host.small_bytes_per_ns = 12.9
stage_bytes_per_ns = 6
peer_bytes_per_ns = 48
