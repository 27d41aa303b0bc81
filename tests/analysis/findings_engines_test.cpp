// Findings about work that is in pieces, or in several streams that gain only together.
#include "findings_checks.hpp"
#include "program_builder.hpp"

namespace sb::analysis {
namespace {

constexpr auto independent = "independent-work-in-one-stream";

// A long copy in pieces, and a short one that a kernel waits for.
trace::trace short_copy_and_pieces(bool behind_them, bool pieces_in_turn) {
  program_builder b;
  const number s1 = b.stream(), s2 = b.stream();
  const auto little = [&] {
    b.copy(s2, to_device, 1 << 20, 20_us);
    b.kernel(s2, "work", 900_us);
  };
  if (!behind_them) little();
  for (int i = 0; i < 16; ++i) {
    b.copy(s1, to_device, 4 << 20, 60_us);
    b.writes(b.allocation(trace::memory_kind::device, 4 << 20));
    if (pieces_in_turn) b.synchronize(s1);
  }
  if (behind_them) little();
  b.synchronize();
  return b.run();
}

TEST(Findings, AShortCopyBehindThePiecesOfALongOneIsFound) {
  const trace::trace t = short_copy_and_pieces(true, false);
  const finding f = found(t, "one-copy-engine");
  // More streams for copies that take turns on one engine are no second thing to change.
  expect_without(t, independent);
  // 960 µs of pieces, 20 of the short copy, 900 of the kernel; the kernel runs beside the pieces.
  EXPECT_GT(f.cost, 800_us);
  EXPECT_LT(f.cost, 920_us);
  expect_without(short_copy_and_pieces(false, false), "one-copy-engine");
  expect_without(short_copy_and_pieces(true, true), "one-copy-engine");
}

// In each turn a long copy and then a short one, with a kernel behind it that is shorter than a
// quarter of the long copy: those of two turns are no pieces of one.
TEST(Findings, AShortCopyBehindTheLongOneOfEachTurnIsFound) {
  program_builder b;
  const number s1 = b.stream(), s2 = b.stream();
  for (int i = 0; i < 8; ++i) {
    b.copy(s1, to_device, 64 << 20, 1200_us);
    b.writes(b.allocation(trace::memory_kind::device, 64 << 20));
    b.copy(s2, to_device, 4096, 2_us);
    b.kernel(s2, "work", 200_us);
    b.synchronize();
  }
  const finding f = found(b.run(), "one-copy-engine");
  EXPECT_GT(f.cost, 1500_us);  // 8 x 200 µs of kernels
  EXPECT_LT(f.cost, 1700_us);
}

// Two streams with the same work: as long as one of them stays as it is, the run does too.
trace::trace two_equal_streams(bool same_memory) {
  program_builder b;
  const number streams[] = {b.stream(), b.stream()};
  number memory[] = {b.allocation(trace::memory_kind::device, 1 << 20),
                     b.allocation(trace::memory_kind::device, 1 << 20)};
  for (int i = 0; i < 4; ++i) {
    for (int s = 0; s < 2; ++s) {
      if (!same_memory) memory[s] = b.allocation(trace::memory_kind::device, 1 << 20);
      b.kernel(streams[s], "work", 200_us);
      b.reads(memory[s]).writes(memory[s]);
    }
  }
  b.synchronize();
  return b.run();
}

TEST(Findings, StreamsThatGainOnlyTogetherAreFoundTogether) {
  const finding f = found(two_equal_streams(false), independent);
  EXPECT_GT(f.cost, 570_us);  // 4 x 200 µs against one of them
  EXPECT_LT(f.cost, 610_us);
  EXPECT_THAT(f.title, testing::HasSubstr("8 groups"));
  EXPECT_THAT(f.title, testing::HasSubstr("2 streams"));
  expect_healthy(two_equal_streams(true));
}

// Copies on the default stream between the kernels of two others, and one kernel before all that.
TEST(Findings, WorkThatOnlyHasToLeaveTheDefaultStreamIsOneFinding) {
  program_builder b;
  const number streams[] = {b.stream(stream_kind::blocking), b.stream(stream_kind::blocking)};
  const auto memory = [&] { return b.allocation(trace::memory_kind::device, 1 << 20); };
  const number copied = memory(), own[] = {memory(), memory()};
  b.kernel(b.legacy(), "first", 20_us);
  b.writes(memory());
  for (int i = 0; i < 5; ++i) {
    b.copy(b.legacy(), to_device, 1 << 20, 150_us);
    b.writes(copied);
    for (int s = 0; s < 2; ++s) {
      b.kernel(streams[s], "work", 200_us);
      b.reads(own[s]).writes(own[s]);
    }
  }
  b.synchronize();
  const trace::trace t = b.run();
  EXPECT_GT(found(t, "default-stream-barrier").cost, 400_us);
  expect_without(t, independent);
}

enum class between { nothing, default_stream, data };

// Kernels with memory of their own in one blocking stream.
trace::trace kernels_in_one_stream(between what) {
  program_builder b;
  const number s = b.stream(stream_kind::blocking);
  const number filled = b.allocation(trace::memory_kind::device, 1 << 20);
  for (int i = 0; i < 8; ++i) {
    const number own = b.allocation(trace::memory_kind::device, 1 << 20);
    b.kernel(s, "work", 200_us);
    b.reads(own).writes(own);
    if (what == between::data) b.reads(filled);
    if (what == between::nothing) continue;
    b.kernel(b.legacy(), "between", 2_us);
    b.writes(filled);
  }
  b.synchronize();
  return b.run();
}

TEST(Findings, StreamsForWorkThatTheDefaultStreamSeparatesNameIt) {
  const finding alone = found(kernels_in_one_stream(between::nothing), independent);
  EXPECT_THAT(alone.title, testing::Not(testing::HasSubstr("default stream")));
  EXPECT_GT(alone.cost, 1100_us);
  const finding f = found(kernels_in_one_stream(between::default_stream), independent);
  EXPECT_THAT(f.title, testing::HasSubstr("default stream"));
  EXPECT_GT(f.cost, 1100_us);
  expect_without(kernels_in_one_stream(between::data), independent);
}

}  // namespace
}  // namespace sb::analysis
