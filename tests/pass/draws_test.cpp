#include <gmock/gmock.h>
#include <gtest/gtest.h>

#include "harness/machine.hpp"

namespace sb::test {
namespace {

using testing::Each;

struct draws : testing::TestWithParam<const char*> {
  image device{std::string(PASS_IMAGES "/draws") + GetParam() + ".so"};
  bool loops(const char* kernel) const {
    return device.kernel(kernel).mode == abi::kernel_mode::loop;
  }
};

TEST_P(draws, a_loop_that_draws_its_work_waits_for_nobody) {
  constexpr int n = 1000;
  for (const char* kernel :
       {"one_by_one", "with_break", "in_rows_of_the_block", "inc", "lane_draws_for_its_warp",
        "thread_draws_for_its_block", "end_in_memory", "warp_votes", "block_votes"}) {
    EXPECT_TRUE(loops(kernel)) << kernel;
    int next = 0;
    std::vector<int> times(n);
    auto result = device.run(kernel, {3}, {64}, 0, &next, n, times.data());
    EXPECT_THAT(times, Each(1)) << kernel;
    EXPECT_GE(next, n / 64) << kernel;
    EXPECT_EQ(result.yields, 0u) << kernel;
  }
}

TEST_P(draws, the_counted_version_tells_of_each_draw_and_of_each_round) {
  constexpr int n = 100, threads = 64;
  struct expected {
    const char* kernel;
    std::uint64_t items, drawers;  // each of which draws once in vain
    std::uint64_t together;        // threads that go round with it
  };
  for (const expected& one : {expected{"one_by_one", n, threads, 1},
                              {"with_break", n, threads, 1},
                              {"lane_draws_for_its_warp", 4, 2, 32},
                              {"thread_draws_for_its_block", 2, 1, threads}}) {
    EXPECT_EQ(device.kernel(one.kernel).counted->draws, 1u) << one.kernel;
    int next = 0;
    std::vector<int> times(n);
    auto result = device.run_counted(one.kernel, {1}, {threads}, 0, &next, n, times.data());
    EXPECT_THAT(times, Each(1)) << one.kernel;
    EXPECT_EQ(result.draws, one.items + one.drawers) << one.kernel;
    // Where the first draw is before the loop, the last one begins no round.
    EXPECT_LE(result.rounds, (one.items + one.drawers) * one.together) << one.kernel;
    EXPECT_GE(result.rounds, one.items * one.together) << one.kernel;
  }
}

TEST_P(draws, a_counter_of_the_block_is_no_other_blocks) {
  EXPECT_EQ(device.kernel("from_shared_memory").counted->draws, 0u);
  std::vector<int> times(300);
  EXPECT_EQ(device.run_counted("from_shared_memory", {1}, {64}, 0, 300, times.data()).draws, 364u);
}

TEST_P(draws, nothing_is_drawn_where_the_loop_goes_on_whatever_the_counter_says) {
  for (const char* kernel : {"keeps_some", "keeps_what_must_fit"}) {
    EXPECT_EQ(device.kernel(kernel).counted->draws, 0u) << kernel;
    int count = 0;
    std::vector<int> out(200);
    auto result = device.run_counted(kernel, {1}, {64}, 0, &count, 200, 200, out.data());
    EXPECT_EQ(count, 200) << kernel;
    EXPECT_EQ(result.draws + result.rounds, 0u) << kernel;
  }
}

TEST_P(draws, several_may_be_drawn_at_once) {
  EXPECT_TRUE(loops("several_at_once"));
  constexpr std::uint64_t n = 1001;
  std::uint64_t next = 0;
  std::vector<int> times(n);
  device.run("several_at_once", {3}, {64}, 0, &next, n, times.data());
  EXPECT_THAT(times, Each(1));
}

TEST_P(draws, a_counter_may_count_down) {
  for (const char* kernel : {"downwards", "downwards_by_adding"}) {
    EXPECT_TRUE(loops(kernel)) << kernel;
    int left = 500;
    std::vector<int> times(500);
    device.run(kernel, {3}, {64}, 0, &left, times.data());
    EXPECT_THAT(times, Each(1)) << kernel;
    EXPECT_LT(left, 0) << kernel;
  }
}

TEST_P(draws, a_counter_may_lie_in_shared_memory) {
  EXPECT_TRUE(loops("from_shared_memory"));
  std::vector<int> times(300);
  device.run("from_shared_memory", {3}, {64}, 0, 300, times.data());
  EXPECT_THAT(times, Each(3));
}

TEST_P(draws, the_end_may_be_in_memory) {
  EXPECT_TRUE(loops("end_of_memory"));
  const int n = 100;
  int next = 0, sum = 0;
  std::vector<int> times(n);
  device.run("end_of_memory", {2}, {64}, 0, &next, &n, times.data(), &sum);
  EXPECT_THAT(times, Each(1));
  EXPECT_EQ(sum, n * (n - 1) / 2);
}

TEST_P(draws, a_loop_that_draws_may_also_leave_for_another_reason) {
  EXPECT_TRUE(loops("leaves_early"));
  int next = 0;
  std::vector<int> times(90);
  times[40] = 7;
  device.run("leaves_early", {1}, {1}, 0, &next, 90, times.data());
  EXPECT_EQ(next, 41);
  EXPECT_EQ(times[38], 1);
  EXPECT_EQ(times[41], 0);
}

TEST_P(draws, who_adds_nothing_waits_for_others) {
  EXPECT_FALSE(loops("looks_by_adding_nothing"));
  int count = 0, out = 0;
  auto result = device.run("looks_by_adding_nothing", {1}, {32}, 0, &count, 31, &out);
  EXPECT_FALSE(result.stuck);
  EXPECT_EQ(out, 31);
}

TEST_P(draws, a_step_of_the_caller_may_be_nothing) {
  EXPECT_FALSE(loops("step_of_the_caller"));
  int count = 0, out = 0;
  auto result = device.run("step_of_the_caller", {1}, {32}, 0, &count, 0, 31, &out);
  EXPECT_FALSE(result.stuck);
  EXPECT_EQ(out, 31);
}

TEST_P(draws, a_counter_that_is_moved_back_waits_for_others) {
  EXPECT_FALSE(loops("puts_back"));
  for (const char* kernel : {"gives_back", "counts_away", "looks_at_the_low_byte"}) {
    EXPECT_FALSE(loops(kernel)) << kernel;
    int count = 0, out = 0;
    auto result = device.run(kernel, {1}, {32}, 0, &count, 31, &out);
    EXPECT_FALSE(result.stuck) << kernel;
    EXPECT_EQ(out, 1) << kernel;
  }
}

TEST_P(draws, who_wants_one_number_may_miss_it) {
  for (const char* kernel : {"wants_one_number", "looks_now_and_then"}) {
    EXPECT_FALSE(loops(kernel)) << kernel;
    int count = 100, out = 0;
    auto result = device.run(kernel, {1}, {2}, 0, &count, 99, &out);
    EXPECT_FALSE(result.stuck) << kernel;
    EXPECT_EQ(out, 1) << kernel;
  }
}

TEST_P(draws, who_draws_until_others_end_it_lets_them) {
  constexpr int far = 2'000'000'000;
  for (const char* kernel :
       {"others_end_it", "others_end_it_for_a_warp", "others_end_it_for_a_block"}) {
    EXPECT_FALSE(loops(kernel)) << kernel;
    int next = 0, out = 0;
    auto result = device.run(kernel, {2}, {64}, 0, &next, far, &out);
    EXPECT_FALSE(result.stuck) << kernel;
    EXPECT_EQ(out % 32, 0) << kernel;
    EXPECT_GT(out, 0) << kernel;
  }
}

TEST_P(draws, parameters_may_point_to_one_counter) {
  EXPECT_FALSE(loops("gives_back_by_another_name"));
  int next = 0, out = 0;
  auto result = device.run("gives_back_by_another_name", {1}, {64}, 0, &next, 1000, &out, &next);
  EXPECT_FALSE(result.stuck);
  EXPECT_EQ(out, 32);
}

TEST_P(draws, an_end_that_moves_on_is_waited_for) {
  EXPECT_FALSE(loops("end_moves_on"));
  int count = 0, end = 10, out = 0;
  auto result = device.run("end_moves_on", {1}, {2}, 0, &count, &end, &out);
  EXPECT_FALSE(result.stuck);
  EXPECT_EQ(out, 1);
}

TEST_P(draws, who_looks_at_a_flag_between_draws_lets_others_write_it) {
  EXPECT_FALSE(loops("draws_and_looks"));
  int count = 0, flag = 0, out = 0;
  device.run("draws_and_looks", {1}, {2}, 0, &count, 1 << 20, &flag, &out);
  EXPECT_EQ(out, 1);
  EXPECT_LT(count, 1000);
}

TEST_P(draws, who_waits_for_what_it_drew_waits_for_others) {
  EXPECT_FALSE(loops("waits_for_what_it_drew"));
  int next = 0, out = 0;
  std::vector<int> ready(5);
  auto result = device.run("waits_for_what_it_drew", {1}, {2}, 0, &next, 5, ready.data(), &out);
  EXPECT_FALSE(result.stuck);
  EXPECT_EQ(out, 1);
}

TEST_P(draws, a_turn_that_others_bring_about_is_waited_for) {
  EXPECT_FALSE(loops("counts_when_told"));
  int flag = 0, out = 0;
  auto result = device.run("counts_when_told", {1}, {2}, 0, &flag, 5, &out);
  EXPECT_FALSE(result.stuck);
  EXPECT_EQ(out, 5);
}

TEST_P(draws, a_thread_may_wait_for_its_block) {
  for (const char* kernel : {"thread_looks_for_its_block", "thread_locks_for_its_block",
                             "thread_adds_nothing_for_its_block"}) {
    EXPECT_FALSE(loops(kernel)) << kernel;
    int word = 0;
    std::vector<int> out(64);
    auto result = device.run(kernel, {2}, {64}, 0, &word, out.data());
    EXPECT_FALSE(result.stuck) << kernel;
    EXPECT_GT(out[63], 0) << kernel;
  }
  EXPECT_FALSE(loops("thread_gives_back_for_its_block"));
  int count = 0;
  std::vector<int> out(64);
  device.run("thread_gives_back_for_its_block", {2}, {64}, 0, &count, 100, out.data());
  EXPECT_THAT(out, Each(1));
}

INSTANTIATE_TEST_SUITE_P(levels, draws, testing::Values(".O0", ".O2"),
                         [](const auto& info) { return std::string(info.param + 1); });

}  // namespace
}  // namespace sb::test
