// What it takes to pin the memory of copies: a call for each piece of it.
#include "findings_checks.hpp"
#include "program_builder.hpp"

namespace sb::analysis {
namespace {

constexpr auto pageable = trace::memory_kind::pageable;
constexpr std::uint64_t part = 1 << 20;
constexpr nanoseconds slow = 200_us;  // from pinned memory 21 µs

// A copy of `part` bytes and a kernel behind it.
void copy_from(program_builder& b, number s, number memory, std::uint64_t offset) {
  b.line(40).copy(s, to_device, part, slow, pageable);
  b.reads(memory, offset, part);
  b.line(41).kernel(s, "work", 30_us);
}

// Parts of one piece of memory, of which each begins so far behind the one before it.
trace::trace parts_of(std::uint64_t distance) {
  program_builder b;
  const number s = b.stream(), whole = b.allocation(pageable, 8 * part);
  for (std::uint64_t i = 0; i < 8; ++i) copy_from(b, s, whole, i * distance);
  b.line(42).synchronize();
  return b.run();
}

TEST(FindingsOfPinning, PartsThatLieSideBySideTakeOneCall) {
  const finding f = found(parts_of(part), "pageable-async-copy");
  // 8 MiB are 442 µs at 19 bytes in a nanosecond.
  EXPECT_GT(f.cost, 8 * (slow - 21_us) - 442_us - 60_us - 80_us);
  EXPECT_NE(f.change.find("for 8 MiB,"), std::string::npos) << f.change;
  EXPECT_EQ(f.change.find("pieces of memory"), std::string::npos) << f.change;
}

TEST(FindingsOfPinning, PartsThatOverlapAreCountedOnce) {
  const finding f = found(parts_of(part / 2), "pageable-async-copy");
  EXPECT_NE(f.change.find("for 4.50 MiB,"), std::string::npos) << f.change;
}

TEST(FindingsOfPinning, PartsThatLieApartTakeACallEach) {
  const finding together = found(parts_of(part), "pageable-async-copy");
  const finding apart = found(parts_of(part + 16), "pageable-async-copy");
  EXPECT_NE(apart.change.find("for 8 MiB in 8 pieces of memory"), std::string::npos)
      << apart.change;
  EXPECT_LT(apart.cost, together.cost - 7 * 55_us);
  EXPECT_GT(apart.cost, together.cost - 7 * 65_us);
}

// Each turn copies from the same buffers.
trace::trace buffers_in_turns(int turns) {
  program_builder b;
  const number s = b.stream();
  std::vector<number> memory;
  for (int i = 0; i < 8; ++i) memory.push_back(b.allocation(pageable, part));
  for (int turn = 0; turn < turns; ++turn)
    for (const number one : memory) copy_from(b, s, one, 0);
  b.line(42).synchronize();
  return b.run();
}

TEST(FindingsOfPinning, MemoryThatIsCopiedInManyTurnsIsPinnedOnce) {
  const finding three = found(buffers_in_turns(3), "pageable-async-copy");
  const finding four = found(buffers_in_turns(4), "pageable-async-copy");
  EXPECT_NE(four.change.find("for 8 MiB in 8 pieces of memory"), std::string::npos) << four.change;
  // The turn more gains what its copies take less, and the host's waits before they come again.
  EXPECT_GT(four.cost - three.cost, 8 * (slow - 21_us) - 8 * 20_us);
}

TEST(FindingsOfPinning, WhatGainsALittleIsNotSaidToTakeLonger) {
  program_builder b;
  const number s = b.stream(), one = b.allocation(pageable, part);
  for (int turn = 0; turn < 24; ++turn) {
    b.line(40).copy(s, to_device, 4096, 3_us, pageable);
    b.reads(one, 0, 4096);
    b.line(41).kernel(s, "work", 30_us);
    b.line(42).synchronize(s);
  }
  const finding f = found(b.run(), "pageable-async-copy");
  EXPECT_EQ(f.cost, 0);
  EXPECT_NE(f.change.find("gains little more than it takes"), std::string::npos) << f.change;
}

// Threads that copy from the same memory, or from memory of their own.
trace::trace threads_copy(bool own) {
  program_builder b;
  const number first = b.allocation(pageable, part), second = b.allocation(pageable, part);
  for (const number thread : {0, 1}) {
    b.thread(thread);
    const number s = b.stream();
    for (int i = 0; i < 8; ++i) copy_from(b, s, own && thread == 1 ? second : first, 0);
    b.line(42).synchronize(s);
  }
  return b.run();
}

TEST(FindingsOfPinning, WhatSeveralThreadsCopyIsPinnedByOneOfThem) {
  const finding same = found(threads_copy(false), "pageable-async-copy");
  const finding own = found(threads_copy(true), "pageable-async-copy");
  EXPECT_NE(same.change.find("for 1 MiB,"), std::string::npos) << same.change;
  EXPECT_NE(own.change.find("for 2 MiB in 2 pieces of memory"), std::string::npos) << own.change;
  const std::string at_once = "each thread what it copies while the others pin theirs";
  EXPECT_NE(own.change.find(at_once), std::string::npos) << own.change;
  EXPECT_EQ(same.change.find(at_once), std::string::npos) << same.change;
}

TEST(FindingsOfPinning, CallsThatTakeLongerThanPinnedMemoryGainsHaveNoCost) {
  const finding f = found(buffers_in_turns(1), "pageable-async-copy");
  EXPECT_EQ(f.weight, severity::cost);
  program_builder b;
  const number s = b.stream();
  for (int i = 0; i < 32; ++i) {
    b.line(40).copy(s, to_device, part, 100_us, pageable);
    b.reads(b.allocation(pageable, part));
    b.line(41).kernel(s, "work", 30_us);
  }
  b.line(42).synchronize();
  const finding none_gained = found(b.run(), "pageable-async-copy");
  EXPECT_EQ(none_gained.weight, severity::warning);
  EXPECT_EQ(none_gained.cost, 0U);
  EXPECT_NE(none_gained.change.find("for 32 MiB in 32 pieces of memory"), std::string::npos)
      << none_gained.change;
}

}  // namespace
}  // namespace sb::analysis
