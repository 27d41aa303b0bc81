// Waits for events in programs that read times of events: an interval encloses what it did.
#include <gmock/gmock.h>
#include <gtest/gtest.h>

#include "findings_checks.hpp"
#include "program_builder.hpp"

namespace sb::analysis {
namespace {

constexpr auto device_memory = trace::memory_kind::device;

// Two streams with memory of their own. Between a fork and a join, one waits for the other one
// without need. All that is timed, but what a test leaves out.
struct timed {
  bool forks = true, between = true, needs = false;
  bool waits_for_start = false;  // the fork is a wait for the event of the beginning itself
  bool synchronizes = true;
  bool drains = false;         // the host waits for all of it in front of the last event
  bool waits_for_stop = true;  // then, behind it
  int reads = 1;
  const char* asks = nullptr;  // a call behind that

  [[nodiscard]] trace::trace run() const {
    program_builder b;
    const number s1 = b.stream(), s2 = b.stream();
    const number start = b.event(), stop = b.event();
    const number forked = b.event(), done = b.event(), joined = b.event();
    const number a = b.allocation(device_memory, 1 << 20), c = b.allocation(device_memory, 1 << 20);
    b.line(10).kernel(s1, "warm_up", 100_us), b.writes(a);
    b.line(11).record(s1, start);
    if (!waits_for_start) b.line(12).record(s1, forked);
    if (forks) b.line(13).wait(s2, waits_for_start ? start : forked);
    b.line(14).kernel(s1, "first", 300_us), b.writes(a);
    b.line(15).record(s1, done);
    if (between) b.line(16).wait(s2, done);
    b.line(17).kernel(s2, "second", 300_us), b.reads(needs ? a : c).writes(c);
    b.line(18).record(s2, joined);
    b.line(19).wait(s1, joined);
    if (drains) b.line(24).synchronize();
    b.line(20).record(s1, stop);
    b.line(21);
    if (drains && waits_for_stop) b.synchronize_event(stop);
    if (synchronizes && !drains) b.synchronize();
    b.line(22);
    for (int i = 0; i < reads; ++i) b.host_call("cudaEventElapsedTime", 500);
    if (asks != nullptr) b.host_call(asks, 500);
    b.line(23).synchronize();
    return b.run();
  }
};

std::vector<std::uint32_t> lines_of(const trace::trace& t, const finding& f) {
  std::vector<std::uint32_t> lines;
  for (const number o : f.operations)
    lines.push_back(t.places[t.calls[t.operations[o].call].place].line);
  return lines;
}

TEST(FindingsOfTimedWaits, AWaitThatNeitherDataNorTimesNeedIsFound) {
  const trace::trace t = timed{}.run();
  const finding f = found(t, "needless-event-wait");
  EXPECT_THAT(lines_of(t, f), testing::ElementsAre(16));  // neither the fork nor the join
  EXPECT_THAT(f.evidence.back(), testing::HasSubstr("events that no stream waits for"));
  const nanoseconds gained = t.end - timed{.between = false}.run().end;
  EXPECT_NEAR(static_cast<double>(f.cost), static_cast<double>(gained), 1000.0);
  expect_without(timed{.needs = true}.run(), "needless-event-wait");
}

TEST(FindingsOfTimedWaits, AForkOrAJoinThatAnIntervalNeedsStays) {
  expect_healthy(timed{.between = false}.run());
  // Only this wait lets the second kernel begin behind the interval's beginning.
  expect_without(timed{.forks = false}.run(), "needless-event-wait");
  // Without times, all of them are needless.
  const trace::trace t = timed{.reads = 0}.run();
  EXPECT_THAT(lines_of(t, found(t, "needless-event-wait")),
              testing::UnorderedElementsAre(13, 16, 19));
}

TEST(FindingsOfTimedWaits, NothingIsNeedlessWhereTheTimesMayBeOfEventsThatStreamsWaitFor) {
  expect_without(timed{.waits_for_start = true}.run(), "needless-event-wait");
  expect_without(timed{.reads = 2}.run(), "needless-event-wait");
}

TEST(FindingsOfTimedWaits, NothingIsNeedlessWhereTimesAreReadOfWhatMayNotBeOver) {
  expect_without(timed{.synchronizes = false}.run(), "needless-event-wait");
  trace::trace t = timed{}.run();
  for (trace::call& c : t.calls)
    if (c.name == "cudaEventElapsedTime") c.status = 600;
  expect_without(t, "needless-event-wait");
}

// The last event is over when the host waits for it: the trace does not say what for.
trace::trace waited_in_vain(trace::trace t) {
  for (trace::call& c : t.calls)
    if (c.name == "cudaEventSynchronize") c.blocked_on = none;
  return t;
}

TEST(FindingsOfTimedWaits, AWaitForAnEventThatIsOverAlreadyIsAWaitForTheTimeThatIsRead) {
  const trace::trace t = waited_in_vain(timed{.drains = true}.run());
  // The join is needless then, too: the host joins.
  EXPECT_THAT(lines_of(t, found(t, "needless-event-wait")), testing::UnorderedElementsAre(16, 19));
  for (const timed& other :
       {timed{.drains = true, .waits_for_stop = false}, timed{.needs = true, .drains = true},
        timed{.drains = true, .reads = 2}})
    expect_without(waited_in_vain(other.run()), "needless-event-wait");
}

TEST(FindingsOfTimedWaits, NothingIsNeedlessWhereItAsksWhetherSomethingIsOver) {
  for (const char* asks : {"cudaEventQuery", "cudaStreamQuery"})
    expect_without(timed{.asks = asks}.run(), "needless-event-wait");
}

// In each turn one stream makes what the other one uses, which prepares something of its own
// behind the wait. The turns are timed, all together or each.
struct turns {
  bool early = true;
  bool whole = true, each = false;
  bool start_in_turn = false;  // right behind the wait

