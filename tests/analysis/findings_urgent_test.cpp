// Urgent work that waits for less urgent work which it does not need: the run may end when it did,
// and the urgent work late all the same.
#include "findings_checks.hpp"

namespace sb::analysis {
namespace {

using testing::HasSubstr;

constexpr int urgent_priority = -5;

struct scene {
  program_builder b;
  number bulk = b.stream();
  number urgent;
  number event = b.event();
  number ours = b.allocation(trace::memory_kind::device, 1 << 20);
  number theirs = b.allocation(trace::memory_kind::device, 1 << 20);

  explicit scene(int priority, stream_kind kind = stream_kind::non_blocking)
      : urgent(b.stream(kind, priority)) {}

  // A step of the bulk work, in front of the event, and one behind it, which ends last.
  trace::trace run(number used_by_urgent_work) {
    b.line(10).kernel(bulk, "step", 300_us);
    b.reads(theirs).writes(theirs);
    b.line(11).record(bulk, event);
    b.line(12).kernel(bulk, "step", 500_us);
    b.reads(theirs).writes(theirs);
    b.line(13).wait(urgent, event);
    b.line(14).kernel(urgent, "answer", 20_us);
    b.reads(used_by_urgent_work).writes(used_by_urgent_work);
    b.synchronize();
    return b.run();
  }
};

TEST(FindingsOfUrgentWork, ANeedlessWaitThatOnlyTheUrgentStreamFeelsIsFound) {
  scene s(urgent_priority);
  const trace::trace t = s.run(s.ours);
  const finding f = found(t, "needless-event-wait");
  EXPECT_GT(f.cost, 280_us);
  EXPECT_LE(f.cost, 300_us);
  EXPECT_THAT(f.why, HasSubstr("The run as a whole ends no earlier"));
  EXPECT_THAT(f.why, HasSubstr("answer"));
  ASSERT_EQ(f.operations.size(), 1U);
  EXPECT_EQ(t.operations[f.operations[0]].kind, trace::operation_kind::event_wait);
  EXPECT_EQ(explain(t).findings.size(), 1U);
}

TEST(FindingsOfUrgentWork, AWaitThatItsDataNeedsIsNot) {
  scene s(urgent_priority);
  expect_healthy(s.run(s.theirs));
}

TEST(FindingsOfUrgentWork, WorkOfTheSamePriorityMayWait) {
  scene s(0);
  expect_healthy(s.run(s.ours));
}

// The work that it waits for is held by other work: with its priority it would come sooner, but
// without the wait nothing is waited for.
TEST(FindingsOfUrgentWork, ANeedlessWaitIsNotToBeMadeUrgent) {
  scene s(urgent_priority);
  const number other = s.b.stream();
  s.b.kernel(other, "large", 600_us, full_device(4));
  s.b.kernel(s.bulk, "step", 50_us, full_device());
  s.b.reads(s.theirs).writes(s.theirs);
  s.b.record(s.bulk, s.event);
  s.b.wait(s.urgent, s.event);
  s.b.kernel(s.urgent, "answer", 20_us);
  s.b.reads(s.ours).writes(s.ours);
  s.b.kernel(s.bulk, "step", 500_us);
  s.b.reads(s.theirs).writes(s.theirs);
  s.b.synchronize();
  const trace::trace t = s.b.run();
  EXPECT_THAT(rules_in(explain(t)), testing::Contains("needless-event-wait"));
  expect_without(t, "priority-inversion");
}

// The urgent stream first does what needs nothing of the bulk work, which goes on for long.
trace::trace answers_twice(int priority, bool needs, bool waits_at_once = true) {
  scene s(priority);
  s.b.line(10).kernel(s.bulk, "step", 300_us);
  s.b.reads(s.theirs).writes(s.theirs);
  s.b.line(11).record(s.bulk, s.event);
  s.b.line(12).kernel(s.bulk, "go_on", 900_us);
  s.b.reads(s.theirs);
  if (waits_at_once) s.b.line(13).wait(s.urgent, s.event);
  s.b.line(14).kernel(s.urgent, "prepare", 200_us);
  s.b.reads(needs ? s.theirs : s.ours).writes(s.ours);
  if (!waits_at_once) s.b.line(13).wait(s.urgent, s.event);
  s.b.line(15).kernel(s.urgent, "answer", 20_us);
  s.b.reads(s.theirs).writes(s.ours);
  s.b.synchronize();
  return s.b.run();
}

TEST(FindingsOfUrgentWork, AnEarlyWaitThatOnlyTheUrgentStreamFeelsIsFound) {
  const trace::trace early = answers_twice(urgent_priority, false);
  const trace::trace mended = answers_twice(urgent_priority, false, false);
  const finding f = found(early, "early-event-wait");
  EXPECT_THAT(f.why, HasSubstr("The run as a whole ends no earlier"));
  EXPECT_THAT(f.why, HasSubstr("would end"));
  // What gains most is the work in front of the wait.
  const auto end_of = [](const trace::trace& t, const std::string& name) {
    for (const trace::operation& o : t.operations)
      if (o.name < t.names.size() && t.names[o.name] == name) return o.ended;
    return nanoseconds{0};
  };
  EXPECT_EQ(f.cost, end_of(early, "prepare") - end_of(mended, "prepare"));
  EXPECT_LT(end_of(mended, "answer") + 190_us, end_of(early, "answer"));
  expect_without(mended, "early-event-wait");
  expect_without(answers_twice(urgent_priority, true), "early-event-wait");
  expect_without(answers_twice(0, false), "early-event-wait");
}

// The urgent stream is one of those that wait for the default stream.
trace::trace behind_default_stream(int priority, bool needs) {
  scene s(priority, stream_kind::blocking);
  s.b.line(20).kernel(s.bulk, "long", 900_us);
  s.b.line(21).kernel(s.b.legacy(), "step", 300_us);
  s.b.reads(s.theirs).writes(s.theirs);
  s.b.line(22).kernel(s.urgent, "answer", 20_us);
  s.b.writes(needs ? s.theirs : s.ours);
  s.b.synchronize();
  return s.b.run();
}

TEST(FindingsOfUrgentWork, TheDefaultStreamHoldsAnUrgentOne) {
  const finding f = found(behind_default_stream(urgent_priority, false), "default-stream-barrier");
  EXPECT_GT(f.cost, 280_us);
  EXPECT_LE(f.cost, 310_us);
  EXPECT_THAT(f.why, HasSubstr("The run as a whole ends no earlier"));
  expect_healthy(behind_default_stream(urgent_priority, true));
  expect_healthy(behind_default_stream(0, false));
}

}  // namespace
}  // namespace sb::analysis
