// How long things take on a device: the numbers behind modelled time. Few, and each of them is
// something that can be measured by itself.
#pragma once

#include <cstdint>
#include <map>
#include <string>
#include <string_view>

#include "model/command.hpp"
#include "model/shared_device.hpp"

namespace sb {

using nanoseconds_t = std::uint64_t;

// A larger fill is a kernel of the driver's, for the host as well.
inline constexpr std::uint64_t small_fill_bytes = 4096;

// One direction between host and device.
struct link_timing {
  double small_ns = 0;  // a copy that travels with the kernels (stream_rules.hpp)
  double small_bytes_per_ns = 1;
  double pinned_ns = 0;  // before the first byte of a larger one
  double pinned_bytes_per_ns = 1;
  double pageable_ns = 0;
  double pageable_bytes_per_ns = 1;
};

// What nodes of graphs cost the host, each of them, above the call.
struct node_timing {
  double instantiate_ns = 0, instantiate_kernel_ns = 0;
  double upload_ns = 0, upload_kernel_ns = 0;  // kernels: else by the first launch
  double launch_copy_ns = 0, launch_fill_ns = 0, launch_host_ns = 0;
  double launch_turn_ns = 0;   // kernels behind something else
  double launch_first_ns = 0;  // those that wait for nothing in the graph, but one
  double update_ns = 0, clone_ns = 0, destroy_ns = 0, destroy_exec_ns = 0;
};

struct timing_profile {
  // --- the host
  double call_ns = 300;                              // of a call that is not in `calls`
  std::map<std::string, double, std::less<>> calls;  // by name
  double captured_call_ns = 500;  // the most that a call costs which becomes a node of a graph
  double first_graph_ns = 0;      // the first graph that is made executable, above `calls`
  node_timing node;
  double timed_record_ns = 1000;  // what a record that keeps the time costs above one that does not
  double inside_copy_ns = 2900;   // a copy inside of the device, above `calls`
  double other_stream_ns = 0;     // a launch into another stream than the last one, above `calls`
  double contended_ns = 0;        // bringing work, for each other thread that does so at the time
  double stage_bytes_per_ns = 11;  // copies of pageable memory into the driver's own
  // Page-locking of new pages, giving them back, and page-locking of pages that are there: above
  // the calls' own cost.
  double pin_bytes_per_ns = 2.7, unpin_bytes_per_ns = 11, register_bytes_per_ns = 19;
  double pool_grow_ns = 0;               // when a pool asks the device for memory, above the call
  double pool_chunk_ns = 0;              // and for each chunk that it gets
  double pool_return_ns = 0;             // for each that it gives back
  double wake_ns = 1000;                 // from completion to the return of a waiting call
  double long_wake_ns = 2600;            // the same after a wait of long_wait_ns
  double long_wait_ns = 20000;           // or for a copy that has an engine of its own
  double host_function_ns = 2500;        // from its turn to its first instruction
  double host_function_idle_ns = 12000;  // the same when none has run for host_thread_sleeps_ns
  double host_function_interrupt_ns = 40000;  // and the device has to wake the thread
  double host_function_soon_ns = 40000;       // the same when the last ran soon_ns ago at most
  double host_function_deep_ns = 40000;       // or more than deep_ns ago
  double host_thread_sleeps_ns = 3000;
  double host_thread_soon_ns = 0;
  double host_thread_deep_ns = 1e9;

  // --- from the host to the device
  double submit_ns = 1300;         // until an idle device begins
  double kernel_submit_ns = 3300;  // the same for a kernel
  double record_ns = 1400;         // from the work before a record to its time stamp

  // --- kernels
  double kernel_ns = 550;        // a kernel that does nothing
  double kernel_gap_ns = 980;    // between a kernel and the next operation of its stream
  double graph_gap_ns = 100;     // the same between nodes of a graph
  double graph_spread_ns = 0;    // more for each of several nodes that begin together
  double graph_turn_ns = 0;      // and for each group of more than two that begin a graph
  double graph_join_ns = 0;      // more for one that waits for several, if several begin the graph
  double engine_gap_ns = 3700;   // between operations on different engines
  double copy_switch_ns = 1500;  // between copies of different streams in one direction
  double copy_look_ns =
      0;  // for each other stream with copies waiting, when a copy engine was idle
  double wait_gap_ns = 100;         // more, when the wait was for another stream
  double block_ns = 50;             // beginning and ending of a block, of the first that come
  double block_turn_ns = 190;       // from a block's end to the first instructions of the next
  double blocks_per_ns = 1.65;      // that begin, on the whole device
  double memory_latency_ns = 1000;  // of a kernel that reads or writes memory
  // How long a thread waits for what it loads, and for the result of an addition.
  double l1_load_ns = 36, l2_load_ns = 150, memory_load_ns = 400;
  double store_beside_ns = 0;  // more for a load of a kernel that writes as well
  double step_ns = 2.2;
  double fill_ns = 460;
  double fill_bytes_per_ns = 4600;

