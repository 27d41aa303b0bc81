// Which records a program reads the times of. cudaEventElapsedTime changes no order, but an
// interval is meant to enclose some work and not other work: that has to stay so, like the order of
// data.
//
// A trace does not say which events a call reads. They are taken to be those that no stream waits
// for, as long as there are enough of them: each call adds a pair that the others did not tell of.
#pragma once

#include <vector>

#include "analysis/program.hpp"

namespace sb::analysis {

[[nodiscard]] bool reads_times(const trace::trace& t);

// By operation: a record whose time may be read. None in a program that reads no times.
[[nodiscard]] std::vector<bool> timed_records(const trace::trace& t);

// True, too, where no times are read. Every call was answered, the host has waited for what it
// reads, and there are enough records that no stream waits for. For programs with one thread.
[[nodiscard]] bool times_can_be_followed(const trace::trace& t, const program& p);

}  // namespace sb::analysis
