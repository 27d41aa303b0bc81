// Findings about runs that hang, and about what is pending when a run is ended.
#include <gmock/gmock.h>
#include <algorithm>

#include <gtest/gtest.h>

#include "analysis/words.hpp"
#include "findings_checks.hpp"
#include "program_builder.hpp"

namespace sb::analysis {
namespace {

TEST(Findings, AHangNamesTheRingOfWaits) {
  // With one connection, the kernel that would raise the flag is behind one that cannot start.
  program_builder b;
  b.connections(1);
  const number s1 = b.stream(), s2 = b.stream();
  const number flag = b.allocation(trace::memory_kind::device, 4);
  const number waits = b.kernel(s1, "waits_for_flag", 10_us);
  b.reads(flag);
  const number next = b.kernel(s1, "next", 10_us);
  const number raises = b.kernel(s2, "raises_flag", 10_us);
  b.writes(flag);
  b.synchronize();
  trace::trace t = b.run();
  t.head.end = trace::ending::hung;
  for (const number o : {waits, next, raises}) t.operations[o].ended = never;
  for (const number o : {next, raises}) {
    t.operations[o].started = t.operations[o].ready = never;
    t.operations[o].waits.clear();
  }
  t.operations[next].waits = {
      {.from = waits, .cause = trace::wait_cause::stream_order, .until = never}};
  t.operations[raises].waits = {
      {.from = next, .cause = trace::wait_cause::queue_head, .until = never}};
  t.calls.back().returned = false;
  t.calls.back().end = t.end;

  const explanation e = explain(t);
  ASSERT_FALSE(e.findings.empty());
  const finding& f = e.findings[0];
  EXPECT_EQ(f.rule, "hang");
  EXPECT_EQ(f.weight, severity::hang);
  EXPECT_THAT(f.operations, testing::UnorderedElementsAre(waits, next, raises));
  ASSERT_EQ(f.evidence.size(), 4U);
  EXPECT_THAT(f.evidence[0], testing::HasSubstr("host thread 0 waits for kernel raises_flag"));
  EXPECT_THAT(text_of(t, e), testing::HasSubstr("is in hardware queue 0 behind"));
  EXPECT_EQ(f.calls.size(), 1U);
}

// The kernel that would raise the flag waits for an event behind the one that waits for the flag,
// or only to be loaded.
trace::trace unloaded_kernel_hangs(bool waits_for_event) {
  program_builder b;
  const number s1 = b.stream(), s2 = b.stream();
  const number flag = b.allocation(trace::memory_kind::device, 4);
  const number waits = b.kernel(s1, "waits_for_flag", 10_us);
  b.reads(flag);
  const number record = b.record(s1, 7), wait = b.wait(s2, 7);
  const number raises = b.kernel(s2, "raises_flag", 10_us);
  b.writes(flag);
  b.synchronize();
  trace::trace t = b.run();
  t.head.end = trace::ending::hung;
  for (const number o : {waits, record, wait, raises}) {
    t.operations[o].ended = never;
    t.operations[o].waits.clear();
    if (o != waits) t.operations[o].started = t.operations[o].ready = never;
  }
  t.operations[record].waits = {
      {.from = waits, .cause = trace::wait_cause::stream_order, .until = never}};
  if (waits_for_event) {
    t.operations[wait].waits = {
        {.from = record, .cause = trace::wait_cause::event, .until = never}};
    t.operations[raises].waits = {
        {.from = wait, .cause = trace::wait_cause::stream_order, .until = never}};
  } else {
    t.operations[wait].ended = t.operations[wait].started = t.operations[wait].queued;
  }
  t.operations[raises].waits.push_back(
      {.from = waits, .cause = trace::wait_cause::loading, .until = never});
  t.calls.back().returned = false;
  t.calls.back().end = t.end;
  return t;
}

TEST(Findings, LoadingIsNamedOnlyInARingThatItIsPartOf) {
  for (const bool waits_for_event : {true, false}) {
    const explanation e = explain(unloaded_kernel_hangs(waits_for_event));
    ASSERT_FALSE(e.findings.empty());
    EXPECT_EQ(e.findings[0].rule, "hang");
    EXPECT_EQ(e.findings[0].change.find("EAGER") == std::string::npos, waits_for_event)
        << e.findings[0].change;
  }
}

// A host function waits for the thread that waits for it; another stream waits by an event.
trace::trace stuck_host_function(trace::ending how) {
  program_builder b;
  const number s1 = b.stream(), s2 = b.stream();
  const number function = b.host_function(s1, "slow", 10_us);
  const number record = b.record(s1, 7);
  const number wait = b.wait(s2, 7);
  const number after = b.kernel(s2, "after", 10_us);
  b.synchronize();
  trace::trace t = b.run();
  t.head.end = how;
  for (const number o : {function, record, wait, after}) {
    t.operations[o].ended = never;
    t.operations[o].waits.clear();
    if (o != function) t.operations[o].started = t.operations[o].ready = never;
  }
  const auto waits = [&](number o, number on, trace::wait_cause cause) {
    t.operations[o].waits = {{.from = on, .cause = cause, .until = never}};
  };
  waits(record, function, trace::wait_cause::stream_order);
  waits(wait, record, trace::wait_cause::event);
  waits(after, wait, trace::wait_cause::stream_order);
  t.calls.back().returned = false;
  t.calls.back().end = t.end;
  t.calls.back().blocked_on = after;
  return t;
}

TEST(Findings, AHangGoesThroughHostFunctionsEventsAndCalls) {
  const trace::trace t = stuck_host_function(trace::ending::hung);
  const explanation e = explain(t);
  ASSERT_FALSE(e.findings.empty());
  const finding& f = e.findings[0];
  EXPECT_EQ(f.rule, "hang");
  EXPECT_EQ(f.evidence.size(), 5U);
  const std::string text = text_of(t, e);
  EXPECT_THAT(text, testing::HasSubstr("does not return, perhaps until"));
  EXPECT_THAT(text, testing::HasSubstr("waits for event"));
  EXPECT_THAT(text, testing::HasSubstr("in cudaDeviceSynchronize"));
}

// A kernel reads memory of the host, and a host function behind it would write there.
TEST(Findings, AHangGuessesThatAHostFunctionWritesOnlyWhereItCan) {
  for (const trace::memory_kind kind : {trace::memory_kind::pinned, trace::memory_kind::device}) {
    program_builder b;
    const number s = b.stream();
    const number flag = b.allocation(kind, 4);
    const number spins = b.kernel(s, "spins", 10_us);
    b.reads(flag);
    const number function = b.host_function(s, "sets", 10_us);
    b.line(20).synchronize(s);
    trace::trace t = b.run();
    t.head.end = trace::ending::hung;
    for (const number o : {spins, function}) t.operations[o].ended = never;
    t.operations[function].started = t.operations[function].ready = never;
    t.operations[function].waits = {
        {.from = spins, .cause = trace::wait_cause::stream_order, .until = never}};
    t.calls.back().returned = false;
    t.calls.back().blocked_on = function;
    const explanation e = explain(t);
    ASSERT_FALSE(e.findings.empty());
    EXPECT_EQ(e.findings[0].why.find("in a ring, if what is guessed") != std::string::npos,
              kind == trace::memory_kind::pinned)
        << e.findings[0].why;
    EXPECT_THAT(e.findings[0].evidence,
                testing::Contains(testing::HasSubstr(
                    kind == trace::memory_kind::pinned
                        ? "perhaps until memory is written by host function sets on stream 1, or "
                          "by host thread 0"
                        : "perhaps until memory is written by host thread 0")));
  }
}

// A kernel of `blocks` blocks adds to memory and looks at it, and has been ended by a time-out or
// by the model. `resident` of them are on the device, `in_vain` of these only look.
trace::trace grid_barrier(trace::ending how, std::uint64_t resident, std::uint64_t in_vain) {
  program_builder b;
  const number s = b.stream();
  const number count = b.allocation(trace::memory_kind::device, 4);
  const number meets = b.kernel(s, "all_meet", 10_us, full_device(4));
  b.reads(count);
  b.synchronize();
  trace::trace t = b.run();
  t.head.end = how;
  trace::operation& o = t.operations[meets];
  o.ended = never;
  o.ranges[0].how = trace::access::read_write;
  o.left = {.resident = resident, .waiting = 1056 - resident, .in_vain = in_vain};
  t.calls.back().returned = false;
  t.calls.back().blocked_on = meets;
  return t;
}

TEST(Findings, AHangNamesBlocksThatWaitForBlocksWithoutRoom) {
  for (const trace::ending how : {trace::ending::hung, trace::ending::stopped}) {
    const finding f = found(grid_barrier(how, 264, 264), "hang");
    EXPECT_THAT(f.why, testing::HasSubstr("in a ring, if what is guessed"));
    ASSERT_EQ(f.evidence.size(), 2U);
    EXPECT_THAT(f.evidence[0], testing::HasSubstr("host thread 0 waits for kernel all_meet"));
    EXPECT_EQ(f.evidence[1],
              "kernel all_meet on stream 1 has 264 of its 1056 blocks on the device; they look at "
              "memory in vain, perhaps until it is written by the 792 others, which find no room "
              "beside them");
    EXPECT_THAT(f.change, testing::HasSubstr("cudaLaunchCooperativeKernel"));
  }
}

TEST(Findings, BlocksThatGetOnAreNoHangThoughOthersWaitForRoom) {
  const trace::trace t = grid_barrier(trace::ending::stopped, 264, 263);
  expect_without(t, "hang");
  const finding f = found(t, "pending");
  EXPECT_THAT(f.evidence.back(), testing::HasSubstr("was not over: 264 of its blocks were on the "
                                                    "device, 792 waited for room there"));
}

TEST(Findings, AKernelWhoseBlocksAllHaveRoomDoesNotWaitForItsOwn) {
  trace::trace t = grid_barrier(trace::ending::hung, 1056, 1056);
  const finding f = found(t, "hang");
  EXPECT_THAT(f.why, testing::Not(testing::HasSubstr("ring")));
  EXPECT_THAT(f.evidence,
              testing::Contains(testing::HasSubstr(
                  "perhaps until memory is written by threads of its own that cannot go on, or by "
                  "host thread 0")));
  EXPECT_THAT(f.change, testing::HasSubstr("Look who is to write"));
}

// A kernel that fills the device waits for what a kernel in another stream would write.
TEST(Findings, AHangNamesTheKernelThatFindsNoRoomBesideTheOneThatWaitsForIt) {
  for (const bool variable : {false, true}) {
    program_builder b;
    const number s1 = b.stream(), s2 = b.stream();
    const number flag = b.allocation(trace::memory_kind::device, 4);
    const number waits = b.kernel(s1, "waits", 10_us, full_device());
    variable ? b.touches_anything() : b.reads(flag);
    const number sets = b.kernel(s2, "sets", 10_us);
    variable ? b.touches_anything() : b.writes(flag);
    b.synchronize();
    trace::trace t = b.run();
    t.head.end = trace::ending::hung;
    for (const number o : {waits, sets}) t.operations[o].ended = never;
    t.operations[waits].left = {.resident = 264, .waiting = 0, .in_vain = 264};
    t.operations[sets].started = never;
    t.operations[sets].waits = {
        {.from = waits, .cause = trace::wait_cause::device_full, .until = never}};
    t.calls.back().returned = false;
    const finding f = found(t, "hang");
    EXPECT_THAT(f.why, testing::HasSubstr("in a ring, if what is guessed"));
    EXPECT_THAT(f.evidence, testing::Contains(testing::HasSubstr(
                                "kernel sets on stream 2 finds no room on the device beside kernel "
                                "waits on stream 1, of which 264 blocks are there")));
    EXPECT_THAT(f.evidence, testing::Contains(testing::HasSubstr(
                                variable ? "perhaps until memory is written by kernel sets"
                                         : "perhaps until memory that it reads is written by")));
    EXPECT_THAT(f.change, testing::HasSubstr("room beside the kernel"));
  }
}

// Small kernels that all wait until the last of them is there; the device holds `limit` of them.
trace::trace kernels_that_meet(std::uint32_t limit) {
  program_builder b;
  const number count = b.allocation(trace::memory_kind::device, 4);
  std::vector<number> kernels;
  for (int i = 0; i < 3; ++i) {
    kernels.push_back(b.kernel(b.stream(), "meets", 10_us));
    b.writes(count);
  }
  b.synchronize();
  trace::trace t = b.run();
  t.head.end = trace::ending::hung;
  t.devices[0].resident_kernels = limit;
  for (const number o : kernels) {
    t.operations[o].ended = never;
    t.operations[o].ranges[0].how = trace::access::read_write;
    t.operations[o].left = {.resident = 1, .waiting = 0, .in_vain = 1};
  }
  trace::operation& last = t.operations[kernels.back()];
  last.started = never;
  last.left = {};
  last.waits = {{.from = kernels[1], .cause = trace::wait_cause::device_full, .until = never}};
  t.calls.back().returned = false;
  return t;
}

TEST(Findings, AHangByTheNumberOfKernelsIsToldFromOneByTheirBlocks) {
  const finding few = found(kernels_that_meet(2), "hang");
  EXPECT_THAT(few.evidence,
              testing::Contains("kernel meets on stream 3 finds no room on the device, which holds "
                                "2 kernels at a time, one of them kernel meets on stream 2"));
  EXPECT_THAT(few.change, testing::HasSubstr("holds 2 kernels at a time, however small"));
  const finding full = found(kernels_that_meet(128), "hang");
  EXPECT_THAT(
      full.evidence,
      testing::Contains(testing::HasSubstr("beside kernel meets on stream 2, of which 1 block")));
  EXPECT_THAT(full.change, testing::HasSubstr("needs fewer blocks"));
}

// Two kernels share a barrier, and the second has no room for all of its blocks; or the first one
// waits for something else.
trace::trace shared_barrier(bool shared) {
  program_builder b;
  const number s1 = b.stream(), s2 = b.stream();
  const number count = b.allocation(trace::memory_kind::device, 4);
  const number flag = b.allocation(trace::memory_kind::device, 4);
  const number left = b.kernel(s1, "left", 10_us);
  b.writes(shared ? count : flag);
  const number right = b.kernel(s2, "right", 10_us);
  b.writes(count);
  b.synchronize();
  trace::trace t = b.run();
  t.head.end = trace::ending::hung;
  for (const number o : {left, right}) {
    t.operations[o].ended = never;
    t.operations[o].ranges[0].how = trace::access::read_write;
  }
  t.operations[left].left = {.resident = 200, .waiting = 0, .in_vain = 200};
  t.operations[right].left = {.resident = 64, .waiting = 36, .in_vain = 64};
  t.calls.back().returned = false;
  return t;
}

TEST(Findings, AHangByABarrierOfTwoKernelsNamesBoth) {
  const finding f = found(shared_barrier(true), "hang");
  EXPECT_THAT(f.why, testing::HasSubstr("in a ring, if what is guessed"));
  EXPECT_THAT(f.evidence, testing::Contains(testing::HasSubstr(
                              "kernel left on stream 1 does not end, perhaps until memory that it "
                              "reads is written by 36 blocks of kernel right on stream 2")));
  EXPECT_THAT(f.evidence, testing::Contains(testing::HasSubstr(
                              "which find no room beside kernel left on stream 1, of which 200 "
                              "blocks are there")));
  EXPECT_THAT(f.change, testing::HasSubstr("launch no more of them than fit"));
}

TEST(Findings, AKernelBesideABarrierIsNoPartOfItWhereItWaitsForOtherMemory) {
  const finding f = found(shared_barrier(false), "hang");
  EXPECT_THAT(f.why, testing::HasSubstr("in a ring, if what is guessed"));
  EXPECT_EQ(f.operations.size(), 1U);
  EXPECT_THAT(f.evidence, testing::Contains(
                              testing::HasSubstr("the 36 others, which find no room beside them")));
}

// A thread holds a lock and waits for another one, which waits for a host function that takes it.
TEST(Findings, AHangNamesTheThreadThatWaitsOutsideOfCalls) {
  program_builder b;
  const number s = b.stream();
  b.line(10).kernel(s, "before", 10_us);
  b.line(11).synchronize(s);
  b.thread(1);
  b.host_code(50_us);
  const number function = b.line(20).host_function(s, "takes_the_lock", 10_us);
  b.line(21).synchronize(s);
  trace::trace t = b.run();
  t.head.end = trace::ending::hung;
  t.operations[function].ended = never;
  t.calls.back().returned = false;
  t.calls.back().blocked_on = function;
  const explanation e = explain(t);
  ASSERT_FALSE(e.findings.empty());
  EXPECT_THAT(e.findings[0].evidence,
              testing::ElementsAre(
                  "host thread 0 is in none of the runtime's calls (its last call was "
                  "cudaStreamSynchronize, program.cu:11) and waits, perhaps for host thread 1",
                  testing::HasSubstr("host thread 1 waits for host function takes_the_lock"),
                  testing::HasSubstr("perhaps until something is done by host thread 0")));
}

// What the trace knows of the program's own waits takes the place of guesses.
TEST(Findings, AHangNamesTheHolderOfALockAndGuessesOnlyWhereNobodyIsKnown) {
  program_builder b;
  const number s = b.stream();
  for (const number thread : {0U, 1U, 2U}) {
    b.thread(thread);
    b.line(10 + thread).kernel(s, "work", 10_us);
    b.line(20 + thread).synchronize(s);
  }
  trace::trace t = b.run();
  t.head.end = trace::ending::hung;
  t.stuck = {{.thread = 1, .what = trace::awaited::lock, .object = 0, .holder = 2},
             {.thread = 2, .what = trace::awaited::lock, .object = 4}};
  const explanation readers = explain(t);
  ASSERT_FALSE(readers.findings.empty());
  EXPECT_THAT(readers.findings[0].evidence,
              testing::ElementsAre("host thread 1 waits for lock 0 (its last call was "
                                   "cudaStreamSynchronize, program.cu:21), which is held by host "
                                   "thread 2",
                                   "host thread 2 waits for lock 1 (its last call was "
                                   "cudaStreamSynchronize, program.cu:22), perhaps until something "
                                   "is done by host thread 1"));
  t.stuck[1].holder = 1;
  const explanation ring = explain(t);
  EXPECT_EQ(ring.findings[0].why, "These wait for each other in a ring:");
  ASSERT_EQ(ring.findings[0].evidence.size(), 2U);
  for (const std::string& sentence : ring.findings[0].evidence)
    EXPECT_THAT(sentence, testing::Not(testing::HasSubstr("perhaps")));
  EXPECT_THAT(ring.findings[0].change, testing::HasSubstr("in the same order"));
  // Who waits for one of them has no part in it.
  t.stuck.push_back({.thread = 0, .what = trace::awaited::thread, .object = 5, .holder = 1});
  const explanation joined = explain(t);
  ASSERT_EQ(joined.findings[0].evidence.size(), 3U);
  EXPECT_THAT(joined.findings[0].evidence[0],
              testing::StartsWith("host thread 1 waits for lock 0"));
  EXPECT_THAT(joined.findings[0].evidence[1],
              testing::StartsWith("host thread 2 waits for lock 1"));
  EXPECT_THAT(
      joined.findings[0].evidence[2],
      testing::StartsWith("outside of the ring, host thread 0 waits for the end of host thread 1"));
  t.stuck[1] = {
      .thread = 2, .what = trace::awaited::lock, .object = 4, .holder = 0, .holder_ended = true};
  const explanation lost = explain(t);
  EXPECT_THAT(lost.findings[0].evidence,
              testing::Contains("host thread 2 waits for lock 1 (its last call was "
                                "cudaStreamSynchronize, program.cu:22), which is held by host "
                                "thread 0 that has ended"));
  EXPECT_THAT(lost.findings[0].change, testing::HasSubstr("before it ends"));
}

TEST(Findings, AHangWithoutWorkOfTheDeviceNamesTheThreads) {
  program_builder b;
  const number s = b.stream();
  for (const number thread : {0U, 1U, 2U}) {
    b.thread(thread);
    b.line(10 + thread).kernel(s, "work", 10_us);
    b.line(20 + thread).synchronize(s);
  }
  trace::trace t = b.run();
  t.head.end = trace::ending::hung;
  // The last one was waited for behind its last call.
  t.thread_waits.push_back({.thread = 0, .other = 2, .begin = t.end, .end = t.end + 1});
  const explanation e = explain(t);
  ASSERT_FALSE(e.findings.empty());
  EXPECT_THAT(e.findings[0].why, testing::HasSubstr("no work of the device was pending"));
  EXPECT_THAT(e.findings[0].evidence,
              testing::ElementsAre(testing::AllOf(testing::HasSubstr("host thread 0"),
                                                  testing::HasSubstr("it waits for a lock")),
                                   testing::AllOf(testing::HasSubstr("host thread 1"),
                                                  testing::HasSubstr("it has ended, or waits"))));
}

TEST(Findings, AProgramThatWasKilledWhileItWaitedDoesNotHang) {
  for (const trace::ending how : {trace::ending::unknown, trace::ending::stopped}) {
    const trace::trace t = stuck_host_function(how);
    for (const finding& f : explain(t).findings) EXPECT_NE(f.rule, "hang");
  }
}

TEST(Findings, AProgramWhoseTimeWasOverHasItsPendingWorkNamed) {
  const trace::trace t = stuck_host_function(trace::ending::stopped);
  const explanation e = explain(t);
  const auto found = std::find_if(e.findings.begin(), e.findings.end(),
                                  [](const finding& f) { return f.rule == "pending"; });
  ASSERT_NE(found, e.findings.end());
  EXPECT_EQ(found->weight, severity::warning);
  EXPECT_THAT(found->operations, testing::UnorderedElementsAre(0, 1, 2, 3));
  EXPECT_EQ(found->calls.size(), 1U);
  // From the thread that waits to the one that runs.
  ASSERT_EQ(found->evidence.size(), 5U);
  EXPECT_THAT(found->evidence[0], testing::HasSubstr("host thread 0 waits for kernel after"));
  EXPECT_THAT(found->evidence[2], testing::HasSubstr("waits for event 7"));
  EXPECT_THAT(found->evidence[4], testing::HasSubstr("host function slow"));
  EXPECT_THAT(found->evidence[4], testing::HasSubstr("had not returned"));
}

// Kernels of one stream behind one that runs, and others that the host does not wait for.
TEST(Findings, WhatIsPendingBeyondAFewSentencesIsCounted) {
  program_builder b;
  const number s1 = b.stream();
  std::vector<number> all{b.kernel(s1, "first", 10_us)};
  for (int i = 0; i < 30; ++i) all.push_back(b.kernel(s1, "next", 10_us));
  const number last = all.back();
  for (int i = 0; i < 20; ++i) all.push_back(b.kernel(b.stream(), "other", 10_us));
  b.synchronize();
  trace::trace t = b.run();
  t.head.end = trace::ending::stopped;
  for (const number o : all) {
    t.operations[o].ended = never;
    t.operations[o].waits.clear();
    if (o == 0 || o > last) continue;
    t.operations[o].started = t.operations[o].ready = never;
    t.operations[o].waits = {
        {.from = o - 1, .cause = trace::wait_cause::stream_order, .until = never}};
  }
  t.calls.back().returned = false;
  t.calls.back().blocked_on = last;
  const finding f = found(t, "pending");
  EXPECT_EQ(f.count, 51U);
  ASSERT_EQ(f.evidence.size(), 9U);
  EXPECT_THAT(f.evidence[1], testing::HasSubstr("with 29 between them"));
  EXPECT_THAT(f.evidence[2], testing::HasSubstr("kernel first on stream 1 had run for"));
  EXPECT_EQ(f.evidence[8], "and 15 more operations were not over");
}

// One of several connections is enough: what holds another is no ring as long as one may be free.
TEST(Findings, AWaitForOneOfSeveralConnectionsIsARingOnlyIfAllAreStuck) {
  for (const bool one_runs : {true, false}) {
    program_builder b;
    const number s1 = b.stream(), s2 = b.stream(), s3 = b.stream();
    const number a = b.kernel(s1, "a", 10_us), c = b.kernel(s2, "c", 10_us);
    const number opens = b.kernel(s3, "opens", 10_us);
    b.synchronize();
    trace::trace t = b.run();
    t.head.end = trace::ending::stopped;
    for (const number o : {a, c, opens}) {
      t.operations[o].started = t.operations[o].ready = t.operations[o].ended = never;
      t.operations[o].waits = {{.from = opens, .cause = trace::wait_cause::event, .until = never}};
    }
    t.operations[opens].waits = {
        {.from = a, .cause = trace::wait_cause::queue_head, .until = never},
        {.from = c, .cause = trace::wait_cause::queue_head, .until = never}};
    if (one_runs) {
      t.operations[c].waits.clear();
      t.operations[c].started = t.operations[c].ready = 0;
    }
    t.calls.back().returned = false;
    t.calls.back().blocked_on = opens;
    const finding f = found(t, one_runs ? "pending" : "hang");
    EXPECT_THAT(f.evidence[1], testing::HasSubstr("all 2 are held, one of them by"));
  }
}

TEST(Findings, WaitsAreNamedByTheEventOfTheirRecord) {
  program_builder b;
  const number s1 = b.stream(), s2 = b.stream();
  b.kernel(s1, "work", 10_us);
  b.record(s1, 7);
  const number wait = b.wait(s2, 7);
  b.synchronize();
  trace::trace t = b.run();
  t.operations[wait].event = none;
  EXPECT_EQ(name_of(t, wait), "wait for event 7");
  t.operations[wait].record = none;
  EXPECT_EQ(name_of(t, wait), "wait for an event that is complete");
}

TEST(Findings, AProgramWhoseTimeWasOverWithNothingPendingHasNothingToTell) {
  program_builder b;
  b.kernel(b.stream(), "work", 1_ms);
  b.synchronize();
  trace::trace t = b.run();
  t.head.end = trace::ending::stopped;
  for (const finding& f : explain(t).findings) EXPECT_NE(f.rule, "pending");
}

// What waits for each other by its streams and events needs no guess.
TEST(Findings, ARingIsNamedThoughTheProgramWasKilled) {
  trace::trace t = stuck_host_function(trace::ending::unknown);
  t.operations[0].started = never;
  t.operations[0].waits = {{.from = 3, .cause = trace::wait_cause::queue_head, .until = never}};
  const explanation e = explain(t);
  ASSERT_FALSE(e.findings.empty());
  EXPECT_EQ(e.findings[0].rule, "hang");
  EXPECT_THAT(text_of(t, e), testing::HasSubstr("when the recording ends"));
}

TEST(Findings, ARunThatWasKilledIsNotAHang) {
  program_builder b;
  const number k = b.kernel(b.stream(), "work", 1_ms);
  b.synchronize();
  trace::trace t = b.run();
  t.head.end = trace::ending::unknown;
  t.operations[k].ended = never;
  t.calls.back().returned = false;
  expect_healthy(t);
}

TEST(FindingsOfFaults, AFailedAssertionIsNoAccessThatFailed) {
  const auto change_of = [](std::int32_t status) {
    program_builder b;
    b.kernel(b.stream(), "checks", 10_us);
    b.records().operations.back().status = status;
    b.synchronize();
    return found(b.run(), "fault").change;
  };
  EXPECT_THAT(change_of(710), testing::HasSubstr("assert()"));
  EXPECT_THAT(change_of(710), testing::Not(testing::HasSubstr("MEMCHECK")));
  EXPECT_THAT(change_of(700), testing::HasSubstr("access that failed"));
}

}  // namespace
}  // namespace sb::analysis