  // --- rates of the whole device
  double memory_bytes_per_ns = 4150;
  double l2_bytes_per_ns = 8600;
  double l2_requests_per_ns = 145;  // of lines of 128 bytes
  // Of the host's memory, by kernels, and how long a load waits for it.
  double host_read_bytes_per_ns = 51, host_written_bytes_per_ns = 52;
  double host_requests_per_ns = 0.6;
  double host_load_ns = 1250;
  double copy_bytes_per_ns = 4000;  // inside of the device, reading and writing counted
  double copy_inside_ns = 2400;
  double issue_per_ns = 33450;  // instructions of threads, of any kind
  double fp32_per_ns = 66900;   // operations; a fused one counts two
  double fp64_per_ns = 33450;
  double fp16_per_ns = 133800;
  double special_per_ns = 4180;
  double integer_per_ns = 16700;  // comparisons and bits
  double shared_bytes_per_ns = 33450;
  double atomics_per_ns = 150;
  double address_atomics_per_ns = 1.36;  // at one address
  double atomic_spread = 0.7;  // how many times that for n chunks of 256 bytes: n to this power
  double address_float_atomics_per_ns = 0.57;
  double shared_retry_ns = 52;  // an atomic of shared memory for which there is no instruction
  double barrier_ns = 10;
  // From the writing of memory until a block goes on that looks at it, and how many can look, where
  // they are many.
  double look_ns = 750, looks_per_ns = 0.85;
  // A barrier of the grid, and how many of its blocks can come to it, where they are many.
  double meeting_ns = 980, meeting_blocks_per_ns = 0.48;
  // A lock of global memory: from giving it back until the next one has it, and more for each
  // thread that tries. What is done meanwhile waits for each fence.
  double lock_ns = 250, lock_try_ns = 0.62, fence_ns = 200;
  double overlap_norm = 3.5;  // how well what bounds a kernel hides the rest
  double older_first =
      0.5;  // the part of a multiprocessor's pipes that goes to older kernels first

  link_timing to_device, to_host;
  double both_directions = 0.91;  // of the rate, while the other direction is busy
  double peer_ns = 3000, peer_bytes_per_ns = 300;
};

// What one block of a kernel does, on average.
struct block_work {
  // Instructions of its threads; a warp has as many as the longest of its threads, for each.
  double issued = 0;
  double longest_issued = 0;  // of these, by the warp that has the most; 0: all have as many
  double warps = 0;
  double fp32 = 0, fp64 = 0, fp16 = 0, logic = 0, special = 0;
  double lines = 0, shared_turns = 0;  // of the first cache and of shared memory
  double l2_requests = 0, l2_bytes = 0;
  double memory_bytes = 0;  // that no cache has
  double memory_share = 0;  // of the loads that the first cache does not answer
  double load_misses = 0;   // their share
  double host_read = 0, host_written = 0, host_requests = 0;  // of the host's memory
  double host_misses = 0;                                     // its share of the missed loads
  double stores_beside = 0;  // how much it writes beside that: 1 for half as much and more
  double atomics = 0, float_atomics = 0;
  double atomic_sectors = 0, atomic_chunks = 0;  // of the whole launch
  double shared_retries = 0;                     // one after the other
  // Locks: how often they are taken, by how many threads, and what is done while one is held, in
  // all; and how many locks there are, for the whole launch.
  double locks = 0, lock_threads = 0, locked_steps = 0, locked_loads = 0, locked_fences = 0;
  double lock_places = 0;
  // What its longest thread waits for, one after the other.
  double steps = 0, loads = 0, barriers = 0;
};

// How much of `bytes` that a kernel touches again and again is not in a cache of `l2_bytes`.
[[nodiscard]] double share_of_memory(double bytes, double l2_bytes);

// Blocks of a kernel that are on the device together and alone: how long they take, and what each
// of them asks for meanwhile.
struct block_wave {
  double ns = 0;
  block_demand demand;
};
// `blocks` of them; `multiprocessors` is the device's.
[[nodiscard]] block_wave wave_of(const timing_profile& t, const block_work& work,
                                 std::uint64_t blocks, std::uint32_t multiprocessors,
                                 bool first_wave);

// From the last of so many blocks that comes to a barrier of the grid until they go on.
[[nodiscard]] double grid_barrier_ns(const timing_profile& t, std::uint64_t blocks);

// Where the host's end of a copy is. Staged: pageable memory of which the driver has a copy.
enum class host_end : std::uint8_t { pinned, pageable, staged };

// How long the bytes of a copy are on their way when nothing else is.
[[nodiscard]] double copy_ns(const timing_profile& t, copy_direction direction, std::uint64_t bytes,
                             host_end host);

// What is no time, or more than the clock could take again and again, does not move it so far.
[[nodiscard]] nanoseconds_t rounded_ns(double ns);

[[nodiscard]] double call_cost_ns(const timing_profile& t, std::string_view name);

[[nodiscard]] const timing_profile& h200_timing();  // profile.hpp

}  // namespace sb