  [[nodiscard]] trace::trace run() const {
    program_builder b;
    const number makes = b.stream(), uses = b.stream();
    const number start = b.event(), stop = b.event(), from = b.event(), to = b.event();
    const number done = b.event(), used = b.event();
    const number made = b.allocation(device_memory, 1 << 20);
    const number own = b.allocation(device_memory, 1 << 20);
    if (whole) b.line(10).record(uses, start);
    for (int i = 0; i < 5; ++i) {
      b.line(11).kernel(makes, "make", 200_us), b.reads(made).writes(made);
      b.line(12).record(makes, done);
      if (each && !start_in_turn) b.line(13).record(uses, from);
      if (early) b.line(14).wait(uses, done);
      if (each && start_in_turn) b.line(13).record(uses, from);
      b.line(15).kernel(uses, "prepare", 100_us), b.reads(own).writes(own);
      if (!early) b.line(16).wait(uses, done);
      b.line(17).kernel(uses, "use", 50_us), b.reads(made).writes(own);
      b.line(18).record(uses, used);
      b.line(19).wait(makes, used);
      if (!each) continue;
      b.line(20).record(uses, to);
      b.line(21).synchronize_event(to);
      b.line(22).host_call("cudaEventElapsedTime", 500);
    }
    if (whole) b.line(23).record(uses, stop);
    b.line(24).synchronize();
    if (whole) b.line(25).host_call("cudaEventElapsedTime", 500);
    return b.run();
  }
};

void expect_gain_of_turns(turns as_it_is) {
  const trace::trace t = as_it_is.run();
  const finding f = found(t, "early-event-wait");
  EXPECT_THAT(f.change, testing::HasSubstr("behind kernel prepare"));
  as_it_is.early = false;
  const trace::trace changed = as_it_is.run();
  expect_without(changed, "early-event-wait");
  const nanoseconds gained = t.end - changed.end;
  EXPECT_GT(gained, 400_us);
  EXPECT_NEAR(static_cast<double>(f.cost), static_cast<double>(gained), 3000.0);
}

TEST(FindingsOfTimedWaits, AWaitThatStandsTooEarlyInATimedLoopIsFound) {
  expect_gain_of_turns({});
  expect_gain_of_turns({.whole = false, .each = true});
  expect_gain_of_turns({.whole = true, .each = true});
}

// The interval begins behind the wait: it is not to enclose what is waited for.
TEST(FindingsOfTimedWaits, AWaitIsNotMovedOverTheBeginningOfAnInterval) {
  expect_without(turns{.whole = false, .each = true, .start_in_turn = true}.run(),
                 "early-event-wait");
}

}  // namespace
}  // namespace sb::analysis
