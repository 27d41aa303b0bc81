// Findings about short kernels that a graph would launch at once.
#include <gmock/gmock.h>
#include <gtest/gtest.h>

#include <vector>

#include "analysis/critical_path.hpp"
#include "findings_checks.hpp"
#include "program_builder.hpp"

namespace sb::analysis {
namespace {

constexpr nanoseconds launch = 4_us, instantiate = 50_us, graph_launch = 2_us, gap = 100;

struct sequence {
  int times = 5, length = 20;
  nanoseconds kernel = 1_us;
  bool waits = false;   // behind each
  bool copies = false;  // in front of each, and behind
};

// A graph is made in any case, so that what it costs is known; the other programs launch it too.
program_builder with_costs() {
  program_builder b;
  b.launch_cost = launch;
  b.allocation_cost = instantiate;
  b.line(140).allocate("cudaGraphInstantiate", trace::memory_kind::device, 0);
  b.launch_cost = graph_launch;
  b.lag = 2 * gap;
  b.line(141).graph_of_kernels(b.stream(), "other", 1, 1_us);
  b.synchronize();
  b.launch_cost = launch;
  b.lag = 1_us;
  return b;
}

trace::trace launched_one_by_one(const sequence& q) {
  program_builder b = with_costs();
  const number s = b.stream();
  for (int i = 0; i < q.times; ++i) {
    if (q.copies) b.line(150).copy(s, to_device, 1 << 10, 2_us);
    for (int k = 0; k < q.length; ++k) b.line(151).kernel(s, "step", q.kernel);
    if (q.copies) b.line(152).copy(s, to_host, 1 << 10, 2_us);
    if (q.waits) b.line(153).synchronize(s);
  }
  b.synchronize();
  return b.run();
}

// Captured once: the calls take their time and issue nothing; then the graph is made, and launched.
nanoseconds end_as_graph(const sequence& q) {
  program_builder b = with_costs();
  const number s = b.stream();
  b.host_code(static_cast<nanoseconds>(q.length) * launch);
  b.allocation_cost = instantiate;
  b.allocate("cudaGraphInstantiate", trace::memory_kind::device, 0);
  b.launch_cost = graph_launch;
  for (int i = 0; i < q.times; ++i) {
    b.lag = 2 * gap;
    b.graph_of_kernels(s, "step", q.length, q.kernel);
    if (q.waits) b.synchronize(s);
  }
  b.synchronize();
  return b.run().end;
}

void expect_about(nanoseconds cost, nanoseconds gained) {
  EXPECT_GT(cost * 100, gained * 97);
  EXPECT_LT(cost * 100, gained * 103);
}

TEST(FindingsOfGraphs, ShortKernelsThatRepeatAreFoundAndCapturingThemCosts) {
  for (const bool waits : {false, true}) {
    const sequence q{.times = 10, .waits = waits};
    const trace::trace t = launched_one_by_one(q);
    const finding f = found(t, "launch-bound-kernels");
    EXPECT_EQ(f.count, 200U);
    EXPECT_NE(f.change.find("20 of them into a graph once and launch that 10 times"),
              std::string::npos)
        << f.change;
    expect_about(f.cost, t.end - end_as_graph(q));
  }
}

TEST(FindingsOfGraphs, KernelsOfALengthOrInAGraphAreHealthy) {
  expect_without(launched_one_by_one({.kernel = 20_us}), "launch-bound-kernels");
  program_builder b;
  const number s = b.stream();
  for (int i = 0; i < 5; ++i) b.line(150).graph_of_kernels(s, "step", 20, 1_us);
  b.synchronize();
  expect_healthy(b.run());
}

TEST(FindingsOfGraphs, ASequenceThatComesTooSeldomIsHealthy) {
  expect_without(launched_one_by_one({.times = 1, .length = 20}), "launch-bound-kernels");
  expect_without(launched_one_by_one({.times = 2, .length = 6, .waits = true}),
                 "launch-bound-kernels");
}

TEST(FindingsOfGraphs, CopiesAreOfTheSequence) {
  const finding f = found(launched_one_by_one({.times = 50, .length = 6, .copies = true}),
                          "launch-bound-kernels");
  EXPECT_EQ(f.count, 400U);
  EXPECT_NE(f.change.find("8 of them into a graph once and launch that 50 times"),
            std::string::npos)
      << f.change;
}

struct in_turn {
  int streams = 3, times = 100;
  nanoseconds kernel = 1_us;
  bool legacy = false;   // one of them is the default stream
  bool repeats = true;   // the same work each time
  bool records = false;  // an event behind each kernel
  enum class host_waits { behind_all, for_all_of_a_turn, for_each_stream } waits = {};
};

trace::trace launched_in_turn(const in_turn& q) {
  program_builder b = with_costs();
  const number data = b.allocation(trace::memory_kind::device, 1 << 20);
  std::vector<number> streams;
  while (streams.size() < static_cast<std::size_t>(q.streams)) streams.push_back(b.stream());
  if (q.legacy) streams.back() = b.legacy();
  for (int i = 0; i < q.times; ++i) {
    for (const number s : streams) {
      b.line(151).kernel(s, "step", q.kernel);
      b.writes(data, s + (q.repeats ? 0 : 1024 * static_cast<std::uint64_t>(i)), 1);
      if (q.records) b.record(s, b.event());
    }
    if (q.waits == in_turn::host_waits::for_all_of_a_turn) b.line(152).synchronize();
    if (q.waits != in_turn::host_waits::for_each_stream) continue;
    for (const number s : streams) b.line(153).synchronize(s);
  }
  b.synchronize();
  return b.run();
}

TEST(FindingsOfGraphs, ShortKernelsForSeveralStreamsInTurnAreFound) {
  const trace::trace t = launched_in_turn({});
  const finding f = found(t, "launch-bound-kernels");
  EXPECT_EQ(f.count, 294U);  // 14 graphs of 21
  EXPECT_NE(f.change.find("21 of them into a graph once and launch that 14 times"),
            std::string::npos)
      << f.change;
  // Behind the calls that are captured comes what each stream runs, 14 times 7 kernels.
  expect_about(f.cost, (300 - 21) * launch - instantiate - graph_launch - 14 * 7 * (1_us + gap));
}

// As a launch is one thing of one stream, the host needs no wait for each of those that it had.
TEST(FindingsOfGraphs, TheHostWaitsOnceForAGraphOfSeveralStreams) {
  using enum in_turn::host_waits;
  const trace::trace each = launched_in_turn({.streams = 8, .waits = for_each_stream});
  const trace::trace all = launched_in_turn({.streams = 8, .waits = for_all_of_a_turn});
  const auto as_graph = [](const trace::trace& t) {
    return t.end - found(t, "launch-bound-kernels").cost;
  };
  expect_about(as_graph(each), as_graph(all));
  EXPECT_GE(each.end, all.end + 500_us);  // 700 waits of a microsecond, some while kernels run
}

TEST(FindingsOfGraphs, KernelsOfSeveralStreamsThatAreLongerThanOneStreamsTurnAreHealthy) {
  found(launched_in_turn({.kernel = 10_us}), "launch-bound-kernels");
  expect_without(launched_in_turn({.kernel = 13_us}), "launch-bound-kernels");
}

TEST(FindingsOfGraphs, SeveralStreamsThatNoCaptureCanHaveTogetherAreHealthy) {
  expect_without(launched_in_turn({.streams = 2, .legacy = true}), "launch-bound-kernels");
  expect_without(launched_in_turn({.repeats = false}), "launch-bound-kernels");
  expect_without(launched_in_turn({.records = true}), "launch-bound-kernels");
  expect_without(launched_in_turn({.times = 10}), "launch-bound-kernels");
}

// A stream forks another one by an event, and waits for it; one kernel in front, one in the other,
// one beside it, one behind both.
struct forked {
  nanoseconds kernel = 1_us;
  bool begins_with_join = false;  // of the turn before
  bool host_waits = false;        // for the event of the join, behind each turn
  bool across = false;            // the wait is for the turn before
  bool legacy = false;            // the first is the default stream
};

trace::trace launched_with_events(const forked& q) {
  program_builder b = with_costs();
  const number s1 = q.legacy ? b.legacy() : b.stream(), s2 = b.stream();
  const number fork = b.event(), join = b.event();
  const number last[] = {b.event(), b.event()};
  for (std::size_t i = 0; i < 100; ++i) {
    if (q.begins_with_join && i > 0) b.line(150).wait(s1, join);
    b.line(151).kernel(s1, "before", q.kernel);
    b.line(152).record(s1, fork);
    b.line(153).wait(s2, fork);
    b.line(154).kernel(s2, "other", q.kernel);
    b.line(155).record(s2, q.across ? last[i % 2] : join);
    b.line(156).kernel(s1, "beside", q.kernel);
    if (!q.begins_with_join && !(q.across && i == 0))
      b.line(157).wait(s1, q.across ? last[1 - i % 2] : join);
    b.line(158).kernel(s1, "behind", q.kernel);
    if (q.host_waits) b.line(159).synchronize_event(join);
  }
  b.synchronize();
  return b.run();
}

TEST(FindingsOfGraphs, ShortKernelsOfStreamsThatEventsOrderAreOneGraph) {
  for (const bool begins_with_join : {false, true}) {
    const trace::trace t = launched_with_events({.begins_with_join = begins_with_join});
    const finding f = found(t, "launch-bound-kernels");
    EXPECT_THAT(f.change, testing::HasSubstr("4 of them into a graph once and launch that"));
    EXPECT_THAT(f.change, testing::HasSubstr("it follows their events"));
    EXPECT_GE(f.count, 392U);
    // A turn takes four launches and the events; then three kernels in a row, of which the first
    // may begin as late as any other.
    const nanoseconds turn = 4 * launch + 4 * 300;
    const nanoseconds most = 99 * turn - instantiate - graph_launch - 100 * 3 * (1_us + gap);
    EXPECT_LE(f.cost, most);
    EXPECT_GE(f.cost, most - 100 * 1_us);
  }
}

TEST(FindingsOfGraphs, StreamsThatEventsOrderAreHealthyWhereNoGraphCanHaveThem) {
  expect_without(launched_with_events({.kernel = 20_us}), "launch-bound-kernels");
  expect_without(launched_with_events({.host_waits = true}), "launch-bound-kernels");
  expect_without(launched_with_events({.across = true}), "launch-bound-kernels");
  expect_without(launched_with_events({.legacy = true}), "launch-bound-kernels");
}

TEST(FindingsOfGraphs, LaunchesWithOtherArgumentsDoNotRepeat) {
  const auto program = [](bool same) {
    program_builder b = with_costs();
    const number s = b.stream();
    const number data = b.allocation(trace::memory_kind::device, 1 << 20);
    for (std::uint64_t i = 0; i < 200; ++i) {
      b.line(151).kernel(s, "step", 1_us);
      b.writes(data, same ? 0 : i, 1);
    }
    b.synchronize();
    return b.run();
  };
  found(program(true), "launch-bound-kernels");
  expect_without(program(false), "launch-bound-kernels");
}

TEST(FindingsOfGraphs, LaunchesOfOtherSizesDoNotRepeat) {
  const auto program = [](int which, bool block) {
    program_builder b = with_costs();
    const number s = b.stream();
    for (std::uint32_t i = 0; i < 200; ++i) {
      const number k = b.line(151).kernel(s, "step", 1_us);
      if (which < 0) continue;
      trace::operation& o = b.records().operations[k];
      (block ? o.block : o.grid)[which] = 1 + i;
    }
    b.synchronize();
    return b.run();
  };
  found(program(-1, false), "launch-bound-kernels");
  for (const int which : {0, 1, 2})
    for (const bool block : {false, true})
      expect_without(program(which, block), "launch-bound-kernels");
}

// --- graphs that are made in a loop

enum class graphs { made_once, made_anew, of_one_graph, with_other_nodes, kept, thrown_away };

// Turns with a launch each, in front of which the graph is captured and made executable.
trace::trace graph_in_each_turn(graphs how) {
  constexpr int turns = 10, length = 4;
  program_builder b;
  b.launch_cost = graph_launch;
  b.allocation_cost = instantiate;
  const number s = b.stream();
  const bool grows = how == graphs::kept || how == graphs::thrown_away;
  for (int i = 0; i < turns; ++i) {
    const bool makes = i == 0 || how != graphs::made_once;
    if (makes && how != graphs::of_one_graph) {
      b.line(160).host_call("cudaStreamBeginCapture", 300);
      for (int k = 0; k < length; ++k) b.line(161).host_call("cudaLaunchKernel", 1_us);
      b.line(162).host_call("cudaStreamEndCapture", 300);
    }
    if (makes) b.line(163).host_call("cudaGraphInstantiate", instantiate);
    const bool other = how == graphs::with_other_nodes && i % 2 == 1;
    b.line(164).graph_of_kernels(s, "step", other ? length + 1 : length, 2_us,
                                 grows ? static_cast<std::uint32_t>(i + 1) : 1);
    if (makes && how != graphs::kept) b.line(165).host_call("cudaGraphExecDestroy", 5_us);
  }
  for (std::uint32_t i = 0; how == graphs::kept && i < turns; ++i)
    b.line(166).graph_of_kernels(s, "step", length, 2_us, turns);
  b.synchronize();
  return b.run();
}

TEST(FindingsOfGraphs, AGraphThatIsMadeInEachTurnIsFound) {
  const nanoseconds once = graph_in_each_turn(graphs::made_once).end;
  const trace::trace anew = graph_in_each_turn(graphs::made_anew);
  const finding f = found(anew, "graph-made-in-loop");
  EXPECT_EQ(f.count, 9U);
  EXPECT_NE(f.change.find("cudaGraphExecUpdate"), std::string::npos) << f.change;
  EXPECT_GT(f.cost, 8 * instantiate);
  EXPECT_LE(f.cost, anew.end - once);  // capturing stays
  EXPECT_NE(f.change.find("need not be made again"), std::string::npos) << f.change;

  const trace::trace again = graph_in_each_turn(graphs::of_one_graph);
  const finding same = found(again, "graph-made-in-loop");
  EXPECT_EQ(same.change.find("cudaGraphExecUpdate"), std::string::npos) << same.change;
  expect_about(same.cost, again.end + 5_us - once);  // that one captures it
}

TEST(FindingsOfGraphs, AGraphOfAnotherSizeCanTakeThePlaceOfOneThatIsThrownAway) {
  const finding f = found(graph_in_each_turn(graphs::thrown_away), "graph-made-in-loop");
  EXPECT_GT(f.cost, 8 * instantiate);
  EXPECT_EQ(f.change.find("need not be made again"), std::string::npos) << f.change;
}

TEST(FindingsOfGraphs, GraphsThatAreMadeOnceOrDifferOrAreKeptAreHealthy) {
  for (const graphs how : {graphs::made_once, graphs::with_other_nodes, graphs::kept})
    expect_without(graph_in_each_turn(how), "graph-made-in-loop");
}

enum class executable { one, one_that_writes, one_for_each_stream };

// A graph of one kernel, launched in two streams in turn.
trace::trace launched_in_two_streams(executable how) {
  program_builder b = with_costs();
  b.launch_cost = graph_launch;
  const number streams[] = {b.stream(), b.stream()};
  const number result = b.allocation(trace::memory_kind::device, 1 << 20);
  number end = none;
  for (number i = 0; i < 12; ++i) {
    const auto begin = static_cast<number>(b.records().operations.size());
    b.graph_of_kernels(streams[i % 2], "node", 1, 100_us);
    for (number k = begin; k < begin + 3; ++k) b.records().operations[k].graph = i + 1;
    if (how == executable::one_that_writes) {
      b.records().operations[begin + 1].ranges.push_back(
          {result, 0, 1 << 20, trace::access::write, true});
    }
    if (how != executable::one_for_each_stream && end != none)
      b.records().operations[begin].after = b.task_of(begin).after = {end};
    end = begin + 2;
  }
  b.synchronize();
  return b.run();
}

TEST(FindingsOfGraphs, LaunchesOfOneExecutableGraphInSeveralStreamsTakeTurns) {
  const trace::trace t = launched_in_two_streams(executable::one);
  const finding f = found(t, "graph-waits-for-itself");
  EXPECT_EQ(f.count, 11U);
  const nanoseconds other = launched_in_two_streams(executable::one_for_each_stream).end;
  expect_about(f.cost + instantiate, t.end - other);
  const critical_path path = critical_path_of(t);
  EXPECT_EQ(path.shares.front().link, path_link::same_graph);
}

TEST(FindingsOfGraphs, LaunchesThatTheirDataOrdersAreHealthy) {
  expect_without(launched_in_two_streams(executable::one_that_writes), "graph-waits-for-itself");
  expect_without(launched_in_two_streams(executable::one_for_each_stream),
                 "graph-waits-for-itself");
}

}  // namespace
}  // namespace sb::analysis
