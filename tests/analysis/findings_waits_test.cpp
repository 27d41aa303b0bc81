// Waits for events that the data does not need, and those that it does.
#include <gmock/gmock.h>
#include <gtest/gtest.h>

#include "findings_checks.hpp"
#include "program_builder.hpp"

namespace sb::analysis {
namespace {

constexpr auto device_memory = trace::memory_kind::device;

struct scene {
  program_builder b;
  number s1 = b.stream(), s2 = b.stream(), s3 = b.stream(), e = b.event();
  number a = b.allocation(device_memory, 1 << 20), other = b.allocation(device_memory, 1 << 20);

  // A kernel on the first stream, for whose event the second one waits.
  void first_kernel() { b.line(10).kernel(s1, "first", 300_us), b.reads(a).writes(a); }
  void ordered() {
    b.line(11).record(s1, e);
    b.line(12).wait(s2, e);
  }
  number second_kernel(number memory) {
    const number k = b.line(13).kernel(s2, "second", 300_us);
    b.reads(memory).writes(memory);
    return k;
  }
};

TEST(FindingsOfWaits, AWaitThatTheDataDoesNotNeedIsFound) {
  scene with;
  with.first_kernel();
  with.ordered();
  with.second_kernel(with.other);
  with.b.synchronize();
  const trace::trace t = with.b.run();
  const finding f = found(t, "needless-event-wait");
  scene without;
  without.first_kernel();
  without.second_kernel(without.other);
  without.b.synchronize();
  const nanoseconds gained = t.end - without.b.run().end;
  EXPECT_GT(f.cost, 280_us);
  EXPECT_LE(f.cost, gained);  // the calls stay
  ASSERT_EQ(f.operations.size(), 1U);
  EXPECT_EQ(t.operations[f.operations[0]].kind, trace::operation_kind::event_wait);
}

TEST(FindingsOfWaits, NothingIsNeedlessInFrontOfWhatMayTouchAnything) {
  for (const bool first : {true, false}) {
    scene s;
    s.first_kernel();
    if (first) s.b.touches_anything();
    s.ordered();
    s.second_kernel(s.other);
    if (!first) s.b.touches_anything();
    s.b.synchronize();
    expect_without(s.b.run(), "needless-event-wait");
  }
}

TEST(FindingsOfWaits, StreamsAreNotApartWhenOneMayTouchAnything) {
  for (const bool any : {false, true}) {
    scene s;
    s.first_kernel();
    s.b.line(14).synchronize(s.s1);
    s.second_kernel(s.other);
    if (any) s.b.touches_anything();
    s.b.synchronize();
    if (any) {
      expect_without(s.b.run(), "streams-never-overlap");
    } else {
      (void)found(s.b.run(), "streams-never-overlap");
    }
  }
}

TEST(FindingsOfWaits, AWaitWithoutWhichAnythingMayChangeIsNotOfALoop) {
  for (const bool any : {false, true}) {
    for (const bool pinned : {false, true}) {
      scene s;
      if (pinned) s.b.allocation(trace::memory_kind::pinned, 1 << 20);
      for (int i = 0; i < 12; ++i) {
        s.first_kernel();
        if (any) s.b.touches_anything();
        s.b.line(14).synchronize(s.s1);
        s.b.host_code(100_us);
      }
      s.b.synchronize();
      if (any && pinned) {
        expect_without(s.b.run(), "wait-in-loop");
      } else {
        (void)found(s.b.run(), "wait-in-loop");
      }
    }
  }
}

TEST(FindingsOfWaits, AWaitThatTheDataNeedsIsNot) {
  scene same;  // the same memory
  same.first_kernel();
  same.ordered();
  same.second_kernel(same.a);
  same.b.synchronize();
  expect_without(same.b.run(), "needless-event-wait");

  scene later;  // needed by what comes after that
  later.first_kernel();
  later.ordered();
  later.second_kernel(later.other);
  later.b.line(14).kernel(later.s2, "third", 10_us);
  later.b.reads(later.a);
  later.b.synchronize();
  expect_without(later.b.run(), "needless-event-wait");

  scene further;  // by what comes after that on another stream
  const number e2 = further.b.event();
  further.first_kernel();
  further.ordered();
  further.second_kernel(further.other);
  further.b.line(14).record(further.s2, e2);
  further.b.line(15).wait(further.s3, e2);
  further.b.line(16).kernel(further.s3, "third", 10_us);
  further.b.reads(further.a);
  further.b.synchronize();
  expect_without(further.b.run(), "needless-event-wait");

  scene through_host;  // by what the host issues when it has waited
  through_host.first_kernel();
  through_host.ordered();
  through_host.second_kernel(through_host.other);
  through_host.b.line(14).synchronize(through_host.s2);
  through_host.b.line(15).kernel(through_host.s3, "third", 10_us);
  through_host.b.reads(through_host.a);
  through_host.b.synchronize();
  expect_without(through_host.b.run(), "needless-event-wait");
}

// Memory that is only read may be read at any time.
TEST(FindingsOfWaits, AWaitBetweenReadersIsFoundAndOneBeforeAWriterIsNot) {
  for (const bool writes : {false, true}) {
    scene s;
    s.b.line(10).kernel(s.s1, "first", 300_us);
    s.b.reads(s.a);
    s.ordered();
    s.b.line(13).kernel(s.s2, "second", 300_us);
    writes ? s.b.writes(s.a) : s.b.reads(s.a);
    s.b.synchronize();
    if (writes)
      expect_without(s.b.run(), "needless-event-wait");
    else
      (void)found(s.b.run(), "needless-event-wait");
  }
}

TEST(FindingsOfWaits, PartsOfAnAllocationAreToldApartWhereTheyAreExact) {
  for (const std::uint64_t at : {0U, 1U << 19}) {
    scene s;
    s.b.line(10).copy(s.s1, to_device, 1 << 19, 300_us);
    s.b.writes(s.a, 0, 1 << 19);
    s.ordered();
    s.b.line(13).copy(s.s2, to_host, 1 << 19, 300_us);
    s.b.reads(s.a, at, 1 << 19);
    s.b.synchronize();
    if (at == 0)
      expect_without(s.b.run(), "needless-event-wait");
    else
      (void)found(s.b.run(), "needless-event-wait");
  }
}

// The host waits for the second stream, and may then read what the first has copied to it.
TEST(FindingsOfWaits, AWaitForTheHostsSakeIsNot) {
  for (const bool host_waits_for_all : {false, true}) {
    scene s;
    s.first_kernel();
    s.b.line(10).copy(s.s1, to_host, 1 << 20, 20_us);
    s.b.reads(s.a);
    s.ordered();
    s.second_kernel(s.other);
    host_waits_for_all ? s.b.line(20).synchronize() : s.b.line(20).synchronize(s.s2);
    s.b.synchronize();
    if (host_waits_for_all)
      (void)found(s.b.run(), "needless-event-wait");
    else
      expect_without(s.b.run(), "needless-event-wait");
  }
}

TEST(FindingsOfWaits, WhereSomethingIsNotKnownNothingIsSaid) {
  for (const bool first : {false, true}) {  // a kernel whose memory is not in the trace
    scene s;
    s.first_kernel();
    if (first) s.b.line(10).kernel(s.s1, "unknown", 10_us);
    s.ordered();
    s.second_kernel(s.other);
    if (!first) s.b.line(14).kernel(s.s2, "unknown", 10_us);
    s.b.synchronize();
    expect_without(s.b.run(), "needless-event-wait");
  }
  scene function;
  function.first_kernel();
  function.ordered();
  function.second_kernel(function.other);
  function.b.line(14).host_function(function.s2, "asks", 1_us);
  function.b.synchronize();
  expect_without(function.b.run(), "needless-event-wait");
}

// Each of two waits could be left out, but not both.
TEST(FindingsOfWaits, OneOfTwoWaitsThatOrderTheSameStays) {
  scene s;
  const number e2 = s.b.event();
  s.first_kernel();
  s.b.line(11).record(s.s1, s.e);
  s.b.line(12).record(s.s1, e2);
  s.b.line(13).wait(s.s2, s.e);
  s.b.line(14).wait(s.s2, e2);
  s.second_kernel(s.a);
  s.b.synchronize();
  expect_without(s.b.run(), "needless-event-wait");
}

// One line of a function makes a stream wait for another one. Each turn gives back what the other
// stream may use again, which it does not where it has memory of its own for each turn.
trace::trace there_and_back(bool back, int buffers, bool two_lines = false) {
  scene s;
  const number e2 = s.b.event();
  std::vector<number> memory;
  for (int i = 0; i < buffers; ++i) memory.push_back(s.b.allocation(device_memory, 1 << 20));
  for (int i = 0; i < 6; ++i) {
    const number used = memory[static_cast<std::size_t>(i % buffers)];
    s.b.line(10).kernel(s.s1, "make", 100_us);
    s.b.writes(used);
    s.b.line(11).record(s.s1, s.e);
    s.b.line(12).wait(s.s2, s.e);
    s.b.line(13).kernel(s.s2, "use", 90_us);
    s.b.reads(used);
    if (!back) continue;
    s.b.line(11).record(s.s2, e2);
    s.b.line(two_lines ? 15 : 12).wait(s.s1, e2);
  }
  s.b.line(20).synchronize();
  return s.b.run();
}

void expect_cost(const finding& f, const trace::trace& as_it_is, const trace::trace& mended) {
  const auto gained = static_cast<double>(as_it_is.end - mended.end);
  EXPECT_NEAR(static_cast<double>(f.cost), gained, 0.02 * gained);
}

TEST(FindingsOfWaits, NeedlessWaitsOfALineAreToldFromNeededOnesByTheirStreams) {
  const trace::trace t = there_and_back(true, 6);
  const finding f = found(t, "needless-event-wait");
  expect_cost(f, t, there_and_back(false, 6));
  EXPECT_EQ(f.count, 6U);
  EXPECT_THAT(f.evidence,
              testing::Contains(testing::HasSubstr(
                  "6 of 12 waits of a line (program.cu:12): where stream 1 waits for record of "
                  "event 1 on stream 2 (program.cu:11)")));
  EXPECT_THAT(f.change, testing::HasSubstr("only the waits that are named here"));
  // The same on two lines.
  EXPECT_EQ(found(there_and_back(true, 6, true), "needless-event-wait").cost, f.cost);
  expect_without(there_and_back(false, 6), "needless-event-wait");
  // The other stream writes what is used, and has to wait.
  expect_without(there_and_back(true, 1), "needless-event-wait");
  expect_without(there_and_back(true, 1, true), "needless-event-wait");
}

enum class waited : std::uint8_t { in_each_turn, where_needed };

// In turns, a stream uses what another one has made, or something of its own.
trace::trace turns(const std::vector<bool>& needed, waited how, bool other_line = false) {
  scene s;
  const number e2 = s.b.event();
  for (const bool needs : needed) {
    s.b.line(10).kernel(s.s1, "make", 100_us);
    s.b.reads(s.a).writes(s.a);
    if (how == waited::in_each_turn || needs) s.ordered();
    s.b.line(needs && other_line ? 14 : 13).kernel(s.s2, "use", 90_us);
    s.b.reads(needs ? s.a : s.other).writes(s.other);
    if (!needs) continue;
    s.b.line(15).record(s.s2, e2);
    s.b.line(16).wait(s.s1, e2);
  }
  s.b.line(20).synchronize();
  return s.b.run();
}

TEST(FindingsOfWaits, NeedlessWaitsOfALineAreToldByTheirTurns) {
  const std::vector<bool> each_second{true, false, true, false, true, false, true, false};
  const trace::trace t = turns(each_second, waited::in_each_turn);
  const finding f = found(t, "needless-event-wait");
  EXPECT_EQ(f.count, 4U);
  expect_cost(f, t, turns(each_second, waited::where_needed));
  EXPECT_THAT(f.evidence,
              testing::Contains(testing::AllOf(testing::HasSubstr("4 of 8 waits of a line"),
                                               testing::HasSubstr("of each 2 turns, number 2"))));
  expect_without(turns(std::vector<bool>(8, true), waited::in_each_turn), "needless-event-wait");
  expect_without(turns(each_second, waited::where_needed), "needless-event-wait");
}

TEST(FindingsOfWaits, NeedlessWaitsOfALineAreToldByWhatComesNext) {
  const std::vector<bool> uneven{true, false, false, true, true, false, true, false};
  const trace::trace t = turns(uneven, waited::in_each_turn, true);
  const finding f = found(t, "needless-event-wait");
  EXPECT_EQ(f.count, 4U);
  expect_cost(f, t, turns(uneven, waited::where_needed, true));
  EXPECT_THAT(f.evidence,
              testing::Contains(testing::HasSubstr("in front of kernel use (program.cu:13)")));
  // Nothing tells them from the others.
  expect_without(turns(uneven, waited::in_each_turn, false), "needless-event-wait");
}

TEST(Findings, AWaitForAnEventThatIsNeverRecordedIsFoundUnlessAnotherProcessMayRecordIt) {
  const auto waits = [](bool recorded, bool shared) {
    program_builder b;
    const number s1 = b.stream(), s2 = b.stream(), e = b.event();
    if (shared) b.host_call("cudaIpcOpenEventHandle", 1_us);
    b.line(180).kernel(s1, "produce", 100_us);
    if (recorded) b.line(181).record(s1, e);
    b.line(182).wait(s2, e);
    b.line(183).kernel(s2, "use", 100_us);
    b.synchronize();
    return b.run();
  };
  const finding f = found(waits(false, false), "wait-before-record");
  EXPECT_EQ(f.title, "1 wait for an event that is never recorded");
  ASSERT_EQ(f.places.size(), 1U);
  EXPECT_THAT(f.evidence, testing::ElementsAre(testing::HasSubstr("is never recorded")));
  expect_without(waits(true, false), "wait-before-record");
  expect_without(waits(false, true), "wait-before-record");
}

// A thread works and waits for that, and another one begins with its work when the first is done.
enum class shares : bool { nothing, memory };
trace::trace two_threads_in_turn(trace::awaited what, shares data) {
  program_builder b;
  const number s1 = b.stream(), s2 = b.stream();
  const number first = b.allocation(trace::memory_kind::device, 1 << 20);
  const number second =
      data == shares::memory ? first : b.allocation(trace::memory_kind::device, 1 << 20);
  b.kernel(s1, "first", 200_us);
  b.writes(first);
  b.synchronize(s1);
  b.thread(1);
  b.host_call("cudaGetDevice", 1_us);
  b.host_code(204_us);
  b.kernel(s2, "second", 200_us);
  b.writes(second);
  b.synchronize(s2);
  trace::trace t = b.run();
  t.threads.resize(2);
  nanoseconds end = 0;  // of the first one's calls
  for (const trace::call& c : t.calls) end = c.thread == 0 ? std::max(end, c.end) : end;
  t.thread_waits = {{.thread = 1, .other = 0, .begin = 2_us, .end = end, .what = what}};
  return t;
}

TEST(FindingsOfWaits, ALockThatIsHeldWhileTheDeviceWorksIsFound) {
  const finding f =
      found(two_threads_in_turn(trace::awaited::lock, shares::nothing), "lock-held-while-waiting");
  EXPECT_GT(f.cost, 180_us);
  EXPECT_LT(f.cost, 220_us);
  for (const trace::awaited what : {trace::awaited::condition, trace::awaited::thread})
    expect_healthy(two_threads_in_turn(what, shares::nothing));
  expect_healthy(two_threads_in_turn(trace::awaited::lock, shares::memory));
}

}  // namespace
}  // namespace sb::analysis
