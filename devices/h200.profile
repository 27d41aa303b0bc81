# NVIDIA H200 (SXM, 141 GB), in an x86-64 server with PCIe 5 x16, CUDA 13.0, driver 580.
#
# Every other profile is based on this one. Times are in nanoseconds, rates in bytes or operations per
# nanosecond (1 byte/ns = 1 GB/s), sizes in bytes, frequencies in kHz. docs/devices.md explains the format.

origin = measured on an NVIDIA H200

# --- Properties, as cudaGetDeviceProperties and cudaDeviceGetAttribute answer on the device. Texture and
# surface limits that have no attribute are from the CUDA C++ Programming Guide.
name = NVIDIA H200
compute_major = 9
compute_minor = 0

# Memory
global_bytes = 150109880320
used_at_start_bytes = 566231040         # what a fresh context takes of it
constant_bytes = 65536
max_pitch_bytes = 2147483647
memory_clock_khz = 3201000
memory_bus_bits = 6016
l2_bytes = 62914560
persisting_l2_bytes = 39321600
access_policy_window_bytes = 134217728
ecc = yes

# Launch limits
warp_size = 32
max_threads_per_block = 1024
max_block = 1024 1024 64
max_grid = 2147483647 65535 65535
shared_per_block = 49152
shared_per_block_optin = 232448         # when a kernel asks for it
reserved_shared_per_block = 1024        # the system's own part
registers_per_block = 65536
least_priority = 0                      # of streams; the greatest has the lower number
greatest_priority = -5

# Multiprocessors: what decides how many blocks run together
multiprocessors = 132
clock_khz = 1980000
threads_per_multiprocessor = 2048
blocks_per_multiprocessor = 32
shared_per_multiprocessor = 233472
registers_per_multiprocessor = 65536
single_to_double_ratio = 2
resident_kernels = 128                  # kernels that may run at once

# What cudaDeviceGetLimit answers at first
stack_bytes = 1024
printf_bytes = 8650752
malloc_heap_bytes = 8388608
pending_device_launches = 2048
l2_fetch_bytes = 64
persisting_l2_reserved_bytes = 11796480

# Engines and queues: what decides which operations overlap.
# copy_engines is asyncEngineCount. 3 and more: one for each direction and one for copies inside the device;
# 2: copies inside the device use the one of host-to-device copies; 1: all copies share it; 0: no copy runs
# beside a kernel or another copy (deviceOverlap is 0).
copy_engines = 3
connections = 8                         # without CUDA_DEVICE_MAX_CONNECTIONS
hardware_queues = 32                    # the most connections there can be
memory_sync_domains = 4

# Identity on the bus
pci_domain = 0
pci_bus = 0
pci_device = 6
pci_device_id = 0x233510de
pci_subsystem_id = 0x18bf10de
numa_config = 0
numa_id = -1
host_numa_id = 0

# Texture and surface limits; several numbers are width, height, depth or layers (linear_2d: pitch)
texture.alignment = 512
texture.pitch_alignment = 32
texture.width_1d = 131072
texture.width_1d_mipmap = 32768
texture.width_1d_linear = 268435456
texture.size_2d = 131072 65536
texture.size_2d_mipmap = 32768 32768
texture.size_2d_gather = 32768 32768
texture.linear_2d = 131072 65000 2097120
texture.size_3d = 16384 16384 16384
texture.size_3d_alternate = 8192 8192 32768
texture.width_cubemap = 32768
texture.layered_1d = 32768 2048
texture.layered_2d = 32768 32768 2048
texture.layered_cubemap = 32768 2046
surface.alignment = 512
surface.width_1d = 32768
surface.size_2d = 131072 65536
surface.size_3d = 16384 16384 16384
surface.width_cubemap = 32768
surface.layered_1d = 32768 2048
surface.layered_2d = 32768 32768 2048
surface.layered_cubemap = 32768 2046

# What the device and its driver can do
integrated = no
can_map_host_memory = yes
kernel_timeout = no
tcc_driver = no
unified_addressing = yes
concurrent_kernels = yes
stream_priorities = yes
cooperative_launch = yes
cluster_launch = yes
compute_preemption = yes
multi_gpu_board = no
mps = no
unified_function_pointers = yes
multi_gpu_board_group = 0
global_l1_cache = yes
local_l1_cache = yes
managed_memory = yes
concurrent_managed_access = yes
pageable_memory_access = no
pageable_uses_host_page_tables = no
direct_managed_access_from_host = no
host_native_atomics = no
host_pointer_for_registered_memory = yes
can_flush_remote_writes = no
host_register = yes
host_register_read_only = yes
sparse_arrays = yes
deferred_mapping_arrays = yes
timeline_semaphores = yes
ipc_events = yes
memory_pools = yes
host_memory_pools = yes
host_numa_memory_pools = yes
host_numa_multinode_ipc = no
memory_pool_handle_types = 9            # file descriptors and fabric handles
gpu_direct_rdma = yes
gpu_direct_rdma_flush_options = 1
gpu_direct_rdma_ordering = 100
compute_mode = 0
d3d12_cig = no
vulkan_cig = no
partial_host_native_atomics = no

