// Sequences of a thread's calls that are made again and again, with the same work for one stream,
// or for several in turn, and nothing between them that waits: what a graph could do at once. With
// the events that order several streams, as far as a capture follows them.
#pragma once

#include <cstdint>
#include <vector>

#include "analysis/program.hpp"

namespace sb::analysis {

struct repeated_sequence {
  number thread = none;
  std::vector<std::vector<std::size_t>> times;  // each time: the steps, in order
};

enum class sequence_streams : std::uint8_t {
  one,      // a call for another stream ends a sequence
  several,  // of one device, which a capture can have all: not the default stream
  joined,   // the same, with the records and waits for events between them
};

[[nodiscard]] std::vector<repeated_sequence> repeated_sequences(const trace::trace& t,
                                                                const program& p,
                                                                sequence_streams streams);

}  // namespace sb::analysis
