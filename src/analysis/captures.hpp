// What a stream capture makes of calls: the nodes of a graph, and which of them come behind which.
// It follows records of events and waits for them from one stream to another; on the device these
// are nothing of their own.
#pragma once

#include <cstdint>
#include <vector>

#include "analysis/program.hpp"

namespace sb::analysis {

struct captured_node {
  number operation = none;
  std::vector<std::uint32_t> after{};  // earlier nodes; none: it waits for nothing in the graph
};

// Of some of a thread's steps, in the order in which a launch comes to them; with events between
// streams, in that of the steps.
[[nodiscard]] std::vector<captured_node> captured_nodes(const program& p,
                                                        const std::vector<step>& steps,
                                                        const std::vector<std::size_t>& captured);

// How long the longest chain of them takes.
[[nodiscard]] nanoseconds longest_chain(const program& p, const std::vector<captured_node>& nodes);

}  // namespace sb::analysis
