// The rules that look for findings. A rule first looks for its evidence in the trace, which is
// cheap; only then does it replay the program without the thing it found. A finding is reported
// when that makes the run shorter by more than a small part of it.
#pragma once

#include <cstdint>
#include <map>
#include <optional>
#include <span>
#include <string>
#include <string_view>
#include <vector>

#include "analysis/changes.hpp"
#include "analysis/explain.hpp"
#include "analysis/finding.hpp"
#include "analysis/replay.hpp"

namespace sb::analysis {

// Calls that are made again and again from one place of the program, with the same work in between.
struct repeated_call {
  number thread = 0;
  std::vector<std::size_t> steps;  // of that thread, in order
  // Further calls from that place, directly behind one of these: no work was issued in between.
  std::vector<std::size_t> beside;
  std::size_t kinds = 1;  // of what lies between two of these: a turn may have several of them
  number place = none;
  std::string name;
};

// Waits for events that the data does not need: all of a line, or those of it that `which` tells
// from the others.
struct needless_part {
  std::vector<number> waits;  // in order
  std::size_t of = 0;         // waits of the line
  std::string which;
};

enum class given : std::uint8_t;  // waits_give.hpp

struct evidence {
  evidence(const trace::trace& run, const program& as_program, const timing& as_it_is,
           const overlap_facts& facts)
      : t(run), p(as_program), base(as_it_is), overlap(facts) {}

  const trace::trace& t;
  const program& p;
  const timing& base;  // the program's replay as it is
  const overlap_facts& overlap;

  // How much shorter the run is after a change.
  [[nodiscard]] nanoseconds gain(const program& changed) const;
  [[nodiscard]] nanoseconds gain(const timing& now) const;  // of its replay
  // A part of the device's work that is worth mentioning.
  [[nodiscard]] bool worth(nanoseconds time) const;
  // Looked for once.
  [[nodiscard]] const std::vector<repeated_call>& repeated_calls() const;
  [[nodiscard]] const allocation_parts& parts() const;
  // Waits for events that the data does not need; only where some took time.
  [[nodiscard]] const std::vector<needless_part>& needless_parts() const;
  [[nodiscard]] const std::vector<number>& needless_waits() const;  // all of them, in order
  // What a thread's waits give the host, by step; waits_give.cpp.
  [[nodiscard]] const std::vector<given>& given_by_waits(number thread) const;

