// Everything there is to say about a recorded run.
#pragma once

#include <cstdint>
#include <functional>
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
  std::vector<std::string> not_looked_at;  // sentences
};

// `told`: how many of all rules have been looked at.
using rule_progress = std::function<void(std::uint64_t done, std::uint64_t all)>;
[[nodiscard]] explanation explain(const trace::trace& recorded, const rule_progress& told = {});

enum class colour : bool { no, yes };

// For people, for a terminal of any width.
[[nodiscard]] std::string text_of(const trace::trace& t, const explanation& e,
                                  colour c = colour::no);
// One JSON object; docs/explain.md describes it.
[[nodiscard]] std::string json_of(const trace::trace& t, const explanation& e);

}  // namespace sb::analysis
