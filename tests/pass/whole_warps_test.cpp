#include <gtest/gtest.h>

#include <string>
#include <utility>
#include <vector>

#include "harness/machine.hpp"

namespace sb::test {
namespace {

struct whole_warps : testing::TestWithParam<const char*> {
  image device{std::string(PASS_IMAGES "/whole_warps") + GetParam() + ".so"};

  // Threads with fibers of their own, which the counted version has, leave the same. The kernel
  // gets the numbers first.
  template <class... Args>
  void expect_as_with_fibers(const char* kernel, dims grid, dims block, const std::vector<int>& in,
                             const Args&... args) {
    std::vector<int> data = in, expected = in;
    EXPECT_FALSE(device.run(kernel, grid, block, 0, data.data(), args...).stuck);
    EXPECT_FALSE(device.run_counted(kernel, grid, block, 0, expected.data(), args...).stuck);
    EXPECT_EQ(data, expected) << kernel << " in blocks of " << block.x << "x" << block.y;
  }

  abi::kernel_mode mode(const char* kernel, dims block = {64}, std::uint32_t blocks = 1) const {
    return abi::variant_for(device.kernel(kernel), {block.x, block.y, block.z, blocks}).mode;
  }
};

std::vector<int> numbers(unsigned count) {
  std::vector<int> in(count);
  for (unsigned i = 0; i < count; ++i) in[i] = static_cast<int>(i * 7919 % 11);
  return in;
}

TEST_P(whole_warps, warps_meet_at_barriers_on_both_ways_of_a_branch) {
  ASSERT_EQ(mode("by_two_ways"), abi::kernel_mode::loop);
  std::vector<int> data(70), expected(70);
  for (int t = 0; t < 70; ++t) {
    data[t] = t;
    const int of_first = 31 * 16;
    expected[t] = t >= 32 ? t + of_first : 2 * (t + of_first) + (t < 31 ? 1 : 0);
  }
  device.run("by_two_ways", {1}, {70}, 0, data.data());
  EXPECT_EQ(data, expected);
}

TEST_P(whole_warps, one_warp_brings_what_others_take) {
  ASSERT_EQ(mode("brings_and_takes"), abi::kernel_mode::loop);
  const int rounds = 5;
  const std::vector<int> in = numbers(32 * rounds);
  std::vector<int> out(64), expected(64);
  for (int t = 0; t < 64; ++t) {
    for (int r = 0; r < rounds; ++r) {
      int sum = 0;
      for (int i = 0; i < 32; ++i) sum += in[32 * r + i];
      expected[t] = 3 * expected[t] + sum + in[32 * r + (t % 32 < 31 ? t % 32 + 1 : t % 32)];
    }
  }
  device.run("brings_and_takes", {1}, {96}, 0, in.data(), out.data(), rounds);
  EXPECT_EQ(out, expected);
}

TEST_P(whole_warps, warps_go_round_as_often_as_one_of_their_lanes) {
  ASSERT_EQ(mode("as_long_as_any"), abi::kernel_mode::loop);
  for (dims block : {dims{64}, dims{33}, dims{32, 3}, dims{100}}) {
    std::vector<int> data = numbers(block.x * block.y), expected = data;
    std::vector<int> seen(data.size()), expected_seen(data.size());
    device.run("as_long_as_any", {1}, block, 0, data.data(), seen.data());
    device.run_counted("as_long_as_any", {1}, block, 0, expected.data(), expected_seen.data());
    EXPECT_EQ(data, expected) << block.x;
    EXPECT_EQ(seen, expected_seen) << block.x;
  }
}

TEST_P(whole_warps, lanes_return_and_the_others_stay_together) {
  ASSERT_EQ(mode("lanes_leave"), abi::kernel_mode::loop);
  for (dims block : {dims{64}, dims{40}, dims{7}, dims{256}}) {
    expect_as_with_fibers("lanes_leave", {1}, block, numbers(block.x), 7);
  }
}

TEST_P(whole_warps, rounds_may_pass_without_a_barrier) {
  ASSERT_EQ(mode("now_and_then"), abi::kernel_mode::loop);
  expect_as_with_fibers("now_and_then", {1}, {64}, numbers(64), 9);
}

TEST_P(whole_warps, a_warp_goes_the_way_that_its_first_lane_says) {
  ASSERT_EQ(mode("as_the_first_says"), abi::kernel_mode::loop);
  expect_as_with_fibers("as_the_first_says", {1}, {128}, numbers(128));
}

TEST_P(whole_warps, a_warp_goes_the_way_that_any_lane_says_where_that_is_there) {
  for (dims block : {dims{128}, dims{32, 3}, dims{16, 16}, dims{8, 4, 2}}) {
    ASSERT_EQ(mode("as_another_says", block), abi::kernel_mode::loop) << block.x;
    for (int lane : {0, 3, 31, 37}) {
      expect_as_with_fibers("as_another_says", {1}, block, numbers(128), lane);
    }
  }
  for (dims block : {dims{31}, dims{100}, dims{24, 3}}) {
    EXPECT_EQ(mode("as_another_says", block), abi::kernel_mode::lanes) << block.x;
    expect_as_with_fibers("as_another_says", {1}, block, numbers(block.x * block.y), 3);
  }
}

TEST_P(whole_warps, a_warp_goes_the_way_that_all_of_its_lanes_agree_on) {
  ASSERT_EQ(mode("as_all_say"), abi::kernel_mode::loop);
  // The second warp agrees, and the last one, which has four lanes.
  const unsigned threads = 100;
  std::vector<int> data = numbers(threads), expected(threads);
  for (unsigned t = 32; t < 64; ++t) data[t] |= 8;
  for (unsigned first = 0; first < threads; first += 32) {
    int sum = 0;
    for (unsigned t = first; t < threads && t < first + 32; ++t) sum += data[t];
    for (unsigned t = first; t < threads && t < first + 32; ++t) {
      expected[t] = first == 32 || first == 96 ? data[t] + sum : 2 * data[t];
    }
  }
  device.run("as_all_say", {1}, {threads}, 0, data.data());
  EXPECT_EQ(data, expected);
}

TEST_P(whole_warps, the_warps_number_in_the_grid_is_one_where_blocks_are_of_whole_warps) {
  for (const char* kernel : {"by_number_in_grid", "by_unsigned_number_in_grid",
                             "by_number_of_tiles", "by_number_of_any"}) {
    for (dims block : {dims{32}, dims{96}, dims{256}}) {
      ASSERT_EQ(mode(kernel, block), abi::kernel_mode::loop) << kernel;
      for (int limit : {0, 4, 100}) {
        expect_as_with_fibers(kernel, {5}, block, numbers(5 * block.x), limit);
      }
    }
    EXPECT_EQ(mode(kernel, {48}), abi::kernel_mode::lanes) << kernel;
    EXPECT_EQ(mode(kernel, {31}), abi::kernel_mode::lanes) << kernel;
    EXPECT_EQ(mode(kernel, {64}, (1u << 21) + 1), abi::kernel_mode::lanes) << kernel;
    expect_as_with_fibers(kernel, {5}, {48}, numbers(5 * 48), 4);
  }
  for (const char* kernel : {"by_number_of_tiles", "by_number_of_any"}) {
    for (dims block : {dims{16, 16}, dims{24, 4}, dims{32, 3}, dims{64, 2}}) {
      ASSERT_EQ(mode(kernel, block), abi::kernel_mode::loop) << kernel;
      expect_as_with_fibers(kernel, {5}, block, numbers(5 * block.x * block.y), 4);
    }
    EXPECT_EQ(mode(kernel, {24, 3}), abi::kernel_mode::lanes) << kernel;
  }
  for (dims block : {dims{4, 4, 4}, dims{8, 3, 4}, dims{32, 2, 2}}) {
    ASSERT_EQ(mode("by_number_of_any", block), abi::kernel_mode::loop);
    const unsigned threads = block.x * block.y * block.z;
    expect_as_with_fibers("by_number_of_any", {3, 2}, block, numbers(6 * threads), 4);
  }
}

TEST_P(whole_warps, rows_may_break_warps) {
  for (dims block : {dims{64}, dims{32, 3}, dims{16, 16}, dims{24, 4}, dims{33, 2}}) {
    ASSERT_EQ(mode("in_rows", block), abi::kernel_mode::loop) << block.x;
    expect_as_with_fibers("in_rows", {1}, block, numbers(block.x * block.y));
  }
}

TEST_P(whole_warps, a_number_of_the_thread_is_not_negative_though_its_type_has_a_sign) {
  for (dims block : {dims{64}, dims{100}, dims{32, 3}, dims{16, 16}, dims{24, 4}, dims{33, 2}}) {
    for (const char* kernel : {"first_of_rows", "first_of_layers", "first_of_wide_numbers"}) {
      ASSERT_EQ(mode(kernel, block), abi::kernel_mode::loop) << kernel << ", " << block.x;
      expect_as_with_fibers(kernel, {1}, block, numbers(block.x * block.y));
    }
  }
  for (dims block : {dims{16, 4, 3}, dims{64, 2, 2}, dims{5, 7, 9}}) {
    for (const char* kernel : {"first_of_layers", "first_of_wide_numbers"}) {
      ASSERT_EQ(mode(kernel, block), abi::kernel_mode::loop) << kernel << ", " << block.x;
      expect_as_with_fibers(kernel, {1}, block, numbers(block.x * block.y * block.z));
    }
  }
}

TEST_P(whole_warps, kernels_that_may_stop_have_rows_that_break_warps) {
  for (dims block : {dims{64}, dims{16, 16}, dims{24, 4}}) {
    ASSERT_EQ(mode("may_stop", block), abi::kernel_mode::loop) << block.x;
    const int threads = static_cast<int>(block.x * block.y);
    expect_as_with_fibers("may_stop", {1}, block, numbers(threads), threads);
    std::vector<int> data = numbers(threads);
    const std::string said =
        device.run("may_stop", {1}, block, 0, data.data(), threads - 3).printed;
    std::string expected;
    for (int t = threads - 2; t < threads; ++t) {
      expected += std::to_string(1000 * (t % block.x) + t / block.x) + " ";
    }
    EXPECT_EQ(said, expected);
  }
}

TEST_P(whole_warps, each_of_many_barriers_may_be_the_next) {
  ASSERT_EQ(mode("in_many_steps"), abi::kernel_mode::loop);
  for (dims block : {dims{32}, dims{96}, dims{200}}) {
    expect_as_with_fibers("in_many_steps", {1}, block, numbers(block.x));
  }
}

TEST_P(whole_warps, where_a_lane_is_at_another_barrier_than_its_warp_lanes_stop_one_by_one) {
  EXPECT_EQ(mode("a_lane_goes_ahead"), abi::kernel_mode::lanes);
}

TEST_P(whole_warps, the_grid_may_meet_by_different_ways) {
  ASSERT_EQ(mode("with_the_grid"), abi::kernel_mode::block_fiber);
  std::vector<int> data = numbers(256), out(256), expected = data, expected_out(256);
  device.run("with_the_grid", {2}, {128}, 0, data.data(), out.data(), 256);
  device.run_counted("with_the_grid", {2}, {128}, 0, expected.data(), expected_out.data(), 256);
  EXPECT_EQ(data, expected);
  EXPECT_EQ(out, expected_out);
}

INSTANTIATE_TEST_SUITE_P(levels, whole_warps, testing::Values(".O0", ".O2"),
                         [](const auto& info) { return std::string(info.param + 1); });

}  // namespace
}  // namespace sb::test
