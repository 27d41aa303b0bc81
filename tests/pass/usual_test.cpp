#include <gmock/gmock.h>
#include <gtest/gtest.h>

#include <algorithm>
#include <numeric>

#include "harness/machine.hpp"

namespace sb::test {
namespace {

struct usual : testing::TestWithParam<const char*> {
  image device{std::string(PASS_IMAGES "/usual") + GetParam() + ".so"};
};

template <class T>
std::vector<T> numbers(std::uint32_t count) {
  std::vector<T> all(count);
  for (std::uint32_t i = 0; i < count; ++i) all[i] = static_cast<T>(i * 37 % 101);
  return all;
}

template <class T>
std::vector<T> sums_of(std::vector<T> in, std::uint32_t width) {
  for (auto at = in.begin(); at != in.end(); at += width) std::partial_sum(at, at + width, at);
  return in;
}

TEST_P(usual, rounds_through_shared_memory_add_up_in_blocks_of_any_width) {
  for (std::uint32_t width : {64u, 63u, 32u, 5u, 1u}) {
    for (std::uint32_t blocks : {1u, 2u, 7u}) {
      SCOPED_TRACE(width);
      const auto in = numbers<int>(width * blocks);
      std::vector<int> out(in.size());
      device.run("running_sums", {blocks}, {width}, 0, in.data(), out.data());
      EXPECT_EQ(out, sums_of(in, width));
    }
  }
}

TEST_P(usual, values_of_threads_outlive_barriers) {
  for (std::uint32_t width : {128u, 127u, 64u, 3u}) {
    SCOPED_TRACE(width);
    const auto in = numbers<double>(width * 3);
    std::vector<double> out(in.size());
    device.run("running_sums_in_place", {3}, {width}, 0, in.data(), out.data());
    EXPECT_EQ(out, sums_of(in, width));
  }
}

TEST_P(usual, small_elements_find_the_largest) {
  for (std::uint32_t width : {128u, 127u, 64u, 2u}) {
    SCOPED_TRACE(width);
    const auto in = numbers<unsigned char>(width * 4);
    std::vector<unsigned char> out(4), expected;
    for (auto at = in.begin(); at != in.end(); at += width)
      expected.push_back(*std::max_element(at, at + width));
    device.run("largest", {4}, {width}, 0, in.data(), out.data());
    EXPECT_EQ(out, expected);
  }
}

TEST_P(usual, shared_memory_keeps_what_the_last_round_left) {
  for (std::uint32_t width : {64u, 40u}) {
    for (int rounds : {0, 1, 2, 9}) {
      const auto in = numbers<int>(width);
      std::vector<int> ring = in, out(2 * width);
      for (int r = 0; r < rounds; ++r) {
        std::rotate(ring.begin(), ring.begin() + 1, ring.end());
        for (int& one : ring) one += r;
      }
      device.run("turns", {2}, {width}, 0, in.data(), out.data(), rounds);
      EXPECT_TRUE(std::equal(ring.begin(), ring.end(), out.begin())) << width << ' ' << rounds;
      EXPECT_TRUE(std::equal(ring.begin(), ring.end(), out.begin() + width)) << width;
    }
  }
}

TEST_P(usual, integers_and_floats_lie_side_by_side) {
  for (std::uint32_t width : {64u, 50u}) {
    const auto in = numbers<int>(width);
    std::vector<float> out(2 * width), expected;
    for (std::uint32_t t = 0; t < width; ++t)
      expected.push_back(static_cast<float>(in[width - 1 - t] + in[0] + in[t] - (t >= 3 ? 7 : 0)) +
                         0.5f * static_cast<float>(width - 1 - t));
    device.run("mixed", {2}, {width}, 0, in.data(), out.data());
    EXPECT_TRUE(std::equal(expected.begin(), expected.end(), out.begin()));
    EXPECT_TRUE(std::equal(expected.begin(), expected.end(), out.begin() + width));
  }
}

TEST_P(usual, the_result_may_lie_where_the_input_was) {
  for (std::ptrdiff_t apart : {0, 1, 4, 7, 32}) {
    auto data = numbers<int>(128);
    std::vector<int> expected = data;
    for (int t = 0; t < 64; ++t) expected[t + apart] = data[63 - t] + 1;
    device.run("shifted", {1}, {64}, 0, static_cast<const int*>(data.data()), data.data() + apart);
    EXPECT_EQ(data, expected) << apart;
  }
}

INSTANTIATE_TEST_SUITE_P(levels, usual, testing::Values(".O0", ".O2"),
                         [](const auto& info) { return std::string(info.param + 1); });

}  // namespace
}  // namespace sb::test
