// Waits for events that stand in front of work that does not need them, and those that have to.
#include "findings_checks.hpp"

namespace sb::analysis {
namespace {

using testing::ElementsAre;
using testing::HasSubstr;

constexpr auto rule = "early-event-wait";

// A stream makes something (lines 10, 11), and another one uses it.
struct scene {
  program_builder b;
  number makes = b.stream(), uses = b.stream(), third = b.stream();
  number done = b.event(), more = b.event();
  number made = b.allocation(trace::memory_kind::device, 1 << 20);
  number own = b.allocation(trace::memory_kind::device, 1 << 20);

  void make() {
    b.line(10).kernel(makes, "make", 200_us);
    b.reads(made).writes(made);
    b.line(11).record(makes, done);
  }
  void wait() { b.line(12).wait(uses, done); }
  void prepare(number memory) {
    b.line(13).kernel(uses, "prepare", 100_us);
    b.reads(memory).writes(memory);
  }
  void use(number stream) {
    b.line(14).kernel(stream, "use", 50_us);
    b.reads(made);
  }
  trace::trace run() {
    b.line(20).synchronize();
    return b.run();
  }
};

enum class waits : bool { at_once, behind };

trace::trace two_kernels(waits when) {
  scene s;
  s.make();
  if (when == waits::at_once) s.wait();
  s.prepare(s.own);
  if (when == waits::behind) s.wait();
  s.use(s.uses);
  return s.run();
}

void expect_cost(const finding& f, const trace::trace& as_it_is, const trace::trace& mended) {
  EXPECT_NEAR(static_cast<double>(f.cost), static_cast<double>(as_it_is.end - mended.end), 1000.0);
}

TEST(FindingsOfEarlyWaits, AWaitInFrontOfWorkThatDoesNotNeedItIsFound) {
  const trace::trace early = two_kernels(waits::at_once), mended = two_kernels(waits::behind);
  const finding f = found(early, rule);
  EXPECT_GT(f.cost, 90_us);
  expect_cost(f, early, mended);
  ASSERT_EQ(f.operations.size(), 1U);
  EXPECT_EQ(early.operations[f.operations[0]].kind, trace::operation_kind::event_wait);
  EXPECT_THAT(f.change, HasSubstr("(program.cu:12) behind kernel prepare (program.cu:13)"));
  EXPECT_THAT(f.evidence,
              ElementsAre(HasSubstr("the first that needs it is kernel use (program.cu:14)")));
  EXPECT_EQ(explain(early).findings.size(), 1U);
  expect_healthy(mended);
}

TEST(FindingsOfEarlyWaits, AWaitThatTheNextOperationNeedsIsNotEarly) {
  scene s;
  s.make();
  s.wait();
  s.prepare(s.made);
  s.use(s.uses);
  expect_healthy(s.run());

  scene unknown;
  unknown.make();
  unknown.wait();
  unknown.b.line(13).kernel(unknown.uses, "anything", 100_us);
  unknown.use(unknown.uses);
  expect_without(unknown.run(), rule);
}

// What writes needs the wait for those that read, too.
TEST(FindingsOfEarlyWaits, AWaitForReadersIsNotEarlyForAWriter) {
  for (const bool writes : {true, false}) {
    scene s;
    s.b.line(10).kernel(s.makes, "read", 200_us);
    s.b.reads(s.made);
    s.b.line(11).record(s.makes, s.done);
    s.wait();
    s.b.line(13).kernel(s.uses, "next", 100_us);
    writes ? s.b.writes(s.made) : s.b.reads(s.made);
    s.b.line(14).kernel(s.uses, "last", 50_us);
    s.b.writes(s.made);
    if (writes)
      expect_without(s.run(), rule);
    else
      EXPECT_GT(found(s.run(), rule).cost, 90_us);
  }
}

// In each turn of a loop, so many kernels stand in front of the wait; in the third turn, one of
// them needs it.
trace::trace loop(int in_front, int needs = 3) {
  scene s;
  for (int i = 0; i < 6; ++i) {
    s.make();
    for (int k = 0; k <= 3; ++k) {
      if (k == in_front) s.wait();
      if (k < 3) s.prepare(i == 2 && k == needs ? s.made : s.own);
    }
    s.use(s.uses);
    s.b.line(15).record(s.uses, s.more);
    s.b.line(16).wait(s.makes, s.more);
  }
  return s.run();
}

TEST(FindingsOfEarlyWaits, AWaitOfALoopIsMovedInAllOfItsTurns) {
  const trace::trace early = loop(0);
  const finding f = found(early, rule);
  EXPECT_EQ(f.count, 6U);
  expect_cost(f, early, loop(3));
  EXPECT_THAT(f.change, HasSubstr("behind kernel prepare (program.cu:13)"));
  expect_without(loop(3), rule);
}

TEST(FindingsOfEarlyWaits, WhatOneTurnNeedsAllKeep) {
  const trace::trace early = loop(0, 1);
  const finding f = found(early, rule);
  expect_cost(f, early, loop(1, 1));
  EXPECT_THAT(f.change, HasSubstr("behind operation 1 of those that follow from one line, kernel"));
  expect_without(loop(0, 0), rule);
}

// The call means the event's last record when it is made.
TEST(FindingsOfEarlyWaits, AWaitIsNotMovedBehindTheNextRecordOfItsEvent) {
  for (const bool again : {true, false}) {
    scene s;
    s.make();
    s.wait();
    s.b.line(18).kernel(s.makes, "make_more", 300_us);
    s.b.writes(s.b.allocation(trace::memory_kind::device, 1 << 20));
    s.b.line(19).record(s.makes, again ? s.done : s.more);
    s.prepare(s.own);
    s.prepare(s.own);
    s.use(s.uses);
    s.b.line(18).kernel(s.uses, "last", 300_us);
    s.b.reads(s.made);
    if (again)
      expect_without(s.run(), rule);
    else
      (void)found(s.run(), rule);
  }
}

enum class by_way_of : std::uint8_t { another_stream, the_host };

// What is behind an event of the stream needs the wait, but not the stream itself.
trace::trace needed_elsewhere(waits when, bool recorded_first, by_way_of how) {
  scene s;
  const number result = s.b.allocation(trace::memory_kind::pinned, 1 << 20);
  s.make();
  if (how == by_way_of::the_host) {
    s.b.line(10).copy(s.makes, to_host, 1 << 20, 100_us);
    s.b.reads(s.made).writes(result);
    s.b.line(11).record(s.makes, s.done);
  }
  if (when == waits::at_once) s.wait();
  if (recorded_first) s.b.line(15).record(s.uses, s.more);
  s.prepare(s.own);
  if (when == waits::behind) s.wait();
  if (!recorded_first) s.b.line(15).record(s.uses, s.more);
  if (how == by_way_of::another_stream) {
    s.b.line(16).wait(s.third, s.more);
    s.use(s.third);
    s.b.line(17).kernel(s.uses, "go_on", 150_us);
    s.b.reads(s.own).writes(s.own);
    return s.run();
  }
  s.b.line(17).kernel(s.uses, "go_on", 200_us);
  s.b.reads(s.own).writes(s.own);
  s.b.line(18).synchronize_event(s.more);
  s.b.host_code(50_us);
  s.b.line(10).copy(s.makes, to_device, 1 << 20, 50_us);
  s.b.reads(result).writes(s.made);
  return s.run();
}

TEST(FindingsOfEarlyWaits, AWaitStaysInFrontOfARecordThatOthersRelyOn) {
  for (const by_way_of how : {by_way_of::another_stream, by_way_of::the_host}) {
    const trace::trace early = needed_elsewhere(waits::at_once, false, how);
    const finding f = found(early, rule);
    expect_cost(f, early, needed_elsewhere(waits::behind, false, how));
    EXPECT_THAT(f.change, HasSubstr("behind kernel prepare (program.cu:13)"));
    EXPECT_THAT(f.evidence[0], HasSubstr("the first that needs it is record of event 1"));
    expect_without(needed_elsewhere(waits::at_once, true, how), rule);
  }
}

// One line of a function waits for several streams; only one of them waits too early.
trace::trace one_line(waits when) {
  scene s;
  const number other = s.b.allocation(trace::memory_kind::device, 1 << 20);
  s.make();
  if (when == waits::at_once) s.wait();
  s.b.line(12).wait(s.third, s.done);
  s.b.line(16).kernel(s.third, "use_at_once", 20_us);
  s.b.reads(s.made).writes(other);
  s.prepare(s.own);
  if (when == waits::behind) s.wait();
  s.use(s.uses);
  return s.run();
}

TEST(FindingsOfEarlyWaits, SomeOfTheWaitsOfALineAreToldFromTheOthers) {
  const trace::trace early = one_line(waits::at_once);
  const finding f = found(early, rule);
  expect_cost(f, early, one_line(waits::behind));
  EXPECT_EQ(f.count, 1U);
  EXPECT_THAT(f.evidence, ElementsAre(HasSubstr("1 of 2 waits (program.cu:12)")));
  EXPECT_THAT(f.change, HasSubstr("where stream 2 waits for the event that stream 1 records"));
}

// A line waits for several streams, one after another; `from`: how many of them are needed, and the
// others are waited for all the same.
trace::trace joined(waits when, int needed, bool others = true) {
  scene s;
  std::vector<number> from, events, memory;
  for (int i = 0; i < 4; ++i) {
    from.push_back(s.b.stream());
    events.push_back(s.b.event());
    memory.push_back(s.b.allocation(trace::memory_kind::device, 1 << 20));
  }
  for (int turn = 0; turn < 3; ++turn) {
    for (std::size_t i = 0; i < 4; ++i) {
      s.b.line(30).kernel(from[i], "part", (100 + 40 * i) * 1_us);
      s.b.reads(memory[i]).writes(memory[i]);
      s.b.line(31).record(from[i], events[i]);
    }
    const auto join = [&] {
      for (std::size_t i = 0; i < 4; ++i)
        if (others || static_cast<int>(i) < needed) s.b.line(32).wait(s.uses, events[i]);
    };
    if (when == waits::at_once) join();
    s.prepare(s.own);
    if (when == waits::behind) join();
    s.b.line(33).kernel(s.uses, "use", 100_us);
    for (std::size_t i = 0; i < static_cast<std::size_t>(needed); ++i) s.b.reads(memory[i]);
    s.b.line(34).record(s.uses, s.more);
    for (const number one : from) s.b.line(35).wait(one, s.more);
  }
  return s.run();
}

TEST(FindingsOfEarlyWaits, TheWaitsOfAJoinAreMovedTogether) {
  const trace::trace early = joined(waits::at_once, 4);
  const finding f = found(early, rule);
  EXPECT_EQ(f.count, 12U);
  expect_cost(f, early, joined(waits::behind, 4));
  expect_healthy(joined(waits::behind, 4));
}

TEST(FindingsOfEarlyWaits, TheWaitsOfAJoinThatNothingNeedsAreToldFromTheOthers) {
  const trace::trace all = joined(waits::behind, 2);
  const finding f = found(all, "needless-event-wait");
  EXPECT_THAT(f.evidence, testing::Contains(HasSubstr("3 of 12 waits of a line")));
  expect_without(all, rule);
  expect_without(joined(waits::behind, 4), "needless-event-wait");
}

}  // namespace
}  // namespace sb::analysis
