// Independent work of one stream with records of events between it: they go with the work that they
// stand for.
#include <gmock/gmock.h>
#include <gtest/gtest.h>

#include <vector>

#include "findings_checks.hpp"
#include "program_builder.hpp"

namespace sb::analysis {
namespace {

constexpr auto rule = "independent-work-in-one-stream";
constexpr std::size_t buffers = 4;

enum class awaited : std::uint8_t { by_nobody, by_host, by_stream };

// A program with a stream for each buffer, which it uses, or not.
struct scene {
  program_builder b;
  std::vector<number> streams, events, memory, host;
  bool divided;

  explicit scene(bool in_streams) : divided(in_streams) {
    for (std::size_t i = 0; i < buffers; ++i) {
      streams.push_back(b.stream());
      events.push_back(b.event());
      memory.push_back(b.allocation(trace::memory_kind::device, 1 << 20));
      host.push_back(b.allocation(trace::memory_kind::pinned, 1 << 20));
    }
  }
  [[nodiscard]] number stream(std::size_t buffer) const { return streams[divided ? buffer : 0]; }
  void kernel(std::size_t buffer, nanoseconds duration = 50_us) {
    b.line(10).kernel(stream(buffer), "work", duration);
    b.reads(memory[buffer]).writes(memory[buffer]);
  }
  void record(std::size_t buffer) { b.line(11).record(stream(buffer), events[buffer]); }
};

// Kernels on each buffer in turn, and a record behind each. The host waits for it before it uses
// the buffer again; another stream waits for the last ones, and uses all.
trace::trace kernels_with_records(awaited how, bool divided) {
  scene s(divided);
  const number other = s.b.stream();
  for (std::size_t i = 0; i < 16; ++i) {
    const std::size_t buffer = i % buffers;
    if (how == awaited::by_host && i >= buffers) s.b.line(9).synchronize_event(s.events[buffer]);
    s.kernel(buffer);
    s.record(buffer);
  }
  if (how == awaited::by_stream) {
    for (std::size_t i = 0; i < buffers; ++i)
      if (divided || i == buffers - 1) s.b.line(12).wait(other, s.events[i]);
    s.b.line(13).kernel(other, "sum", 50_us);
    for (const number one : s.memory) s.b.reads(one);
  }
  s.b.line(14).synchronize();
  return s.b.run();
}

void expect_gain(const trace::trace& one, const trace::trace& several) {
  const finding f = found(one, rule);
  const auto gained = static_cast<double>(one.end - several.end);
  EXPECT_NEAR(static_cast<double>(f.cost), gained, 0.03 * gained);
  EXPECT_THAT(f.change, testing::HasSubstr("Record each event"));
  expect_without(several, rule);
}

TEST(FindingsOfRecords, WorkWithARecordBehindEachIsFound) {
  for (const awaited how : {awaited::by_nobody, awaited::by_host, awaited::by_stream})
    expect_gain(kernels_with_records(how, false), kernels_with_records(how, true));
}

// One wait of the host for results of all buffers.
trace::trace results_of_turns(bool divided) {
  scene s(divided);
  for (int turn = 0; turn < 4; ++turn) {
    for (std::size_t i = 0; i < buffers; ++i) {
      s.kernel(i, 20_us * (buffers - i));
      s.b.line(15).copy(s.stream(i), to_host, 1 << 10, 2_us);
      s.b.reads(s.memory[i], 0, 1 << 10).writes(s.host[i], 0, 1 << 10);
    }
    for (std::size_t i = 0; i < buffers; ++i)
      if (divided || i == buffers - 1) s.record(i);
    for (std::size_t i = 0; i < buffers; ++i)
      if (divided || i == buffers - 1) s.b.line(16).synchronize_event(s.events[i]);
  }
  return s.b.run();
}

TEST(FindingsOfRecords, WhatTheHostWaitsForIsAllThatItCanSee) {
  expect_gain(results_of_turns(false), results_of_turns(true));
}

// Behind such a wait, another stream uses what the first kernels have made.
TEST(FindingsOfRecords, WhatOtherStreamsUseBehindAWaitOfTheHostIsOver) {
  scene s(false);
  const number other = s.b.stream();
  for (std::size_t i = 0; i < buffers; ++i) s.kernel(i, 40_us * (buffers - i));
  s.record(buffers - 1);
  s.b.line(12).synchronize_event(s.events[buffers - 1]);
  s.b.line(13).kernel(other, "use", 300_us);
  s.b.reads(s.memory[0]);
  s.b.line(14).synchronize();
  // Of 400 µs, the longest kernel is in front of that in any case.
  const finding f = found(s.b.run(), rule);
  EXPECT_LT(f.cost, 245_us);
  EXPECT_GT(f.cost, 230_us);
}

// Two parts, each with memory of its own.
trace::trace two_parts(bool timed, bool same_memory = false) {
  scene s(false);
  const number start = s.b.event(), middle = s.b.event();
  s.b.line(20).record(s.stream(0), start);
  for (int i = 0; i < 4; ++i) s.kernel(0);
  s.b.line(21).record(s.stream(0), middle);
  for (int i = 0; i < 4; ++i) s.kernel(same_memory ? 0 : 1);
  s.b.line(22).synchronize();
  if (timed) s.b.line(23).host_call("cudaEventElapsedTime", 500);
  return s.b.run();
}

TEST(FindingsOfRecords, AnIntervalThatIsReadEnclosesWhatItDid) {
  found(two_parts(false), rule);
  expect_without(two_parts(true), rule);
}

TEST(FindingsOfRecords, WorkOnTheSameMemoryIsHealthy) {
  expect_without(two_parts(false, true), rule);
}

}  // namespace
}  // namespace sb::analysis
