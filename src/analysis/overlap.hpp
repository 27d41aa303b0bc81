// How long each engine was busy, alone and together with others, and how much of the overlap that
// was possible happened.
#pragma once

#include <vector>

#include "trace/trace.hpp"

namespace sb::analysis {

struct engine_use {
  trace::number device = 0;
  trace::engine_kind engine = trace::engine_kind::none;
  trace::nanoseconds busy = 0;      // at least one operation on it
  trace::nanoseconds alone = 0;     // of that, while no other engine was busy
  trace::nanoseconds together = 0;  // while another one was
  trace::nanoseconds work = 0;      // the lengths of its operations, added up
  trace::nanoseconds least = 0;     // kernels: if they filled the device; others: work
  trace::number operations = 0;
  trace::number between_devices = 0;  // of these: copies
};

struct engine_pair {
  std::size_t first = 0, second = 0;  // in overlap_facts::engines
  trace::nanoseconds together = 0;
};

struct overlap_facts {
  std::vector<engine_use> engines;        // by device, in the order of the enumeration
  std::vector<engine_pair> pairs;         // of engines that were busy at the same time
  trace::nanoseconds begin = 0, end = 0;  // first start and last end
  trace::nanoseconds busy = 0;            // at least one engine was
  trace::nanoseconds serial = 0;          // every engine's work, added up
  trace::nanoseconds longest_chain = 0;   // operations that order each other, without anything else
  std::size_t busiest = 0;                // the engine with the most to do

  [[nodiscard]] trace::nanoseconds span() const { return end - begin; }
  // No order of issue makes the work shorter than its busiest engine, nor than its longest chain.
  [[nodiscard]] trace::nanoseconds possible() const;
  // 1: busy for as short as possible; 0: as long as without overlap. The host's gaps do not count.
  [[nodiscard]] double achieved() const;
};

[[nodiscard]] overlap_facts overlap_of(const trace::trace& t);

}  // namespace sb::analysis
