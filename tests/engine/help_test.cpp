// A host thread that waits for a kernel runs some of its blocks, and is afterwards as it was.
#include <gtest/gtest.h>
#include <sched.h>

#include <cerrno>
#include <cfenv>
#include <csignal>

#include "kernels.hpp"

namespace sb::engine::testing {
namespace {

struct seen {
  std::thread::id host = std::this_thread::get_id();
  std::atomic<int> blocks{0};
  std::atomic<int> by_host{0};
  std::atomic<int> upwards{0};  // by the host, in a mode that is not the device's
  bool traps_on_host = false, faults_on_host = false;

  [[nodiscard]] bool on_host() const { return std::this_thread::get_id() == host; }
};

void work_for_some_microseconds() {
  for (int i = 0; i < 2000; ++i) asm volatile("" : "+r"(i));
}

// Asked of the vector unit: on x86-64 std::fegetround() tells of another one, for long double.
bool rounds_up() {
  volatile float one = 1, little = 1e-9f;
  return one + little > 1;
}

void note_block(const char* p, thread_context* self) {
  seen& s = *params_of<seen*>(p);
  work_for_some_microseconds();
  ++s.blocks;
  if (!s.on_host()) return;
  ++s.by_host;
  if (rounds_up()) ++s.upwards;
  errno = EDOM;
  if (s.traps_on_host) device::trap(self);
  if (s.faults_on_host) __builtin_trap();
}

abi::kernel_info straight(const char* name) {
  abi::kernel_info info = loop_kernel(&note_block, name);
  info.is_straight = 1;
  return info;
}
const abi::kernel_info straight_kernel = straight("straight");
const abi::kernel_info looping_kernel = loop_kernel(&note_block, "looping");

class help_test : public ::testing::Test {
 protected:
  static constexpr int blocks = 1000;

  void SetUp() override {
    cpu_set_t cores;
    ASSERT_EQ(sched_getaffinity(0, sizeof cores, &cores), 0);
    if (CPU_COUNT(&cores) < 2) GTEST_SKIP() << "with one core a thread that waits leaves it";
  }
  status run(const abi::kernel_info& kernel) {
    s.blocks = 0;
    t.e.submit(stream, launch(kernel, {blocks}, {32}, &s));
    const status outcome = t.sync();
    EXPECT_TRUE(outcome != status::success || s.blocks == blocks) << s.blocks;
    return outcome;
  }
  // Workers may have taken all blocks before this thread came.
  bool run_until_helped() {
    constexpr int most = 500;
    for (int i = 0; i < most && s.by_host == 0; ++i)
      if (run(straight_kernel) != status::success) break;
    return s.by_host != 0;
  }

  engine_test t;
  stream_id stream = t.stream();
  seen s;
};

TEST_F(help_test, a_thread_that_waits_runs_blocks_of_what_it_waits_for) {
  EXPECT_TRUE(run_until_helped());
}

TEST_F(help_test, kernels_that_may_take_long_are_left_to_workers) {
  for (int i = 0; i < 100; ++i) EXPECT_EQ(run(looping_kernel), status::success);
  EXPECT_EQ(s.by_host, 0);
}

TEST_F(help_test, the_mode_of_floats_and_the_last_error_are_the_threads_own) {
  std::fesetround(FE_UPWARD);
  errno = ENOENT;
  EXPECT_TRUE(run_until_helped());
  EXPECT_EQ(errno, ENOENT);
  EXPECT_EQ(std::fegetround(), FE_UPWARD);
  std::fesetround(FE_TONEAREST);
  EXPECT_EQ(s.upwards, 0);
}

TEST_F(help_test, no_signal_stays_blocked) {
  sigset_t before, after;
  pthread_sigmask(SIG_SETMASK, nullptr, &before);
  EXPECT_TRUE(run_until_helped());
  pthread_sigmask(SIG_SETMASK, nullptr, &after);
  for (int signal = 1; signal < SIGRTMIN; ++signal)
    EXPECT_EQ(sigismember(&before, signal), sigismember(&after, signal)) << signal;
}

TEST_F(help_test, a_block_that_fails_there_fails_as_on_a_worker) {
  s.traps_on_host = true;
  ::testing::internal::CaptureStderr();
  EXPECT_TRUE(run_until_helped());
  const std::string text = ::testing::internal::GetCapturedStderr();
  EXPECT_NE(text.find("straight"), std::string::npos) << text;
  EXPECT_EQ(t.e.sticky_error(first_device), status::launch_failure);
  EXPECT_EQ(t.sync(), status::launch_failure);
}

TEST_F(help_test, a_fault_is_told_where_the_thread_blocks_every_signal) {
  sigset_t all, before;
  sigfillset(&all);
  pthread_sigmask(SIG_BLOCK, &all, &before);
  s.faults_on_host = true;
  ::testing::internal::CaptureStderr();
  EXPECT_TRUE(run_until_helped());
  ::testing::internal::GetCapturedStderr();
  pthread_sigmask(SIG_SETMASK, &before, nullptr);
  EXPECT_NE(t.e.sticky_error(first_device), status::success);
}

// Help must not keep workers from what is waited for.
TEST_F(help_test, one_that_waits_for_another_stream_comes_back) {
  EXPECT_TRUE(run_until_helped());
  const stream_id other = t.stream();
  gate g;
  t.e.submit(other, g.operation());
  g.wait_until_reached();
  // Opens the gate from a block of the kernel beside it.
  struct opens {
    gate* g;
    std::atomic<int>* blocks;
  };
  static const abi::kernel_info opening = [] {
    abi::kernel_info info = loop_kernel(
        [](const char* p, thread_context*) {
          work_for_some_microseconds();
          const opens& o = params_of<opens>(p);
          if (++*o.blocks == 100) o.g->open();
        },
        "opening");
    info.is_straight = 1;
    return info;
  }();
  std::atomic<int> ran{0};
  t.e.submit(stream, launch(opening, {20'000}, {32}, opens{&g, &ran}));
  EXPECT_EQ(t.e.synchronize(whole_stream(other), first_device), status::success);
  EXPECT_EQ(t.sync(), status::success);
  EXPECT_EQ(ran, 20'000);
}

}  // namespace
}  // namespace sb::engine::testing
