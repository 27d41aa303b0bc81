// Findings about streams, host memory, loops and queues.
#include <gmock/gmock.h>
#include <gtest/gtest.h>

#include <cstdio>

#include "findings_checks.hpp"
#include "program_builder.hpp"

namespace sb::analysis {
namespace {

// --- healthy programs of the usual shapes

// Copy in, compute, copy out, in chunks over streams, with pinned memory.
program_builder three_way(int chunks, int streams) {
  program_builder b;
  std::vector<number> s;
  for (int i = 0; i < streams; ++i) s.push_back(b.stream());
  const nanoseconds piece = 600_us / static_cast<nanoseconds>(chunks);
  for (int i = 0; i < chunks; ++i) {
    const number where = s[static_cast<std::size_t>(i % streams)];
    const number in = b.allocation(trace::memory_kind::device, 1 << 20);
    const number result = b.allocation(trace::memory_kind::device, 1 << 20);
    b.line(20);
    b.copy(where, to_device, 1 << 20, piece);
    b.writes(in);
    b.line(21);
    b.kernel(where, "work", piece, full_device());
    b.reads(in).writes(result);
    b.line(22);
    b.copy(where, to_host, 1 << 20, piece);
    b.reads(result);
  }
  b.line(24);
  b.synchronize();
  return b;
}

TEST(Findings, APipelineOfChunksIsHealthy) {
  expect_healthy(three_way(16, 4).run());
  expect_healthy(three_way(8, 4).run());
  expect_healthy(three_way(4, 4).run());
}

TEST(Findings, OneKernelIsHealthy) {
  program_builder b;
  b.kernel(b.stream(), "work", 1_ms, full_device(4));
  b.synchronize();
  expect_healthy(b.run());
}

TEST(Findings, ATraceWithoutWorkIsHealthy) { expect_healthy(trace::trace{}); }

TEST(Findings, KernelsSideBySideAreHealthy) {
  program_builder b;
  for (int i = 0; i < 8; ++i) b.kernel(b.stream(), "small", 1_ms);
  b.synchronize();
  expect_healthy(b.run());
}

// --- the default stream

trace::trace with_default_stream_work(stream_kind kind) {
  program_builder b;
  std::vector<number> s{b.stream(kind), b.stream(kind), b.stream(kind)};
  for (std::size_t i = 0; i < 3; ++i) {
    b.line(30).kernel(s[i], "work", 100_us);
    b.line(31).kernel(b.legacy(), "count", 3_us);
  }
  b.line(33).synchronize();
  return b.run();
}

TEST(Findings, DefaultStreamWorkBetweenBlockingStreamsIsFound) {
  const finding f =
      found(with_default_stream_work(stream_kind::blocking), "default-stream-barrier");
  // Three kernels one after another instead of side by side.
  EXPECT_GT(f.cost, 180_us);
  EXPECT_LT(f.cost, 240_us);
  EXPECT_EQ(f.places.size(), 2U);
}

TEST(Findings, DefaultStreamWorkBesideNonBlockingStreamsIsHealthy) {
  expect_healthy(with_default_stream_work(stream_kind::non_blocking));
}

TEST(Findings, ABarrierThatTheDataNeedsIsNotBlamed) {
  program_builder b;
  const number data = b.allocation(trace::memory_kind::device, 1 << 20);
  const number s1 = b.stream(stream_kind::blocking), s2 = b.stream(stream_kind::blocking);
  b.kernel(s1, "produce", 100_us);
  b.writes(data);
  b.kernel(b.legacy(), "sum", 100_us);
  b.reads(data).writes(data);
  b.kernel(s2, "use", 100_us);
  b.reads(data);
  b.synchronize();
  expect_healthy(b.run());
}

// --- host memory

// Each copy uses memory of its own, or all of them the same.
enum class buffers : bool { one, own };

trace::trace copies_of(trace::memory_kind memory, nanoseconds duration, buffers which) {
  program_builder b;
  const number same = b.allocation(memory, 4 << 20);
  std::vector<number> s{b.stream(), b.stream(), b.stream(), b.stream()};
  for (const number where : s) {
    b.line(40).copy(where, to_device, 4 << 20, duration, memory);
    b.reads(which == buffers::one ? same : b.allocation(memory, 4 << 20));
    b.line(41).kernel(where, "work", 100_us);
  }
  b.line(43).synchronize();
  return b.run();
}

TEST(Findings, AsynchronousCopiesOfPageableMemoryAreFound) {
  const finding f =
      found(copies_of(trace::memory_kind::pageable, 340_us, buffers::one), "pageable-async-copy");
  // 4 MiB take 78 µs from pinned memory, and 281 µs to be pinned where they are.
  EXPECT_GT(f.cost, 4 * (340_us - 90_us) - 281_us - 50_us);
  EXPECT_LT(f.cost, 4 * (340_us - 78_us) - 281_us + 20_us);
  EXPECT_EQ(f.count, 4U);
  EXPECT_NE(f.change.find("cudaHostRegister takes about 281 µs for 4 MiB"), std::string::npos)
      << f.change;
}

TEST(Findings, EveryPieceOfPageableMemoryHasToBePinned) {
  const finding f =
      found(copies_of(trace::memory_kind::pageable, 340_us, buffers::own), "pageable-async-copy");
  EXPECT_EQ(f.cost, 0U);  // a call for each of them
  EXPECT_NE(f.change.find("1.12 ms for 16 MiB in 4 pieces of memory"), std::string::npos)
      << f.change;
}

TEST(Findings, PinningThatTakesLongerThanItGainsHasNoCost) {
  const finding f =
      found(copies_of(trace::memory_kind::pageable, 140_us, buffers::one), "pageable-async-copy");
  EXPECT_EQ(f.weight, severity::warning);
  EXPECT_EQ(f.cost, 0U);
  EXPECT_NE(f.change.find("takes longer than it gains"), std::string::npos) << f.change;
  EXPECT_NE(f.change.find("from about 5 such copies on"), std::string::npos) << f.change;
}

TEST(Findings, WhatPinnedMemoryWouldSaveIsTheProfilesToSay) {
  trace::trace t = copies_of(trace::memory_kind::pageable, 340_us, buffers::one);
  const nanoseconds quick = found(t, "pageable-async-copy").cost;
  t.devices[0].to_device = {.latency_ns = 2000, .bytes_per_us = 20'000};  // 4 MiB in 212 µs
  const nanoseconds slow = found(t, "pageable-async-copy").cost;
  EXPECT_LT(slow, quick - 4 * 100_us);
  EXPECT_GT(slow, 4 * (340_us - 212_us) - 281_us - 50_us);
}

TEST(Findings, AsynchronousCopiesOfPinnedMemoryAreHealthy) {
  expect_healthy(copies_of(trace::memory_kind::pinned, 80_us, buffers::own));
}

trace::trace with_pinned(std::uint64_t bytes, std::uint64_t host = std::uint64_t{8} << 30) {
  program_builder b;
  b.records().head.host_bytes = host;
  b.line(50).allocate("cudaMallocHost", trace::memory_kind::pinned, bytes);
  b.kernel(b.stream(), "work", 1_ms);
  b.synchronize();
  return b.run();
}

TEST(Findings, PinnedMemoryBeyondHalfOfTheHostsIsFound) {
  const finding f = found(with_pinned(std::uint64_t{6} << 30), "much-pinned-memory");
  EXPECT_EQ(f.weight, severity::warning);
  EXPECT_NE(f.title.find("75 %"), std::string::npos) << f.title;
  expect_healthy(with_pinned(std::uint64_t{1} << 30));
  expect_healthy(with_pinned(std::uint64_t{6} << 30, 0));  // the host's memory is not known
}

// --- loops

trace::trace waiting_in_a_loop(bool in_loop) {
  program_builder b;
  const number s = b.stream();
  const number data = b.allocation(trace::memory_kind::pinned, 10 << 16);
  for (std::uint64_t i = 0; i < 10; ++i) {
    b.line(60).copy(s, to_device, 1 << 16, 6_us);
    b.reads(data, i << 16, 1 << 16);
    b.line(61).kernel(s, "work", 15_us);
    if (in_loop) b.line(62).synchronize(s);
  }
  b.line(64).synchronize();
  return b.run();
}

TEST(Findings, AWaitInALoopIsFound) {
  const finding f = found(waiting_in_a_loop(true), "wait-in-loop");
  EXPECT_EQ(f.calls.size(), 10U);
  EXPECT_NE(f.title.find("cudaStreamSynchronize"), std::string::npos);
  expect_healthy(waiting_in_a_loop(false));
}

TEST(Findings, CallsOfOneNameAreNoLoopWhenTheTurnsDiffer) {
  // No lines are known; each of these waits stands somewhere else.
  const auto program = [](bool same) {
    program_builder b;
    const number s = b.stream();
    for (int i = 0; i < 6; ++i) {
      b.kernel(s, same ? "work" : "work " + std::to_string(i), 5_us);
      b.synchronize(s);
    }
    return b.run();
  };
  EXPECT_EQ(found(program(true), "wait-in-loop").calls.size(), 6U);
  expect_without(program(false), "wait-in-loop");
}

TEST(Findings, AWaitBehindLongWorkOfEveryTurnIsHealthy) {
  program_builder b;
  const number s = b.stream();
  for (int i = 0; i < 10; ++i) {
    b.line(61).kernel(s, "work", 1_ms, full_device());
    b.line(62).synchronize(s);
  }
  expect_healthy(b.run());
}

trace::trace copying_in_a_loop(trace::memory_kind memory, nanoseconds duration, buffers which) {
  program_builder b;
  const number s = b.stream(), same = b.allocation(memory, 4 << 20);
  for (int i = 0; i < 10; ++i) {
    b.line(70).copy_and_wait(to_device, 4 << 20, duration, memory);
    b.reads(which == buffers::one ? same : b.allocation(memory, 4 << 20));
    b.line(71).kernel(s, "work", 100_us);
  }
  b.line(73).synchronize();
  return b.run();
}

TEST(Findings, ASynchronousCopyInALoopIsFound) {
  using enum trace::memory_kind;
  const finding f =
      found(copying_in_a_loop(pageable, 340_us, buffers::one), "synchronous-copy-in-loop");
  EXPECT_EQ(f.count, 10U);
  EXPECT_GT(f.cost, 1_ms);
  EXPECT_NE(f.change.find("cudaHostRegister"), std::string::npos) << f.change;
}

TEST(Findings, ASynchronousCopyInALoopNeedsAllOfItsMemoryPinned) {
  using enum trace::memory_kind;
  const finding one =
      found(copying_in_a_loop(pageable, 440_us, buffers::one), "synchronous-copy-in-loop");
  const finding own =
      found(copying_in_a_loop(pageable, 440_us, buffers::own), "synchronous-copy-in-loop");
  // 36 MiB more, at 19 bytes in a nanosecond, and nine calls.
  EXPECT_GT(own.cost, 0U);
  EXPECT_LT(own.cost + 2400_us, one.cost);
  EXPECT_NE(own.change.find("for 40 MiB in 10 pieces of memory"), std::string::npos) << own.change;
  const finding pinned_already =
      found(copying_in_a_loop(pinned, 80_us, buffers::own), "synchronous-copy-in-loop");
  EXPECT_EQ(pinned_already.change.find("cudaHostRegister"), std::string::npos)
      << pinned_already.change;
}

TEST(Findings, ASynchronousCopyBeforeTheWorkIsHealthy) {
  program_builder b;
  const number s = b.stream();
  b.line(70).copy_and_wait(to_device, 4 << 20, 340_us);
  for (int i = 0; i < 10; ++i) b.line(71).kernel(s, "work", 100_us);
  b.line(73).synchronize();
  b.copy_and_wait(to_host, 4 << 20, 340_us);
  expect_healthy(b.run());
}

trace::trace allocating(bool in_loop) {
  program_builder b;
  const number s = b.stream();
  number memory = none;
  if (!in_loop) memory = b.line(80).allocate("cudaMalloc", trace::memory_kind::device, 1 << 20);
  for (int i = 0; i < 8; ++i) {
    if (in_loop) memory = b.line(80).allocate("cudaMalloc", trace::memory_kind::device, 1 << 20);
    b.line(81).kernel(s, "work", 50_us);
    if (in_loop) {
      b.line(82);
      b.free(memory);
    }
  }
  b.line(84).synchronize();
  if (!in_loop) b.free(memory);
  return b.run();
}

TEST(Findings, AllocationsInALoopAreFound) {
  const finding f = found(allocating(true), "allocation-in-loop");
  EXPECT_NE(f.title.find("cudaMalloc"), std::string::npos);
  EXPECT_NE(f.title.find("cudaFree"), std::string::npos);
  EXPECT_EQ(f.calls.size(), 16U);
  // Beside the kernels of 50 µs, 80 µs for each turn but the first, less what overlapped.
  EXPECT_GT(f.cost, 280_us);
  expect_healthy(allocating(false));
}

enum class taken { in_each_turn, in_the_first, before };

// Memory that is taken behind a kernel's launch, while that runs, and freed behind the turn's work.
trace::trace taken_behind_work(taken when, nanoseconds work) {
  program_builder b;
  const number s = b.stream();
  number memory = none;
  const auto take = [&] {
    memory = b.line(85).allocate("cudaMalloc", trace::memory_kind::device, 1 << 20);
  };
  if (when == taken::before) take();
  for (int i = 0; i < 8; ++i) {
    b.line(84).kernel(s, "first", work);
    if (when == taken::in_each_turn || (when == taken::in_the_first && i == 0)) take();
    b.line(86).kernel(s, "second", 5_us);
    if (when == taken::in_each_turn) b.line(87).free(memory);
  }
  if (when != taken::in_each_turn) b.line(88).free(memory);
  b.line(89).synchronize();
  return b.run();
}

TEST(Findings, AnAllocationThatTheFirstTurnHidesIsLeftThereWhereThatGainsMore) {
  const trace::trace t = taken_behind_work(taken::in_each_turn, 35_us);
  const finding f = found(t, "allocation-in-loop");
  const nanoseconds first = t.end - taken_behind_work(taken::in_the_first, 35_us).end;
  EXPECT_GT(first * 9, 10 * (t.end - taken_behind_work(taken::before, 35_us).end));
  EXPECT_NEAR(static_cast<double>(f.cost), static_cast<double>(first), 2000.0);
  EXPECT_THAT(f.change, testing::HasSubstr("in the first turn only"));
}

TEST(Findings, AnAllocationIsMadeBeforeTheLoopWhereThatGainsAsMuch) {
  const trace::trace t = taken_behind_work(taken::in_each_turn, 1_us);
  const finding f = found(t, "allocation-in-loop");
  const nanoseconds before = t.end - taken_behind_work(taken::before, 1_us).end;
  EXPECT_NEAR(static_cast<double>(f.cost), static_cast<double>(before), 2000.0);
  EXPECT_THAT(f.change, testing::HasSubstr("Allocate before the loop"));
}

TEST(Findings, ALoopThatSetsUpBuffersIsHealthy) {
  program_builder b;
  const number s = b.stream();
  std::vector<number> buffers;
  for (int i = 0; i < 8; ++i) {
    buffers.push_back(b.line(90).allocate("cudaMalloc", trace::memory_kind::device, 1 << 20));
    b.line(91).kernel(s, "fill", 50_us);
  }
  b.line(92).kernel(s, "work", 500_us);
  b.line(93).synchronize();
  for (const number one : buffers) {
    b.line(94);
    b.free(one);
  }
  expect_without(b.run(), "allocation-in-loop");
}

// Buffers that are registered in a loop; `kept` until its end.
trace::trace registering(bool kept, int streams) {
  program_builder b;
  std::vector<number> s;
  for (int i = 0; i < streams; ++i) s.push_back(b.stream());
  std::vector<number> buffers;
  const auto unregister = [&](number one) {
    b.line(99).free(one, "cudaHostUnregister");
    b.records().allocations[one].to = 1 + b.records().allocations[one].from;
  };
  for (int i = 0; i < 8; ++i) {
    buffers.push_back(b.line(96).allocate("cudaHostRegister", trace::memory_kind::pinned, 1 << 20));
    b.records().allocations.back().from = static_cast<nanoseconds>(i) * 10;
    b.line(97).kernel(s[static_cast<std::size_t>(i % streams)], "work", 200_us);
    if (!kept) unregister(buffers.back());
  }
  b.line(100).synchronize();
  return b.run();
}

TEST(Findings, BuffersThatAreRegisteredInALoopAndKeptAreHealthy) {
  expect_without(registering(true, 4), "allocation-in-loop");
}

// Registering them before the loop takes as long: the cost is what the waits of cudaHostUnregister
// take from the overlap, not the time of the calls.
TEST(Findings, RegisteringInALoopCostsWhatMovingItGains) {
  const finding f = found(registering(false, 4), "allocation-in-loop");
  EXPECT_GT(f.cost,
            700_us);  // 6 of the 8 kernels run beside others; the calls take 640 µs as before
  EXPECT_LT(f.cost, 1100_us);
  expect_without(registering(false, 1), "allocation-in-loop");
  EXPECT_EQ(f.change.find("cudaMallocAsync"), std::string::npos) << f.change;
  EXPECT_NE(f.change.find("Register"), std::string::npos) << f.change;
}

// --- order of issue and queues

trace::trace two_kernels_per_stream(std::uint32_t connections, bool breadth_first) {
  program_builder b;
  b.connections(connections);
  std::vector<number> s{b.stream(), b.stream(), b.stream(), b.stream()};
  if (breadth_first) {
    for (const number where : s) b.line(90).kernel(where, "first", 100_us);
    for (const number where : s) b.line(91).kernel(where, "second", 100_us);
  } else {
    for (const number where : s) {
      b.line(90).kernel(where, "first", 100_us);
      b.line(91).kernel(where, "second", 100_us);
    }
  }
  b.synchronize();
  return b.run();
}

TEST(Findings, DepthFirstIssueIntoOneQueueIsFound) {
  const trace::trace t = two_kernels_per_stream(1, false);
  EXPECT_GT(t.end, 500_us);  // only the last of a stream runs beside the first of the next
  const finding f = found(t, "issue-order");
  EXPECT_NE(f.change.find("breadth first"), std::string::npos);
  EXPECT_GT(f.cost, 250_us);
  EXPECT_FALSE(f.evidence.empty());
}

TEST(Findings, BreadthFirstIssueIsHealthyWithOneQueueAndWithMany) {
  expect_healthy(two_kernels_per_stream(1, true));
  expect_healthy(two_kernels_per_stream(8, true));
  expect_healthy(two_kernels_per_stream(8, false));
}

TEST(Findings, TooFewQueuesAreFound) {
  const finding f = found(two_kernels_per_stream(1, false), "few-hardware-queues");
  EXPECT_GT(f.cost, 250_us);
  EXPECT_NE(f.title.find("1 hardware connection"), std::string::npos);
  expect_without(two_kernels_per_stream(8, false), "few-hardware-queues");
}

// A small result of a long kernel, and a large one of another stream that is there already.
trace::trace copies_in_queues(std::uint32_t connections, bool small_one_first) {
  program_builder b;
  b.connections(connections);
  const number s1 = b.stream(), s2 = b.stream();
  for (int i = 0; i < 4; ++i) {
    const auto small = [&] { b.line(97).copy(s1, to_host, 4, 1_us); };
    b.line(96).kernel(s1, "work", 200_us);
    if (small_one_first) small();
    b.line(98).copy(s2, to_host, 4 << 20, 100_us);
    if (!small_one_first) small();
    b.synchronize();
  }
  return b.run();
}

TEST(Findings, CopiesThatAnotherStreamsCopyHoldsInTheirQueueAreFound) {
  const trace::trace t = copies_in_queues(1, true);
  const nanoseconds best = copies_in_queues(32, true).end;
  const finding f = found(t, "few-hardware-queues");
  EXPECT_GT(f.cost, 300_us);
  EXPECT_EQ(f.cost, t.end - best);
  EXPECT_EQ(f.count, 4u);
  EXPECT_EQ(found(t, "issue-order").count, 4u);
  expect_healthy(copies_in_queues(32, true));
  expect_healthy(copies_in_queues(1, false));
}

// As many streams as there are connections, or more, with four kernels each.
trace::trace streams_of_kernels(std::uint32_t connections, bool breadth_first,
                                const std::string& profile = "h200") {
  constexpr int streams = 32, kernels = 4;
  program_builder b;
  b.connections(connections);
  b.records().head.profile = profile;
  std::vector<number> s;
  for (int i = 0; i < streams; ++i) s.push_back(b.stream());
  for (int i = 0; i < streams * kernels; ++i) {
    const int where = breadth_first ? i % streams : i / kernels;
    b.line(95).kernel(s[static_cast<std::size_t>(where)], "step", 500_us);
  }
  b.synchronize();
  return b.run();
}

TEST(Findings, StreamsThatWaitForAConnectionAreFound) {
  const trace::trace t = streams_of_kernels(8, false);
  const nanoseconds best = streams_of_kernels(32, false).end;
  EXPECT_GT(t.end, 2 * best);
  const finding f = found(t, "few-hardware-queues");
  EXPECT_EQ(f.cost, t.end - best);
  EXPECT_EQ(f.count, 24u);  // the first kernel of each of the other streams
  EXPECT_NE(f.change.find("CUDA_DEVICE_MAX_CONNECTIONS=32"), std::string::npos);
  // It waited for nothing else, and until the last kernel of a stream made room for it.
  const trace::operation& waits = t.operations[8 * 4];
  ASSERT_EQ(waits.waits.size(), 1u);
  EXPECT_EQ(waits.waits[0].cause, trace::wait_cause::queue_head);
  EXPECT_EQ(waits.waits[0].from, 3u);
  EXPECT_EQ(waits.waits[0].until, t.operations[2].ended);
}

TEST(Findings, EnoughConnectionsAreHealthy) {
  expect_healthy(streams_of_kernels(32, false));
  expect_healthy(streams_of_kernels(8, true));
}

TEST(Findings, ADeviceWithOneQueueIsNotToldToHaveMore) {
  expect_without(streams_of_kernels(1, false, "fermi"), "few-hardware-queues");
  EXPECT_GT(found(streams_of_kernels(1, false), "few-hardware-queues").cost, 1_ms);
}

trace::trace many_streams(int streams) {
  program_builder b;
  b.launch_cost = 1_us;
  std::vector<number> s;
  for (int i = 0; i < streams; ++i) {
    b.line(100).allocate("cudaStreamCreate", trace::memory_kind::device, 0);
    s.push_back(b.stream());
  }
  for (int i = 0; i < 200; ++i) {
    b.line(101).copy(s[static_cast<std::size_t>(i % streams)], to_device, 1 << 20, 20_us);
  }
  b.synchronize();
  return b.run();
}

TEST(Findings, MoreStreamsThanEnginesCanUseAreFound) {
  const finding f = found(many_streams(100), "many-streams");
  EXPECT_NE(f.title.find("100 streams"), std::string::npos);
  EXPECT_GT(f.cost, 90 * 40_us);
  expect_healthy(many_streams(4));
}

// Copies in, kernels that leave room beside each other, copies out; streams cost time to make.
trace::trace streams_with_kernels(int streams, nanoseconds kernel) {
  program_builder b;
  b.launch_cost = b.copy_cost = 1_us;
  std::vector<number> s;
  for (int i = 0; i < streams; ++i) {
    b.line(100).allocate("cudaStreamCreate", trace::memory_kind::device, 0);
    s.push_back(b.stream());
  }
  for (int i = 0; i < 100; ++i) {
    const number stream = s[static_cast<std::size_t>(i % streams)];
    b.line(101).copy(stream, to_device, 1 << 20, 20_us);
    b.line(102).kernel(stream, "small", kernel);
    b.line(103).copy(stream, to_host, 1 << 20, 20_us);
  }
  b.synchronize();
  return b.run();
}

TEST(Findings, OfFewerStreamsTheFewestAreNamedThatAreAsGood) {
  for (const nanoseconds kernel : {40_us, 100_us, 200_us}) {
    const trace::trace as_is = streams_with_kernels(100, kernel);
    const finding f = found(as_is, "many-streams");
    nanoseconds best = as_is.end;
    for (int streams = 2; streams <= 32; ++streams)
      best = std::min(best, streams_with_kernels(streams, kernel).end);
    int named = 0;
    ASSERT_EQ(std::sscanf(f.change.c_str(), "Use %d streams", &named), 1) << f.change;
    const nanoseconds then = streams_with_kernels(named, kernel).end;
    const nanoseconds gained = as_is.end - then;
    EXPECT_LE((then - best) * 20, as_is.end - best) << named;
    EXPECT_LE(std::max(f.cost, gained) - std::min(f.cost, gained), gained / 20) << named;
  }
}

}  // namespace
}  // namespace sb::analysis
