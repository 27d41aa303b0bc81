#include "model/timing_profile.hpp"

#include <algorithm>
#include <cmath>

#include "model/stream_rules.hpp"

namespace sb {

namespace {

// The least of the device that a wave can use: a multiprocessor without a block does nothing, and
// the one with the most blocks is done last.
double share_in_use(std::uint64_t blocks, std::uint32_t multiprocessors) {
  const double each = std::ceil(static_cast<double>(blocks) / multiprocessors);
  return static_cast<double>(blocks) / (each * multiprocessors);
}

constexpr double stage_chunk_bytes = 65536;

}  // namespace

double wave_ns(const timing_profile& t, const block_work& w, std::uint64_t blocks,
               std::uint32_t multiprocessors, bool first_wave) {
  if (blocks == 0) return 0;
  const double n = static_cast<double>(blocks);
  const double share = share_in_use(blocks, multiprocessors);
  const double arithmetic = w.fp32 / t.fp32_per_ns + w.fp64 / t.fp64_per_ns +
                            w.fp16 / t.fp16_per_ns + w.special / t.special_per_ns +
                            w.integer / t.integer_per_ns + w.shared_bytes / t.shared_bytes_per_ns;
  const double compute = n * arithmetic / share;
  // A single multiprocessor gets more of the memory than its share.
  const double memory = n * w.global_bytes / (t.memory_bytes_per_ns * std::min(1.0, 3 * share)) +
                        n * w.atomics / t.atomics_per_ns;
  const double p = t.overlap_norm;
  const double latency = first_wave && w.global_bytes > 0 ? t.memory_latency_ns : 0;
  return t.block_ns + latency + std::pow(std::pow(compute, p) + std::pow(memory, p), 1 / p) +
         w.barriers * t.barrier_ns;
}

double copy_ns(const timing_profile& t, copy_direction direction, std::uint64_t bytes,
               host_end host) {
  const double n = static_cast<double>(bytes);
  switch (direction) {
    case copy_direction::host_to_device:
    case copy_direction::device_to_host: {
      const link_timing& l = direction == copy_direction::host_to_device ? t.to_device : t.to_host;
      const bool with_the_command =
          host == host_end::pinned
              ? bytes < separate_copy_bytes
              : direction == copy_direction::host_to_device && bytes <= command_copy_bytes;
      if (with_the_command)
        return l.small_ns + n / std::min(l.small_bytes_per_ns, l.pinned_bytes_per_ns);
      if (host == host_end::pageable) return l.pageable_ns + n / l.pageable_bytes_per_ns;
      // Staging and sending go on together: what was staged last is on its way alone.
      const double alone = host == host_end::staged ? std::min(n, stage_chunk_bytes) : n;
      return l.pinned_ns + alone / l.pinned_bytes_per_ns;
    }
    case copy_direction::device_to_device:
      return t.copy_inside_ns + 2 * n / t.copy_bytes_per_ns;
    case copy_direction::peer:
      return t.peer_ns + n / t.peer_bytes_per_ns;
    case copy_direction::host_to_host:
      break;
  }
  return n / t.stage_bytes_per_ns;
}

double call_cost_ns(const timing_profile& t, std::string_view name) {
  const auto found = t.calls.find(name);
  return found == t.calls.end() ? t.call_ns : found->second;
}

}  // namespace sb
