// Findings about engines, the host, events, and hangs.
#include <gmock/gmock.h>
#include <algorithm>

#include <gtest/gtest.h>

#include "analysis/words.hpp"
#include "findings_checks.hpp"
#include "program_builder.hpp"

namespace sb::analysis {
namespace {

// --- engines and room

trace::trace short_copy(bool behind_long_one, std::uint64_t large_bytes = 64 << 20) {
  program_builder b;
  const number s1 = b.stream(), s2 = b.stream();
  const auto large = [&] { b.line(110).copy(s1, to_device, large_bytes, 1_ms); };
  const auto little = [&] {
    b.line(112).copy(s2, to_device, 1 << 20, 20_us);
    b.line(113).kernel(s2, "work", 900_us);
  };
  if (behind_long_one) large();
  little();
  if (!behind_long_one) large();
  b.synchronize();
  return b.run();
}

TEST(Findings, ACopyThatOnlyTookLongerIsNoLongOne) {
  expect_without(short_copy(true, 1 << 20), "one-copy-engine");
}

TEST(Findings, AShortCopyBehindALongOneIsFound) {
  const finding f = found(short_copy(true), "one-copy-engine");
  EXPECT_GT(f.cost, 800_us);
  expect_healthy(short_copy(false));
}

trace::trace small_kernel(bool behind_full_device, int priority) {
  program_builder b;
  const number s1 = b.stream(), s2 = b.stream(stream_kind::non_blocking, priority);
  const auto fill = [&] { b.line(120).kernel(s1, "fills", 800_us, full_device(8)); };
  const auto small = [&] {
    b.line(121).kernel(s2, "small", 10_us);
    b.line(122).copy(s2, to_host, 32 << 20, 600_us);
  };
  if (behind_full_device) fill();
  small();
  if (!behind_full_device) fill();
  b.synchronize();
  return b.run();
}

TEST(Findings, AKernelThatFillsTheDeviceBeforeASmallOneIsFound) {
  const finding f = found(small_kernel(true, 0), "kernel-fills-device");
  EXPECT_GT(f.cost, 400_us);
  EXPECT_NE(f.title.find("fills"), std::string::npos);
  expect_without(small_kernel(true, -5), "kernel-fills-device");
  expect_healthy(small_kernel(false, 0));
}

// Two kernels on two streams; the second is loaded behind the first.
trace::trace two_kernels(bool loaded_before) {
  program_builder b;
  const number s1 = b.stream(), s2 = b.stream();
  const number first = b.line(130).kernel(s1, "first", 800_us);
  const number second = b.line(131).kernel(s2, "second", 800_us);
  if (!loaded_before) b.task_of(second).loading.push_back(first);
  b.synchronize();
  return b.run();
}

TEST(Findings, AKernelThatIsLoadedBehindAnotherIsFound) {
  const trace::trace t = two_kernels(false);
  const finding f = found(t, "first-use");
  EXPECT_GT(f.cost, 700_us);
  EXPECT_THAT(f.operations, testing::ElementsAre(1));
  EXPECT_NE(f.change.find("CUDA_MODULE_LOADING=EAGER"), std::string::npos);
  ASSERT_EQ(t.operations[1].waits.size(), 1U);
  EXPECT_EQ(t.operations[1].waits[0].cause, trace::wait_cause::loading);
  expect_without(t, "kernel-fills-device");
  expect_healthy(two_kernels(true));
}

// A record behind work that nobody needs, and a kernel that is loaded behind the same work.
trace::trace late_record_and_first_use(bool late) {
  program_builder b;
  const number s = b.stream(stream_kind::non_blocking), t = b.stream(stream_kind::non_blocking);
  const number e = b.event();
  const auto memory = [&] { return b.allocation(trace::memory_kind::device, 4096); };
  const number result = memory(), own = memory(), other = memory();
  b.line(120).kernel(s, "makes", 100_us);
  b.writes(result);
  if (!late) b.record(s, e);
  const number beside = b.line(121).kernel(s, "beside", 500_us);
  b.writes(own);
  if (late) b.record(s, e);
  b.wait(t, e);
  const number uses = b.line(122).kernel(t, "uses", 400_us);
  b.reads(result).writes(other);
  b.task_of(uses).loading.push_back(beside);
  b.synchronize();
  return b.run();
}

TEST(Findings, WhatIsHeldByItsLoadingAsWellIsFound) {
  const finding f = found(late_record_and_first_use(true), "event-recorded-late");
  EXPECT_GT(f.cost, 300_us);
  ASSERT_FALSE(f.evidence.empty());
  EXPECT_NE(f.evidence.back().find("loading of kernels"), std::string::npos);
  found(late_record_and_first_use(false), "first-use");
  expect_without(late_record_and_first_use(false), "event-recorded-late");
}

trace::trace urgent_work(int priority_of_what_it_needs) {
  program_builder b;
  const number middle = b.stream(stream_kind::non_blocking, -2);
  const number helper = b.stream(stream_kind::non_blocking, priority_of_what_it_needs);
  const number urgent = b.stream(stream_kind::non_blocking, -5);
  const number e = b.event();
  b.line(130).kernel(middle, "bulk", 800_us, full_device(8));
  b.line(131).kernel(helper, "prepare", 10_us);
  b.record(helper, e);
  b.wait(urgent, e);
  b.line(132).kernel(urgent, "answer", 10_us);
  b.synchronize();
  return b.run();
}

TEST(Findings, UrgentWorkThatWaitsForLessUrgentWorkIsFound) {
  const finding f = found(urgent_work(0), "priority-inversion");
  EXPECT_GT(f.cost, 600_us);
  expect_without(urgent_work(-5), "priority-inversion");
}

trace::trace host_functions(nanoseconds length) {
  program_builder b;
  std::vector<number> s{b.stream(), b.stream(), b.stream()};
  for (const number where : s) {
    b.line(140).kernel(where, "work", 50_us);
    b.line(141).host_function(where, "report", length);
    b.line(142).kernel(where, "more", 300_us);
  }
  b.synchronize();
  return b.run();
}

TEST(Findings, HostFunctionsThatHoldEachOtherAreFound) {
  const finding f = found(host_functions(200_us), "blocking-host-function");
  EXPECT_GT(f.cost, 300_us);
  expect_healthy(host_functions(1_us));
}

// --- the host

trace::trace with_host_code(nanoseconds t) {
  program_builder b;
  const number s = b.stream();
  for (int i = 0; i < 10; ++i) {
    b.host_code(t);
    b.line(160).kernel(s, "work", 50_us);
  }
  b.synchronize();
  return b.run();
}

TEST(Findings, HostCodeThatLeavesTheDeviceIdleIsFound) {
  const finding f = found(with_host_code(200_us), "host-gaps");
  EXPECT_GT(f.cost, 1200_us);
  EXPECT_LT(f.cost, 1400_us);  // the kernels themselves remain
  expect_healthy(with_host_code(10_us));
}

// --- events

trace::trace recorded(bool late) {
  program_builder b;
  const number s1 = b.stream(), s2 = b.stream(), e = b.event();
  const number data = b.allocation(trace::memory_kind::device, 1 << 20);
  const number other = b.allocation(trace::memory_kind::device, 1 << 20);
  b.line(170).kernel(s1, "produce", 50_us);
  b.writes(data);
  if (!late) b.line(171).record(s1, e);
  b.line(172).kernel(s1, "unrelated", 300_us);
  b.writes(other);
  if (late) b.line(173).record(s1, e);
  b.line(174).wait(s2, e);
  b.line(175).kernel(s2, "use", 300_us);
  b.reads(data);
  b.synchronize();
  return b.run();
}

TEST(Findings, AnEventThatIsRecordedTooLateIsFound) {
  const finding f = found(recorded(true), "event-recorded-late");
  EXPECT_GT(f.cost, 280_us);
  EXPECT_LT(f.cost, 310_us);
  expect_healthy(recorded(false));
}

TEST(Findings, AWaitBeforeTheRecordIsFound) {
  program_builder b;
  const number s1 = b.stream(), s2 = b.stream(), e = b.event();
  b.line(180).wait(s2, e);
  b.line(181).kernel(s2, "use", 100_us);
  b.line(182).kernel(s1, "produce", 100_us);
  b.line(183).record(s1, e);
  b.synchronize();
  const finding f = found(b.run(), "wait-before-record");
  EXPECT_EQ(f.weight, severity::warning);
  EXPECT_EQ(f.count, 1U);
  ASSERT_EQ(f.places.size(), 2U);  // the wait and the record
}

TEST(Findings, TheFirstTurnOfAPipelineMayWaitForNothing) {
  program_builder b;
  const number s1 = b.stream(), s2 = b.stream(), done = b.event();
  for (int i = 0; i < 4; ++i) {
    b.line(184).wait(s1, done);
    b.line(185).kernel(s1, "fill", 100_us);
    b.line(186).kernel(s2, "drain", 100_us);
    b.line(187).record(s2, done);
  }
  b.synchronize();
  expect_without(b.run(), "wait-before-record");
}

// --- streams that could overlap

trace::trace one_after_another(bool waits_between) {
  program_builder b;
  const number s1 = b.stream(), s2 = b.stream();
  b.line(190).kernel(s1, "a", 300_us);
  if (waits_between) b.line(191).synchronize(s1);
  b.line(192).kernel(s2, "b", 300_us);
  b.line(193).synchronize();
  return b.run();
}

// The second uses what the first has made, and the call that waits is slow to go on: without the
// wait the run would be shorter, but nothing would run beside anything.
TEST(Findings, StreamsThatTheirDataKeepsApartAreNot) {
  program_builder b;
  b.sync_cost = 50_us;
  const number s1 = b.stream(), s2 = b.stream();
  const number shared = b.allocation(trace::memory_kind::device, 4096);
  b.line(194).kernel(s1, "makes", 100_us);
  b.writes(shared);
  b.line(195).synchronize(s1);
  b.line(196).kernel(s2, "uses", 100_us);
  b.reads(shared);
  b.line(197).synchronize();
  expect_without(b.run(), "streams-never-overlap");
}

TEST(Findings, StreamsThatTheHostKeepsApartAreFound) {
  const finding f = found(one_after_another(true), "streams-never-overlap");
  EXPECT_GT(f.cost, 280_us);
  EXPECT_EQ(f.calls.size(), 1U);
  expect_healthy(one_after_another(false));
}

TEST(Findings, StreamsThatTheDataKeepsApartAreHealthy) {
  program_builder b;
  const number s1 = b.stream(), s2 = b.stream();
  const number data = b.allocation(trace::memory_kind::device, 1 << 20);
  b.kernel(s1, "a", 300_us);
  b.writes(data);
  b.synchronize(s1);
  b.kernel(s2, "b", 300_us);
  b.reads(data);
  b.synchronize();
  expect_healthy(b.run());
}

// The chunks of one stream, or of four.
trace::trace chunks(int streams, bool same_memory) {
  program_builder b;
  std::vector<number> s;
  for (int i = 0; i < streams; ++i) s.push_back(b.stream());
  number memory = b.allocation(trace::memory_kind::device, 1 << 20);
  for (int i = 0; i < 4; ++i) {
    if (!same_memory) memory = b.allocation(trace::memory_kind::device, 1 << 20);
    const number where = s[static_cast<std::size_t>(i % streams)];
    b.line(200).copy(where, to_device, 1 << 20, 100_us);
    b.writes(memory);
    b.line(201).kernel(where, "work", 100_us);
    b.reads(memory).writes(memory);
  }
  b.synchronize();
  return b.run();
}

TEST(Findings, IndependentWorkInOneStreamIsFound) {
  const finding f = found(chunks(1, false), "independent-work-in-one-stream");
  EXPECT_GT(f.cost, 290_us);  // 4 x 200 µs against 4 copies and the last kernel
  EXPECT_NE(f.title.find("4 groups"), std::string::npos);
  expect_healthy(chunks(4, false));
  expect_healthy(chunks(1, true));
}

// A gradient is sent away on the side stream; what is done with it afterwards, on either.
trace::trace gradient_hook(bool own_stream, bool same_memory) {
  program_builder b;
  const number compute = b.stream(), side = b.stream(), ready = b.event(), sent = b.event();
  number gradient = b.allocation(trace::memory_kind::device, 2048);
  for (int layer = 0; layer < 8; ++layer) {
    if (!same_memory) gradient = b.allocation(trace::memory_kind::device, 2048);
    b.line(210).kernel(compute, "backward", 500_us);
    b.writes(gradient);
    b.record(compute, ready);
    b.wait(side, ready);
    b.line(211).kernel(side, "communicate", 450_us);
    b.reads(gradient).writes(gradient);
    if (!own_stream) {
      b.record(side, sent);
      b.line(212).wait(compute, sent);
    }
    b.line(213).kernel(own_stream ? side : compute, "post_process", 50_us);
    b.reads(gradient).writes(gradient);
  }
  b.synchronize();
  return b.run();
}

TEST(Findings, AWaitThatHoldsLaterWorkIsFound) {
  const finding f = found(gradient_hook(false, false), "wait-holds-later-work");
  EXPECT_GT(f.cost, 3400_us);
  EXPECT_NE(f.change.find("post_process"), std::string::npos);
  EXPECT_EQ(f.count, 7U);  // nothing is behind the last one
  expect_healthy(gradient_hook(true, false));
  expect_without(gradient_hook(false, true), "wait-holds-later-work");
}

// --- hangs

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
                  "host thread 0 is in none of the runtime's calls (the last was "
                  "cudaStreamSynchronize, program.cu:11) and waits, perhaps for host thread 1",
                  testing::HasSubstr("host thread 1 waits for host function takes_the_lock"),
                  testing::HasSubstr("perhaps until something is done by host thread 0")));
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

}  // namespace
}  // namespace sb::analysis
