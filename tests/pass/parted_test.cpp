#include <gmock/gmock.h>
#include <gtest/gtest.h>

#include "harness/machine.hpp"

namespace sb::test {
namespace {

using testing::Each;
using testing::ElementsAre;

struct parted : testing::TestWithParam<const char*> {
  image device{std::string(PASS_IMAGES "/parted") + GetParam() + ".so"};
  bool loops(const char* kernel) const {
    return device.kernel(kernel).mode == abi::kernel_mode::loop;
  }
};

TEST_P(parted, a_switch_may_come_between_a_return_and_a_barrier) {
  ASSERT_TRUE(loops("chooses_behind_a_return"));
  std::vector<int> data = {1, 2, 3, 5, 7, 8, 9, 3};
  device.run("chooses_behind_a_return", {1}, {8}, 0, data.data(), 6);
  EXPECT_THAT(data, ElementsAre(50, -7, 4, 299, 12, 11, 9, 3));
}

TEST_P(parted, cases_may_return_before_a_barrier) {
  ASSERT_TRUE(loops("returns_by_cases"));
  std::vector<int> data = {4, 1, 2, 3, 9, 7, 0, 6};
  device.run("returns_by_cases", {1}, {8}, 0, data.data());
  EXPECT_THAT(data, ElementsAre(-1, 3005, -2, 3003, 3013, 3007, -1, -2));
}

TEST_P(parted, what_threads_leave_before_they_return_is_there_behind_the_barrier) {
  ASSERT_TRUE(loops("leaves_something"));
  for (int n = 0; n <= 6; ++n) {
    std::vector<int> data = {1, 2, 3, 4, 5, 6}, out(6), expected(6);
    for (int t = 0; t < n; ++t) expected[t] = 5 - t < n ? 6 - t : t - 5;
    device.run("leaves_something", {1}, {6}, 0, data.data(), out.data(), n);
    EXPECT_EQ(out, expected) << n;
  }
}

TEST_P(parted, a_loop_with_barriers_may_have_a_switch) {
  ASSERT_TRUE(loops("chooses_in_rounds"));
  std::vector<int> data = {3, 0, 5, 1, 2, 7}, expected = data;
  for (int r = 0; r < 3; ++r) {
    for (int t = 0; t < 5; ++t) {
      int& v = expected[t];
      const int way = (v + r) % 4;
      v = way == 0 ? v + 5 : way == 1 ? v * 2 : way == 2 ? v ^ 9 : v - 1;
    }
    const std::vector<int> before = expected;
    for (int t = 0; t < 5; ++t) expected[t] += before[(t + 1) % 5];
  }
  device.run("chooses_in_rounds", {1}, {6}, 0, data.data(), 5, 3);
  EXPECT_EQ(data, expected);
}

TEST_P(parted, those_that_are_left_may_meet_in_cases) {
  ASSERT_TRUE(loops("meets_in_cases"));
  const auto run = [&](int way) {
    std::vector<int> data = {1, 2, 3, 4};
    device.run("meets_in_cases", {1}, {4}, 0, data.data(), 3, way);
    return data;
  };
  EXPECT_THAT(run(0), ElementsAre(4, 5, 6, 4));
  EXPECT_THAT(run(1), ElementsAre(30, 20, 10, 4));
  EXPECT_THAT(run(2), ElementsAre(31, 22, 13, 4));
  EXPECT_THAT(run(3), ElementsAre(-1, -2, -3, 4));
}

TEST_P(parted, lanes_meet_those_of_their_case) {
  ASSERT_TRUE(loops("lanes_choose"));
  std::vector<int> data = {0, 1, 5, 1, 0, 1};
  device.run("lanes_choose", {1}, {6}, 0, data.data());
  EXPECT_THAT(data, ElementsAre(0b010001, 9, -5, 9, 0b010001, 9));
}

TEST_P(parted, lanes_may_return_from_within_branches) {
  ASSERT_TRUE(loops("lanes_return"));
  std::vector<int> data = {0, 1, 2, 3, 7};
  device.run("lanes_return", {1}, {5}, 0, data.data());
  EXPECT_THAT(data, ElementsAre(7000, 7011, 7002, -1, -1));
}

TEST_P(parted, lanes_of_one_case_fall_into_the_next) {
  ASSERT_TRUE(loops("lanes_fall_through"));
  std::vector<int> data = {0, 1, 4, 7, 0, 1};
  device.run("lanes_fall_through", {1}, {6}, 0, data.data());
  // 10 + (0 + 4) from case 0; together with the ones of case 1: 14 + 1 + 14 + 1.
  EXPECT_THAT(data, ElementsAre(30114, 30101, -4, 93, 30114, 30101));
}

TEST_P(parted, lanes_leave_rounds_by_several_ways) {
  ASSERT_TRUE(loops("lanes_leave_rounds"));
  std::vector<int> data = {0, 1, 2, 3, 9};
  device.run("lanes_leave_rounds", {1}, {5}, 0, data.data());
  // Round 0 is left by the 2, round 1 by the 1 (which returns) and the 3.
  EXPECT_THAT(data, ElementsAre(510, -4, 0, 4, 10));
}

TEST_P(parted, functions_in_which_threads_meet_are_inlined_whatever_the_program_says) {
  ASSERT_TRUE(loops("meets_in_calls"));
  std::vector<int> data = {1, 2, 3};
  device.run("meets_in_calls", {1}, {3}, 0, data.data());
  EXPECT_THAT(data, Each(17));
  ASSERT_TRUE(loops("shuffles_in_calls"));
  data = {1, 2, 3};
  device.run("shuffles_in_calls", {1}, {3}, 0, data.data());
  EXPECT_THAT(data, ElementsAre(3, 5, 6));
}

TEST_P(parted, threads_meet_at_barriers_in_both_ways_of_a_branch) {
  ASSERT_TRUE(loops("threads_part"));
  std::vector<int> data = {1, 2, 3, 4, 5, 6, 7, 8};
  device.run("threads_part", {1}, {8}, 0, data.data());
  EXPECT_THAT(data, ElementsAre(2, 3, 4, 5, 25, 36, 47, 58));
}

TEST_P(parted, threads_meet_where_some_are_a_barrier_ahead) {
  ASSERT_TRUE(loops("some_are_early"));
  std::vector<int> data(8);
  device.run("some_are_early", {1}, {8}, 0, data.data());
  EXPECT_THAT(data, ElementsAre(10, 10, 10, 10, 1, 1, 1, 1));
}

TEST_P(parted, returns_inside_branches_come_before_a_barrier) {
  ASSERT_TRUE(loops("returns_from_branches"));
  std::vector<int> data = {0, 1, 2, 3, 4, 5, 7};
  device.run("returns_from_branches", {1}, {7}, 0, data.data());
  EXPECT_THAT(data, ElementsAre(300, 311, 302, -1, 304, 315, -1));
}

TEST_P(parted, barriers_of_different_kinds_count_together) {
  ASSERT_TRUE(loops("counts_at_different_barriers"));
  // Threads at each round: 0 to 4, 1 to 4, 2 to 4, 3 and 4, 4. Those past 1 say yes to a count.
  std::vector<int> data(5), expected(5);
  for (int r = 0; r < 5; ++r) {
    int there = 0, yes = 0;
    for (int t = r; t < 5; ++t) {
      ++there;
      yes += (t + r) % 3 == 1 ? t > 1 : (t + r) % 3 == 2;
    }
    for (int t = r; t < 5; ++t) {
      if ((t + r) % 3 == 0) continue;
      expected[t] = 10 * expected[t] + ((t + r) % 3 == 1 ? yes : 5 + (yes == there));
    }
  }
  device.run("counts_at_different_barriers", {1}, {5}, 0, data.data());
  EXPECT_EQ(data, expected);
}

TEST_P(parted, a_thread_keeps_what_it_knows_from_barrier_to_barrier) {
  ASSERT_TRUE(loops("keeps_what_it_knows"));
  std::vector<int> data = {1, 3, 2, 9, 3}, out(5), expected(5);
  // All threads are at the same round of `tile`, whatever their own round is.
  int own[5][3], round[5] = {}, tile[2][5];
  bool over[5] = {};
  for (int t = 0; t < 5; ++t) own[t][0] = t, own[t][1] = data[t], own[t][2] = 7;
  for (int met = 0; met < 4; ++met) {
    int before[5], at[5];
    for (int t = 0; t < 5; ++t) {
      at[t] = -1;
      while (!over[t] && at[t] < 0) {
        const int r = round[t];
        if (r >= 3 + t % 2) {
          over[t] = true;
          break;
        }
        before[t] = own[t][r % 3] * 3 + r;
        tile[met & 1][t] = before[t];
        if (data[t] > r)
          at[t] = r;
        else if (r == 2)
          over[t] = true;
        ++round[t];
      }
      if (at[t] < 0) tile[met & 1][t] = 0;
    }
    for (int t = 0; t < 5; ++t)
      if (at[t] >= 0) own[t][(at[t] + 1) % 3] += tile[met & 1][(t + 1) % 5] - before[t];
  }
  for (int t = 0; t < 5; ++t) expected[t] = own[t][0] + 1000 * own[t][1] + 1000000 * own[t][2];
  device.run("keeps_what_it_knows", {1}, {5}, 0, data.data(), out.data());
  EXPECT_EQ(out, expected);
}

TEST_P(parted, lanes_at_different_barriers_stop_one_by_one_if_they_meet_too) {
  ASSERT_EQ(device.kernel("lanes_and_barriers").mode, abi::kernel_mode::lanes);
  std::vector<int> data = {1, 2, 3, 4, 5, 6, 7};
  device.run("lanes_and_barriers", {1}, {7}, 0, data.data());
  EXPECT_THAT(data, ElementsAre(2, 3, 4, 5, 6, 7, 7));
}

TEST_P(parted, recursion_and_pointers_to_functions_that_meet_need_fibers) {
  std::vector<int> data = {2, 2, 2};
  device.run("meets_in_recursion", {1}, {3}, 0, data.data());
  EXPECT_THAT(data, Each(4));
  device.run("meets_behind_a_pointer", {1}, {3}, 0, data.data());
  EXPECT_THAT(data, Each(12));
  EXPECT_FALSE(loops("meets_in_recursion"));
  EXPECT_FALSE(loops("meets_behind_a_pointer"));
}

INSTANTIATE_TEST_SUITE_P(levels, parted, testing::Values(".O0", ".O2"),
                         [](const auto& info) { return std::string(info.param + 1); });

}  // namespace
}  // namespace sb::test
