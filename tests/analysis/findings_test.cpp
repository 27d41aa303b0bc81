// Every rule has a program where it finds something and one, close to it, where it does not.
#include <gmock/gmock.h>
#include <gtest/gtest.h>

#include "analysis/explain.hpp"
#include "program_builder.hpp"

namespace sb::analysis {
namespace {

std::vector<std::string> rules_in(const explanation& e) {
  std::vector<std::string> names;
  for (const finding& f : e.findings) names.push_back(f.rule);
  return names;
}

// The finding of that rule, which has to be there.
finding found(const trace::trace& t, const std::string& rule, const explain_options& o = {}) {
  const explanation e = explain(t, o);
  for (const finding& f : e.findings) {
    if (f.rule != rule) continue;
    EXPECT_FALSE(f.title.empty());
    EXPECT_FALSE(f.why.empty());
    EXPECT_FALSE(f.change.empty());
    EXPECT_GT(f.count, 0U);
    EXPECT_FALSE(f.operations.empty() && f.calls.empty());
    return f;
  }
  ADD_FAILURE() << "no finding " << rule << " in\n" << text_of(t, e);
  return {};
}

void expect_healthy(const trace::trace& t, const explain_options& o = {}) {
  const explanation e = explain(t, o);
  EXPECT_THAT(rules_in(e), testing::IsEmpty()) << text_of(t, e);
}

void expect_without(const trace::trace& t, const std::string& rule) {
  const explanation e = explain(t);
  EXPECT_THAT(rules_in(e), testing::Not(testing::Contains(rule))) << text_of(t, e);
}

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

trace::trace copies_of(trace::memory_kind memory, nanoseconds duration) {
  program_builder b;
  std::vector<number> s{b.stream(), b.stream(), b.stream(), b.stream()};
  for (const number where : s) {
    b.line(40).copy(where, to_device, 4 << 20, duration, memory);
    b.line(41).kernel(where, "work", 100_us);
  }
  b.line(43).synchronize();
  return b.run();
}

TEST(Findings, AsynchronousCopiesOfPageableMemoryAreFound) {
  const finding f = found(copies_of(trace::memory_kind::pageable, 340_us), "pageable-async-copy");
  // 4 MiB take 78 µs from pinned memory.
  EXPECT_GT(f.cost, 4 * (340_us - 90_us) - 50_us);
  EXPECT_EQ(f.count, 4U);
}

TEST(Findings, AsynchronousCopiesOfPinnedMemoryAreHealthy) {
  expect_healthy(copies_of(trace::memory_kind::pinned, 80_us));
}

trace::trace with_pinned(std::uint64_t bytes) {
  program_builder b;
  b.line(50).allocate("cudaMallocHost", trace::memory_kind::pinned, bytes);
  b.kernel(b.stream(), "work", 1_ms);
  b.synchronize();
  return b.run();
}

TEST(Findings, PinnedMemoryBeyondHalfOfTheHostsIsFound) {
  const explain_options host{.host_memory = std::uint64_t{8} << 30};
  const finding f = found(with_pinned(std::uint64_t{6} << 30), "much-pinned-memory", host);
  EXPECT_EQ(f.weight, severity::warning);
  EXPECT_NE(f.title.find("75 %"), std::string::npos) << f.title;
  expect_healthy(with_pinned(std::uint64_t{1} << 30), host);
  expect_healthy(with_pinned(std::uint64_t{6} << 30));  // the host's memory is not known
}

// --- loops

trace::trace waiting_in_a_loop(bool in_loop) {
  program_builder b;
  const number s = b.stream();
  for (int i = 0; i < 10; ++i) {
    b.line(60).copy(s, to_device, 1 << 16, 6_us);
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

TEST(Findings, AWaitBehindLongWorkOfEveryTurnIsHealthy) {
  program_builder b;
  const number s = b.stream();
  for (int i = 0; i < 10; ++i) {
    b.line(61).kernel(s, "work", 1_ms, full_device());
    b.line(62).synchronize(s);
  }
  expect_healthy(b.run());
}

TEST(Findings, ASynchronousCopyInALoopIsFound) {
  program_builder b;
  const number s = b.stream();
  for (int i = 0; i < 10; ++i) {
    b.line(70).copy_and_wait(to_device, 4 << 20, 340_us);
    b.line(71).kernel(s, "work", 100_us);
  }
  b.line(73).synchronize();
  const finding f = found(b.run(), "synchronous-copy-in-loop");
  EXPECT_EQ(f.count, 10U);
  EXPECT_GT(f.cost, 1_ms);
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

// --- engines and room

trace::trace short_copy(bool behind_long_one) {
  program_builder b;
  const number s1 = b.stream(), s2 = b.stream();
  const auto large = [&] { b.line(110).copy(s1, to_device, 64 << 20, 1_ms); };
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

trace::trace chain(nanoseconds kernel, bool as_graph) {
  program_builder b;
  b.launch_cost = 4_us;
  const number s = b.stream();
  for (int round = 0; round < 5; ++round) {
    if (as_graph) {
      b.line(150).graph_of_kernels(s, "step", 20, kernel);
    } else {
      for (int i = 0; i < 20; ++i) b.line(151).kernel(s, "step", kernel);
    }
  }
  b.synchronize();
  return b.run();
}

TEST(Findings, ManyShortKernelsAreFound) {
  const finding f = found(chain(1_us, false), "launch-bound-kernels");
  EXPECT_EQ(f.count, 100U);
  EXPECT_GT(f.cost, 150_us);
  expect_healthy(chain(1_us, true));
  expect_healthy(chain(20_us, false));
}

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
  EXPECT_EQ(f.evidence.size(), 3U);
  EXPECT_THAT(text_of(t, e), testing::HasSubstr("same hardware queue"));
  EXPECT_EQ(f.calls.size(), 1U);
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
