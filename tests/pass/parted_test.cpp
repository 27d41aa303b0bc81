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
  std::vector<int> data = {4, 1, 2, 3, 9, 7, 0, 6};
  device.run("returns_by_cases", {1}, {8}, 0, data.data());
  EXPECT_THAT(data, ElementsAre(-1, 3005, -2, 3003, 3013, 3007, -1, -2));
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
