// The operations of a trace by stream.
#pragma once

#include <cstddef>
#include <vector>

#include "analysis/program.hpp"

namespace sb::analysis {

// The operations of each stream, and where each is in its stream's list.
struct stream_lists {
  explicit stream_lists(const trace::trace& t) : of(t.streams.size()), at(t.operations.size()) {
    for (number i = 0; i < t.operations.size(); ++i) {
      if (t.operations[i].stream >= of.size()) continue;
      at[i] = of[t.operations[i].stream].size();
      of[t.operations[i].stream].push_back(i);
    }
  }
  std::vector<std::vector<number>> of;
  std::vector<std::size_t> at;
};

}  // namespace sb::analysis
