// Threads change cores so that others find one, and may run wherever they could before.
#include <gtest/gtest.h>
#include <sched.h>

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

TEST(cores, a_thread_that_leaves_its_core_is_on_another) {
  const cpu_set_t before = allowed();
  if (CPU_COUNT(&before) < 2) GTEST_SKIP() << "one core is all that this process may use";
  // The operating system may bring it back at any time, but not each time at once.
  bool moved = false;
  for (int i = 0; i < 1000 && !moved; ++i) {
    const int here = sched_getcpu();
    leave_core();
    moved = sched_getcpu() != here;
  }
  EXPECT_TRUE(moved);
  const cpu_set_t after = allowed();
  EXPECT_TRUE(CPU_EQUAL(&before, &after));
}

TEST(cores, a_thread_that_has_one_core_keeps_it) {
  std::thread([] {
    const int here = sched_getcpu();
    cpu_set_t one;
    CPU_ZERO(&one);
    CPU_SET(here, &one);
    ASSERT_EQ(sched_setaffinity(0, sizeof one, &one), 0);
    leave_core();
    const cpu_set_t after = allowed();
    EXPECT_TRUE(CPU_EQUAL(&one, &after));
    EXPECT_EQ(sched_getcpu(), here);
  }).join();
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

// Workers that wake each other, hundreds of times.
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
    const std::string its = cores_of(thread.path());
    EXPECT_TRUE(its == own || its.empty()) << its;  // it may have ended meanwhile
  }
}

}  // namespace
}  // namespace sb::engine::testing
