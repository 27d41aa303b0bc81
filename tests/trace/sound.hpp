// What the reader promises about every trace that it answers, and that each export takes it.
#pragma once

#include <gtest/gtest.h>

#include "trace/export.hpp"

namespace sb::trace::testing {

inline void expect_sound(const trace& t) {
  const auto points = [](number which, std::size_t count) {
    return which == none || which < count;
  };
  bool sound = true;
  for (const stream& s : t.streams) sound &= points(s.device, t.devices.size());
  for (const allocation& a : t.allocations) {
    sound &= points(a.device, t.devices.size()) && points(a.allocated_by, t.calls.size()) &&
             points(a.freed_by, t.calls.size());
  }
  for (const call& c : t.calls) {
    sound &= points(c.thread, t.threads.size()) && points(c.place, t.places.size()) &&
             points(c.blocked_on, t.operations.size());
  }
  for (std::size_t i = 0; i < t.operations.size(); ++i) {
    const operation& op = t.operations[i];
    sound &= points(op.device, t.devices.size()) && points(op.peer, t.devices.size()) &&
             points(op.stream, t.streams.size()) && points(op.call, t.calls.size()) &&
             points(op.name, t.names.size()) && points(op.record, i);
    for (const number other : op.after) sound &= other < i;
    for (const edge& e : op.waits)
      sound &= points(e.from, t.operations.size()) && points(e.call, t.calls.size());
    for (const byte_range& r : op.ranges) sound &= points(r.allocation, t.allocations.size());
  }
  for (const thread_wait& w : t.thread_waits)
    sound &= w.thread < t.threads.size() &&
             (w.function != none ? w.function < t.operations.size() : w.other < t.threads.size());
  for (const stuck_thread& s : t.stuck)
    sound &= points(s.thread, t.threads.size()) && points(s.holder, t.threads.size()) &&
             points(s.function, t.operations.size()) &&
             points(s.holding_function, t.operations.size());
  for (const annotation& a : t.annotations) sound &= points(a.thread, t.threads.size());
  EXPECT_TRUE(sound);

  std::size_t bytes = 0;
  const export_sink count = [&](std::string_view part) { bytes += part.size(); };
  export_perfetto(t, count);
  export_chrome(t, count);
  export_csv(t, count);
  export_tables(t, count);
  EXPECT_GT(bytes, 0u);
}

}  // namespace sb::trace::testing
