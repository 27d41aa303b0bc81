// Findings about loops: which waits the host's memory may need, and what is no loop at all.
#include <gmock/gmock.h>
#include <gtest/gtest.h>

#include "findings_checks.hpp"
#include "program_builder.hpp"

namespace sb::analysis {
namespace {

constexpr std::uint64_t part = 1 << 10;
constexpr std::uint64_t turns = 20;

// --- waits and the host's memory

// A solver: the host looks at one number of each turn, or gets a part of the results in each.
// `looks`: in every so many turns.
trace::trace results_of_turns(bool same_bytes, std::uint64_t looks = 1,
                              nanoseconds kernel = 15_us) {
  program_builder b;
  const number s = b.stream();
  const number all = b.allocation(trace::memory_kind::pinned, turns * part);
  for (std::uint64_t i = 0; i < turns * looks; ++i) {
    b.line(70).kernel(s, "step", kernel);
    b.line(71).copy(s, to_host, part, 3_us);
    b.writes(all, same_bytes ? 0 : i * part, part);
    if (i % looks == looks - 1) b.line(72).synchronize(s);
  }
  return b.run();
}

TEST(FindingsOfLoops, AWaitForTheResultOfEachTurnHasOtherAdvice) {
  const finding needed = found(results_of_turns(true), "wait-in-loop");
  EXPECT_NE(needed.title.find("for a result of each turn"), std::string::npos) << needed.title;
  EXPECT_NE(needed.change.find("conditional node"), std::string::npos);
  EXPECT_EQ(needed.change.find("Wait once"), std::string::npos);
}

TEST(FindingsOfLoops, AResultThatIsLookedAtInEveryFewTurnsIsHealthy) {
  found(results_of_turns(true, 3, 1_us), "wait-in-loop");
  expect_without(results_of_turns(true, 4, 1_us), "wait-in-loop");
  expect_without(results_of_turns(true, 8, 1_us), "wait-in-loop");
}

enum class brought_by { a_wait, a_copy, a_pageable_copy };

const char* rule_of(brought_by how) {
  return how == brought_by::a_wait ? "wait-in-loop" : "synchronous-copy-in-loop";
}

// A solver that copies its result in every so many turns and waits for it. Its kernels use so many
// buffers in turn: where each between two copies has one of its own, they are parts of one turn.
trace::trace copied_in_some_turns(std::uint64_t looks, brought_by how, std::uint64_t buffers = 1) {
  const auto memory = how == brought_by::a_pageable_copy ? trace::memory_kind::pageable
                                                         : trace::memory_kind::pinned;
  program_builder b;
  const number s = b.stream(stream_kind::blocking);
  const number device = b.allocation(trace::memory_kind::device, 1 << 20);
  const number host = b.allocation(memory, part);
  for (std::uint64_t i = 0; i < 64; ++i) {
    b.line(70).kernel(s, "step", 5_us);
    b.writes_from(device, i % buffers * part);
    if (i % looks != looks - 1) continue;
    b.line(71);
    if (how == brought_by::a_copy)
      b.copy_and_wait(to_host, part, 3_us, memory);
    else
      b.copy(s, to_host, part, 3_us, memory);
    b.reads(device, 0, part).writes(host, 0, part);
    if (how != brought_by::a_copy) b.line(72).synchronize(s);
  }
  return b.run();
}

TEST(FindingsOfLoops, AResultIsCopiedAndLookedAtInTheSameTurns) {
  for (const auto how : {brought_by::a_wait, brought_by::a_copy, brought_by::a_pageable_copy}) {
    const trace::trace each = copied_in_some_turns(1, how);
    const nanoseconds gained = each.end - copied_in_some_turns(8, how).end;
    EXPECT_NEAR(static_cast<double>(found(each, rule_of(how)).cost), static_cast<double>(gained),
                2000.0);
    expect_without(copied_in_some_turns(8, how), rule_of(how));
    expect_without(copied_in_some_turns(8, how, 2), rule_of(how));
    found(copied_in_some_turns(8, how, 8), rule_of(how));
  }
}

TEST(FindingsOfLoops, ATurnMayLaunchOneKernelSeveralTimes) {
  for (const auto how : {brought_by::a_wait, brought_by::a_copy, brought_by::a_pageable_copy}) {
    for (const std::uint64_t launches : {2, 4}) {
      for (const std::uint64_t buffers : {1, 2}) {
        const trace::trace each = copied_in_some_turns(launches, how, buffers);
        const trace::trace some = copied_in_some_turns(8 * launches, how, buffers);
        EXPECT_NEAR(static_cast<double>(found(each, rule_of(how)).cost),
                    static_cast<double>(each.end - some.end), 2000.0);
        expect_without(some, rule_of(how));
      }
    }
  }
}

// The same with each wait one turn later, as the advice has it.
trace::trace results_one_turn_later() {
  program_builder b;
  const number s = b.stream();
  const number all = b.allocation(trace::memory_kind::pinned, turns * part);
  const number done[2] = {b.event(), b.event()};
  b.event_cost = 0;
  for (std::uint64_t i = 0; i < turns; ++i) {
    b.line(70).kernel(s, "step", 15_us);
    b.line(71).copy(s, to_host, part, 3_us);
    b.writes(all, i * part, part);
    b.record(s, done[i % 2]);
    if (i > 0 && i + 1 < turns) b.line(72).synchronize_event(done[(i + 1) % 2]);
  }
  b.synchronize(s);
  return b.run();
}

TEST(FindingsOfLoops, ResultsInBytesOfTheirOwnCanBeWaitedForOneTurnLater) {
  const trace::trace t = results_of_turns(false);
  const finding f = found(t, "wait-in-loop");
  EXPECT_NE(f.change.find("one turn later"), std::string::npos) << f.change;
  EXPECT_EQ(f.cost, t.end - results_one_turn_later().end);
}

// The same program with queries, asked again and again, in the place of its waits.
trace::trace with_queries(const trace::trace& waits, const std::string& name) {
  constexpr nanoseconds each = 500;
  trace::trace t = waits;
  t.calls.clear();
  std::vector<number> now;  // by the number that calls had
  for (trace::call c : waits.calls) {
    now.push_back(static_cast<number>(t.calls.size()));
    if (c.name != name || c.blocked == 0) {
      t.calls.push_back(c);
      continue;
    }
    const nanoseconds end = c.end;
    c.name = name == "cudaEventSynchronize" ? "cudaEventQuery" : "cudaStreamQuery";
    c.blocked = 0;
    c.status = 600;
    for (; c.begin + 2 * each < end; c.begin += each) {
      c.end = c.begin + each;
      t.calls.push_back(c);
    }
    c.end = end;
    c.status = 0;
    c.blocked_on = none;
    t.calls.push_back(c);
  }
  const auto renumber = [&](number& call) { call = call < now.size() ? now[call] : none; };
  for (trace::operation& o : t.operations) {
    renumber(o.call);
    for (trace::edge& e : o.waits) renumber(e.call);
  }
  return t;
}

TEST(FindingsOfLoops, AskingUntilTheWorkIsDoneIsAWait) {
  const trace::trace waits = results_of_turns(false);
  const finding f = found(with_queries(waits, "cudaStreamSynchronize"), "wait-in-loop");
  EXPECT_NE(f.title.find("cudaStreamQuery until the work is done"), std::string::npos) << f.title;
  EXPECT_EQ(f.calls.size(), turns);
  EXPECT_NEAR(static_cast<double>(f.cost), static_cast<double>(found(waits, "wait-in-loop").cost),
              1000.0 * turns);
  const trace::trace ahead = results_one_turn_later();
  const trace::trace asks = with_queries(ahead, "cudaEventSynchronize");
  ASSERT_GT(asks.calls.size(), ahead.calls.size());
  expect_without(asks, "wait-in-loop");
}

// Copy in, compute, copy out, with as many buffers of the host as it says; the host fills the next
// one and reads the last one's results behind the wait.
trace::trace with_buffers_in_turn(std::uint64_t buffers, bool results) {
  program_builder b;
  const number in = b.allocation(trace::memory_kind::pinned, buffers * part);
  const number out = b.allocation(trace::memory_kind::pinned, buffers * part);
  std::vector<number> s, done;
  for (std::uint64_t i = 0; i < std::min<std::uint64_t>(buffers, 2); ++i) {
    s.push_back(b.stream());
    done.push_back(b.event());
  }
  for (std::uint64_t i = 0; i < turns; ++i) {
    const std::uint64_t k = i % s.size();
    if (i >= s.size()) b.line(80).synchronize_event(done[k]);
    b.line(81).copy(s[k], to_device, part, 6_us);
    b.reads(in, (i % buffers) * part, part);
    b.line(82).kernel(s[k], "work", 5_us);
    if (results) {
      b.line(83).copy(s[k], to_host, part, 6_us);
      b.writes(out, (i % buffers) * part, part);
    }
    b.line(84).record(s[k], done[k]);
  }
  b.line(86).synchronize();
  return b.run();
}

TEST(FindingsOfLoops, AWaitBeforeTheHostFillsABufferAgainIsHealthy) {
  expect_healthy(with_buffers_in_turn(1, false));
  expect_healthy(with_buffers_in_turn(2, false));
  found(with_buffers_in_turn(turns, false), "wait-in-loop");
}

TEST(FindingsOfLoops, APipelineWithTwoBuffersIsHealthy) {
  expect_healthy(with_buffers_in_turn(2, true));
  expect_healthy(with_buffers_in_turn(1, true));
}

trace::trace kernels_and_waits(trace::memory_kind memory) {
  program_builder b;
  const number s = b.stream();
  const number data = b.allocation(memory, 1 << 20);
  for (std::uint64_t i = 0; i < turns; ++i) {
    b.line(90).kernel(s, "work", 5_us);
    b.writes(data);
    b.line(91).synchronize(s);
  }
  return b.run();
}

// The same; in each turn the host joins a thread that takes `own`, and makes the next one.
trace::trace kernels_and_waits_with_threads(nanoseconds own) {
  program_builder b;
  const number s = b.stream();
  const number data = b.allocation(trace::memory_kind::device, 1 << 20);
  std::vector<trace::thread_wait> waits;
  nanoseconds made = 0, called = 0;
  for (number i = 1; i <= turns; ++i) {
    const nanoseconds begin = std::max(called, made + own);
    waits.push_back({i, 0, made, made});
    if (begin > called) waits.push_back({.thread = 0, .other = i, .begin = called, .end = begin});
    b.host_code(begin - called);
    b.line(90).kernel(s, "work", 20_us);
    b.writes(data);
    b.line(91).synchronize(s);
    made = begin;
    called = begin + 24_us;
  }
  trace::trace t = b.run();
  EXPECT_EQ(t.calls.back().end, called);
  t.threads.resize(turns + 1);
  t.thread_waits = waits;
  t.head.clock = trace::clock_kind::modelled;
  return t;
}

TEST(FindingsOfLoops, AWaitIsHiddenBehindThreadsThatTheLoopMakesAndJoins) {
  found(kernels_and_waits_with_threads(0), "wait-in-loop");
  expect_without(kernels_and_waits_with_threads(50_us), "wait-in-loop");
  expect_without(kernels_and_waits_with_threads(200_us), "wait-in-loop");
}

TEST(FindingsOfLoops, AWaitBehindKernelsThatUseTheHostsMemoryIsHealthy) {
  expect_without(kernels_and_waits(trace::memory_kind::managed), "wait-in-loop");
  expect_without(kernels_and_waits(trace::memory_kind::pinned), "wait-in-loop");
  found(kernels_and_waits(trace::memory_kind::device), "wait-in-loop");
}

// An idle device starts a copy sooner than one that has to follow a kernel.
trace::trace copies_behind_kernels(bool waits) {
  constexpr nanoseconds idle = 1_us, behind_others = 3_us;
  program_builder b;
  const number s = b.stream();
  const number data = b.allocation(trace::memory_kind::pinned, (turns + 2) * part);
  for (std::uint64_t i = 0; i < turns + 2; ++i) {
    const bool first = i == 0 || (waits && i > 2);
    b.lag = first ? idle : behind_others;
    b.line(i < 2 ? 50 : 60).copy(s, to_device, part, 10_us);
    b.reads(data, i * part, part);
    b.lag = behind_others;
    b.line(i < 2 ? 51 : 61).kernel(s, "work", 5_us);
    if (i > 1 && (waits || i == turns + 1)) b.line(62).synchronize(s);
  }
  return b.run();
}

TEST(FindingsOfLoops, WhatIsNotWaitedForAnyMoreFollowsAsOthersDo) {
  const trace::trace t = copies_behind_kernels(true);
  EXPECT_EQ(found(t, "wait-in-loop").cost, t.end - copies_behind_kernels(false).end);
}

trace::trace host_function_and_wait(bool function) {
  program_builder b;
  const number s = b.stream();
  for (std::uint64_t i = 0; i < turns; ++i) {
    b.line(90).kernel(s, "work", 5_us);
    if (function) b.line(91).host_function(s, "note", 1_us);
    b.line(92).synchronize(s);
  }
  return b.run();
}

TEST(FindingsOfLoops, AWaitBehindAHostFunctionIsHealthy) {
  expect_without(host_function_and_wait(true), "wait-in-loop");
  found(host_function_and_wait(false), "wait-in-loop");
}

TEST(FindingsOfLoops, StreamsThatUseOneBufferOfTheHostInTurnMayNeedTheWaitBetween) {
  const auto program = [](bool one_buffer) {
    program_builder b;
    const number host = b.allocation(trace::memory_kind::pinned, 2 * part);
    for (std::uint64_t i = 0; i < 2; ++i) {
      const number s = b.stream();
      b.line(60).copy(s, to_device, part, 100_us);
      b.reads(host, one_buffer ? 0 : i * part, part);
      b.line(61).kernel(s, "work", 100_us);
      b.line(62 + static_cast<std::uint32_t>(i)).synchronize(s);
    }
    return b.run();
  };
  expect_without(program(true), "streams-never-overlap");
  found(program(false), "streams-never-overlap");
}

// --- synchronous copies

// Kernels of two streams and their results, with a synchronous copy or one in the kernel's stream.
trace::trace results_copied(bool synchronous) {
  program_builder b;
  b.sync_cost = 0;
  std::vector<number> s, device, host;
  for (int i = 0; i < 2; ++i) {
    s.push_back(b.stream(stream_kind::blocking));
    device.push_back(b.allocation(trace::memory_kind::device, 1 << 20));
    host.push_back(b.allocation(trace::memory_kind::pinned, 1 << 20));
  }
  for (std::size_t i = 0; i < 8; ++i) {
    const std::size_t k = i % 2;
    b.line(50).kernel(s[k], "work", 50_us);
    b.writes(device[k]);
    if (synchronous) {
      b.line(51).copy_and_wait(to_host, 1 << 20, 50_us, trace::memory_kind::pinned);
    } else {
      b.line(51).copy(s[k], to_host, 1 << 20, 50_us);
    }
    b.reads(device[k]).writes(host[k]);
  }
  b.synchronize();
  return b.run();
}

TEST(FindingsOfLoops, ASynchronousCopyIsMadeInTheStreamOfItsData) {
  const trace::trace t = results_copied(true);
  const explanation e = explain(t);
  EXPECT_THAT(rules_in(e), testing::Not(testing::Contains("independent-work-in-one-stream")));
  const finding f = found(t, "synchronous-copy-in-loop");
  const nanoseconds gained = t.end - results_copied(false).end;
  EXPECT_GT(gained, 300_us);  // the copies beside the kernels of the other stream
  EXPECT_GT(f.cost * 100, gained * 97);
  EXPECT_LT(f.cost * 100, gained * 103);
  expect_without(results_copied(false), "synchronous-copy-in-loop");
}

// A loop that goes on until four bytes say that it may end.
trace::trace converges(bool one_result) {
  program_builder b;
  const number s = b.stream(stream_kind::blocking);
  const number device = b.allocation(trace::memory_kind::device, 1 << 20);
  const number host = b.allocation(trace::memory_kind::pinned, 1 << 20);
  for (int i = 0; i < 24; ++i) {
    b.line(50).kernel(s, "work", 20_us);
    b.writes(device);
    b.line(51).copy_and_wait(to_host, 4, 3_us, trace::memory_kind::pinned);
    const std::uint64_t offset = one_result ? 0 : 4 * static_cast<std::uint64_t>(i);
    b.reads(device, offset, 4).writes(host, offset, 4);
  }
  b.synchronize();
  return b.run();
}

TEST(FindingsOfLoops, AResultThatEachTurnNeedsIsNotWaitedForBehindTheLoop) {
  const finding one = found(converges(true), "synchronous-copy-in-loop");
  EXPECT_THAT(one.change, testing::HasSubstr("every few turns"));
  EXPECT_THAT(one.change, testing::Not(testing::HasSubstr("behind the loop")));
  const finding several = found(converges(false), "synchronous-copy-in-loop");
  EXPECT_THAT(several.change, testing::HasSubstr("behind the loop"));
}

// Each turn brings the same bytes of the device to its own place, or all to one.
trace::trace kept(bool own_places, bool synchronous, std::uint64_t bytes = 1 << 20) {
  program_builder b;
  const number s = b.stream(stream_kind::blocking);
  const number device = b.allocation(trace::memory_kind::device, 1 << 20);
  const number host = b.allocation(trace::memory_kind::pinned, 20 << 20);
  for (std::uint64_t i = 0; i < 20; ++i) {
    b.line(50).kernel(s, "work", 20_us);
    b.writes(device);
    b.line(51);
    if (synchronous)
      b.copy_and_wait(to_host, bytes, 20_us, trace::memory_kind::pinned);
    else
      b.copy(s, to_host, bytes, 20_us);
    b.reads(device, 0, bytes).writes(host, own_places ? i << 20 : 0, bytes);
  }
  b.synchronize();
  return b.run();
}

TEST(FindingsOfLoops, ResultsThatAreKeptEachInItsPlaceAreWaitedForBehindTheLoop) {
  const finding own = found(kept(true, true), "synchronous-copy-in-loop");
  EXPECT_THAT(own.change, testing::HasSubstr("Use cudaMemcpyAsync"));
  EXPECT_THAT(own.change, testing::HasSubstr("behind the loop"));
  EXPECT_THAT(own.change, testing::Not(testing::HasSubstr("every few turns")));
  const nanoseconds gained = kept(true, true).end - kept(true, false).end;
  EXPECT_GT(gained, 50_us);
  EXPECT_GT(own.cost * 100, gained * 97);
  EXPECT_LT(own.cost * 100, gained * 103);
}

// A few bytes may say whether to go on. Of more, as of pictures, each turn's are wanted.
TEST(FindingsOfLoops, OnlyAFewBytesAreLeftOutInSomeTurns) {
  const finding large = found(kept(false, true), "synchronous-copy-in-loop");
  EXPECT_THAT(large.change, testing::HasSubstr("Use cudaMemcpyAsync"));
  const finding small = found(kept(false, true, 4096), "synchronous-copy-in-loop");
  EXPECT_THAT(small.change, testing::HasSubstr("every few turns"));
}

// Results of so many bytes in one buffer, for which each turn waits.
trace::trace pictures(std::uint64_t bytes, bool uploads) {
  program_builder b;
  const number s = b.stream();
  const number host = b.allocation(trace::memory_kind::pinned, 1 << 20);
  const number sent = b.allocation(trace::memory_kind::pinned, 1 << 20);
  for (std::uint64_t i = 0; i < 20; ++i) {
    if (uploads) {
      b.line(59).copy(s, to_device, 64, 1_us);
      b.reads(sent, 64 * i, 64);
    }
    b.line(60).kernel(s, "picture", 15_us);
    b.line(61).copy(s, to_host, bytes, 3_us);
    b.writes(host, 0, bytes);
    b.line(62).synchronize(s);
  }
  return b.run();
}

TEST(FindingsOfLoops, LargeResultsInOneBufferAreAllBroughtByTwoInTurn) {
  const finding large = found(pictures(1 << 20, false), "wait-in-loop");
  EXPECT_THAT(large.change, testing::HasSubstr("two buffers of the host in turn"));
  const finding small = found(pictures(64, false), "wait-in-loop");
  EXPECT_THAT(small.change, testing::HasSubstr("every few turns"));
  EXPECT_GT(small.cost, large.cost);
}

TEST(FindingsOfLoops, AResultFromWhichTheHostMayMakeWhatItSendsIsNeeded) {
  expect_without(pictures(64, true), "wait-in-loop");
  expect_without(pictures(1 << 20, true), "wait-in-loop");
}

// Each turn's grid may come from the number that the turn before it brought. A turn's first `parts`
// kernels have grids of their own.
trace::trace frontier(bool sizes_differ, brought_by how, bool own_places = false,
                      std::uint32_t parts = 0) {
  program_builder b;
  const number s = b.stream(stream_kind::blocking);
  const number device = b.allocation(trace::memory_kind::device, 1 << 20);
  const number host = b.allocation(trace::memory_kind::pinned, 4 * 24);
  for (std::uint32_t i = 0; i < 24; ++i) {
    for (std::uint32_t k = 0; k < parts; ++k) b.line(49).kernel(s, "part", 5_us, {1 + k, 256});
    b.line(50).kernel(s, "level", 20_us, {sizes_differ ? 1 + i % 7 : 4, 256});
    b.writes(device);
    b.line(51);
    if (how == brought_by::a_copy)
      b.copy_and_wait(to_host, 4, 3_us, trace::memory_kind::pinned);
    else
      b.copy(s, to_host, 4, 3_us);
    b.reads(device, 0, 4).writes(host, own_places ? 4 * i : 0, 4);
    if (how == brought_by::a_wait) b.line(52).synchronize(s);
  }
  b.synchronize();
  return b.run();
}

TEST(FindingsOfLoops, AResultThatTheNextGridMayComeFromIsNeededInEachTurn) {
  found(frontier(false, brought_by::a_wait), "wait-in-loop");
  expect_without(frontier(true, brought_by::a_wait), "wait-in-loop");
  found(frontier(false, brought_by::a_copy), "synchronous-copy-in-loop");
  expect_without(frontier(true, brought_by::a_copy), "synchronous-copy-in-loop");
  expect_without(frontier(true, brought_by::a_copy, true), "synchronous-copy-in-loop");
}

TEST(FindingsOfLoops, GridsThatDifferWithinATurnAloneAreNoneOfTheResult) {
  found(frontier(false, brought_by::a_wait, false, 3), "wait-in-loop");
  expect_without(frontier(true, brought_by::a_wait, false, 3), "wait-in-loop");
  found(frontier(false, brought_by::a_copy, false, 3), "synchronous-copy-in-loop");
  expect_without(frontier(true, brought_by::a_copy, false, 3), "synchronous-copy-in-loop");
}

// --- what is a loop

// A function of the program that copies an array to the device, called from several places.
trace::trace arrays_copied(int arrays, bool kernel_between) {
  program_builder b;
  const number s = b.stream();
  for (int i = 0; i < arrays; ++i) {
    b.line(20).allocate("cudaMalloc", trace::memory_kind::device, 1 << 24);
    b.line(21).copy_and_wait(to_device, 1 << 24, 1400_us);
    if (kernel_between) b.line(22).kernel(s, "work", 900_us);
  }
  b.line(24).kernel(s, "add", 100_us);
  b.synchronize();
  return b.run();
}

TEST(FindingsOfLoops, ArraysCopiedOneAfterAnotherAreNoLoop) {
  expect_without(arrays_copied(3, false), "synchronous-copy-in-loop");
  expect_without(arrays_copied(6, false), "synchronous-copy-in-loop");
  found(arrays_copied(6, true), "synchronous-copy-in-loop");
}

TEST(FindingsOfLoops, AFunctionThatWaitsBehindDifferentWorkIsNoLoop) {
  const auto program = [](bool same) {
    program_builder b;
    const number s = b.stream();
    for (int i = 0; i < 6; ++i) {
      b.line(30).kernel(s, same ? "work" : "work" + std::to_string(i), 5_us);
      b.line(10).synchronize(s);
    }
    return b.run();
  };
  expect_without(program(false), "wait-in-loop");
  found(program(true), "wait-in-loop");
}

// --- several threads

// Threads of a pool with streams of their own; `host_data`: each turn sends the same buffer.
trace::trace pool(int threads, bool host_data) {
  program_builder b;
  for (int i = 0; i < threads; ++i) {
    b.thread(static_cast<number>(i));
    const number s = b.stream();
    const number host = b.allocation(trace::memory_kind::pinned, 1 << 10);
    for (int k = 0; k < 10; ++k) {
      if (host_data) {
        b.line(70).copy(s, to_device, 1 << 10, 2_us);
        b.reads(host);
      }
      b.line(71).kernel(s, "work", 20_us);
      b.line(72).synchronize(s);
    }
  }
  return b.run();
}

TEST(FindingsOfLoops, AWaitInTheLoopOfEachThreadIsOneFinding) {
  const explanation e = explain(pool(3, false));
  EXPECT_THAT(rules_in(e), testing::ElementsAre("wait-in-loop"));
  const finding f = found(pool(3, false), "wait-in-loop");
  EXPECT_EQ(f.count, 30U);
  EXPECT_NE(f.title.find("of 3 threads"), std::string::npos) << f.title;
  // As much as one thread alone would gain: all of them run side by side.
  const finding one = found(pool(1, false), "wait-in-loop");
  EXPECT_NEAR(static_cast<double>(f.cost), static_cast<double>(one.cost), 1000.0);
  expect_without(pool(3, true), "wait-in-loop");
}

// Kernels of two streams; those of so many launches are waited for by the launch itself.
trace::trace blocking_launches(int blocking) {
  program_builder b;
  const number s[] = {b.stream(), b.stream()};
  const number data[] = {b.allocation(trace::memory_kind::device, 1 << 20),
                         b.allocation(trace::memory_kind::device, 1 << 20)};
  std::vector<number> kernels;
  for (int i = 0; i < 8; ++i) {
    kernels.push_back(b.line(210).kernel(s[i % 2], "work", 100_us));
    b.writes(data[i % 2]);
  }
  b.synchronize();
  program p = b.written();
  for (int i = 0; i < blocking; ++i) {
    step& launch = p.threads[0][static_cast<std::size_t>(i)];
    launch.last = {wait_scope::operation, kernels[static_cast<std::size_t>(i)]};
    launch.after = 1_us;
  }
  return retimed(b.records(), p, replay(p, record_waits::yes));
}

TEST(FindingsOfLoops, LaunchesThatAllWaitForTheirKernelsAreFound) {
  const trace::trace t = blocking_launches(8);
  const finding f = found(t, "launch-blocking");
  EXPECT_EQ(f.cost, t.end - blocking_launches(0).end);
  EXPECT_GT(f.cost, 350_us);
  EXPECT_EQ(f.count, 8U);
  EXPECT_THAT(f.why, testing::HasSubstr("CUDA_LAUNCH_BLOCKING"));
  expect_without(blocking_launches(7), "launch-blocking");
  expect_healthy(blocking_launches(0));
}

}  // namespace
}  // namespace sb::analysis
