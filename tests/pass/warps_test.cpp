#include <gmock/gmock.h>
#include <gtest/gtest.h>

#include <numeric>

#include "harness/machine.hpp"

namespace sb::test {
namespace {

using testing::Each;

struct warps : testing::TestWithParam<const char*> {
  image device{std::string(PASS_IMAGES "/warps") + GetParam() + ".so"};
  bool loops(const char* kernel) const {
    return device.kernel(kernel).mode == abi::kernel_mode::loop;
  }
};

TEST_P(warps, a_block_adds_up_in_warps_whatever_its_shape) {
  ASSERT_TRUE(loops("block_sum"));
  for (dims block : {dims{32}, dims{64}, dims{256}, dims{32, 4}, dims{64, 2, 2}, dims{16, 4},
                     dims{8, 4, 3}, dims{96}}) {
    std::vector<int> in(block.x * block.y * block.z);
    std::iota(in.begin(), in.end(), 1);
    int out = 0;
    device.run("block_sum", {1}, block, 0, in.data(), &out);
    EXPECT_EQ(out, std::accumulate(in.begin(), in.end(), 0)) << block.x << " " << block.y;
  }
}

TEST_P(warps, votes_count_the_lanes_that_are_there) {
  ASSERT_TRUE(loops("ranks"));
  for (unsigned threads : {1u, 20u, 32u, 70u}) {
    std::vector<int> in(threads), out(threads), expected(threads);
    for (unsigned i = 0; i < threads; ++i) in[i] = i % 3 == 0;
    for (unsigned i = 0, n = 0; i < threads; ++i) {
      if (i % 32 == 0) n = 0;
      expected[i] = in[i] ? static_cast<int>(n++) : -1;
    }
    device.run("ranks", {1}, {threads}, 0, in.data(), out.data());
    EXPECT_EQ(out, expected) << threads;
  }
}

TEST_P(warps, a_vote_decides_for_the_warp) {
  ASSERT_TRUE(loops("until_all"));
  std::vector<int> data(64), rounds(64), expected(64, 5);
  data[3] = 5;
  data[40] = 9;
  std::fill(expected.begin() + 32, expected.end(), 9);
  device.run("until_all", {1}, {64}, 0, data.data(), rounds.data());
  EXPECT_THAT(data, Each(0));
  EXPECT_EQ(rounds, expected);
}

TEST_P(warps, lanes_that_part_meet_among_themselves) {
  ASSERT_TRUE(loops("some_lanes"));
  ASSERT_TRUE(loops("first_eight"));
  std::vector<int> in(64), out(64);
  std::iota(in.begin(), in.end(), 1);
  device.run("some_lanes", {1}, {64}, 0, in.data(), out.data());
  for (int i = 0; i < 64; ++i) {
    EXPECT_EQ(out[i], in[i] + (i % 2 == 0 ? in[i / 32 * 32] : 0)) << i;
  }
  device.run("first_eight", {1}, {64}, 0, in.data(), out.data());
  EXPECT_EQ(out[0], 36);
  EXPECT_EQ(out[4], 52);  // beyond the tile a lane gets its own
  EXPECT_EQ(out[8], 9);
  EXPECT_EQ(out[63], 64);
}

TEST_P(warps, the_active_lanes_are_those_that_are_there) {
  ASSERT_TRUE(loops("both_sides"));
  std::vector<int> in(64);
  for (int i = 0; i < 64; ++i) in[i] = i % 3 - 1;
  std::vector<unsigned> out(64, 5), expected(64, 5);
  for (unsigned i = 0; i < 50; ++i) {
    unsigned positive = 0, rest = 0, odd = 0;
    for (unsigned j = i / 32 * 32; j < std::min(50u, i / 32 * 32 + 32); ++j) {
      (in[j] > 0 ? positive : rest) |= 1u << j % 32;
      odd |= (in[j] < 0 && j % 2 ? 1u : 0u) << j % 32;
    }
    expected[i] = in[i] > 0 ? positive : in[i] < 0 ? ~odd : rest;
  }
  device.run("both_sides", {1}, {64}, 0, in.data(), out.data(), 50);
  EXPECT_EQ(out, expected);
}

TEST_P(warps, lanes_leave_a_loop_one_after_the_other) {
  ASSERT_TRUE(loops("leave_in_turn"));
  std::vector<int> in(64), out(64), expected(64);
  for (int i = 0; i < 64; ++i) in[i] = i * 5 % 11;
  for (int i = 0; i < 64; ++i) {
    int last = in[i] == 7 ? 3 : in[i];
    int sum = 0;
    for (int round = 0; round < last; ++round) {
      for (int j = i / 32 * 32; j < i / 32 * 32 + 32; ++j) {
        sum += round < in[j] && !(in[j] == 7 && round > 3);
      }
    }
    expected[i] = 1000 * sum + last;
  }
  device.run("leave_in_turn", {1}, {64}, 0, in.data(), out.data());
  EXPECT_EQ(out, expected);
}

TEST_P(warps, lanes_with_the_same_key_find_each_other) {
  ASSERT_TRUE(loops("by_key"));
  std::vector<int> in(64), sums(64), expected_sums(64);
  std::vector<unsigned> groups(64), expected(64);
  for (int i = 0; i < 64; ++i) in[i] = i * i % 5;
  for (unsigned i = 0; i < 64; ++i) {
    for (unsigned j = i / 32 * 32; j < i / 32 * 32 + 32; ++j) {
      if (in[i] == in[j]) {
        expected[i] |= 1u << j % 32;
        expected_sums[i] += static_cast<int>(j);
      }
    }
  }
  device.run("by_key", {1}, {64}, 0, in.data(), groups.data(), sums.data());
  EXPECT_EQ(groups, expected);
  EXPECT_EQ(sums, expected_sums);
}

TEST_P(warps, lanes_go_together_between_volatile_accesses) {
  for (std::uint32_t width : {64u, 256u, 512u, 1024u}) {
    SCOPED_TRACE(width);
    std::vector<int> in(width * 3), sums(3), expected_sums(3), neighbours(in.size()), expected;
    for (std::uint32_t i = 0; i < in.size(); ++i) {
      in[i] = static_cast<int>(i * 37 % 101);
      expected_sums[i / width] += in[i];
    }
    for (std::uint32_t i = 0; i < in.size(); ++i) expected.push_back(in[i - i % 32 + (i + 1) % 32]);
    device.run("lanes_go_together", {3}, {width}, width * 4, in.data(), sums.data(),
               neighbours.data());
    EXPECT_EQ(sums, expected_sums);
    EXPECT_EQ(neighbours, expected);
  }
}

INSTANTIATE_TEST_SUITE_P(levels, warps, testing::Values(".O0", ".O2"),
                         [](const auto& info) { return std::string(info.param + 1); });

}  // namespace
}  // namespace sb::test