 private:
  mutable std::optional<allocation_parts> parts_;
  mutable std::optional<std::vector<repeated_call>> repeated_;
  mutable std::optional<std::vector<needless_part>> parts_needless_;
  mutable std::optional<std::vector<number>> needless_;
  mutable std::map<number, std::vector<given>> gives_;  // by thread
};

using findings = std::vector<finding>;

struct rule {
  std::string_view name;
  void (*look)(const evidence& e, findings& out);
};

[[nodiscard]] std::span<const rule> all_rules();

void find_blocking_launches(const evidence& e, findings& out);
void find_default_stream_barrier(const evidence& e, findings& out);
void find_pageable_copies(const evidence& e, findings& out);
void find_waits_in_loops(const evidence& e, findings& out);
void find_allocations_in_loops(const evidence& e, findings& out);
void find_returned_pools(const evidence& e, findings& out);
void find_graphs_made_in_loops(const evidence& e, findings& out);
void find_graphs_beside_themselves(const evidence& e, findings& out);
void find_issue_order(const evidence& e, findings& out);
void find_few_queues(const evidence& e, findings& out);
void find_many_streams(const evidence& e, findings& out);
void find_busy_copy_engine(const evidence& e, findings& out);
void find_full_device(const evidence& e, findings& out);
void find_priority_inversion(const evidence& e, findings& out);
void find_blocking_host_functions(const evidence& e, findings& out);
void find_launch_bound_kernels(const evidence& e, findings& out);
void find_late_records(const evidence& e, findings& out);
void find_waits_before_records(const evidence& e, findings& out);
void find_needless_waits(const evidence& e, findings& out);
void find_early_waits(const evidence& e, findings& out);
void find_waits_that_hold_others(const evidence& e, findings& out);
void find_independent_work(const evidence& e, findings& out);
void find_idle_streams(const evidence& e, findings& out);
void find_held_locks(const evidence& e, findings& out);
void find_host_gaps(const evidence& e, findings& out);
void find_much_pinned_memory(const evidence& e, findings& out);
void find_first_uses(const evidence& e, findings& out);
void find_hang(const trace::trace& t, findings& out);
void find_faults(const trace::trace& t, findings& out);

// --- for the rules

// A finding of operations: their numbers, calls, lines and how many there are.
void add_operations(const trace::trace& t, finding& f, const std::vector<number>& operations);
void add_calls(const trace::trace& t, finding& f, const std::vector<number>& calls);

// Says what a replay took for granted.
void add_assumption(finding& f, assumes_parts parts);
// About waits for events: which of them the program does not read the times of.
void add_assumption_of_times(const trace::trace& t, finding& f);

// What the graph of a launch costs.
[[nodiscard]] graph_costs costs_of_launched(const evidence& e, const step& launch);

// A pool keeps the memory that it gave back in waits of the host: these take no longer for it, and
// allocations do not ask for the memory again. In modelled time.
struct kept_memory {
  std::vector<number> again, waits;  // calls: that asked for memory once more, that gave it back
  nanoseconds asked = 0, gave = 0;
};
enum class pool_waits : std::uint8_t {
  none,  // gives memory back
  left,  // gives memory back: one that the change has left as it was
};
kept_memory keep_pool_memory(const evidence& e, program& changed, pool_waits which);

// An operation and the edge that let it go last, with how long that kept it after everything else.
struct held_operation {
  number operation = none;
  trace::edge by;
  nanoseconds time = 0;
};
[[nodiscard]] std::vector<held_operation> held_by(const trace::trace& t, trace::wait_cause cause);
[[nodiscard]] nanoseconds total(const std::vector<held_operation>& held);
[[nodiscard]] std::vector<number> operations_of(const std::vector<held_operation>& held);
// "kernel b on stream 2 waited for kernel a on stream 1: 12 µs"; the longest first.
void describe(const trace::trace& t, finding& f, const std::vector<held_operation>& held);

// Whether the stream of an operation has a higher priority than that of another one.
[[nodiscard]] bool is_more_urgent(const trace::trace& t, number operation, number other);

// How much earlier urgent work ends after a change that makes the run no longer: the operation that
// gains most, of the streams that less urgent ones held. None where that is not worth mentioning.
struct urgent_gain {
  nanoseconds time = 0;
  number operation = none;
};
[[nodiscard]] urgent_gain gain_of_urgent(const evidence& e, const program& changed,
                                         const std::vector<held_operation>& held);
// A sentence behind others, which says that the cost is this.
[[nodiscard]] std::string words_of(const trace::trace& t, const urgent_gain& gain);

// What the host's memory says about the waits of a loop.
enum class host_use : std::uint8_t {
  none,                // the waits give the host nothing, or only bytes that no other turn uses
  other_results,       // each turn has results, and their bytes are its own
  same_result,         // each turn writes the same bytes directly in front of its wait
  one_buffer,          // the same, of results that are more than a few bytes
  in_turn,             // the same bytes are used again, but not before the wait one turn later
  may_need_each_wait,  // the host may write or read between what two turns do with its memory
};
// A copy of no more to pageable memory is what the host looks at when the call returns.
inline constexpr std::uint64_t few_bytes = 4096;
// The host looks at such a result in each of so many turns, after the change.
inline constexpr std::size_t turns_per_look = 8;
// It does so already: what the device does between two of these calls repeats.
[[nodiscard]] bool looks_in_some_turns(const evidence& e, const repeated_call& r);
[[nodiscard]] host_use use_between_waits(const evidence& e, const repeated_call& r);
// The host and the device both use it while operations run. Pageable memory is the host's alone
// when the call returns.
[[nodiscard]] bool is_shared_memory(const trace::allocation& a);
[[nodiscard]] bool is_host_memory(const trace::trace& t, const trace::byte_range& r);
// Both use the same bytes of the host's memory, be it only for reading: it may be filled between.
[[nodiscard]] bool share_host_bytes(const trace::trace& t, const trace::operation& a,
                                    const trace::operation& b);

}  // namespace sb::analysis
