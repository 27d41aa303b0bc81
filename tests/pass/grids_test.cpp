#include <gmock/gmock.h>
#include <gtest/gtest.h>

#include <array>
#include <numeric>

#include "harness/machine.hpp"

namespace sb::test {
namespace {

using testing::Each;
using testing::ElementsAre;

struct grids : testing::TestWithParam<const char*> {
  image device{std::string(PASS_IMAGES "/grids") + GetParam() + ".so"};
  bool blocks_have_fibers(const char* kernel) const {
    return device.kernel(kernel).mode == abi::kernel_mode::block_fiber;
  }
};

TEST_P(grids, a_block_stops_once_for_all_of_its_threads) {
  ASSERT_TRUE(blocks_have_fibers("passes_on"));
  constexpr int blocks = 3, threads = 5, n = blocks * threads, rounds = 4;
  std::vector<int> data(n), expected(n);
  std::iota(data.begin(), data.end(), 7);
  expected = data;
  std::vector<std::array<int, 3>> own(n);
  for (int i = 0; i < n; ++i) own[i] = {i, 2 * i, 3 * i};
  for (int r = 0; r < rounds; ++r) {
    const std::vector<int> before = expected;
    for (int i = 0; i < n; ++i) {
      expected[i] = before[(i + 1) % n] + own[i][r % 3];
      own[i][(r + 1) % 3] += r;
    }
  }
  const outcome result = device.run("passes_on", {blocks}, {threads}, 0, data.data(), n, rounds);
  EXPECT_EQ(data, expected);
  EXPECT_EQ(result.grid_syncs, blocks * 2 * rounds);
}

TEST_P(grids, the_counted_version_has_fibers_for_its_threads) {
  ASSERT_EQ(device.kernel("passes_on").counted->mode, abi::kernel_mode::fibers);
  std::vector<int> data = {1, 2, 3, 4};
  EXPECT_EQ(device.run_counted("passes_on", {2}, {2}, 0, data.data(), 4, 1).grid_syncs, 8u);
  EXPECT_THAT(data, ElementsAre(2, 4, 6, 4));
}

TEST_P(grids, blocks_may_meet_in_functions) {
  ASSERT_TRUE(blocks_have_fibers("meets_in_a_function"));
  std::vector<int> data = {1, 2, 3, 4, 5, 6}, sums(6);
  device.run("meets_in_a_function", {2}, {3}, 0, data.data(), sums.data(), 6);
  EXPECT_THAT(data, ElementsAre(63, 64, 65, 66, 67, 68));
}

TEST_P(grids, what_threads_did_before_they_returned_is_seen_behind_the_meeting) {
  ASSERT_TRUE(blocks_have_fibers("some_return"));
  for (int n = 0; n <= 6; ++n) {
    std::vector<int> data = {1, 2, 3, 4, 5, 6}, out(7), expected = data;
    for (int i = 0; i < n; ++i) expected[i] = i + 1 < n ? i + 2 : i + 1 < 6 ? -7 : 0;
    device.run("some_return", {2}, {3}, 0, data.data(), out.data(), n);
    EXPECT_EQ(data, expected) << n;
  }
}

TEST_P(grids, threads_of_a_block_may_come_by_different_ways) {
  ASSERT_TRUE(blocks_have_fibers("by_two_ways"));
  std::vector<int> data = {1, 3, 5, 2, 4, 6}, out(6);
  device.run("by_two_ways", {2}, {3}, 0, data.data(), out.data(), 6);
  EXPECT_THAT(data, ElementsAre(30, 50, 200, 600, 10, 30));
}

TEST_P(grids, who_is_through_does_not_wait) {
  ASSERT_TRUE(blocks_have_fibers("each_as_often"));
  std::vector<int> data = {3, 1, 0, 2, 2, 5}, seen(6);
  EXPECT_FALSE(device.run("each_as_often", {2}, {3}, 0, data.data(), seen.data(), 6).stuck);
  EXPECT_EQ(seen, data);
}

TEST_P(grids, threads_meet_in_their_blocks_and_warps_too) {
  ASSERT_TRUE(blocks_have_fibers("with_barriers_and_warps"));
  constexpr int blocks = 3, threads = 64;
  std::vector<int> data(blocks * threads), sums(blocks), expected(data.size());
  std::iota(data.begin(), data.end(), 1);
  int total = 0;
  for (int b = 0; b < blocks; ++b)
    for (int t = 0; t < 32; ++t) total += data[b * threads + t + 1];
  for (int i = 0; i < blocks * threads; ++i) expected[i] = total + (i + 1) % threads;
  device.run("with_barriers_and_warps", {blocks}, {threads}, 0, data.data(), sums.data());
  EXPECT_EQ(data, expected);
}

TEST_P(grids, threads_may_call_the_engine_before_they_meet) {
  ASSERT_TRUE(blocks_have_fibers("says_and_meets"));
  std::vector<int> data = {1, 2, 3, 4, 5, 6};
  EXPECT_EQ(device.run("says_and_meets", {2}, {3}, 0, data.data()).printed, "3;6;");
}

TEST_P(grids, threads_may_wait_for_the_clock_before_they_meet) {
  ASSERT_TRUE(blocks_have_fibers("waits_and_meets"));
  std::vector<int> data(6);
  EXPECT_GE(device.run("waits_and_meets", {2}, {3}, 0, data.data()).cycles, 1500u);
  EXPECT_THAT(data, Each(2));
}

TEST_P(grids, meetings_behind_pointers_need_fibers_for_threads) {
  EXPECT_EQ(device.kernel("meets_behind_a_pointer").mode, abi::kernel_mode::fibers);
  std::vector<int> data(6, 2);
  device.run("meets_behind_a_pointer", {2}, {3}, 0, data.data(), 1);
  EXPECT_THAT(data, Each(5));
}

INSTANTIATE_TEST_SUITE_P(levels, grids, testing::Values(".O0", ".O2"),
                         [](const auto& info) { return std::string(info.param + 1); });

}  // namespace
}  // namespace sb::test
