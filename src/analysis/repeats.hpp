// Sequences of a thread's calls that are made again and again, with the same work for one stream
// and nothing between them that waits: what a graph could do at once.
#pragma once

#include <vector>

#include "analysis/program.hpp"

namespace sb::analysis {

struct repeated_sequence {
  number thread = none;
  std::vector<std::vector<std::size_t>> times;  // each time: the steps, in order
};

[[nodiscard]] std::vector<repeated_sequence> repeated_sequences(const trace::trace& t,
                                                                const program& p);

}  // namespace sb::analysis
