// Findings about loops that wait in several lines, and what each of these waits gives the host.
#include <gmock/gmock.h>
#include <gtest/gtest.h>

#include "findings_checks.hpp"
#include "program_builder.hpp"

namespace sb::analysis {
namespace {

constexpr std::uint64_t part = 1 << 10;
constexpr std::uint64_t turns = 20;

enum class host_bytes { own, same };  // of each turn
enum class waits { everywhere, behind_the_turn, none };

// Copy in, two kernels, copy out, and a wait behind each of them, or only where there are results.
trace::trace steps(host_bytes bytes, waits which) {
  program_builder b;
  const number s = b.stream();
  const number device = b.allocation(trace::memory_kind::device, part);
  const number in = b.allocation(trace::memory_kind::pinned, turns * part);
  const number out = b.allocation(trace::memory_kind::pinned, turns * part);
  const auto wait = [&](std::uint32_t line) {
    if (which == waits::everywhere) b.line(line).synchronize(s);
  };
  for (std::uint64_t i = 0; i < turns; ++i) {
    const std::uint64_t at = bytes == host_bytes::own ? i * part : 0;
    b.line(10).copy(s, to_device, part, 3_us);
    b.reads(in, at, part).writes(device, 0, part);
    wait(11);
    b.line(12).kernel(s, "first", 5_us);
    b.reads(device).writes(device);
    wait(13);
    b.line(14).kernel(s, "second", 5_us);
    b.reads(device).writes(device);
    wait(15);
    b.line(16).copy(s, to_host, part, 3_us);
    b.reads(device, 0, part).writes(out, at, part);
    if (which != waits::none) b.line(17).synchronize(s);
  }
  b.synchronize();
  return b.run();
}

std::vector<std::uint32_t> lines_of(const trace::trace& t, const finding& f) {
  std::vector<std::uint32_t> lines;
  for (const number p : f.places) lines.push_back(t.places[p].line);
  std::sort(lines.begin(), lines.end());
  return lines;
}

TEST(FindingsOfSeveralLines, TheyAreOneFindingWhereTheyGainMoreTogether) {
  const trace::trace t = steps(host_bytes::own, waits::everywhere);
  const explanation e = explain(t);
  EXPECT_THAT(rules_in(e), testing::Contains("wait-in-loop").Times(1)) << text_of(t, e);
  const finding f = found(t, "wait-in-loop");
  EXPECT_THAT(lines_of(t, f), testing::ElementsAre(11, 13, 15, 17));
  EXPECT_EQ(f.count, 4 * turns);
  // The results are waited for one turn later, by calls that are made as before.
  const nanoseconds gained = t.end - steps(host_bytes::own, waits::none).end;
  EXPECT_GT(f.cost * 10, gained * 8);
  EXPECT_LE(f.cost, gained);
  EXPECT_THAT(f.evidence, testing::Contains(testing::HasSubstr(":13): alone")));
}

// The host fills one buffer and looks at another one in each turn: it has to wait for these. What
// stands between two kernels gives it nothing.
TEST(FindingsOfSeveralLines, AWaitThatGivesTheHostNothingIsFoundBesideThoseThatDo) {
  const trace::trace t = steps(host_bytes::same, waits::everywhere);
  const finding f = found(t, "wait-in-loop");
  EXPECT_THAT(lines_of(t, f), testing::ElementsAre(13, 15));
  const trace::trace less = steps(host_bytes::same, waits::behind_the_turn);
  expect_without(less, "wait-in-loop");
  EXPECT_LT(f.cost, t.end - less.end);
}

// A kernel in one stream, and the copy of its result to the same bytes of the host in another one,
// with a wait for the first that comes behind the copy or not.
trace::trace two_streams(bool by_event, stream_kind kind, bool in_default_stream) {
  program_builder b;
  const number s1 = in_default_stream ? b.legacy() : b.stream(kind), s2 = b.stream(kind);
  const number copied = b.event();
  const number device = b.allocation(trace::memory_kind::device, part);
  const number host = b.allocation(trace::memory_kind::pinned, part);
  for (std::uint64_t i = 0; i < turns; ++i) {
    b.line(20).copy(s2, to_host, part, 3_us);
    b.reads(device, 0, part).writes(host, 0, part);
    if (by_event) {
      b.line(21).record(s2, copied);
      b.line(22).wait(s1, copied);
    }
    b.line(23).kernel(s1, "work", 8_us);
    b.line(24).synchronize(s1);
  }
  b.synchronize();
  return b.run();
}

TEST(FindingsOfSeveralLines, AWaitGivesWhatItsStreamWaitedForAsWell) {
  const auto non_blocking = stream_kind::non_blocking, blocking = stream_kind::blocking;
  found(two_streams(false, non_blocking, false), "wait-in-loop");
  expect_without(two_streams(true, non_blocking, false), "wait-in-loop");
  found(two_streams(false, blocking, false), "wait-in-loop");
  expect_without(two_streams(false, blocking, true), "wait-in-loop");
  found(two_streams(false, non_blocking, true), "wait-in-loop");
}

// What is not waited for by one line is there at the next one: the kernel's wait gives the copy, if
// the copy has none of its own.
trace::trace two_waits(bool for_the_copy) {
  program_builder b;
  const number s = b.stream();
  const number host = b.allocation(trace::memory_kind::pinned, part);
  for (std::uint64_t i = 0; i < turns; ++i) {
    b.line(30).copy(s, to_device, part, 3_us);
    b.reads(host, 0, part);
    if (for_the_copy) b.line(31).synchronize(s);
    b.line(32).kernel(s, "work", 8_us);
    b.line(33).synchronize(s);
  }
  b.synchronize();
  return b.run();
}

TEST(FindingsOfSeveralLines, WhatOneWaitHasGivenTheNextOneDoesNot) {
  EXPECT_THAT(lines_of(two_waits(true), found(two_waits(true), "wait-in-loop")),
              testing::ElementsAre(33));
  expect_without(two_waits(false), "wait-in-loop");
}

// Two copies of each turn from one line, as of a function that is called twice.
TEST(FindingsOfSeveralLines, CopiesDirectlyBehindOneAnotherAreOfOneTurn) {
  program_builder b;
  const number s = b.stream(stream_kind::blocking);
  const number device = b.allocation(trace::memory_kind::device, 1 << 20);
  const number host = b.allocation(trace::memory_kind::pinned, 1 << 20);
  for (std::uint64_t i = 0; i < turns; ++i) {
    for (const std::uint64_t half : {0, 1}) {
      b.line(40).copy_and_wait(to_device, part, 3_us, trace::memory_kind::pinned);
      b.reads(host, 2 * (i * 2 + half) * part, part).writes(device, half * part, part);
    }
    b.line(41).kernel(s, "work", 8_us);
    b.reads(device).writes(device);
    b.line(42).copy_and_wait(to_host, part, 3_us, trace::memory_kind::pinned);
    b.reads(device, 0, part).writes(host, (2 * i * 2 + 1) * part, part);
  }
  const trace::trace t = b.run();
  const finding f = found(t, "synchronous-copy-in-loop");
  EXPECT_THAT(lines_of(t, f), testing::ElementsAre(40, 42));
  EXPECT_EQ(f.count, 3 * turns);
}

// A copy to pinned memory is over when a small synchronous one behind it is: that one is needed.
trace::trace small_behind_large(bool large) {
  program_builder b;
  const number device = b.allocation(trace::memory_kind::device, 1 << 20);
  const number host = b.allocation(trace::memory_kind::pinned, 2 << 20);
  for (std::uint64_t i = 0; i < turns; ++i) {
    b.line(50).kernel(b.legacy(), "work", 8_us);
    b.writes(device);
    if (large) {
      b.line(51).copy(b.legacy(), to_host, 1 << 20, 20_us);
      b.reads(device, 0, 1 << 20).writes(host, 0, 1 << 20);
    }
    b.line(52).copy_and_wait(to_host, 4, 3_us, trace::memory_kind::pinned);
    b.reads(device, 0, 4).writes(host, 1 << 20, 4);
  }
  return b.run();
}

TEST(FindingsOfSeveralLines, ACopyThatGivesTheHostAnotherOneIsNeeded) {
  found(small_behind_large(false), "synchronous-copy-in-loop");
  expect_without(small_behind_large(true), "synchronous-copy-in-loop");
}

// Lines that lose results of some turns stand alone: their cost is no part of what is safe.
TEST(FindingsOfSeveralLines, WhatKeepsAllResultsIsOneFindingAndWhatDoesNotAnother) {
  program_builder b;
  const number s = b.stream();
  const number host = b.allocation(trace::memory_kind::pinned, part);
  for (std::uint64_t i = 0; i < turns; ++i) {
    for (const std::uint32_t k : {0U, 1U}) {
      b.line(60 + 2 * k).kernel(s, k == 0 ? "first" : "second", 5_us);
      b.line(61 + 2 * k).synchronize(s);
    }
    b.line(64).copy(s, to_host, 4, 2_us);
    b.writes(host, 0, 4);
    b.line(65).synchronize(s);
  }
  const trace::trace t = b.run();
  const explanation e = explain(t);
  std::vector<std::vector<std::uint32_t>> lines;
  for (const finding& f : e.findings)
    if (f.rule == "wait-in-loop") lines.push_back(lines_of(t, f));
  EXPECT_THAT(lines,
              testing::UnorderedElementsAre(testing::ElementsAre(61, 63), testing::ElementsAre(65)))
      << text_of(t, e);
}

// A power iteration: the host makes an argument of what comes behind the wait of the result.
TEST(FindingsOfSeveralLines, AResultInTheMidstOfATurnIsNeededThere) {
  for (const bool in_the_midst : {false, true}) {
    program_builder b;
    const number s = b.stream();
    const number result = b.allocation(trace::memory_kind::pinned, 4);
    for (int i = 0; i < 20; ++i) {
      b.line(70).kernel(s, "multiply", 5_us);
      if (!in_the_midst) b.line(73).kernel(s, "scale", 5_us);
      b.line(71).copy(s, to_host, 4, 3_us);
      b.writes(result, 0, 4);
      b.line(72).synchronize(s);
      if (in_the_midst) b.line(73).kernel(s, "scale", 5_us);
    }
    b.line(74).synchronize();
    if (in_the_midst)
      expect_without(b.run(), "wait-in-loop");
    else
      found(b.run(), "wait-in-loop");
  }
}

// Above a number of operations waits for events are not compared with what the data needs: that is
// said, where there are any.
TEST(FindingsOfSeveralLines, WhatIsNotLookedAtInALongRunIsSaid) {
  for (const bool waits : {true, false}) {
    for (const bool is_long : {true, false}) {
      trace::trace t = two_waits(true);
      trace::operation one;
      one.kind = waits ? trace::operation_kind::event_wait : trace::operation_kind::event_record;
      one.stream = t.operations[0].stream;
      one.event = 0;
      t.operations.resize(is_long ? 200'001 : 1000, one);
      EXPECT_EQ(explain(t).not_looked_at.size(), waits && is_long ? 1U : 0U);
    }
  }
}

}  // namespace
}  // namespace sb::analysis
