#include <gtest/gtest.h>

#include "harness/machine.hpp"

namespace sb::test {
namespace {

struct short_loops : testing::TestWithParam<const char*> {
  image device{std::string(PASS_IMAGES "/short_loops") + GetParam() + ".so"};
  bool loops(const char* kernel) const {
    return device.kernel(kernel).mode == abi::kernel_mode::loop;
  }
};

std::vector<float> numbers(int count, int most) {
  std::vector<float> values(count);
  for (int i = 0; i < count; ++i) values[i] = static_cast<float>(i * 7919 % (most + 1));
  return values;
}

TEST_P(short_loops, of_a_tile_add_up_all_rounds) {
  ASSERT_TRUE(loops("long_tile"));
  const int tiles = 3, length = tiles * 40;
  auto a = numbers(8 * length, 10), b = numbers(8 * length, 7);
  std::vector<float> out(64), expected(64);
  for (int y = 0; y < 8; ++y)
    for (int x = 0; x < 8; ++x)
      for (int k = 0; k < length; ++k) expected[y * 8 + x] += a[y * length + k] * b[k * 8 + x];
  device.run("long_tile", {1}, {8, 8}, 0, a.data(), b.data(), out.data(), tiles);
  EXPECT_EQ(out, expected);
}

TEST_P(short_loops, through_a_threads_own_array_keep_what_it_holds) {
  ASSERT_TRUE(loops("own_sums"));
  for (int rounds : {0, 1, 5}) {
    auto in = numbers(35 * 5, 12);
    std::vector<float> out(128), expected(128);
    for (int i = 0; i < 4; ++i)
      for (int t = 0; t < 32; ++t) {
        expected[i * 32 + t] = static_cast<float>(i + 1);
        for (int r = 0; r < rounds; ++r) expected[i * 32 + t] += 3 * in[r * 35 + t + i];
      }
    device.run("own_sums", {1}, {32}, 0, in.data(), out.data(), rounds);
    EXPECT_EQ(out, expected) << rounds;
  }
}

TEST_P(short_loops, within_a_longer_one_add_up_for_each_thread) {
  ASSERT_TRUE(loops("taps"));
  const int rows = 70;
  for (int width : {1, 31, 32, 64, 75}) {
    auto in = numbers(rows * (width + 4), 9), weights = numbers(5, 3);
    std::vector<float> out(96, -1), expected(96, -1);
    for (int x = 0; x < width; ++x) {
      expected[x] = 0;
      for (int y = 0; y < rows; ++y)
        for (int k = 0; k < 5; ++k) expected[x] += in[y * (width + 4) + x + k] * weights[k];
    }
    device.run("taps", {3}, {32}, 0, in.data(), weights.data(), out.data(), rows, width);
    EXPECT_EQ(out, expected) << width;
  }
}

TEST_P(short_loops, that_are_large_together_add_up_too) {
  ASSERT_TRUE(loops("large_window"));
  const int width = 64 + 24;
  auto in = numbers(30 * width, 9);
  std::vector<float> out(64), expected(64);
  for (int x = 0; x < 64; ++x)
    for (int j = 0; j < 30; ++j)
      for (int i = 0; i < 24; ++i)
        expected[x] += in[j * width + x + i] * static_cast<float>((i ^ j) & 3);
  device.run("large_window", {2}, {32}, 0, in.data(), out.data(), width);
  EXPECT_EQ(out, expected);
}

TEST_P(short_loops, give_the_same_however_many_rounds_the_program_wants_in_a_row) {
  ASSERT_TRUE(loops("as_told"));
  const int width = 64;
  auto in = numbers(24 * width, 9);
  std::vector<float> out(3 * width), expected(3 * width);
  for (int x = 0; x < width; ++x) {
    for (int j = 0; j < 12; ++j) expected[x] += in[j * width + x];
    for (int j = 1; j < 23; ++j)
      expected[width + x] += in[j * width + x] * static_cast<float>(x & j);
    for (int j = 23; j > 0; j -= 3)
      expected[2 * width + x] += in[j * width + x] * static_cast<float>(j);
  }
  device.run("as_told", {2}, {32}, 0, in.data(), out.data(), width);
  EXPECT_EQ(out, expected);
}

TEST_P(short_loops, keep_the_order_of_a_threads_own_accesses) {
  ASSERT_TRUE(loops("own_column"));
  const int width = 33;
  auto data = numbers(20 * width, 3), expected = data;
  for (int j = 1; j < 20; ++j)
    for (int x = 0; x < width; ++x) expected[j * width + x] += 2 * expected[(j - 1) * width + x];
  device.run("own_column", {1}, {static_cast<unsigned>(width)}, 0, data.data(), width);
  EXPECT_EQ(data, expected);
}

INSTANTIATE_TEST_SUITE_P(levels, short_loops, testing::Values(".O0", ".O2"),
                         [](const auto& one) { return std::string(one.param + 1); });

}  // namespace
}  // namespace sb::test
