// Findings about engines, the host and events.
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

enum class in_between { nothing, a_wait, a_record_that_it_needs };

// The short copy is ready from the start, but the program's order has it behind the long one.
trace::trace short_copy_behind(in_between what) {
  program_builder b;
  const number s1 = b.stream(), s2 = b.stream(), s3 = b.stream(), e = b.event();
  b.kernel(s3, "before", 20_us);
  b.copy(s1, to_device, 64 << 20, 1_ms);
  b.record(s3, e);
  if (what == in_between::a_wait) b.synchronize_event(e);
  if (what == in_between::a_record_that_it_needs) b.wait(s2, e);
  b.copy(s2, to_device, 1 << 20, 20_us);
  b.kernel(s2, "work", 900_us);
  b.synchronize();
  return b.run();
}

TEST(Findings, AShortCopyThatCannotBeIssuedFirstIsHealthy) {
  const finding f = found(short_copy_behind(in_between::nothing), "one-copy-engine");
  EXPECT_GT(f.cost, 800_us);
  EXPECT_EQ(f.change.find("pieces"), std::string::npos);
  expect_without(short_copy_behind(in_between::a_wait), "one-copy-engine");
  expect_without(short_copy_behind(in_between::a_record_that_it_needs), "one-copy-engine");
}

// The same with one allocation for all, of which a kernel is given one place.
trace::trace short_copy_into_arena(bool needs_long_one) {
  constexpr std::uint64_t large = 64 << 20, little = 1 << 20;
  program_builder b;
  const number s1 = b.stream(), s2 = b.stream();
  const number arena = b.allocation(trace::memory_kind::device, large + little);
  const number e = b.event();
  b.line(114).copy(s1, to_device, large, 1_ms);
  b.writes(arena, little, large);
  b.record(s1, e);
  b.line(115).copy(s2, to_device, little, 20_us);
  b.writes(arena, 0, little);
  if (needs_long_one) b.wait(s2, e);
  b.line(116).kernel(s2, "work", 900_us);
  b.writes_from(arena, 0);
  b.synchronize();
  return b.run();
}

