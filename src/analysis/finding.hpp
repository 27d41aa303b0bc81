// Something in a run that cost time or is wrong, with its evidence and what to change.
#pragma once

#include <string>
#include <vector>

#include "trace/trace.hpp"

namespace sb::analysis {

enum class severity : std::uint8_t {
  hang,     // the run never ends
  fault,    // an operation failed
  cost,     // it takes time: `cost` says how much
  warning,  // wrong or wasteful, without a time
};

struct finding {
  std::string rule;    // "default-stream-barrier"
  std::string title;   // what, in one line
  std::string why;     // how it comes about, in this run
  std::string change;  // what removes it
  severity weight = severity::cost;
  // The modelled run as it is, less the modelled run without this.
  trace::nanoseconds cost = 0;
  // Evidence
  std::vector<trace::number> operations;  // the first ones; `count` says how many there are
  std::vector<trace::number> calls;
  std::vector<trace::number> places;  // lines, without repetition
  std::vector<std::string> evidence;  // sentences with times
  std::size_t count = 0;
};

}  // namespace sb::analysis
