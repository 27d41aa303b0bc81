// A thread comes on another core than that of whoever wakes it, and may run wherever it could
// before.
#include <gtest/gtest.h>
#include <sched.h>
#include <unistd.h>

#include <filesystem>
#include <fstream>
#include <string>

#include "engine/cores.hpp"
#include "kernels.hpp"

namespace sb::engine::testing {
namespace {

cpu_set_t allowed() {
  cpu_set_t cores;
  EXPECT_EQ(sched_getaffinity(0, sizeof cores, &cores), 0);
  return cores;
}

void stay_on(int core, pid_t thread = 0) {
  cpu_set_t one;
  CPU_ZERO(&one);
  CPU_SET(core, &one);
  ASSERT_EQ(sched_setaffinity(thread, sizeof one, &one), 0);
}

// Sleeps until it is woken by a thread that stays on `waker_core`; answers where it came.
struct woken {
  int came_on = -1;
  cpu_set_t allowed_before, allowed_after;

  // `others_say`: a core that somebody else assigns it just before it wakes.
  explicit woken(int waker_core, int own_core = -1, int others_say = -1) {
    std::atomic<pid_t> thread{0};
    std::atomic<bool> called{false};
    core_of_sleeper place;
    std::thread sleeper([&] {
      if (own_core >= 0) stay_on(own_core);
      allowed_before = allowed();
      thread = gettid();
      thread.notify_one();
      called.wait(false);
      came_on = sched_getcpu();
      place.let_free();
      allowed_after = allowed();
    });
    std::thread waker([&] {
      stay_on(waker_core);
      thread.wait(0);
      place.keep_off_this_core(thread);
      if (others_say >= 0) stay_on(others_say, thread);
      called = true;
      called.notify_one();
    });
    sleeper.join();
    waker.join();
  }
};

TEST(cores, a_thread_that_is_woken_comes_on_another_core) {
  const cpu_set_t all = allowed();
  if (CPU_COUNT(&all) < 2) GTEST_SKIP() << "one core is all that this process may use";
  const int here = sched_getcpu();
  for (int i = 0; i < 100; ++i) {
    const woken w(here);
    EXPECT_NE(w.came_on, here);
    EXPECT_TRUE(CPU_EQUAL(&w.allowed_before, &all));
    EXPECT_TRUE(CPU_EQUAL(&w.allowed_after, &all));
  }
}

TEST(cores, a_thread_that_has_one_core_comes_on_that) {
  const int here = sched_getcpu();
  const woken w(here, here);
  EXPECT_EQ(w.came_on, here);
  EXPECT_TRUE(CPU_EQUAL(&w.allowed_before, &w.allowed_after));
}

TEST(cores, what_others_say_meanwhile_holds) {
  const cpu_set_t all = allowed();
  if (CPU_COUNT(&all) < 2) GTEST_SKIP() << "one core is all that this process may use";
  const int here = sched_getcpu();
  const woken w(here, -1, here);
  EXPECT_EQ(CPU_COUNT(&w.allowed_after), 1);
  EXPECT_TRUE(CPU_ISSET(here, &w.allowed_after));
}

std::string cores_of(const std::filesystem::path& thread) {
  std::ifstream status(thread / "status");
  for (std::string line; std::getline(status, line);)
    if (line.starts_with("Cpus_allowed:")) return line;
  return {};
}

const abi::kernel_info working_kernel = loop_kernel(
    [](const char* p, thread_context*) {
      auto& sum = *params_of<std::atomic<std::uint64_t>*>(p);
      std::uint64_t own = 1;
      for (int i = 0; i < 20'000; ++i) own = own * 6364136223846793005u + 1;
      sum += own;
    },
    "working");

// Workers that wake each other, hundreds of times. Without end if one does not.
TEST(cores, workers_may_run_where_the_program_may) {
  engine_test t(options_for_tests(1, 4));
  std::atomic<std::uint64_t> sum{0};
  const stream_id stream = t.stream();
  for (int i = 0; i < 200; ++i) {
    t.e.submit(stream, launch(working_kernel, {16}, {1}, &sum));
    EXPECT_EQ(t.sync(), status::success);
  }
  const std::string own = cores_of("/proc/thread-self");
  ASSERT_FALSE(own.empty());
  for (const auto& thread : std::filesystem::directory_iterator("/proc/self/task")) {
    // One that was just called has not come yet; a thread may have ended meanwhile.
    std::string its;
    do {
      its = cores_of(thread.path());
    } while (!its.empty() && its != own);
  }
}

}  // namespace
}  // namespace sb::engine::testing
