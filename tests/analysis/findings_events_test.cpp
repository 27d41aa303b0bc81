// Waits of the host, and the default stream's rules, where streams need each other's data: without
// them the program has to order its streams by events, which take time.
#include <gmock/gmock.h>
#include <gtest/gtest.h>

#include "findings_checks.hpp"
#include "program_builder.hpp"

namespace sb::analysis {
namespace {

constexpr auto device_memory = trace::memory_kind::device;
constexpr int turns = 30;
constexpr nanoseconds of_event = 322;  // a record or a wait on an H200, in the mean

enum class ordered_by { nothing, the_host, events };

// Two streams, each of which needs what the other one wrote, or its own. Kernels are short, so that
// what the host takes is what counts.
trace::trace two_streams(ordered_by how, bool need_each_other) {
  program_builder b;
  b.event_cost = of_event;
  const number s[2] = {b.stream(), b.stream()};
  const number memory[2] = {b.allocation(device_memory, 1 << 20),
                            b.allocation(device_memory, 1 << 20)};
  const number events[2] = {b.event(), b.event()};
  for (int i = 0; i < turns; ++i) {
    for (int k = 0; k < 2; ++k) {
      b.line(10 + k).kernel(s[k], k == 0 ? "one" : "other", 1_us);
      b.writes(memory[k]).reads(memory[need_each_other ? 1 - k : k]);
      b.line(20 + k);
      if (how == ordered_by::the_host) b.synchronize(s[k]);
      if (how != ordered_by::events) continue;
      b.record(s[k], events[k]);
      b.wait(s[1 - k], events[k]);
    }
  }
  b.line(30).synchronize();
  return b.run();
}

nanoseconds cost_of_waits(const trace::trace& t) { return found(t, "wait-in-loop").cost; }

// The last wait of each line stays where it was, and takes two microseconds.
constexpr double about = 4500;

TEST(FindingsOfEvents, EventsThatTakeThePlaceOfWaitsAreInTheCost) {
  const trace::trace waits = two_streams(ordered_by::the_host, true);
  const trace::trace events = two_streams(ordered_by::events, true);
  const trace::trace none = two_streams(ordered_by::nothing, true);
  const auto gained = static_cast<double>(waits.end - events.end);
  EXPECT_NEAR(static_cast<double>(cost_of_waits(waits)), gained, about);
  // Those events are worth telling apart.
  EXPECT_GT(static_cast<double>(waits.end - none.end), gained + 3 * about);
}

TEST(FindingsOfEvents, WhereNoStreamNeedsTheOtherNoneAreInIt) {
  const trace::trace waits = two_streams(ordered_by::the_host, false);
  const trace::trace none = two_streams(ordered_by::nothing, false);
  EXPECT_NEAR(static_cast<double>(cost_of_waits(waits)), static_cast<double>(waits.end - none.end),
              about);
}

// A third stream that comes behind one that has waited needs no event of its own.
TEST(FindingsOfEvents, WhatAnEventOrdersAlreadyNeedsNoOther) {
  const auto chain = [](ordered_by how) {
    program_builder b;
    b.event_cost = of_event;
    const number s[2] = {b.stream(), b.stream()};
    const number memory = b.allocation(device_memory, 1 << 20);
    const number event = b.event();
    for (int i = 0; i < turns; ++i) {
      b.line(10).kernel(s[0], "writes", 1_us);
      b.writes(memory);
      b.line(11);
      if (how == ordered_by::the_host) b.synchronize(s[0]);
      if (how == ordered_by::events) {
        b.record(s[0], event);
        b.wait(s[1], event);
      }
      for (int k = 0; k < 3; ++k) {
        b.line(12 + k).kernel(s[1], "reads", 1_us);
        b.reads(memory);
      }
      // The next turn writes it again.
      b.line(20);
      if (how == ordered_by::the_host) b.synchronize(s[1]);
      if (how == ordered_by::events) {
        b.record(s[1], event);
        b.wait(s[0], event);
      }
    }
    b.line(30).synchronize();
    return b.run();
  };
  const trace::trace waits = chain(ordered_by::the_host), events = chain(ordered_by::events);
  EXPECT_NEAR(static_cast<double>(cost_of_waits(waits)),
              static_cast<double>(waits.end - events.end), about);
}

}  // namespace
}  // namespace sb::analysis
