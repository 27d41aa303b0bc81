#include <gmock/gmock.h>
#include <gtest/gtest.h>

#include "harness/machine.hpp"

namespace sb::test {
namespace {

// The machine's clock steps by 20 cycles a reading, so a loop that is not solved reads it thousands
// of times here.
struct clocks : testing::TestWithParam<const char*> {
  image device{std::string(PASS_IMAGES "/clocks") + GetParam() + ".so"};
  bool loops(const char* kernel) const {
    return device.kernel(kernel).mode == abi::kernel_mode::loop;
  }
  template <class... Args>
  void expect_solved(const char* kernel, std::uint64_t cycles, Args... args) {
    EXPECT_TRUE(loops(kernel)) << kernel;
    auto result = device.run(kernel, {1}, {4}, 0, args...);
    EXPECT_GE(result.cycles, 1000 + cycles) << kernel;
    EXPECT_LT(result.cycles, 1000 + cycles + 200) << kernel;
    EXPECT_LT(result.clock_reads, 4 * 5u) << kernel;
    // At least once: where the threads only wait, one stands for all.
    EXPECT_GE(result.waits, 1u) << kernel;
  }
};

TEST_P(clocks, usual_waiting_loops_are_solved) {
  expect_solved("plain", 100000, 100000ll);
  expect_solved("counted_cycles", 100000, 100000l);
  expect_solved("do_while", 100000, 100000ull);
  expect_solved("until_end", 100000, 100000ll);
  expect_solved("reversed", 100000, 100000);
  expect_solved("wrapping", 100000, 100000l);
  expect_solved("remaining", 100000, 100000l);
  expect_solved("dummy_work", 100000, 100000ll);
  expect_solved("timer", 100000, 100000ull);
  expect_solved("accumulates", 100000, 100000ll);
  expect_solved("sleeps", 100000, 100000u);
}

TEST_P(clocks, scaled_clocks_are_solved) {
  expect_solved("seconds", 100000, 0.1f, 1e6f);
  expect_solved("thousands", 100000, 100);
}

TEST_P(clocks, waits_of_one_thread_add_up_and_those_of_different_threads_do_not) {
  auto result = device.run("twice", {1}, {64}, 0, 100000ll);
  EXPECT_GE(result.cycles, 201000u);
  EXPECT_LT(result.cycles, 202000u);
  result = device.run("many", {1}, {64}, 0, 10, 100000ll);
  EXPECT_GE(result.cycles, 1001000u);
  EXPECT_LT(result.cycles, 1003000u);
}

TEST_P(clocks, a_negative_or_zero_wait_ends_at_once) {
  EXPECT_LT(device.run("plain", {1}, {4}, 0, 0ll).cycles, 1200u);
  EXPECT_LT(device.run("counted_cycles", {1}, {4}, 0, -5l).cycles, 1200u);
}

TEST_P(clocks, what_follows_a_wait_decides_the_mode) {
  EXPECT_TRUE(loops("writes_first"));
  EXPECT_FALSE(loops("writes_afterwards"));
  EXPECT_FALSE(loops("writes_elapsed"));
  EXPECT_TRUE(loops("call_then_nothing"));
  EXPECT_FALSE(loops("call_then_write"));
  std::vector<long> out(4);
  device.run("writes_elapsed", {1}, {4}, 0, out.data(), 100000l);
  EXPECT_THAT(out, testing::Each(testing::AllOf(testing::Ge(100000), testing::Lt(100200))));
}

TEST_P(clocks, a_loop_that_does_something_while_it_waits_stays_and_yields) {
  EXPECT_FALSE(loops("counts_while_waiting"));
  int count = 0;
  auto result = device.run("counts_while_waiting", {1}, {1}, 0, &count, 1000ll);
  EXPECT_GT(count, 10);
  EXPECT_GT(result.yields, 10u);
}

TEST_P(clocks, a_timeout_on_a_flag_keeps_looking_at_the_flag) {
  EXPECT_FALSE(loops("times_out"));
  int flag = 0, out = 5;
  auto result = device.run("times_out", {1}, {1}, 0, &flag, 1000ll, &out);
  EXPECT_EQ(out, 0);
  EXPECT_GT(result.yields, 10u);
}

TEST_P(clocks, times_that_end_no_loop_are_noted) {
  std::vector<long long> times(100);
  auto result = device.run("writes_times", {1}, {1}, 0, times.data(), 100);
  EXPECT_EQ(result.noted_reads, 100u);
  EXPECT_EQ(result.clock_reads, 100u);
  std::vector<float> p(100);
  long long spent = 0;
  result = device.run("adds_up_times", {1}, {1}, 0, p.data(), &spent, 100);
  EXPECT_EQ(result.noted_reads, 200u);
  EXPECT_EQ(result.clock_reads, 200u);
  EXPECT_EQ(spent, 100 * 20);
}

TEST_P(clocks, a_wait_is_over_when_what_it_waited_for_has_come) {
  std::vector<int> flags(10, 1), got(10);
  auto result = device.run("waits_in_turn", {1}, {1}, 0, flags.data(), 10, 1000ll, got.data());
  EXPECT_EQ(result.waits_over, 10u);
  EXPECT_EQ(result.noted_reads, result.clock_reads);  // each wait's beginning
  EXPECT_THAT(got, testing::Each(1));
  flags[4] = 0;
  result = device.run("waits_in_turn", {1}, {1}, 0, flags.data(), 10, 1000ll, got.data());
  EXPECT_EQ(result.waits_over, 4u);
  EXPECT_EQ(result.noted_reads, 5u);
  EXPECT_GT(result.clock_reads, 20u);
  EXPECT_EQ(got[4], -1);
}

TEST_P(clocks, a_loop_that_the_clock_ends_by_way_of_memory_waits_for_it) {
  std::vector<int> rounds(64);
  auto result = device.run("one_reads_for_all", {1}, {64}, 0, 1000ll, rounds.data());
  EXPECT_GT(rounds[0], 10);
  EXPECT_THAT(rounds, testing::Each(rounds[0]));
  EXPECT_LE(result.noted_reads, 64u);  // when they begin
}

TEST_P(clocks, a_wait_goes_on_behind_a_loop_that_looked_at_all_in_vain) {
  std::vector<int> flags(5);
  int found = 0;
  auto result = device.run("looks_at_many", {1}, {1}, 0, flags.data(), 5, 1000ll, &found);
  EXPECT_EQ(found, -1);
  EXPECT_EQ(result.waits_over, 0u);
  EXPECT_LE(result.noted_reads, 1u);
  flags[3] = 1;
  device.run("looks_at_many", {1}, {1}, 0, flags.data(), 5, 1000ll, &found);
  EXPECT_EQ(found, 3);
}

INSTANTIATE_TEST_SUITE_P(levels, clocks, testing::Values(".O0", ".O2"),
                         [](const auto& info) { return std::string(info.param + 1); });

}  // namespace
}  // namespace sb::test