# --- Timing: what calls cost the host. Measured in bursts of 200 (tests/timing, host_us.*) unless it says
# otherwise.
call_ns = 300                           # any call that is not named here; estimated
call.cudaLaunchKernel = 4580
call.cudaLaunchKernelExC = 4580         # taken to be as the above
call.cudaLaunchCooperativeKernel = 4800 # estimated
call.cudaGraphLaunch = 2120
call.cudaEventRecord = 294
call.cudaEventRecordWithFlags = 294
call.cudaStreamWaitEvent = 350
call.cudaMemcpyAsync = 2290
call.cudaMemcpy = 2290
call.cudaMemcpy2DAsync = 2500           # estimated
call.cudaMemcpyToSymbolAsync = 2400     # estimated
call.cudaMemsetAsync = 1305
call.cudaMemset = 1305
call.cudaLaunchHostFunc = 2520
call.cudaStreamAddCallback = 2520
call.cudaStreamQuery = 365
call.cudaEventQuery = 300               # estimated
call.cudaMallocAsync = 712
call.cudaFreeAsync = 711
call.cudaMalloc = 48400                 # of 1 MiB
call.cudaFree = 33000                   # up to 8 MiB
# Estimated, up to cudaMallocManaged.
call.cudaMallocHost = 500000            # without the pages: pin_bytes_per_ns
call.cudaHostAlloc = 500000
call.cudaFreeHost = 250000
call.cudaFree(nullptr) = 65             # waits for nothing, as the next; 60 to 150
call.cudaFreeHost(nullptr) = 65
call.cudaHostRegister = 60000
call.cudaMallocManaged = 30000
call.cudaStreamCreate = 2430
call.cudaStreamCreateWithFlags = 2430
call.cudaStreamCreateWithPriority = 2430
call.cudaStreamDestroy = 1780
call.cudaGraphInstantiate = 3300        # from here on without the nodes (host.tsv)
call.cudaGraphInstantiateWithFlags = 3300
call.cudaGraphInstantiateWithParams = 3300
call.cudaGraphUpload = 1000
call.cudaGraphExecUpdate = 370
call.cudaGraphExecDestroy = 2800
call.cudaGraphClone = 450
call.cudaGraphDestroy = 270
call.cudaGetDevice = 50
call.cudaSetDevice = 200
call.cudaGetLastError = 20
call.cudaPeekAtLastError = 20
captured_call_ns = 450                  # the most for a call that becomes a node of a graph
first_graph_ns = 200000                 # the first graph that is made executable, above the call; from 50000 on
# Each node of a graph, above the call. Fills of more than 4 KiB are kernels.
node.instantiate_ns = 600
node.instantiate_kernel_ns = 1280
node.upload_ns = 170
node.upload_kernel_ns = 1400            # by cudaGraphUpload, or else by the first launch
node.launch_copy_ns = 1550              # in each launch; kernels cost nothing there
node.launch_fill_ns = 750
node.launch_host_ns = 1700
node.launch_turn_ns = 1000              # kernels again, behind something else
node.launch_first_ns = 900              # for each node that waits for nothing in the graph, but one
node.update_ns = 80
node.clone_ns = 200
node.destroy_ns = 115
node.destroy_exec_ns = 330
timed_record_ns = 1000                  # what a record that keeps the time costs above one that does not
inside_copy_ns = 2900                   # a copy inside of the device, above cudaMemcpyAsync
other_stream_ns = 1000                  # a launch into another stream than the last one, above cudaLaunchKernel
contended_ns = 900                      # a call that brings work, for each other thread that does so within 20 us
stage_bytes_per_ns = 11.7               # copying pageable memory into the driver's own
pin_bytes_per_ns = 2.7                  # page-locking of new pages; 5.6 to 2.6, the more the slower
unpin_bytes_per_ns = 11                 # giving them back
register_bytes_per_ns = 19              # page-locking of pages that are there
pool_grow_ns = 21000                    # a pool that has to ask the device for memory, above cudaMallocAsync
pool_chunk_ns = 35000                   # for each 32 MiB of it
pool_return_ns = 57000                  # for each that it gives back when the host has waited

# Waiting calls and host functions
wake_ns = 1000                          # from completion to the return of a waiting call
long_wake_ns = 2600                     # the same after a wait of long_wait_ns, or for a large copy
long_wait_ns = 20000
host_function_ns = 1400                 # from its turn to its first instruction
host_function_idle_ns = 12000           # the same when none has run for host_thread_sleeps_ns
host_function_interrupt_ns = 40000      # and what it waited for is the device's work
host_function_soon_ns = 17000           # the same when the last one ended host_thread_soon_ns ago at most
host_function_deep_ns = 75000           # the same when it ended more than host_thread_deep_ns ago
host_thread_sleeps_ns = 3000
host_thread_soon_ns = 8500
host_thread_deep_ns = 185000

