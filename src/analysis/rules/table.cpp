// All rules. A new one: a function in a file of this folder, a line here, a program where it finds
// something and one where it does not in tests/analysis, a line in docs/explain.md.
#include <array>

#include "analysis/rules/rules.hpp"

namespace sb::analysis {

namespace {

constexpr std::array<rule, 27> table = {{
    {"launch-blocking", find_blocking_launches},
    {"default-stream-barrier", find_default_stream_barrier},
    {"pageable-async-copy", find_pageable_copies},
    {"wait-in-loop, synchronous-copy-in-loop", find_waits_in_loops},
    {"allocation-in-loop", find_allocations_in_loops},
    {"pool-gives-memory-back", find_returned_pools},
    {"graph-made-in-loop", find_graphs_made_in_loops},
    {"graph-waits-for-itself", find_graphs_beside_themselves},
    {"issue-order", find_issue_order},
    {"few-hardware-queues", find_few_queues},
    {"many-streams", find_many_streams},
    {"one-copy-engine", find_busy_copy_engine},
    {"kernel-fills-device", find_full_device},
    {"first-use", find_first_uses},
    {"priority-inversion", find_priority_inversion},
    {"blocking-host-function", find_blocking_host_functions},
    {"launch-bound-kernels", find_launch_bound_kernels},
    {"event-recorded-late", find_late_records},
    {"wait-before-record", find_waits_before_records},
    {"needless-event-wait", find_needless_waits},
    {"early-event-wait", find_early_waits},
    {"wait-holds-later-work", find_waits_that_hold_others},
    {"independent-work-in-one-stream", find_independent_work},
    {"streams-never-overlap", find_idle_streams},
    {"lock-held-while-waiting", find_held_locks},
    {"host-gaps", find_host_gaps},
    {"much-pinned-memory", find_much_pinned_memory},
}};

}  // namespace

std::span<const rule> all_rules() { return table; }

}  // namespace sb::analysis
