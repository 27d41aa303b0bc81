// Parts of one allocation: kernels that get pointers to different places of it, and streams that
// need one part after another.
#include <gmock/gmock.h>

#include "findings_checks.hpp"

namespace sb::analysis {
namespace {

constexpr std::uint64_t part = 1 << 16;

bool assumes(const finding& f) {
  return testing::Value(f.evidence, testing::Contains(testing::HasSubstr("different parts of it")));
}

enum class pointers { to_parts, to_the_whole, to_parts_by_kernels_of_their_own, separate };

// Two streams with a kernel each, and a wait of the host in each turn.
trace::trace in_turns(pointers how, bool waits) {
  program_builder b;
  const number s[2] = {b.stream(), b.stream()};
  const number memory = b.allocation(trace::memory_kind::device, 16 * part);
  const number other = b.allocation(trace::memory_kind::device, 16 * part);
  for (int i = 0; i < 10; ++i) {
    for (std::uint64_t k = 0; k < 2; ++k) {
      const bool own = how == pointers::to_parts_by_kernels_of_their_own;
      b.line(10).kernel(s[k], own && k == 1 ? "other" : "work", k == 0 ? 30_us : 20_us);
      b.writes_from(how == pointers::separate && k == 1 ? other : memory,
                    how == pointers::to_the_whole || how == pointers::separate ? 0 : k * part);
    }
    if (waits) b.line(11).synchronize();
  }
  b.line(12).synchronize();
  return b.run();
}

TEST(FindingsOfParts, AWaitInALoopOfPartsCostsAsMuchAsWithMemoryOfTheirOwn) {
  const trace::trace t = in_turns(pointers::to_parts, true);
  const finding f = found(t, "wait-in-loop");
  const finding separate = found(in_turns(pointers::separate, true), "wait-in-loop");
  EXPECT_EQ(f.cost, separate.cost);
  EXPECT_TRUE(assumes(f));
  EXPECT_FALSE(assumes(separate));
}

TEST(FindingsOfParts, KernelsThatMayShareAnAllocationKeepTheirOrder) {
  expect_without(in_turns(pointers::to_the_whole, true), "wait-in-loop");
  expect_without(in_turns(pointers::to_parts_by_kernels_of_their_own, true), "wait-in-loop");
}

// Each reads what the other one wrote in the turn before.
TEST(FindingsOfParts, KernelsThatTakeTurnsWithTwoPartsKeepTheirOrder) {
  program_builder b;
  const number s[2] = {b.stream(), b.stream()};
  const number memory = b.allocation(trace::memory_kind::device, 16 * part);
  for (std::uint64_t i = 0; i < 10; ++i) {
    b.line(20).kernel(s[i % 2], "swap", 50_us);
    b.writes_from(memory, i % 2 * part).writes_from(memory, (i + 1) % 2 * part);
    b.line(21).synchronize();
  }
  const trace::trace t = b.run();
  for (const finding& f : explain(t).findings) EXPECT_LT(f.cost, 60_us) << f.rule;
}

TEST(FindingsOfParts, ABarrierBetweenPartsCostsTheirOverlap) {
  const auto program = [](stream_kind kind, bool whole) {
    program_builder b;
    const number memory = b.allocation(trace::memory_kind::device, 16 * part);
    const number counter = b.allocation(trace::memory_kind::device, part);
    for (std::uint64_t i = 0; i < 4; ++i) {
      b.line(30).kernel(b.stream(kind), "work", 100_us);
      b.writes_from(memory, whole ? 0 : i * part);
      b.line(31).kernel(b.legacy(), "count", 3_us);
      b.writes_from(counter, 0);
    }
    b.synchronize();
    return b.run();
  };
  const finding f = found(program(stream_kind::blocking, false), "default-stream-barrier");
  EXPECT_GT(f.cost, 280_us);
  EXPECT_TRUE(assumes(f));
  expect_without(program(stream_kind::non_blocking, false), "default-stream-barrier");
  const explanation shared = explain(program(stream_kind::blocking, true));
  for (const finding& one : shared.findings) EXPECT_LT(one.cost, 50_us) << one.rule;
}

// Depth first into one queue: another order would let kernels pass each other.
TEST(FindingsOfParts, AnotherOrderOfIssueIsNotGuessed) {
  const auto program = [](bool one_allocation) {
    program_builder b;
    b.connections(1);
    const number memory = b.allocation(trace::memory_kind::device, 16 * part);
    for (std::uint64_t i = 0; i < 4; ++i) {
      const number own = b.allocation(trace::memory_kind::device, part), s = b.stream();
      for (int k = 0; k < 2; ++k) {
        b.line(35).kernel(s, "work", 100_us);
        b.writes_from(one_allocation ? memory : own, one_allocation ? i * part : 0);
      }
    }
    b.synchronize();
    return b.run();
  };
  found(program(false), "issue-order");
  expect_without(program(true), "issue-order");
}

enum class recorded { behind_each, behind_all };

// Copies in one stream, and in the other kernels that use one after another what they bring.
trace::trace brought(recorded how, bool one_allocation, bool whole) {
  program_builder b;
  const number in = b.stream(), work = b.stream();
  std::vector<number> memory, events;
  for (int i = 0; i < 6; ++i) {
    if (i == 0 || !one_allocation)
      memory.push_back(b.allocation(trace::memory_kind::device, 6 * part));
    events.push_back(b.event());
  }
  const auto at = [&](std::uint64_t i) {
    return std::pair(one_allocation ? memory[0] : memory[i], one_allocation ? i * part : 0);
  };
  for (std::uint64_t i = 0; i < 6; ++i) {
    b.line(40).copy(in, to_device, part, 80_us);
    b.writes(at(i).first, at(i).second, part);
    if (how == recorded::behind_each || i == 5) b.line(41).record(in, events[i]);
  }
  for (std::uint64_t i = 0; i < 6; ++i) {
    b.line(42).wait(work, events[how == recorded::behind_each ? i : 5]);
    b.line(43).kernel(work, "work", 70_us);
    b.writes_from(at(i).first, whole ? 0 : at(i).second);
  }
  b.synchronize();
  return b.run();
}

TEST(FindingsOfParts, AnEventBehindAllPartsIsRecordedLateForTheFirst) {
  for (const bool one_allocation : {false, true}) {
    const trace::trace late = brought(recorded::behind_all, one_allocation, false);
    const trace::trace mended = brought(recorded::behind_each, one_allocation, false);
    const finding f = found(late, "event-recorded-late");
    EXPECT_NEAR(static_cast<double>(f.cost), static_cast<double>(late.end - mended.end), 10'000.0);
    EXPECT_NE(f.change.find("an event behind each"), std::string::npos) << f.change;
    // One behind the first alone would be a race.
    EXPECT_EQ(f.change.find("right behind"), std::string::npos) << f.change;
    EXPECT_EQ(assumes(f), one_allocation);
    expect_without(mended, "event-recorded-late");
  }
}

TEST(FindingsOfParts, AnEventBehindEachPartTakesCallsOfItsOwn) {
  // What is brought and used takes less than the calls that a record and a wait more are.
  const auto program = [](recorded how) {
    program_builder b;
    b.event_cost = 20_us;
    const number in = b.stream(), work = b.stream(), both = b.event(), first = b.event();
    const number one = b.allocation(trace::memory_kind::device, part);
    const number other = b.allocation(trace::memory_kind::device, part);
    b.line(50).kernel(in, "produce", 40_us);
    b.writes(one);
    if (how == recorded::behind_each) b.line(51).record(in, first);
    b.line(52).kernel(in, "produce", 70_us);
    b.writes(other);
    b.line(53).record(in, both);
    b.line(54).wait(work, how == recorded::behind_each ? first : both);
    b.line(55).kernel(work, "use", 60_us);
    b.reads(one);
    if (how == recorded::behind_each) b.line(54).wait(work, both);
    b.line(56).kernel(work, "use", 60_us);
    b.reads(other);
    b.synchronize();
    return b.run();
  };
  const trace::trace late = program(recorded::behind_all), mended = program(recorded::behind_each);
  const finding f = found(late, "event-recorded-late");
  EXPECT_NEAR(static_cast<double>(f.cost), static_cast<double>(late.end - mended.end), 4'000.0);
}

// What a third stream uses it has by way of the second, which does not use it itself.
trace::trace by_way_of_another(bool uses) {
  program_builder b;
  const number s1 = b.stream(), s2 = b.stream(), s3 = b.stream(), e = b.event(), f = b.event();
  const number data = b.allocation(trace::memory_kind::device, part);
  const number other = b.allocation(trace::memory_kind::device, part);
  b.line(60).kernel(s1, "produce", 50_us);
  b.writes(data);
  b.line(61).kernel(s1, "produce_more", 300_us);
  b.writes(other);
  b.line(62).record(s1, e);
  b.line(63).wait(s2, e);
  b.line(64).kernel(s2, "use", 300_us);
  b.reads(data);
  b.line(65).record(s2, f);
  b.line(66).wait(s3, f);
  b.line(67).kernel(s3, "use_later", 50_us);
  b.reads(uses ? other : data);
  b.synchronize();
  return b.run();
}

TEST(FindingsOfParts, AnEventThatAThirdStreamReliesOnIsNotLate) {
  expect_without(by_way_of_another(true), "event-recorded-late");
  EXPECT_GT(found(by_way_of_another(false), "event-recorded-late").cost, 280_us);
}

enum class behind : std::uint8_t { what_is_needed, all };
enum class rest : std::uint8_t { of_its_stream, of_another };
enum class used_by : std::uint8_t { the_waiting_stream, a_third };

// In each turn a stream makes something and then works for itself, or waits for another stream's
// work; behind that it records. `needs_rest`: what uses the one uses the other, too.
trace::trace recorded_behind(behind where, rest what, used_by who, bool needs_rest = false) {
  program_builder b;
  const number s1 = b.stream(), s2 = b.stream(), s3 = b.stream(), s4 = b.stream();
  const number e = b.event(), f = b.event(), g = b.event(), h = b.event();
  std::vector<number> memory;
  for (int i = 0; i < 4; ++i) memory.push_back(b.allocation(trace::memory_kind::device, part));
  for (int i = 0; i < 5; ++i) {
    b.line(60).kernel(s1, "make", 50_us);
    b.writes(memory[0]);
    if (where == behind::what_is_needed) b.line(61).record(s1, e);
    if (what == rest::of_its_stream) {
      b.line(62).kernel(s1, "more", 100_us);
      b.writes(memory[1]);
    } else {
      b.line(63).kernel(s4, "more", 150_us);
      b.writes(memory[1]);
      b.line(64).record(s4, g);
      b.line(65).wait(s1, g);
    }
    if (where == behind::all) b.line(61).record(s1, e);
    b.line(66).wait(s2, e);
    b.line(67).kernel(s2, "own", 40_us);
    b.reads(memory[3]).writes(memory[3]);
    const number user = who == used_by::a_third ? s3 : s2;
    if (who == used_by::a_third) {
      b.line(68).record(s2, f);
      b.line(69).wait(s3, f);
    }
    b.line(70).kernel(user, "use", 70_us);
    b.reads(memory[0]);
    if (needs_rest) b.reads(memory[1]);
    b.line(71).record(user, h);
    b.line(72).wait(s1, h);
    b.line(73).wait(s4, h);
  }
  b.synchronize();
  return b.run();
}

TEST(FindingsOfParts, AnEventIsLateByWorkOfAnotherStreamAndForWhatAThirdOneUses) {
  for (const rest what : {rest::of_its_stream, rest::of_another}) {
    for (const used_by who : {used_by::the_waiting_stream, used_by::a_third}) {
      const trace::trace late = recorded_behind(behind::all, what, who);
      const trace::trace mended = recorded_behind(behind::what_is_needed, what, who);
      const finding f = found(late, "event-recorded-late");
      const auto gained = static_cast<double>(late.end - mended.end);
      EXPECT_NEAR(static_cast<double>(f.cost), gained, 0.05 * gained);
      EXPECT_NE(f.evidence[0].find("needs kernel make"), std::string::npos) << f.evidence[0];
      expect_without(mended, "event-recorded-late");
      expect_without(recorded_behind(behind::all, what, who, true), "event-recorded-late");
    }
  }
}

TEST(FindingsOfParts, AnEventBehindAllThatTheFirstKernelNeedsIsHealthy) {
  expect_without(brought(recorded::behind_all, true, true), "event-recorded-late");
}

}  // namespace
}  // namespace sb::analysis
