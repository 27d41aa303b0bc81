// Replaying a trace gives the recorded times again.
#include <gtest/gtest.h>

#include <algorithm>
#include <vector>

#include "analysis/block_time.hpp"
#include "analysis/changes.hpp"
#include "analysis/overlap.hpp"
#include "analysis/transfers.hpp"
#include "program_builder.hpp"

namespace sb::analysis {
namespace {

void expect_same_times(const trace::trace& t) {
  const program p = program_of(t);
  const trace::trace again = retimed(t, p, replay(p, record_waits::yes));
  EXPECT_EQ(again.end, t.end);
  for (number i = 0; i < t.operations.size(); ++i) {
    const trace::operation &a = t.operations[i], &b = again.operations[i];
    EXPECT_EQ(a.queued, b.queued) << "operation " << i;
    EXPECT_EQ(a.ready, b.ready) << "operation " << i;
    EXPECT_EQ(a.started, b.started) << "operation " << i;
    EXPECT_EQ(a.ended, b.ended) << "operation " << i;
    EXPECT_EQ(a.waits.size(), b.waits.size()) << "operation " << i;
  }
  for (number i = 0; i < t.calls.size(); ++i) {
    EXPECT_EQ(t.calls[i].begin, again.calls[i].begin) << t.calls[i].name << " " << i;
    EXPECT_EQ(t.calls[i].end, again.calls[i].end) << t.calls[i].name << " " << i;
    EXPECT_EQ(t.calls[i].blocked, again.calls[i].blocked) << t.calls[i].name << " " << i;
  }
}

TEST(Replay, WorkOfOneStreamRunsOneAfterAnother) {
  program_builder b;
  const number s = b.stream();
  const number copy = b.copy(s, to_device, 1 << 20, 20_us);
  const number kernel = b.kernel(s, "scale", 10_us);
  b.synchronize();
  const trace::trace t = b.run();
  EXPECT_EQ(t.operations[copy].started, 3_us);  // the call's 2 µs and the lag
  EXPECT_EQ(t.operations[copy].ended, 23_us);
  EXPECT_EQ(t.operations[kernel].ready, 23_us);
  EXPECT_EQ(t.operations[kernel].ended, 34_us);
  ASSERT_EQ(t.operations[kernel].waits.size(), 1U);
  EXPECT_EQ(t.operations[kernel].waits[0].cause, trace::wait_cause::stream_order);
  EXPECT_EQ(t.operations[kernel].waits[0].from, copy);
  EXPECT_EQ(t.end, 35_us);
  EXPECT_EQ(t.calls.back().blocked, 30_us);
  expect_same_times(t);
}

TEST(Replay, CopiesOfOneDirectionTakeTurnsAndSayWhy) {
  program_builder b;
  const number s1 = b.stream(), s2 = b.stream();
  const number first = b.copy(s1, to_device, 1 << 20, 20_us);
  const number second = b.copy(s2, to_device, 1 << 20, 20_us);
  const number other = b.copy(b.stream(), to_host, 1 << 20, 20_us);
  b.synchronize();
  const trace::trace t = b.run();
  ASSERT_EQ(t.operations[second].waits.size(), 1U);
  EXPECT_EQ(t.operations[second].waits[0].cause, trace::wait_cause::engine_busy);
  EXPECT_EQ(t.operations[second].waits[0].from, first);
  EXPECT_LT(t.operations[other].started, t.operations[first].ended);
  expect_same_times(t);
}

// Both take 100 us alone, and go at half their rate while the other is on its way.
TEST(DeviceLink, ADirectionIsSlowerWhileTheOtherIsBusy) {
  device_link link(0.5);
  link.begin(1, to_device, 0, 100_us);
  std::vector<device_link::moved> moved = link.update(0);
  ASSERT_EQ(moved.size(), 1U);
  EXPECT_EQ(moved[0].end, 100_us);
  link.begin(2, to_host, 60_us, 100_us);
  moved = link.update(60_us);
  ASSERT_EQ(moved.size(), 2U);
  EXPECT_EQ(moved[0].end, 140_us);  // 40 us were left
  EXPECT_EQ(moved[1].end, 260_us);
  link.end(1);
  moved = link.update(140_us);
  ASSERT_EQ(moved.size(), 1U);
  EXPECT_EQ(moved[0].copy, 2U);
  EXPECT_EQ(moved[0].end, 200_us);  // 60 us were left
  EXPECT_TRUE(link.update(150_us).empty());
}

TEST(Replay, CopiesThatSlowedEachOtherComeOutAlikeAndAreShorterAlone) {
  program_builder b;
  const number in = b.copy(b.stream(), to_device, 1 << 20, 120_us);
  const number out = b.copy(b.stream(), to_host, 1 << 20, 80_us);
  b.synchronize();
  trace::trace t = b.run();
  t.head.clock = trace::clock_kind::modelled;
  t.head.profile = "h200";
  const program p = program_of(t);
  const nanoseconds together = t.operations[out].ended - t.operations[out].started;
  EXPECT_LT(p.tasks[out].duration, together * 92 / 100);
  EXPECT_GT(p.tasks[in].duration, p.tasks[out].duration);
  const timing again = replay(p);
  for (const number i : {in, out})
    EXPECT_NEAR(static_cast<double>(again.operations[i].ended),
                static_cast<double>(t.operations[i].ended), 2);
}

// A copy and a kernel in each of two streams; the first launch loads the kernel.
TEST(Replay, AKernelIsLoadedAtWhicheverLaunchComesFirst) {
  program_builder b;
  const number s1 = b.stream(), s2 = b.stream();
  const number in1 = b.copy(s1, to_device, 1 << 20, 20_us);
  const number one = b.kernel(s1, "scale", 10_us);
  const number in2 = b.copy(s2, to_device, 1 << 20, 50_us);
  const number two = b.kernel(s2, "scale", 10_us);
  b.synchronize();
  for (const number kernel : {one, two}) b.task_of(kernel).loads = 0;
  b.records().operations[one].first_use = true;
  const trace::trace t = b.run();
  expect_same_times(t);
  EXPECT_LT(t.operations[one].ended, t.operations[in2].ended);
  EXPECT_EQ(t.operations[two].waits.back().cause, trace::wait_cause::stream_order);

  program changed = program_of(t);
  reorder(changed, issue_order::breadth_first);
  const timing then = replay(changed, record_waits::yes);
  EXPECT_GE(then.operations[one].started, then.operations[in2].ended);
  EXPECT_EQ(then.waits[one].back().cause, trace::wait_cause::loading);
  EXPECT_EQ(then.waits[one].back().from, in2);
  EXPECT_EQ(then.waits[one].front().from, in1);
  // Loaded before, it does not wait for the other stream.
  load_before(changed);
  EXPECT_LT(replay(changed).operations[one].started, then.operations[in2].ended);
}

TEST(Replay, WhatAnotherCallLoadedKeepsItsEdges) {
  program_builder b;
  const number first = b.kernel(b.stream(), "first", 80_us);
  const number second = b.kernel(b.stream(), "second", 10_us);
  b.task_of(second).loading.push_back(first);
  b.synchronize();
  const trace::trace t = b.run();
  EXPECT_EQ(program_of(t).tasks[second].loading, std::vector<number>{first});
  expect_same_times(t);
}

TEST(Replay, ALaunchIntoAnotherStreamAndBesideOtherThreadsTakesLonger) {
  program_builder b;
  b.records().threads.resize(2);
  const number s1 = b.stream(), s2 = b.stream();
  for (const number s : {s1, s1, s2}) b.kernel(s, "a", 1_us);
  program p = b.written();
  p.other_stream = 1000;
  p.contended = 900;
  p.threads.resize(2);
  for (step& s : p.threads[0]) s.issues[0].brings = bringing::paid;
  const auto length = [](const timing& t, std::size_t call) {
    return t.steps[0][call].end - t.steps[0][call].begin;
  };
  const timing alone = replay(p);
  EXPECT_EQ(length(alone, 0), 3_us);
  EXPECT_EQ(length(alone, 1), 2_us);
  EXPECT_EQ(length(alone, 2), 3_us);
  EXPECT_EQ(alone.operations[2].queued, 8_us);
  // Another thread brings work before the second call, and is forgotten after 20 us.
  p.tasks.push_back(p.tasks[0]);
  step other;
  other.gap = 4_us;
  other.issues.push_back({3, 0, bringing::counted});
  p.threads[1].push_back(other);
  p.threads[0][2].gap = 30_us;
  const timing beside = replay(p);
  EXPECT_EQ(length(beside, 0), 3_us);
  EXPECT_EQ(length(beside, 1), 2900);
  EXPECT_EQ(length(beside, 2), 3_us);
}

TEST(Replay, LegacyWorkSeparatesBlockingStreams) {
  program_builder b;
  const number s1 = b.stream(stream_kind::blocking), s2 = b.stream(stream_kind::blocking);
  const number a = b.kernel(s1, "a", 50_us);
  const number middle = b.kernel(b.legacy(), "middle", 5_us);
  const number c = b.kernel(s2, "c", 50_us);
  b.synchronize();
  const trace::trace t = b.run();
  EXPECT_GE(t.operations[middle].started, t.operations[a].ended);
  EXPECT_GE(t.operations[c].started, t.operations[middle].ended);
  EXPECT_EQ(t.operations[c].waits.back().cause, trace::wait_cause::legacy_barrier);
  expect_same_times(t);
}

TEST(Replay, OneConnectionHoldsWhatIsBehindAnOperationThatIsNotReady) {
  program_builder b;
  b.connections(1);
  const number s1 = b.stream(), s2 = b.stream();
  b.kernel(s1, "a", 50_us);
  const number held = b.kernel(s1, "b", 50_us);
  const number behind = b.kernel(s2, "c", 50_us);
  b.synchronize();
  const trace::trace t = b.run();
  EXPECT_GE(t.operations[behind].started, t.operations[held].ready);
  EXPECT_EQ(t.operations[behind].waits.back().cause, trace::wait_cause::queue_head);
  EXPECT_EQ(t.operations[behind].waits.back().from, held);
  expect_same_times(t);
}

TEST(Replay, KernelsRunInWavesAndShareTheDeviceWhenBothFit) {
  program_builder b;
  const number s1 = b.stream(), s2 = b.stream(), s3 = b.stream();
  const number big = b.kernel(s1, "big", 90_us, full_device(3));
  const number small = b.kernel(s2, "small", 10_us);
  const number tiny = b.kernel(s3, "tiny", 10_us);
  b.synchronize();
  const trace::trace t = b.run();
  EXPECT_EQ(t.operations[big].ended - t.operations[big].started, 90_us);
  // The last wave leaves at once; nothing had room before.
  EXPECT_GE(t.operations[small].started, t.operations[big].ended);
  EXPECT_EQ(t.operations[small].waits.back().cause, trace::wait_cause::device_full);
  EXPECT_LT(t.operations[tiny].started, t.operations[small].ended);
  expect_same_times(t);
}

// A kernel of each kind: with room from the beginning, and behind a larger one.
TEST(Replay, AKernelThatWaitsForRoomHasBegunBeforeWhereTheDeviceIsKnown) {
  program_builder b;
  const number big = b.kernel(b.stream(), "big", 90_us, full_device(3));
  const number small = b.kernel(b.stream(), "small", 10_us);
  program p = b.written();
  const operation_times alone = replay(p).operations[small];
  EXPECT_EQ(alone.ended - alone.started, 10_us);
  p.beginning = 600;
  const timing t = replay(p);
  EXPECT_EQ(t.operations[big].ended - t.operations[big].started, 90_us);
  EXPECT_EQ(t.operations[small].started, t.operations[big].ended);
  EXPECT_EQ(t.operations[small].ended, t.operations[small].started + 10_us - 600);
}

// The room that the urgent kernel leaves goes to the large one, and what the host does meanwhile
// changes nothing of that.
TEST(Replay, WhatTheHostDoesIsNoEndOfBlocks) {
  const auto end_of_next = [](bool host) {
    program_builder b;
    const number large = b.stream(), urgent = b.stream(stream_kind::non_blocking, -5);
    for (const number i : {b.kernel(large, "large", 80_us, full_device(4)),
                           b.kernel(urgent, "urgent", 18'900, {66, 1024}),
                           b.kernel(urgent, "next", 10_us, {66, 1024})}) {
      b.task_of(i).shares = true;
    }
    program p = b.written();
    // Calls of another thread, all the time.
    p.threads.resize(2);
    for (int i = 0; host && i < 4000; ++i) {
      step s;
      s.gap = 40;
      p.threads[1].push_back(s);
    }
    return replay(p).operations[2].ended;
  };
  EXPECT_EQ(end_of_next(true), end_of_next(false));
}

TEST(Replay, KernelsThatShareThePipesComeOutAlikeAndGainNothingByStreams) {
  program_builder b;
  const number s1 = b.stream(), s2 = b.stream();
  std::vector<number> kernels;
  for (const number s : {s1, s2, s1, s2}) kernels.push_back(b.kernel(s, "fma", 50_us, {132, 256}));
  for (const number k : kernels) {
    b.task_of(k).shares = true;
    b.task_of(k).demand = {.arithmetic = 1, .memory = 0};
  }
  b.synchronize();
  trace::trace t = b.run();
  for (const number k : kernels) t.operations[k].needs = {50_us, 1'000'000, 0};
  EXPECT_GE(t.end, 4 * 50_us);
  EXPECT_GT(t.operations[kernels[0]].ended - t.operations[kernels[0]].started, 60_us);
  const program p = program_of(t);
  EXPECT_EQ(p.tasks[kernels[0]].duration, 50_us);
  EXPECT_NEAR(static_cast<double>(replay(p).end), static_cast<double>(t.end), 1e-3 * t.end);
  const overlap_facts facts = overlap_of(t);
  EXPECT_LE(facts.possible(), facts.busy);
}

TEST(Replay, EventsHostFunctionsAllocationsAndGraphsComeOutAlike) {
  program_builder b;
  const number s1 = b.stream(), s2 = b.stream(), e = b.event();
  const number memory = b.allocate("cudaMalloc", trace::memory_kind::device, 1 << 20);
  for (int i = 0; i < 3; ++i) {
    b.host_code(7_us);
    b.copy(s1, to_device, 1 << 20, 20_us, trace::memory_kind::pageable);
    b.kernel(s1, "a", 30_us);
    b.record(s1, e);
    b.wait(s2, e);
    b.host_function(s2, "notify", 15_us);
    b.kernel(s2, "b", 12_us, full_device(2));
    b.graph_of_kernels(s1, "node", 4, 3_us);
    b.synchronize_event(e);
    b.synchronize(s2);
  }
  b.copy_and_wait(to_host, 1 << 20, 25_us);
  b.free(memory);
  expect_same_times(b.run());
}

TEST(Replay, ThreadsIssueBesideEachOther) {
  program_builder b;
  const number s1 = b.stream(), s2 = b.stream();
  for (int i = 0; i < 4; ++i) {
    b.thread(0);
    b.kernel(s1, "a", 30_us);
    b.synchronize(s1);
    b.thread(1);
    b.host_code(5_us);
    b.kernel(s2, "b", 20_us);
    b.synchronize(s2);
  }
  const trace::trace t = b.run();
  EXPECT_LT(t.end, 150_us);
  expect_same_times(t);
}

TEST(Replay, ALaunchWithoutRoomInItsStreamWaitsForIt) {
  program_builder b;
  const number s = b.stream();
  b.launch_cost = 1_us;
  b.kernel(s, "long", 10_ms);
  for (int i = 0; i < 1100; ++i) b.kernel(s, "short", 1_us);
  b.synchronize();
  const trace::trace t = b.run();
  EXPECT_EQ(t.calls[1021].blocked, 0U);
  EXPECT_GT(t.calls[1022].blocked, 8_ms);
  expect_same_times(t);
}

// A thread makes another one, which works and waits for it, and joins it before its own last
// launch.
struct joined_threads {
  trace::trace t;
  number of_the_other = none, last = none;
};

joined_threads join_a_thread(bool told) {
  program_builder b;
  joined_threads made;
  const number s1 = b.stream(), s2 = b.stream();
  b.kernel(s1, "first", 5_us);
  b.thread(1);
  b.host_code(10_us);
  made.of_the_other = b.kernel(s2, "of_the_other", 100_us);
  b.synchronize(s2);
  b.thread(0);
  b.host_code(150_us);
  made.last = b.kernel(s1, "last", 20_us);
  b.synchronize();
  made.t = b.run();
  made.t.threads.resize(2);
  if (told) {
    nanoseconds end = 0;  // of the other one's calls
    for (const trace::call& c : made.t.calls) end = c.thread == 1 ? std::max(end, c.end) : end;
    made.t.thread_waits = {{1, 0, 4_us, 4_us}, {0, 1, 6_us, end}};
  }
  return made;
}

TEST(Replay, AThreadThatIsJoinedHoldsTheOneThatJoinsIt) {
  const joined_threads made = join_a_thread(true);
  expect_same_times(made.t);
  program p = program_of(made.t);
  const timing before = replay(p);
  p.tasks[made.of_the_other].duration -= 60_us;
  const timing sooner = replay(p);
  EXPECT_EQ(sooner.operations[made.last].started + 60_us, before.operations[made.last].started);
  EXPECT_EQ(sooner.end + 60_us, before.end);
  p.tasks[made.of_the_other].duration += 500_us;
  EXPECT_EQ(replay(p).end, before.end + 440_us);
}

TEST(Replay, AHostFunctionHoldsTheThreadThatWaitsForIt) {
  program_builder b;
  const number s1 = b.stream(), s2 = b.stream();
  const number first = b.kernel(s1, "first", 100_us);
  const number function = b.host_function(s1, "says so", 2_us);
  b.host_code(150_us);
  const number last = b.kernel(s2, "last", 20_us);
  b.synchronize();
  trace::trace t = b.run();
  const nanoseconds said = t.operations[function].started + 1_us;
  t.thread_waits = {{.thread = 0, .begin = 10_us, .end = said, .function = function}};
  expect_same_times(t);
  program p = program_of(t);
  const timing before = replay(p);
  p.tasks[first].duration -= 60_us;
  EXPECT_EQ(replay(p).operations[last].started + 60_us, before.operations[last].started);
  p.tasks[first].duration += 500_us;
  EXPECT_EQ(replay(p).end, before.end + 440_us);
}

TEST(Replay, AThreadThatSleptTakesItsTimeToGoOn) {
  program_builder b;
  const number s = b.stream();
  b.kernel(s, "long", 500_us);
  b.synchronize(s);
  trace::trace t = b.run();
  // As it is recorded: the wait ends when the thread goes on, not when the kernel does.
  t.calls.back().blocked += 3_us;
  t.calls.back().end += 3_us;
  t.end += 3_us;
  EXPECT_EQ(replay(program_of(t)).end, t.end);
}

TEST(Replay, AThreadThatNobodyWaitsForHoldsNobody) {
  const joined_threads made = join_a_thread(false);
  expect_same_times(made.t);
  program p = program_of(made.t);
  const timing before = replay(p);
  p.tasks[made.of_the_other].duration -= 60_us;
  EXPECT_EQ(replay(p).end, before.end);
}

TEST(Replay, AThreadBeginsWhenItsMakerLetsIt) {
  const joined_threads made = join_a_thread(true);
  program p = program_of(made.t);
  const timing before = replay(p);
  p.threads[0][0].before += 30_us;  // the maker's call before that
  const timing later = replay(p);
  EXPECT_EQ(later.operations[made.of_the_other].started,
            before.operations[made.of_the_other].started + 30_us);
  EXPECT_EQ(later.end, before.end + 30_us);
}

// A thread waits for one that it made, makes another one, and calls; in each turn. They call
// nothing, and take `own` from their beginning.
trace::trace made_in_turn(nanoseconds own) {
  constexpr number turns = 6;
  program_builder b;
  const number s = b.stream();
  std::vector<trace::thread_wait> waits;
  nanoseconds made = 5_us, called = 0;
  for (number turn = 1; turn <= turns; ++turn) {
    waits.push_back({turn, 0, made, made});
    const nanoseconds begin = made + own;
    waits.push_back({.thread = 0, .other = turn, .begin = std::max(called, made), .end = begin});
    made = begin;
    b.host_code(begin - called);
    b.kernel(s, "work", 20_us);
    b.synchronize();
    called = begin + b.launch_cost + b.lag + 20_us + b.sync_cost;
  }
  trace::trace t = b.run();
  EXPECT_EQ(t.calls.back().end, called);
  t.threads.resize(turns + 1);
  t.thread_waits = waits;
  return t;
}

TEST(Replay, AThreadThatIsMadeByOneThatWaitedBeginsBehindThat) {
  const trace::trace t = made_in_turn(200_us);
  expect_same_times(t);
  program p = program_of(t);
  const timing before = replay(p);
  // Whatever the calls take less, the threads that are made take as long one after another.
  for (task& one : p.tasks) one.duration -= std::min<nanoseconds>(one.duration, 15_us);
  EXPECT_EQ(replay(p).end, before.end - 15_us);
}

// A thread that calls nothing waits for this one's first turn and works for the second.
TEST(Replay, AThreadThatCallsNothingWaitsForOthersToo) {
  program_builder b;
  const number s = b.stream();
  const number first = b.kernel(s, "first", 50_us);
  b.synchronize();
  b.host_code(200_us);
  const number last = b.kernel(s, "last", 20_us);
  b.synchronize();
  trace::trace t = b.run();
  const nanoseconds done = t.calls[1].end;
  t.threads.resize(2);
  t.thread_waits = {{.thread = 1, .other = 0, .begin = 10_us, .end = done + 1_us},
                    {.thread = 0, .other = 1, .begin = done + 2_us, .end = done + 150_us}};
  expect_same_times(t);
  program p = program_of(t);
  const timing before = replay(p);
  p.tasks[first].duration -= 30_us;
  EXPECT_EQ(replay(p).operations[last].started + 30_us, before.operations[last].started);
  EXPECT_EQ(replay(p).end + 30_us, before.end);
}

TEST(Replay, WaitsThatEndAtOneMomentAreNoRing) {
  program_builder b;
  const number s = b.stream();
  b.kernel(s, "first", 50_us);
  b.synchronize();
  b.host_code(100_us);
  b.kernel(s, "last", 20_us);
  b.synchronize();
  trace::trace t = b.run();
  const nanoseconds met = t.calls[1].end + 50_us;
  t.threads.resize(3);
  t.thread_waits = {{.thread = 1, .other = 2, .begin = 10_us, .end = met},
                    {.thread = 2, .other = 0, .begin = 20_us, .end = met},
                    {.thread = 0, .other = 1, .begin = t.calls[1].end, .end = met}};
  expect_same_times(t);
}

// --- blocks together

const block_costs costs(3.5);

TEST(BlockTime, IsWhatWasRecordedWhereTheDeviceTookAsMany) {
  // Half of its multiprocessor's pipes, and nothing of the memory.
  const block_time b({.alone = 1000, .arithmetic = 500'000}, 256, 28, 28, 14, costs);
  EXPECT_NEAR(b.together(28, block_turn::later), 1000, 1);
  EXPECT_NEAR(b.alone(28), 1000, 1);
  EXPECT_NEAR(b.alone(56), 2000, 1);
}

TEST(BlockTime, FollowsTheBlocksOfAMultiprocessorWhereTheyFillItsPipes) {
  // Four on each of 14 multiprocessors.
  const block_time b({.alone = 1000, .arithmetic = 250'000}, 256, 56, 56, 14, costs);
  EXPECT_NEAR(b.together(14, block_turn::later), 250, 1);
  EXPECT_NEAR(b.together(15, block_turn::later), 500, 1);  // one multiprocessor has two
  EXPECT_NEAR(b.together(42, block_turn::later), 750, 1);
  EXPECT_NEAR(b.alone(56 + 14), 1250, 1);
}

TEST(BlockTime, StaysWhereBlocksOnlyWait) {
  const block_time b({.alone = 1000}, 256, 56, 56, 14, costs);
  for (const std::uint64_t blocks : {1, 14, 56})
    EXPECT_NEAR(b.together(blocks, block_turn::later), 1000, 1);
}

TEST(BlockTime, FirstBlocksBeginSoonerAndWaitForMemory) {
  block_costs first = costs;
  first.first = 50;
  first.later = 200;
  first.latency = 500;
  // Three waves of blocks that do nothing but wait.
  const block_time b({.alone = 1000, .memory = 1}, 32, 14, 42, 14, first);
  EXPECT_NEAR(b.alone(42), 3000, 1);
  EXPECT_NEAR(b.together(14, block_turn::first) - b.together(14, block_turn::later), 500 - 150, 10);
}

TEST(BlockTime, FitsThePiecesInWhichBlocksCame) {
  // What is known of a kernel of 84 blocks that came in halves, as others had the rest.
  block_time b({.alone = 1000, .arithmetic = 100'000}, 256, 84, 84, 14, costs);
  const double before = b.together(42, block_turn::later);
  EXPECT_LT(before, 999);
  EXPECT_TRUE(b.fit({{42, 42, block_turn::first}, {42, 42, block_turn::later}}));
  EXPECT_NEAR(b.together(42, block_turn::later), 1000, 1);
  EXPECT_FALSE(b.fit({{42, 42, block_turn::first}, {42, 42, block_turn::later}}));
  EXPECT_GT(b.alone(84), 1000);
}

TEST(BlockTime, FollowsAllBlocksWhereTheyFillTheMemory) {
  const block_time b({.alone = 1000, .memory = 1'000'000 / 56}, 256, 56, 56, 14, costs);
  EXPECT_NEAR(b.together(28, block_turn::later), 500, 5);
}

}  // namespace
}  // namespace sb::analysis
