// Waits that a program times by the host's clock: without them it would measure nothing.
#include <gmock/gmock.h>
#include <gtest/gtest.h>

#include "findings_checks.hpp"
#include "program_builder.hpp"

namespace sb::analysis {
namespace {

constexpr int turns = 20;

enum class clock_reads {
  none,
  before_each_launch,
  behind_each_wait,
  behind_checks,
  around_the_loop,
  in_every_fifth_turn,
};

// A kernel and a wait in each turn.
trace::trace waits_of(clock_reads reads) {
  program_builder b;
  const number s = b.stream();
  if (reads == clock_reads::around_the_loop) b.read_clock();
  for (int i = 0; i < turns; ++i) {
    if (reads == clock_reads::before_each_launch) b.read_clock();
    b.line(10).kernel(s, "step", 5_us);
    b.line(11).synchronize(s);
    if (reads == clock_reads::behind_each_wait) b.read_clock();
    if (reads == clock_reads::in_every_fifth_turn && i % 5 == 4) b.read_clock();
    if (reads != clock_reads::behind_checks) continue;
    b.line(12).host_call("cudaGetLastError", 20);
    b.read_clock();
    b.line(13).host_call("cudaGetLastError", 20);
  }
  if (reads == clock_reads::around_the_loop) b.read_clock();
  b.line(20).kernel(s, "last", 5_us);
  b.synchronize();
  return b.run();
}

TEST(FindingsOfClocks, AWaitWhoseTurnIsTimedIsHealthy) {
  found(waits_of(clock_reads::none), "wait-in-loop");
  found(waits_of(clock_reads::around_the_loop), "wait-in-loop");
  expect_without(waits_of(clock_reads::before_each_launch), "wait-in-loop");
  expect_without(waits_of(clock_reads::behind_each_wait), "wait-in-loop");
  expect_without(waits_of(clock_reads::behind_checks), "wait-in-loop");
}

TEST(FindingsOfClocks, WaitsThatAreTimedStayWhereOthersAreLeftOut) {
  const finding all = found(waits_of(clock_reads::none), "wait-in-loop");
  const finding some = found(waits_of(clock_reads::in_every_fifth_turn), "wait-in-loop");
  EXPECT_LT(some.cost * 100, all.cost * 90);
  EXPECT_GT(some.cost * 100, all.cost * 70);
  EXPECT_THAT(some.change, testing::HasSubstr("reads a clock"));
  EXPECT_THAT(all.change, testing::Not(testing::HasSubstr("reads a clock")));
}

TEST(FindingsOfClocks, CallsThatAreMeasuredAreHealthy) {
  enum class read { nowhere, behind, before_and_behind };
  const auto allocated = [](read clock) {
    program_builder b;
    const number s = b.stream();
    for (int i = 0; i < turns; ++i) {
      if (clock == read::before_and_behind) b.read_clock();
      b.line(10);
      const number memory = b.allocate("cudaMalloc", trace::memory_kind::device, 1 << 20);
      if (clock != read::nowhere) b.read_clock();
      b.line(11).kernel(s, "step", 5_us);
      b.writes(memory);
      if (clock == read::before_and_behind) b.read_clock();
      b.line(12).free(memory);
      if (clock == read::before_and_behind) b.read_clock();
    }
    b.line(13).host_call("cudaGetLastError", 20);
    return b.run();
  };
  found(allocated(read::nowhere), "allocation-in-loop");
  found(allocated(read::behind), "allocation-in-loop");
  expect_without(allocated(read::before_and_behind), "allocation-in-loop");
}

TEST(FindingsOfClocks, ACopyThatIsTimedIsHealthy) {
  for (const bool timed : {false, true}) {
    program_builder b;
    const number s = b.stream(stream_kind::blocking);
    const number device = b.allocation(trace::memory_kind::device, 1 << 24);
    for (int i = 0; i < turns; ++i) {
      b.line(10).kernel(s, "step", 30_us);
      b.writes(device, 0, 1 << 20);
      b.line(11).copy_and_wait(to_host, 1 << 20, 40_us, trace::memory_kind::pinned);
      b.reads(device, 1 << 20, 1 << 20);
      if (timed) b.read_clock();
    }
    b.synchronize();
    if (timed)
      expect_without(b.run(), "synchronous-copy-in-loop");
    else
      found(b.run(), "synchronous-copy-in-loop");
  }
}

// One stream is timed, and then another one.
TEST(FindingsOfClocks, StreamsThatAreTimedOneAfterTheOtherAreHealthy) {
  for (const bool timed : {false, true}) {
    program_builder b;
    for (int i = 0; i < 2; ++i) {
      const number s = b.stream();
      if (timed) b.read_clock();
      b.line(10 + i).kernel(s, i == 0 ? "one" : "other", 100_us);
      b.line(20 + i).synchronize(s);
    }
    if (timed)
      expect_without(b.run(), "streams-never-overlap");
    else
      found(b.run(), "streams-never-overlap");
  }
}

}  // namespace
}  // namespace sb::analysis
