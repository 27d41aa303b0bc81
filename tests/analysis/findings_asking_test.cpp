// Programs whose time was over while the host asked, or looked, for what never came: the chain of
// waits begins with the host.
#include "findings_checks.hpp"

namespace sb::analysis {
namespace {

using testing::AllOf;
using testing::Contains;
using testing::ElementsAre;
using testing::HasSubstr;
using testing::Not;

// A kernel that does not end, something behind it, and the time at which the program is ended.
struct scene {
  program_builder b;
  number s = b.stream();
  number flag = b.allocation(trace::memory_kind::pinned, 64);
  number waits = b.line(10).kernel(s, "waits", 10_us);

  // What is behind the kernel does not start; `length` later the time is over.
  trace::trace stopped(const std::vector<number>& behind, nanoseconds length = 1_ms) {
    trace::trace t = b.run();
    t.head.end = trace::ending::stopped;
    t.end += length;
    t.operations[waits].ended = never;
    number before = waits;
    for (const number o : behind) {
      trace::operation& op = t.operations[o];
      op.ended = op.started = op.ready = never;
      op.waits = {{.from = before, .cause = trace::wait_cause::stream_order, .until = never}};
      before = o;
    }
    return t;
  }
};

// A loop of questions up to the end of the run.
void ask(trace::trace& t, number operation, const std::string& call, std::uint32_t times,
         nanoseconds from, nanoseconds to, number thread = 0) {
  trace::call c;
  c.thread = thread;
  c.name = call;
  c.place = t.calls.front().place;
  c.begin = from;
  c.end = to;
  c.blocked_on = operation;
  c.status = 600;
  c.times = times;
  t.calls.push_back(c);
}

finding pending_in(const trace::trace& t) { return found(t, "pending"); }

TEST(FindingsOfAsking, AThreadThatAsksForAnEventIsTheFirstOfTheChain) {
  scene s;
  const number record = s.b.line(11).record(s.s, 3);
  trace::trace t = s.stopped({record});
  ask(t, record, "cudaEventQuery", 5000, t.end - 900_us, t.end - 10);
  const finding f = pending_in(t);
  EXPECT_THAT(f.evidence,
              ElementsAre(AllOf(HasSubstr("host thread 0 asks cudaEventQuery"),
                                HasSubstr(":10) again and again, 5000 times by now"),
                                HasSubstr("and waits for record of event 3 on stream 1")),
                          HasSubstr("record of event 3 on stream 1 comes behind kernel waits"),
                          HasSubstr("kernel waits on stream 1 had run for")));
  EXPECT_THAT(f.calls, Contains(t.calls.size() - 1));
}

TEST(FindingsOfAsking, AThreadThatAsksForTwoInTurnNamesThatThereAreMore) {
  scene s;
  const number record = s.b.record(s.s, 3), other = s.b.record(s.s, 4);
  trace::trace t = s.stopped({record, other});
  for (nanoseconds at = t.end - 900_us; at + 1_us < t.end; at += 10_us) {
    ask(t, record, "cudaEventQuery", 1, at, at + 1_us);
    ask(t, other, "cudaStreamQuery", 1, at + 5_us, at + 6_us);
  }
  const finding f = pending_in(t);
  ASSERT_FALSE(f.evidence.empty());
  EXPECT_THAT(f.evidence[0], AllOf(HasSubstr("host thread 0 asks cudaEventQuery"),
                                   HasSubstr("it asks for 1 other in turn")));
}

// What it asked long ago says nothing of what it does now.
TEST(FindingsOfAsking, AThreadThatAskedOnceOrLongAgoDoesNotAsk) {
  for (const std::uint32_t times : {1U, 100U}) {
    scene s;
    const number record = s.b.record(s.s, 3);
    trace::trace t = s.stopped({record}, 50_ms);
    ask(t, record, "cudaEventQuery", times, t.end - 49_ms, t.end - 49_ms + 100_us);
    for (const std::string& words : pending_in(t).evidence)
      EXPECT_THAT(words, Not(HasSubstr("again and again")));
    EXPECT_THAT(pending_in(t).evidence,
                Contains(AllOf(HasSubstr("host thread 0 is in none of the runtime's calls"),
                               HasSubstr("its last call was cudaEventQuery"))));
  }
}

TEST(FindingsOfAsking, AThreadInNoCallMayLookAtMemoryThatAPendingKernelWrites) {
  scene s;
  const number sets = s.b.line(12).kernel(s.s, "sets", 10_us);
  s.b.writes(s.flag);
  const trace::trace t = s.stopped({sets});
  EXPECT_THAT(
      pending_in(t).evidence,
      ElementsAre(AllOf(HasSubstr("host thread 0 is in none of the runtime's calls (its last "
                                  "call was cudaLaunchKernel"),
                        HasSubstr("it computes, or looks at memory that is perhaps written "
                                  "by kernel sets on stream 1")),
                  HasSubstr("kernel sets on stream 1 comes behind kernel waits"),
                  HasSubstr("kernel waits on stream 1 had run for")));
}

TEST(FindingsOfAsking, MemoryOfTheDeviceIsNotLookedAt) {
  scene s;
  const number device = s.b.allocation(trace::memory_kind::device, 64);
  const number sets = s.b.line(12).kernel(s.s, "sets", 10_us);
  s.b.writes(device);
  for (const std::string& words : pending_in(s.stopped({sets})).evidence)
    EXPECT_THAT(words, Not(HasSubstr("looks at memory that")));
}

trace::trace with_function(bool asks) {
  scene s;
  const number record = s.b.record(s.s, 3);
  const number other = s.b.stream();
  const number function = s.b.line(13).host_function(other, "asks", 10_us);
  const number sets = s.b.line(14).kernel(other, "sets", 10_us);
  s.b.writes(s.flag);
  s.b.line(15).synchronize(other);
  trace::trace t = s.stopped({record});
  t.operations[function].ended = never;
  trace::operation& behind = t.operations[sets];
  behind.ended = behind.started = behind.ready = never;
  behind.waits = {{.from = function, .cause = trace::wait_cause::stream_order, .until = never}};
  t.calls.back().returned = false;
  t.calls.back().end = t.end;
  t.calls.back().blocked_on = sets;
  if (asks) {
    t.threads.resize(2);
    const nanoseconds began = t.operations[function].started;
    ask(t, record, "cudaEventQuery", 5000, began + 1_us, t.end - 10, 1);
  }
  return t;
}

TEST(FindingsOfAsking, AHostFunctionThatAsksIsAPartOfTheChain) {
  EXPECT_THAT(pending_in(with_function(true)).evidence,
              ElementsAre(HasSubstr("host thread 0 waits for kernel sets"),
                          HasSubstr("kernel sets on stream 2 comes behind host function asks"),
                          AllOf(HasSubstr("host function asks on stream 2, as it seems on host "
                                          "thread 1, asks cudaEventQuery"),
                                HasSubstr("and waits for record of event 3 on stream 1")),
                          HasSubstr("record of event 3 on stream 1 comes behind kernel waits"),
                          HasSubstr("kernel waits on stream 1 had run for")));
}

TEST(FindingsOfAsking, AHostFunctionMayLookAtMemoryThatIsWrittenBehindIt) {
  EXPECT_THAT(pending_in(with_function(false)).evidence,
              Contains(AllOf(HasSubstr("host function asks on stream 2 had run for"),
                             HasSubstr("kernel sets on stream 2, which comes behind it, writes "
                                       "memory that the host sees"))));
}

}  // namespace
}  // namespace sb::analysis
