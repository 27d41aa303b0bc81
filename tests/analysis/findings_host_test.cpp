// Findings about what the host does between its calls.
#include "findings_checks.hpp"
#include "program_builder.hpp"

namespace sb::analysis {
namespace {

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

TEST(FindingsOfTheHost, HostCodeThatLeavesTheDeviceIdleIsFound) {
  const finding f = found(with_host_code(200_us), "host-gaps");
  EXPECT_GT(f.cost, 1200_us);
  EXPECT_LT(f.cost, 1400_us);  // the kernels themselves remain
  expect_healthy(with_host_code(10_us));
}

// Two threads with a kernel each, after so much code of their own.
trace::trace two_threads_begin(nanoseconds first, nanoseconds second) {
  program_builder b;
  const number s1 = b.stream(), s2 = b.stream();
  b.host_code(first);
  b.line(180).kernel(s1, "one", 100_us);
  b.synchronize(s1);
  b.thread(1);
  b.host_call("cudaSetDevice", 1_us);
  b.host_code(second);
  b.line(181).kernel(s2, "other", 100_us);
  b.synchronize(s2);
  trace::trace t = b.run();
  t.threads.resize(2);
  t.head.clock = trace::clock_kind::modelled;
  return t;
}

TEST(FindingsOfTheHost, CodeBeforeAThreadsFirstWorkIsFoundWhileTheDeviceHasBegun) {
  const finding f = found(two_threads_begin(10_us, 500_us), "host-gaps");
  // They could have begun together.
  EXPECT_GT(f.cost, 470_us);
  EXPECT_LT(f.cost, 500_us);
  ASSERT_EQ(f.calls.size(), 1U);
  // What the program does before it has anything for the device is its beginning.
  expect_healthy(two_threads_begin(500_us, 500_us));
  expect_healthy(two_threads_begin(10_us, 50_us));
}

TEST(FindingsOfTheHost, AThreadThatMayHaveWaitedForItsFirstWorkIsNot) {
  trace::trace t = two_threads_begin(10_us, 500_us);
  t.head.clock = trace::clock_kind::wall;
  expect_healthy(t);
  t = two_threads_begin(10_us, 115_us);
  found(t, "host-gaps");
  t.thread_waits = {{.thread = 1, .other = 0, .begin = 2_us, .end = 114_us}};
  expect_healthy(t);
}

// Each of two threads does something of its own behind its kernel, and then lets the other one go.
trace::trace in_turn(nanoseconds own) {
  constexpr nanoseconds turn = 104_us;  // a kernel of 100 with its calls
  program_builder b;
  const number s[] = {b.stream(), b.stream()};
  nanoseconds now = 0, gone[] = {0, 0};
  std::vector<trace::thread_wait> waits;
  for (number i = 0; i < 12; ++i) {
    const number who = i % 2;
    b.thread(who);
    b.host_code(now - gone[who]);
    b.line(190).kernel(s[who], "work", 100_us);
    b.synchronize(s[who]);
    if (i != 0) {
      const nanoseconds since = gone[who] == 0 ? 0 : gone[who] + own;
      waits.push_back({.thread = who, .other = 1 - who, .begin = since, .end = now});
    }
    gone[who] = now + turn;
    now = gone[who] + own;
  }
  trace::trace t = b.run();
  EXPECT_EQ(t.calls.back().end, gone[1]);
  t.threads.resize(2);
  t.head.clock = trace::clock_kind::modelled;
  t.thread_waits = waits;
  return t;
}

TEST(FindingsOfTheHost, CodeInFrontOfWhatAnotherThreadWaitsForIsFound) {
  const finding f = found(in_turn(50_us), "host-gaps");
  EXPECT_EQ(f.cost, 11 * 50_us);  // all but the last one's, for which nobody waits
  expect_without(in_turn(0), "host-gaps");
}

// A thread prepares its work in each turn, and in the end takes long for code behind which the
// other one only calls.
trace::trace with_code_behind_all(nanoseconds code) {
  program_builder b;
  const number s = b.stream();
  b.thread(1);
  for (int i = 0; i < 4; ++i) {
    b.host_code(50_us);
    b.line(195).kernel(s, "work", 100_us);
    b.synchronize(s);
  }
  const nanoseconds end = 4 * (50_us + 104_us) + code;
  b.thread(0);
  b.host_code(end);
  b.synchronize();
  trace::trace t = b.run();
  t.threads.resize(2);
  t.head.clock = trace::clock_kind::modelled;
  t.thread_waits = {{.thread = 0, .other = 1, .begin = 0, .end = end}};
  return t;
}

TEST(FindingsOfTheHost, CodeBehindAllWorkKeepsNoDeviceWaiting) {
  const nanoseconds cost = found(with_code_behind_all(0), "host-gaps").cost;
  EXPECT_EQ(cost, 3 * 50_us);
  EXPECT_LE(found(with_code_behind_all(5_ms), "host-gaps").cost, cost);
}

// A thread that calls nothing prepares each turn of the one that calls but the first: for so long.
// The other one takes `between` for code of its own.
trace::trace prepared_by_another(nanoseconds own, nanoseconds between = 0) {
  constexpr nanoseconds turn = 104_us;  // a kernel of 100 with its calls
  program_builder b;
  const number s = b.stream();
  nanoseconds called = 0;
  std::vector<trace::thread_wait> waits;
  b.kernel(s, "begin", 1_us);
  b.synchronize(s);
  called = 5_us;
  for (nanoseconds i = 0; i < 16; ++i) {
    const nanoseconds begin = std::max(called + between, i * own);
    if (begin > called + between)
      waits.push_back({.thread = 0, .other = 1, .begin = called + between, .end = begin});
    b.host_code(begin - called);
    b.line(197).kernel(s, "work", 100_us);
    b.line(198).synchronize(s);
    called = begin + turn;
  }
  trace::trace t = b.run();
  EXPECT_EQ(t.calls.back().end, called);
  t.threads.resize(2);
  t.head.clock = trace::clock_kind::modelled;
  t.thread_waits = waits;
  for (trace::thread_wait& w : t.thread_waits) w.what = trace::awaited::condition;
  return t;
}

TEST(FindingsOfTheHost, CodeOfAThreadThatCallsNothingIsFoundWhereAnotherOneWaitsForIt) {
  const trace::trace t = prepared_by_another(200_us);
  const finding f = found(t, "host-gaps");
  EXPECT_NEAR(static_cast<double>(f.cost), static_cast<double>(t.end - prepared_by_another(0).end),
              10'000.0);
  EXPECT_NE(f.why.find("for another thread's own code, which took 3.00 ms"), std::string::npos)
      << f.why;
  EXPECT_EQ(f.calls.size(), 15U);
  ASSERT_EQ(f.places.size(), 1U);
  EXPECT_EQ(t.places[f.places[0]].line, 197U);
  // The device is busy meanwhile.
  expect_without(prepared_by_another(100_us), "host-gaps");
  expect_without(prepared_by_another(0), "host-gaps");
}

TEST(FindingsOfTheHost, CodeOfAnotherThreadIsNamedBeforeTheLittleOfTheOneThatWaits) {
  const finding f = found(prepared_by_another(200_us, 3_us), "host-gaps");
  EXPECT_NE(f.why.find("another thread's own code"), std::string::npos) << f.why;
  ASSERT_EQ(f.evidence.size(), 1U);
  EXPECT_NE(f.evidence[0].find("16 gaps"), std::string::npos) << f.evidence[0];
  const finding own = found(prepared_by_another(110_us, 200_us), "host-gaps");
  EXPECT_EQ(own.why.find("another thread"), std::string::npos) << own.why;
}

// A thread that calls nothing is asked in each turn, and takes so long for the answer.
trace::trace asked_in_each_turn(nanoseconds own) {
  constexpr nanoseconds turn = 104_us;  // a kernel of 100 with its calls
  program_builder b;
  const number s = b.stream();
  nanoseconds answered = 0;
  std::vector<trace::thread_wait> waits;
  for (int i = 0; i < 8; ++i) {
    b.line(199).kernel(s, "work", 100_us);
    b.synchronize(s);
    const nanoseconds asked = answered + turn;
    waits.push_back({.thread = 1, .other = 0, .begin = answered, .end = asked});
    answered = asked + own;
    if (own != 0) waits.push_back({.thread = 0, .other = 1, .begin = asked, .end = answered});
    b.host_code(own);
  }
  b.synchronize();
  trace::trace t = b.run();
  EXPECT_EQ(t.calls.back().begin, answered);
  t.threads.resize(2);
  t.head.clock = trace::clock_kind::modelled;
  t.thread_waits = waits;
  for (trace::thread_wait& w : t.thread_waits) w.what = trace::awaited::semaphore;
  return t;
}

TEST(FindingsOfTheHost, CodeOfAThreadThatIsAskedInEachTurnCountsInAllButTheLastOne) {
  EXPECT_EQ(found(asked_in_each_turn(200_us), "host-gaps").cost, 7 * 200_us);
  EXPECT_EQ(found(asked_in_each_turn(50_us), "host-gaps").cost, 7 * 50_us);
  expect_without(asked_in_each_turn(0), "host-gaps");
}

// Two threads meet behind each turn of one, as at a barrier; the other one calls nothing and takes
// so long for its own code.
trace::trace meets_behind_each_turn(nanoseconds own) {
  constexpr nanoseconds turn = 104_us;  // a kernel of 100 with its calls
  program_builder b;
  const number s = b.stream();
  nanoseconds met = 0;
  std::vector<trace::thread_wait> waits;
  for (int i = 0; i < 8; ++i) {
    b.line(199).kernel(s, "work", 100_us);
    b.synchronize(s);
    const nanoseconds came = met + turn;
    met = std::max(came, met + own);
    if (met > came) waits.push_back({.thread = 0, .other = 1, .begin = came, .end = met});
    b.host_code(met - came);
  }
  b.synchronize();
  trace::trace t = b.run();
  EXPECT_EQ(t.calls.back().begin, met);
  t.threads.resize(2);
  t.head.clock = trace::clock_kind::modelled;
  t.thread_waits = waits;
  for (trace::thread_wait& w : t.thread_waits) w.what = trace::awaited::barrier;
  return t;
}

TEST(FindingsOfTheHost, CodeInFrontOfWhereThreadsMeetBehindEachTurnIsFound) {
  const trace::trace t = meets_behind_each_turn(200_us);
  EXPECT_EQ(found(t, "host-gaps").cost, t.end - meets_behind_each_turn(0).end);
  expect_without(meets_behind_each_turn(100_us), "host-gaps");
}

// --- pools, on an H200: 712 ns for an allocation, 56 us more where the pool has to ask the device,
// and 57 us of a wait that gives memory back, behind 2.6 for waking up

enum class keeps : std::uint8_t { nothing, everything, more_each_turn };
trace::trace pool(keeps memory, const std::string& profile = "h200") {
  program_builder b;
  b.records().head.profile = profile;
  b.records().head.clock = trace::clock_kind::modelled;
  const number s = b.stream();
  const bool gives_back = memory == keeps::nothing;
  b.sync_cost = gives_back ? 59'600 : 2'600;
  for (int i = 0; i < 10; ++i) {
    const bool asks = memory != keeps::everything || i == 0;
    b.line(200).host_call("cudaMallocAsync", asks ? 56'712 : 712);
    b.line(201).kernel(s, "work", 50_us);
    b.line(202).host_call("cudaFreeAsync", 600);
    b.line(203).synchronize(s);
  }
  trace::trace t = b.run();
  for (trace::call& c : t.calls)
    if (c.blocked > 0) c.blocked += 2'600;
  return t;
}

TEST(FindingsOfTheHost, PoolsThatGiveTheirMemoryBackAreFound) {
  const finding f = found(pool(keeps::nothing), "pool-gives-memory-back");
  EXPECT_EQ(f.cost, 9 * 56_us + 10 * 57_us);
  EXPECT_EQ(f.count, 9U);
  for (const keeps memory : {keeps::everything, keeps::more_each_turn})
    expect_without(pool(memory), "pool-gives-memory-back");
  // Nobody knows what they cost.
  expect_without(pool(keeps::nothing, "example"), "pool-gives-memory-back");
  trace::trace t = pool(keeps::nothing);
  t.head.clock = trace::clock_kind::wall;
  expect_without(t, "pool-gives-memory-back");
}

}  // namespace
}  // namespace sb::analysis
