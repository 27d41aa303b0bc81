#include "analysis/critical_path.hpp"

#include <gtest/gtest.h>
#include <sys/wait.h>
#include <unistd.h>

#include <algorithm>
#include <csignal>
#include <filesystem>

#include "analysis/explain.hpp"
#include "program_builder.hpp"
#include "trace/reader.hpp"
#include "trace/writer.hpp"

namespace sb::analysis {
namespace {

// Without a hole from the beginning to the end of the run.
void expect_whole(const critical_path& p, const trace::trace& t) {
  nanoseconds at = 0;
  nanoseconds shares = 0;
  for (const path_stretch& s : p.stretches) {
    EXPECT_EQ(s.begin, at);
    EXPECT_LT(s.begin, s.end);
    at = s.end;
  }
  EXPECT_EQ(at, t.end);
  for (const path_share& s : p.shares) shares += s.time;
  EXPECT_EQ(shares, t.end);
}

nanoseconds time_of(const critical_path& p, path_work work, path_link link) {
  for (const path_share& s : p.shares) {
    if (s.work == work && s.link == link) return s.time;
  }
  return 0;
}

TEST(CriticalPath, FollowsAStreamFromItsEndToTheFirstCall) {
  program_builder b;
  const number s = b.stream();
  b.line(10);
  b.copy(s, to_device, 1 << 20, 20_us);
  b.line(11);
  b.kernel(s, "scale", 10_us);
  b.line(12);
  b.synchronize();
  const trace::trace t = b.run();
  const critical_path p = critical_path_of(t);
  expect_whole(p, t);
  EXPECT_EQ(time_of(p, path_work::kernel, path_link::host_waits), 10_us);
  EXPECT_EQ(time_of(p, path_work::copy_host_to_device, path_link::stream_order), 20_us);
  EXPECT_EQ(time_of(p, path_work::start, path_link::starts), 2_us);
  EXPECT_EQ(time_of(p, path_work::host_call, path_link::host_issue), 2_us);
  EXPECT_EQ(time_of(p, path_work::host_call, path_link::thread), 1_us);
  ASSERT_FALSE(p.shares[0].places.empty());
  EXPECT_EQ(t.places[p.shares[0].places[0]].line, 10U);
}

TEST(CriticalPath, NamesTheEventThroughWhichAStreamWaited) {
  program_builder b;
  const number s1 = b.stream(), s2 = b.stream(), e = b.event();
  b.kernel(s1, "first", 40_us);
  b.record(s1, e);
  b.wait(s2, e);
  b.kernel(s2, "second", 30_us);
  b.synchronize(s2);
  const trace::trace t = b.run();
  const critical_path p = critical_path_of(t);
  expect_whole(p, t);
  EXPECT_EQ(time_of(p, path_work::kernel, path_link::event), 40_us);
  EXPECT_EQ(time_of(p, path_work::kernel, path_link::host_waits), 30_us);
}

TEST(CriticalPath, NamesTheDefaultStream) {
  program_builder b;
  const number s1 = b.stream(stream_kind::blocking), s2 = b.stream(stream_kind::blocking);
  b.kernel(s1, "a", 50_us);
  b.kernel(b.legacy(), "middle", 5_us);
  b.kernel(s2, "c", 50_us);
  b.synchronize();
  const trace::trace t = b.run();
  const critical_path p = critical_path_of(t);
  expect_whole(p, t);
  EXPECT_EQ(time_of(p, path_work::kernel, path_link::legacy_barrier), 55_us);
}

TEST(CriticalPath, NamesTheQueueThatHeldAnotherStream) {
  program_builder b;
  b.connections(1);
  const number s1 = b.stream(), s2 = b.stream();
  b.kernel(s1, "a", 50_us);
  b.kernel(s1, "b", 50_us);
  b.kernel(s2, "c", 90_us);
  b.synchronize();
  const trace::trace t = b.run();
  const critical_path p = critical_path_of(t);
  expect_whole(p, t);
  // c started when b left the queue, which waited for a: a is on the path, b is not.
  EXPECT_EQ(time_of(p, path_work::kernel, path_link::host_waits), 90_us);
  EXPECT_EQ(time_of(p, path_work::kernel, path_link::queue_head), 50_us);
}

TEST(CriticalPath, IsTheHostsWhenTheHostIsLate) {
  program_builder b;
  const number s = b.stream();
  for (int i = 0; i < 4; ++i) {
    b.host_code(100_us);
    b.kernel(s, "short", 5_us);
  }
  b.synchronize();
  const trace::trace t = b.run();
  const critical_path p = critical_path_of(t);
  expect_whole(p, t);
  EXPECT_EQ(p.shares[0].work, path_work::host_code);
  nanoseconds code = 0;
  for (const path_share& s2 : p.shares) code += s2.work == path_work::host_code ? s2.time : 0;
  EXPECT_EQ(code, 400_us);
}

// A kernel of 100 µs, and a host that asks for it every 10 µs from some time on.
trace::trace polling(nanoseconds work_before) {
  program_builder b;
  const number s = b.stream();
  const number kernel = b.kernel(s, "work", 100_us);
  b.synchronize(s);
  trace::trace t = b.run();
  const nanoseconds ended = t.operations[kernel].ended;
  trace::call ask = t.calls.back();  // instead of the synchronisation
  t.calls.pop_back();
  ask.name = "cudaEventQuery";
  ask.blocked = 0;
  ask.blocked_on = kernel;
  ask.status = 600;
  ask.begin = t.calls.back().end + work_before;
  for (; ask.begin < ended; ask.begin += 10_us) {
    ask.end = ask.begin + 400;
    t.calls.push_back(ask);
  }
  ask.end = ask.begin + 400;
  ask.status = 0;
  ask.blocked_on = none;
  t.calls.push_back(ask);
  t.end = ask.end;
  return t;
}

TEST(CriticalPath, TakesALoopOfQueriesForAWait) {
  const trace::trace t = polling(5_us);
  const explanation e = explain(t);
  expect_whole(e.path, t);
  EXPECT_EQ(time_of(e.path, path_work::kernel, path_link::host_waits), 100_us);
  EXPECT_GT(e.summary.host_blocked, 90_us);
  // Asked once in between, the host was at its own work.
  const explanation other = explain(polling(95_us));
  EXPECT_EQ(time_of(other.path, path_work::kernel, path_link::host_waits), 0U);
  EXPECT_EQ(other.summary.host_blocked, 0U);
}

// The same as it is recorded by the real clock: equal questions are one call.
TEST(CriticalPath, TakesAQuestionThatWasAskedSeveralTimesForAWait) {
  trace::trace t = polling(5_us);
  trace::call all = t.calls[1];
  all.end = t.calls[t.calls.size() - 2].end;
  all.times = static_cast<std::uint32_t>(t.calls.size() - 2);
  const std::size_t each = t.calls.size();
  t.calls = {t.calls.front(), all, t.calls.back()};
  const explanation e = explain(t);
  expect_whole(e.path, t);
  EXPECT_EQ(time_of(e.path, path_work::kernel, path_link::host_waits), 100_us);
  EXPECT_EQ(e.summary.calls, each);
}

// The first thread makes a second one, which works, and joins it before its own last launch.
trace::trace joined_thread(bool joins) {
  program_builder b;
  const number s1 = b.stream(), s2 = b.stream();
  b.kernel(s1, "before", 5_us);
  b.thread(1);
  b.host_code(10_us);
  b.kernel(s2, "of_the_other", 100_us);
  b.synchronize(s2);
  b.thread(0);
  b.host_code(150_us);
  b.kernel(s1, "after", 20_us);
  b.synchronize();
  trace::trace t = b.run();
  t.threads.resize(2);
  const auto worker = std::find_if(t.calls.rbegin(), t.calls.rend(),
                                   [](const trace::call& c) { return c.thread == 1; });
  t.thread_waits.push_back({1, 0, 4_us, 4_us});
  if (joins) t.thread_waits.push_back({0, 1, 6_us, worker->end});
  return t;
}

TEST(CriticalPath, GoesThroughAThreadThatAnotherOneJoined) {
  const trace::trace t = joined_thread(true);
  const critical_path p = critical_path_of(t);
  expect_whole(p, t);
  EXPECT_EQ(time_of(p, path_work::kernel, path_link::host_waits), 120_us);
  EXPECT_GT(time_of(p, path_work::host_call, path_link::other_thread), 0U);
  // Where the other thread begins, its maker is what bounds the run.
  EXPECT_EQ(p.stretches.front().thread, 0U);
  const std::string words = text_of(t, explain(t));
  EXPECT_NE(words.find("another thread waited for this one"), std::string::npos);
}

TEST(CriticalPath, GoesThroughAHostFunctionThatAThreadWaitedFor) {
  program_builder b;
  const number s = b.stream();
  b.kernel(s, "before", 100_us);
  const number function = b.host_function(s, "says so", 2_us);
  b.host_code(150_us);
  b.kernel(s, "after", 20_us);
  b.synchronize();
  trace::trace t = b.run();
  const nanoseconds said = t.operations[function].started + 1_us;
  t.thread_waits = {{.thread = 0, .begin = 10_us, .end = said, .function = function}};
  const critical_path p = critical_path_of(t);
  expect_whole(p, t);
  EXPECT_EQ(time_of(p, path_work::host_function, path_link::thread_waits), 1_us);
  EXPECT_EQ(time_of(p, path_work::kernel, path_link::stream_order), 100_us);
  EXPECT_EQ(time_of(p, path_work::kernel, path_link::host_waits), 20_us);
  EXPECT_NE(text_of(t, explain(t)).find("a thread of the host waited for what they did"),
            std::string::npos);
}

TEST(CriticalPath, LeavesOutAThreadThatNobodyWaitedFor) {
  const trace::trace t = joined_thread(false);
  const critical_path p = critical_path_of(t);
  expect_whole(p, t);
  EXPECT_EQ(time_of(p, path_work::kernel, path_link::host_waits), 20_us);
  for (const path_stretch& s : p.stretches) EXPECT_NE(s.thread, 1U);
  for (const path_share& s : p.shares) EXPECT_NE(s.link, path_link::other_thread);
}

TEST(CriticalPath, OfAnEmptyTraceIsEmpty) {
  const critical_path p = critical_path_of(trace::trace{});
  EXPECT_TRUE(p.stretches.empty());
  EXPECT_EQ(p.length, 0U);
}

constexpr nanoseconds each_launch = 6_us;

// Each of `launches` issues a kernel and returns; of the last one the trace has the kernel alone. A
// second thread made one call at the beginning.
void launch_and_be_killed(const std::string& file, number launches) {
  auto opened =
      trace::writer::open(file, {}, trace::existing_file::replace, trace::call_order::gathered);
  trace::writer& out = **opened;
  out.device({"device", 132, 2048, 32, 0, 0, 0, 128, 3});
  out.stream({0, stream_kind::legacy, false, 0, none, ""});
  trace::call_record call;
  const number main_thread = out.thread("main");
  call.thread = out.thread("other");
  call.name = out.name("cudaMalloc");
  call.end = 1_us;
  out.returned(out.begin_call(), call);
  call.thread = main_thread;
  call.name = out.name("cudaLaunchKernel");
  trace::submitted_record kernel;
  kernel.kind = trace::operation_kind::kernel;
  kernel.engine = trace::engine_kind::multiprocessors;
  kernel.device = kernel.stream = 0;
  kernel.name = out.name("tiny");
  for (number i = 0; i < launches; ++i) {
    kernel.call = out.begin_call();
    call.begin = kernel.called = i * each_launch;
    call.end = kernel.queued = call.begin + each_launch;
    const number operation = out.submitted(kernel);
    if (i + 1 == launches) ::kill(::getpid(), SIGKILL);
    out.ended(operation, {kernel.queued, kernel.queued + 1_us, kernel.queued + 2_us, {}});
    out.returned(kernel.call, call);
  }
}

TEST(CriticalPath, ACallOfAKilledProgramThatOnlyItsWorkTellsOfIsItsThreadsLast) {
  const std::filesystem::path file = std::filesystem::temp_directory_path() /
                                     ("killed." + std::to_string(::getpid()) + ".sbtrace");
  for (const number launches : {2U, 20U, 200U}) {
    const pid_t child = ::fork();
    if (child == 0) {
      launch_and_be_killed(file.string(), launches);
      ::_exit(1);
    }
    int status = 0;
    ASSERT_EQ(::waitpid(child, &status, 0), child);
    ASSERT_TRUE(WIFSIGNALED(status) && WTERMSIG(status) == SIGKILL) << status;
    outcome<trace::trace> found = trace::read_trace(file.string());
    std::filesystem::remove(file);
    ASSERT_TRUE(found) << found.message();
    ASSERT_EQ(found->operations.size(), launches);
    ASSERT_EQ(found->calls.back().thread, none);
    EXPECT_EQ(found->end, launches * each_launch);
    const critical_path p = critical_path_of(*found);
    expect_whole(p, *found);
    ASSERT_EQ(p.shares.size(), 1U);
    EXPECT_EQ(time_of(p, path_work::host_call, path_link::thread), launches * each_launch);
    EXPECT_EQ(p.shares[0].calls, std::vector<std::string>{"cudaLaunchKernel"});
  }
}

}  // namespace
}  // namespace sb::analysis