# From the host to the device
submit_ns = 1300                        # until an idle device begins
kernel_submit_ns = 3300                 # the same for a kernel
record_ns = 1400                        # from the work before a record to its time stamp

# Between operations (dev_us.*)
kernel_ns = 550                         # a kernel that does nothing
kernel_gap_ns = 980                     # between a kernel and the next operation of its stream
graph_gap_ns = 100                      # the same between nodes of a graph
graph_spread_ns = 170                   # more for each of several nodes that begin together
graph_turn_ns = 1030                    # and for each group of more than two that begin a graph
graph_join_ns = 1300                    # more for one that waits for several, if several begin the graph
engine_gap_ns = 3700                    # between operations on different engines
copy_switch_ns = 700                    # between copies of different streams in one direction
copy_look_ns = 2200                     # for each other stream with copies waiting, when a copy engine was idle
wait_gap_ns = 100                       # more, when the wait was for another stream
block_ns = 50                           # beginning and ending of a block, of the first that come
block_turn_ns = 187                     # from a block's end to the first instructions of the next
blocks_per_ns = 1.65                    # that begin, on the whole device
memory_latency_ns = 500                 # of a kernel that reads or writes memory, before the first of it
l1_load_ns = 36                         # until a thread has what it loads: from its multiprocessor's cache
l2_load_ns = 165                        # from the device's
memory_load_ns = 370                    # from memory
store_beside_ns = 80                    # more, when the kernel writes as well
step_ns = 2.2                           # until it has the result of an addition or a product
fill_ns = 460                           # a memset of up to 4 KiB, beside its bytes; a larger one is a kernel
fill_bytes_per_ns = 4450

# Rates of the whole device (rates.tsv). Those of instructions are the published ones, for each
# multiprocessor and clock.
memory_bytes_per_ns = 4150
l2_bytes_per_ns = 8600                  # the second cache's
l2_requests_per_ns = 155                # its lines of 128 bytes, of which a request may want but a word
host_read_bytes_per_ns = 51             # by kernels that reach the host's memory
host_written_bytes_per_ns = 52.4
host_requests_per_ns = 0.6              # of it, where each wants but a few bytes
host_load_ns = 1250                     # until a thread has what it loads from there
copy_bytes_per_ns = 4200                # inside of the device, reading and writing counted
copy_inside_ns = 700
issue_per_ns = 33450                    # instructions of threads, of any kind
fp32_per_ns = 66900                     # a fused multiply-add counts two
fp64_per_ns = 33450
fp16_per_ns = 133800
special_per_ns = 4180                   # what roots, exponentials and divisions start from; floats to integers
integer_per_ns = 16700                  # comparisons, choices, bits and shifts to the right
shared_bytes_per_ns = 33450             # also the rate of lines in a multiprocessor's cache
atomics_per_ns = 100                    # each in 32 bytes of its own
address_atomics_per_ns = 1.36           # at one address
atomic_spread = 0.7                     # how many times that in n chunks of 256 bytes: n to this power
address_float_atomics_per_ns = 0.57     # sums of floats at one address
shared_retry_ns = 52                    # a sum of floats in shared memory, at one address of a block
barrier_ns = 10
look_ns = 750                           # from the writing of memory until a block goes on that looks at it (meetings.tsv)
looks_per_ns = 0.85                     # blocks that can, where many look
meeting_ns = 980                        # a barrier of the grid
meeting_blocks_per_ns = 0.48            # that come to it, where they are many
lock_ns = 250                           # from giving back a lock of global memory until the next thread has it (locks.tsv)
lock_try_ns = 0.62                      # more, for each thread that tries
fence_ns = 200                          # __threadfence(), while a lock is held
overlap_norm = 3.5                      # how well what bounds a kernel hides the rest: 1 not at all
older_first = 0.5                       # of a multiprocessor's pipes that two kernels want: what goes to the older one first

# Host to device and back (copy_us.*, copy_wall_us.*)
to_device.small_ns = 2480               # a copy below 32 KiB
to_device.small_bytes_per_ns = 4.5
to_device.pinned_ns = 2900              # before the first byte of a larger one
to_device.pinned_bytes_per_ns = 55.52
to_device.pageable_ns = 3500            # above 64 KiB; up to there, they are as the small ones
to_device.pageable_bytes_per_ns = 11.7
to_host.small_ns = 1610
to_host.small_bytes_per_ns = 55.52
to_host.pinned_ns = 1600
to_host.pinned_bytes_per_ns = 55.52
to_host.pageable_ns = 4100
to_host.pageable_bytes_per_ns = 9.4
both_directions = 0.91                  # of the rate, while the other direction is busy
peer_ns = 3000                          # estimated: no second device was at hand
peer_bytes_per_ns = 300