TEST(Findings, AShortCopyIntoAnArenaBehindALongOneIsFound) {
  EXPECT_GT(found(short_copy_into_arena(false), "one-copy-engine").cost, 800_us);
  expect_without(short_copy_into_arena(true), "one-copy-engine");
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

TEST(Findings, NoPriorityIsAdvisedOnADeviceThatHasNone) {
  trace::trace t = small_kernel(true, 0);
  t.head.profile = "fermi";
  expect_without(t, "kernel-fills-device");
  t.head.profile = "gtx1050";
  found(t, "kernel-fills-device");
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

trace::trace urgent_copy(bool first) {
  program_builder b;
  const number bulk = b.stream(), urgent = b.stream(stream_kind::non_blocking, -5);
  if (!first) b.copy(bulk, to_device, 64 << 20, 1_ms);
  b.copy(urgent, to_device, 1 << 20, 20_us);
  b.kernel(urgent, "answer", 30_us);
  if (first) b.copy(bulk, to_device, 64 << 20, 1_ms);
  b.synchronize();
  return b.run();
}

TEST(Findings, AnUrgentCopyIsToBeIssuedFirstAndHasNoPriority) {
  const finding f = found(urgent_copy(false), "priority-inversion");
  EXPECT_GT(f.cost, 900_us);
  EXPECT_EQ(f.change.find("same priority"), std::string::npos) << f.change;
  EXPECT_NE(f.change.find("before the long one"), std::string::npos) << f.change;
  expect_without(urgent_copy(true), "priority-inversion");
}

enum class prepares {
  behind_other_work,
  behind_work_without_memory,
  behind_what_it_needs,
  with_unknown_data,
  alone
};

// What the urgent stream needs comes behind a long kernel of the same stream.
trace::trace urgent_work_behind(prepares how) {
  program_builder b;
  const number helper = b.stream(stream_kind::non_blocking, 0);
  const number urgent = b.stream(stream_kind::non_blocking, -5);
  const number bulk = b.allocation(trace::memory_kind::device, 4096);
  const number data = b.allocation(trace::memory_kind::device, 4096);
  const number e = b.event();
  b.line(133).kernel(helper, "bulk", 500_us);
  if (how == prepares::with_unknown_data)
    b.touches_anything();
  else if (how != prepares::behind_work_without_memory)
    b.writes(bulk);
  b.line(134).kernel(how == prepares::alone ? urgent : helper, "prepare", 30_us);
  b.writes(data);
  if (how == prepares::behind_what_it_needs) b.reads(bulk);
  b.record(helper, e);
  if (how != prepares::alone) b.wait(urgent, e);
  b.line(135).kernel(urgent, "answer", 30_us);
  b.writes(data);
  b.synchronize();
  return b.run();
}

TEST(Findings, UrgentWorkWhoseNeedsStandBehindOtherWorkIsFound) {
  for (const prepares how : {prepares::behind_other_work, prepares::behind_work_without_memory}) {
    const finding f = found(urgent_work_behind(how), "priority-inversion");
    EXPECT_GT(f.cost, 480_us);
    EXPECT_LT(f.cost, 510_us);
    EXPECT_NE(f.change.find("issue kernel prepare (program.cu:134) in the urgent stream"),
              std::string::npos)
        << f.change;
  }
  for (const prepares how :
       {prepares::behind_what_it_needs, prepares::with_unknown_data, prepares::alone})
    expect_without(urgent_work_behind(how), "priority-inversion");
}

// What its stream waited for is needed too.
TEST(Findings, UrgentWorkWhoseNeedsWaitForAnotherStreamIsHealthy) {
  program_builder b;
  const number helper = b.stream(stream_kind::non_blocking, 0);
  const number urgent = b.stream(stream_kind::non_blocking, -5);
  const number source = b.stream(stream_kind::non_blocking, -5);
  const number bulk = b.allocation(trace::memory_kind::device, 4096);
  const number data = b.allocation(trace::memory_kind::device, 4096);
  const number made = b.event(), ready = b.event();
  b.kernel(source, "makes", 500_us);
  b.writes(data);
  b.record(source, made);
  b.kernel(helper, "bulk", 400_us);
  b.writes(bulk);
  b.wait(helper, made);
  b.kernel(helper, "prepare", 30_us);
  b.writes(data);
  b.record(helper, ready);
  b.wait(urgent, ready);
  b.kernel(urgent, "answer", 30_us);
  b.writes(data);
  b.synchronize();
  expect_without(b.run(), "priority-inversion");
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

// Kernels of streams that share one queue, with a host function behind each.
trace::trace host_functions_in_one_queue(nanoseconds length) {
  program_builder b;
  b.connections(1);
  const number s[] = {b.stream(), b.stream(), b.stream()};
  for (int i = 0; i < 4; ++i) {
    for (const number where : s) {
      b.line(143).kernel(where, "work", 100_us);
      b.line(144).host_function(where, "report", length);
    }
  }
  b.synchronize();
  return b.run();
}

TEST(Findings, ShortHostFunctionsThatHoldAQueueAreNotToBeShorter) {
  expect_without(host_functions_in_one_queue(400), "blocking-host-function");
  found(host_functions_in_one_queue(400), "few-hardware-queues");
  found(host_functions_in_one_queue(500_us), "blocking-host-function");
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

// A wait whose record is over at the call names none in the trace.
TEST(Findings, AWaitForARecordThatIsOverIsNotBeforeTheNextOne) {
  const auto waits = [](bool recorded) {
    program_builder b;
    const number s1 = b.stream(), s2 = b.stream(), e = b.event();
    for (int i = 0; i < 3; ++i) {
      if (recorded || i > 0) b.line(180).record(s1, e);
      b.synchronize();
      b.line(181 + i).wait(s2, e);
      b.records().operations.back().record = none;
      b.line(190).kernel(s2, "use", 100_us);
    }
    b.synchronize();
    return b.run();
  };
  expect_without(waits(true), "wait-before-record");
  EXPECT_EQ(found(waits(false), "wait-before-record").count, 1U);
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

// A kernel, a wait of the host, and work in a stream of the other kind.
trace::trace warmed_up(stream_kind kind, nanoseconds first) {
  program_builder b;
  const number s = b.stream(kind);
  b.kernel(b.legacy(), "first", first);
  b.synchronize();
  for (int i = 0; i < 4; ++i) b.kernel(s, "work", 50_us);
  b.synchronize();
  return b.run();
}

TEST(Findings, StreamsThatTheDefaultStreamsRulesKeepApartAreHealthy) {
  expect_healthy(warmed_up(stream_kind::blocking, 100_us));
  EXPECT_GT(found(warmed_up(stream_kind::non_blocking, 100_us), "streams-never-overlap").cost,
            80_us);
}

TEST(Findings, AShortKernelBeforeTheWorkIsNoLostOverlap) {
  expect_healthy(warmed_up(stream_kind::non_blocking, 2_us));
}

// Kernels in the default stream, a wait of the host, and the work in several streams.
trace::trace warmed_up_for(const std::string& work) {
  program_builder b;
  const std::vector<number> s{b.stream(), b.stream(), b.stream()};
  b.kernel(b.legacy(), "first", 100_us);
  b.synchronize();
  for (int i = 0; i < 6; ++i) b.kernel(s[i % 3], work, 200_us);
  b.synchronize();
  return b.run();
}

TEST(Findings, AWarmUpInTheDefaultStreamIsNoLostOverlap) {
  expect_healthy(warmed_up_for("first"));
  EXPECT_GT(found(warmed_up_for("work"), "streams-never-overlap").cost, 80_us);
}

TEST(Findings, WhatTheDefaultStreamDoesLaterIsNoWarmUp) {
  program_builder b;
  const number s1 = b.stream(), s2 = b.stream();
  b.kernel(s1, "work", 100_us);
  b.synchronize();
  b.kernel(b.legacy(), "work", 100_us);
  b.synchronize();
  b.kernel(s2, "work", 100_us);
  b.synchronize();
  EXPECT_GT(found(b.run(), "streams-never-overlap").cost, 180_us);
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
void add_chunks(program_builder& b, int streams, bool same_memory) {
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
}

trace::trace chunks(int streams, bool same_memory) {
  program_builder b;
  add_chunks(b, streams, same_memory);
  return b.run();
}

TEST(Findings, IndependentWorkInOneStreamIsFound) {
  const finding f = found(chunks(1, false), "independent-work-in-one-stream");
  EXPECT_GT(f.cost, 290_us);  // 4 x 200 µs against 4 copies and the last kernel
  EXPECT_NE(f.title.find("4 groups"), std::string::npos);
  expect_healthy(chunks(4, false));
  expect_healthy(chunks(1, true));
}

TEST(Findings, IndependentWorkInEachOfSeveralStreamsIsOneFinding) {
  program_builder b;
  for (int phase = 0; phase < 3; ++phase) add_chunks(b, 1, false);
  const trace::trace t = b.run();
  const std::vector<std::string> rules = rules_in(explain(t));
  EXPECT_EQ(std::count(rules.begin(), rules.end(), "independent-work-in-one-stream"), 1);
  const finding f = found(t, "independent-work-in-one-stream");
  EXPECT_GT(f.cost, 3 * 290_us);
  EXPECT_NE(f.title.find("12 groups"), std::string::npos);
  EXPECT_NE(f.title.find("3 streams"), std::string::npos);
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

// The edge of a grid waits for its inner part and is sent away; or something else is.
trace::trace halo(bool sends_edge) {
  program_builder b;
  const number inner = b.stream(), edge = b.stream(), done = b.event();
  const number grid = b.allocation(trace::memory_kind::device, 1 << 20);
  const number other = b.allocation(trace::memory_kind::device, 1 << 20);
  for (int turn = 0; turn < 4; ++turn) {
    b.kernel(inner, "rows", 500_us);
    b.writes_from(grid, 0);
    b.record(inner, done);
    b.wait(edge, done);
    b.kernel(edge, "rows", 20_us);
    b.writes_from(grid, 0);
    b.copy(edge, to_host, 16384, 400_us);
    b.reads(sends_edge ? grid : other, 16384, 16384);
    b.synchronize();
  }
  return b.run();
}

TEST(Findings, ACopyOfPartOfWhatAKernelMayWriteBelongsToIt) {
  EXPECT_GT(found(halo(false), "wait-holds-later-work").cost, 1_ms);
  expect_without(halo(true), "wait-holds-later-work");
}

}  // namespace
}  // namespace sb::analysis
