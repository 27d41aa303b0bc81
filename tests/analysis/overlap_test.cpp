#include "analysis/overlap.hpp"

#include <gmock/gmock.h>
#include <gtest/gtest.h>

#include "analysis/explain.hpp"
#include "program_builder.hpp"

namespace sb::analysis {
namespace {

using testing::HasSubstr;
using testing::Not;

// Copy in, compute, copy out, in chunks over streams.
trace::trace three_way(int chunks, int streams) {
  program_builder b;
  std::vector<number> s;
  for (int i = 0; i < streams; ++i) s.push_back(b.stream());
  const nanoseconds piece = 600_us / static_cast<nanoseconds>(chunks);
  for (int i = 0; i < chunks; ++i) {
    const number where = s[static_cast<std::size_t>(i % streams)];
    b.copy(where, to_device, 1 << 20, piece);
    b.kernel(where, "work", piece, full_device());
    b.copy(where, to_host, 1 << 20, piece);
  }
  b.synchronize();
  return b.run();
}

TEST(Overlap, OneStreamUsesOneEngineAtATime) {
  const overlap_facts o = overlap_of(three_way(4, 1));
  ASSERT_EQ(o.engines.size(), 3U);
  for (const engine_use& e : o.engines) {
    EXPECT_EQ(e.busy, 600_us);
    EXPECT_EQ(e.alone, 600_us);
    EXPECT_EQ(e.together, 0U);
    EXPECT_EQ(e.operations, 4U);
  }
  EXPECT_EQ(o.serial, 1800_us);
  EXPECT_EQ(o.longest_chain, 1800_us);
  EXPECT_TRUE(o.pairs.empty());
  // One stream: nothing more was possible.
  EXPECT_EQ(o.achieved(), 1.0);
}

TEST(Overlap, SeveralStreamsUseTheEnginesTogether) {
  const overlap_facts o = overlap_of(three_way(16, 4));
  ASSERT_EQ(o.engines.size(), 3U);
  EXPECT_EQ(o.engines[0].busy, o.engines[0].alone + o.engines[0].together);
  EXPECT_GT(o.engines[0].together, 500_us);
  EXPECT_EQ(o.pairs.size(), 3U);
  EXPECT_EQ(o.possible(), 600_us);
  EXPECT_GT(o.achieved(), 0.8);
  EXPECT_LT(o.achieved(), 1.0);
}

// Two streams of two kernels: beside each other these take twice as long as alone.
trace::trace kernels_beside_each_other(bool needs_known) {
  program_builder b;
  const number s1 = b.stream(), s2 = b.stream();
  for (const number s : {s1, s2, s1, s2}) b.kernel(s, "work", 200_us, {132, 256});
  b.synchronize();
  trace::trace t = b.run();
  for (trace::operation& o : t.operations) {
    if (needs_known && o.kind == trace::operation_kind::kernel)
      o.needs = {.alone = 100_us, .arithmetic = 1000000, .memory = 0};
  }
  return t;
}

TEST(Overlap, KernelsThatSharedTheDeviceCountAsTheyAreAlone) {
  const overlap_facts known = overlap_of(kernels_beside_each_other(true));
  EXPECT_EQ(known.longest_chain, 200_us);
  EXPECT_EQ(known.engines[0].least, 400_us);  // they fill the pipes, though not the room
  EXPECT_EQ(known.possible(), 400_us);
  EXPECT_EQ(overlap_of(kernels_beside_each_other(false)).longest_chain, 400_us);
}

TEST(Overlap, KernelsThatLeaveRoomCanShareTheDevice) {
  program_builder b;
  for (int i = 0; i < 8; ++i) b.kernel(b.stream(), "small", 1_ms);
  b.synchronize();
  const overlap_facts o = overlap_of(b.run());
  ASSERT_EQ(o.engines.size(), 1U);
  EXPECT_EQ(o.engines[0].work, 8_ms);
  EXPECT_LT(o.engines[0].busy, 1100_us);
  EXPECT_LT(o.engines[0].least, 1_ms);
  EXPECT_EQ(o.possible(), 1_ms);  // the longest chain is one kernel
  EXPECT_GT(o.achieved(), 0.99);
}

// A chain that is shorter by a rounding than its operations, one after another.
TEST(Overlap, WhatIsBelowAHundredthIsNotLost) {
  const auto after_each_other = [](nanoseconds alone) {
    program_builder b;
    const number s = b.stream();
    for (int i = 0; i < 3; ++i) b.kernel(s, "work", 100_us);
    b.synchronize();
    trace::trace t = b.run();
    for (trace::operation& o : t.operations)
      if (o.kind == trace::operation_kind::kernel) o.needs.alone = alone;
    return overlap_of(t).achieved();
  };
  EXPECT_EQ(after_each_other(100_us - 500), 1.0);
  EXPECT_EQ(after_each_other(90_us), 0.0);
}

TEST(Overlap, GapsOfTheHostAreNoLostOverlap) {
  const auto pairs = [](bool at_once) {
    program_builder b;
    const number s1 = b.stream(), s2 = b.stream();
    for (int i = 0; i < 3; ++i) {
      b.host_code(5_ms);
      b.kernel(s1, "small", 1_ms);
      if (!at_once) b.synchronize(s1);
      b.kernel(s2, "small", 1_ms);
      b.synchronize();
    }
    return overlap_of(b.run());
  };
  const overlap_facts together = pairs(true);
  EXPECT_GT(together.span(), 10_ms);
  EXPECT_LT(together.busy, 3100_us);
  EXPECT_GT(together.achieved(), 0.98);
  EXPECT_EQ(pairs(false).achieved(), 0.0);
}

TEST(Overlap, ATraceWithoutWorkHasNothingToOverlap) {
  const overlap_facts o = overlap_of(trace::trace{});
  EXPECT_TRUE(o.engines.empty());
  EXPECT_EQ(o.span(), 0U);
  EXPECT_EQ(o.possible(), 0U);
  EXPECT_EQ(o.achieved(), 1.0);
}

TEST(Overlap, CopiesBetweenDevicesAreNoneWithinTheDevice) {
  const auto text = [](bool between, bool within) {
    program_builder b;
    const number s = b.stream();
    if (between) b.copy(s, copy_direction::peer, 1 << 20, 100_us);
    if (within) b.copy(s, copy_direction::device_to_device, 1 << 20, 100_us);
    b.synchronize();
    const trace::trace t = b.run();
    return text_of(t, explain(t));
  };
  const std::string within = text(false, true), between = text(true, false),
                    both = text(true, true);
  EXPECT_THAT(within, HasSubstr("copies within the device  "));
  EXPECT_THAT(within, HasSubstr("copies within the device or the host ran"));
  EXPECT_THAT(between, HasSubstr("copies between devices  "));
  EXPECT_THAT(between, HasSubstr("copies between devices ran"));
  EXPECT_THAT(between, Not(HasSubstr("within")));
  EXPECT_THAT(both, HasSubstr("copies within and between devices  "));
}

}  // namespace
}  // namespace sb::analysis
