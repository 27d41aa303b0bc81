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
constexpr double line_bytes = 128;
constexpr double schedulers_each = 4;   // of a multiprocessor
constexpr double last_load = 0.5 / 32;  // of a turn, for each warp

// The part of a multiprocessor's pipes that its warps can use: of those of the schedulers only what
// has a warp, of the one that all share more, but not all of it.
struct used_pipes {
  double schedulers, near_memory;
  explicit used_pipes(double busy_warps)
      : schedulers(std::clamp(busy_warps / schedulers_each, 1 / schedulers_each, 1.0)),
        near_memory(std::sqrt(schedulers)) {}
};

// As many warps would issue what a block does if each issued as much as the longest: those that
// wait for it at a barrier keep no scheduler busy.
double busy_warps(const block_work& w) {
  return w.longest_issued > 0 ? w.issued / w.longest_issued : w.warps;
}

// How long two things take that go on beside each other: as the longer one, or more.
double together(double a, double b, double norm) {
  return std::pow(std::pow(a, norm) + std::pow(b, norm), 1 / norm);
}

// The cache's units are chosen by the address, in chunks of which several may have the same one.
// There a sum of floats waits for the one before it at its address.
double atomics_ns(const timing_profile& t, const block_work& w) {
  const double units = std::pow(std::max(1.0, w.atomic_chunks), t.atomic_spread);
  const double all = w.atomics / std::min(t.atomics_per_ns, units * t.address_atomics_per_ns);
  const double alone = std::max(1.0, w.atomic_sectors) * t.address_float_atomics_per_ns;
  return std::max(all, w.float_atomics / alone);
}

// Over the link, both ways at once.
double host_memory_ns(const timing_profile& t, const block_work& w) {
  if (w.host_read + w.host_written + w.host_requests == 0) return 0;
  return std::max(w.host_requests / t.host_requests_per_ns,
                  together(w.host_read / t.host_read_bytes_per_ns,
                           w.host_written / t.host_written_bytes_per_ns, t.overlap_norm));
}

// Whoever wants a lock has it one after the other, and so does a thread that takes one after the
// other; what else the blocks do between two turns goes on beside that.
double with_locks_ns(const timing_profile& t, const block_work& w, double blocks, double ns) {
  if (w.locks == 0 || w.lock_threads == 0) return ns;
  const double places = std::max(1.0, w.lock_places);
  const double wanted_by = blocks * w.lock_threads / places;
  const double held =
      w.locked_fences * t.fence_ns + w.locked_loads * t.l2_load_ns + w.locked_steps * t.step_ns;
  const double turn = t.lock_ns + wanted_by * t.lock_try_ns + held / w.locks;
  const double turns_each = std::max(1.0, w.locks / w.lock_threads);
  const double turns = std::max(turns_each, blocks * w.locks / places);
  return std::max(ns, turns * turn + ns / turns_each);
}

}  // namespace

block_wave wave_of(const timing_profile& t, const block_work& w, std::uint64_t blocks,
                   std::uint32_t multiprocessors, bool first_wave) {
  if (blocks == 0) return {};
  const double n = static_cast<double>(blocks);
  const double share = share_in_use(blocks, multiprocessors);
  // The pipes of a multiprocessor work beside each other; the fullest is done last.
  const double arithmetic =
      std::max({w.issued / t.issue_per_ns, 2 * w.fp32 / t.fp32_per_ns, 2 * w.fp64 / t.fp64_per_ns,
                w.fp16 / t.fp16_per_ns, w.special / t.special_per_ns, w.logic / t.integer_per_ns});
  const double near_memory = (w.lines + w.shared_turns) * line_bytes / t.shared_bytes_per_ns;
  const double pipes = std::max(arithmetic, near_memory);
  const used_pipes used(busy_warps(w) * std::ceil(n / multiprocessors));
  const double compute =
      n / share * std::max(arithmetic / used.schedulers, near_memory / used.near_memory);
  // A single multiprocessor gets more of the caches and the memory than its share.
  const double reach = std::min(1.0, 2 * share);
  const double moving =
      std::max({w.l2_requests / t.l2_requests_per_ns, w.l2_bytes / t.l2_bytes_per_ns,
                w.memory_bytes / t.memory_bytes_per_ns});
  double memory = n / reach * moving;
  memory = std::max(memory, n * std::max(atomics_ns(t, w), host_memory_ns(t, w)));
  const double far = w.memory_share * t.memory_load_ns + (1 - w.memory_share) * t.l2_load_ns;
  const double near = far + w.memory_share * w.stores_beside * t.store_beside_ns;
  const double missed = w.host_misses * t.host_load_ns + (1 - w.host_misses) * near;
  const double load = w.load_misses * missed + (1 - w.load_misses) * t.l1_load_ns;
  const double waits = w.steps * t.step_ns + w.loads * load + w.barriers * t.barrier_ns +
                       w.shared_retries * t.shared_retry_ns;
  // A block that takes the place of another has to begin, and the next one on its multiprocessor
  // begins after it. It ends when the last of its warps has got what it loads.
  const double begins = n / t.blocks_per_ns;
  const double last = w.loads > 0 ? 1 + last_load * w.warps : 1;
  const double life = (first_wave ? t.block_ns : t.block_turn_ns * last) + waits;
  // Pipes hide what threads wait for better than memory does.
  const double busy = together(compute, life, t.overlap_norm);
  const double latency = first_wave && w.l2_bytes > 0 ? t.memory_latency_ns : 0;
  // Blocks begin in what pipes leave, to a part.
  const double least =
      (first_wave ? t.block_ns : 0) + together(begins, compute, t.overlap_norm / 2);
  const double alone =
      latency + std::max(least, together(busy, memory, std::max(1.0, t.overlap_norm - 1)));
  const double ns = with_locks_ns(t, w, n, alone);
  if (!(ns > 0) || !std::isfinite(ns)) return {ns, {}};
  return {ns, {.arithmetic = pipes * multiprocessors / ns, .memory = moving / ns}};
}

double grid_barrier_ns(const timing_profile& t, std::uint64_t blocks) {
  return std::max(t.meeting_ns, static_cast<double>(blocks) / t.meeting_blocks_per_ns);
}

// A cache that has two halves keeps some of what is far away twice.
double share_of_memory(double bytes, double l2_bytes) {
  constexpr double kept = 0.45, lost = 0.95;
  return std::clamp((bytes / l2_bytes - kept) / (lost - kept), 0.0, 1.0);
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

nanoseconds_t rounded_ns(double ns) {
  constexpr double most = 1e16;  // a third of a year
  if (!(ns > 0) || !std::isfinite(ns)) return 0;
  return static_cast<nanoseconds_t>(std::llround(std::min(ns, most)));
}

double call_cost_ns(const timing_profile& t, std::string_view name) {
  const auto found = t.calls.find(name);
  return found == t.calls.end() ? t.call_ns : found->second;
}

}  // namespace sb
