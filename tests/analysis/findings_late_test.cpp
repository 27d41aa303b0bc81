// Events that are recorded late again and again: some of the waits hold nothing until the ones
// before them hold less.
#include "findings_checks.hpp"

namespace sb::analysis {
namespace {

constexpr auto rule = "event-recorded-late";

struct lengths {
  nanoseconds made, other, use;
};

// In each of the turns something is made, and other work follows it before the event is recorded;
// another stream uses what was made.
trace::trace turns_of(lengths each, int turns, bool late, bool one_line = true) {
  program_builder b;
  const number makes = b.stream(), uses = b.stream();
  const number other = b.allocation(trace::memory_kind::device, 1 << 20);
  const number sum = b.allocation(trace::memory_kind::device, 1 << 20);
  for (int i = 0; i < turns; ++i) {
    const auto line = static_cast<std::uint32_t>(one_line ? 10 : 10 * (i + 1));
    const number made = b.allocation(trace::memory_kind::device, 1 << 20), done = b.event();
    b.line(line).kernel(makes, "make", each.made);
    b.writes(made);
    if (!late) b.line(line + 1).record(makes, done);
    b.line(line + 2).kernel(makes, "other", each.other);
    b.reads(other).writes(other);
    if (late) b.line(line + 1).record(makes, done);
    b.line(line + 3).wait(uses, done);
    b.line(line + 4).kernel(uses, "use", each.use);
    b.reads(made).reads(sum).writes(sum);
  }
  b.line(9).synchronize();
  return b.run();
}

void expect_gain(lengths each, int turns, bool one_line) {
  const trace::trace as_is = turns_of(each, turns, true, one_line);
  const trace::trace applied = turns_of(each, turns, false, one_line);
  const auto gained = static_cast<double>(as_is.end - applied.end);
  EXPECT_NEAR(static_cast<double>(found(as_is, rule).cost), gained, 0.02 * gained);
  expect_without(applied, rule);
}

TEST(FindingsOfLateRecords, AllOfALineAreRecordedEarlierWhereThatCounts) {
  expect_gain({100_us, 300_us, 450_us}, 6, true);
  expect_gain({100_us, 300_us, 350_us}, 6, true);
  expect_gain({200_us, 200_us, 450_us}, 3, true);
}

TEST(FindingsOfLateRecords, LinesWhoseWaitsHoldNothingAtFirstCountAsWell) {
  expect_gain({100_us, 300_us, 450_us}, 2, false);
  expect_gain({100_us, 300_us, 450_us}, 4, false);
}

TEST(FindingsOfLateRecords, WaitsThatHoldNothingAfterwardsAreNotTold) {
  const trace::trace t = turns_of({100_us, 300_us, 1000_us}, 6, true);
  EXPECT_EQ(found(t, rule).count, 1U);
}

}  // namespace
}  // namespace sb::analysis
