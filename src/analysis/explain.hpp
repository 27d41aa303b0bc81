// Everything there is to say about a recorded run.
#pragma once

#include <string>
#include <vector>

#include "analysis/critical_path.hpp"
#include "analysis/finding.hpp"
#include "analysis/overlap.hpp"
#include "trace/trace.hpp"

namespace sb::analysis {

struct run_summary {
  trace::nanoseconds length = 0;
  trace::number operations = 0, kernels = 0, copies = 0, streams = 0, threads = 0;
  std::uint64_t calls = 0;
  std::uint64_t bytes_to_device = 0, bytes_to_host = 0;
  trace::nanoseconds host_blocked = 0;  // in calls, all threads
};

struct explanation {
  run_summary summary;
  critical_path path;
  overlap_facts overlap;
  std::vector<finding> findings;  // what costs most comes first
  // The run as the replay models it: costs are differences to this.
  trace::nanoseconds modelled = 0;
};

[[nodiscard]] explanation explain(const trace::trace& recorded);

enum class colour : bool { no, yes };

// For people, for a terminal of any width.
[[nodiscard]] std::string text_of(const trace::trace& t, const explanation& e,
                                  colour c = colour::no);
// One JSON object; docs/explain.md describes it.
[[nodiscard]] std::string json_of(const trace::trace& t, const explanation& e);

}  // namespace sb::analysis
