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

template <class T>
void multiplies_in_blocks_of_any_shape(image& device, const char* kernel) {
  for (auto [width, height] : {std::pair{16u, 16u}, {16u, 15u}, {16u, 1u}, {8u, 16u}, {5u, 7u}}) {
    SCOPED_TRACE(testing::Message() << kernel << " " << width << "x" << height);
    const std::uint32_t rounds = 3, n = 2 * std::max(width, height) * rounds;
    const auto a = numbers<T>(n * n), b = numbers<T>(n * n);
    std::vector<T> c(n * n), expected(n * n);
    device.run(kernel, {2, 2}, {width, height}, 0, a.data(), b.data(), c.data(), int(n),
               int(rounds));
    for (std::uint32_t row = 0; row < 2 * height; ++row)
      for (std::uint32_t column = 0; column < 2 * width; ++column)
        for (std::uint32_t r = 0; r < rounds; ++r)
          for (std::uint32_t k = r * width; k < r * width + std::min(width, height); ++k)
            expected[row * n + column] =
                static_cast<T>(expected[row * n + column] + a[row * n + k] * b[k * n + column]);
    EXPECT_EQ(c, expected);
  }
}

TEST_P(usual, tiles_multiply_in_blocks_of_any_shape) {
  multiplies_in_blocks_of_any_shape<float>(device, "product");
  multiplies_in_blocks_of_any_shape<double>(device, "product_of_doubles");
  multiplies_in_blocks_of_any_shape<unsigned char>(device, "product_of_bytes");
}

TEST_P(usual, rows_may_do_different_things) {
  for (auto [width, height] : {std::pair{8u, 8u}, {8u, 5u}, {3u, 8u}, {1u, 1u}}) {
    SCOPED_TRACE(testing::Message() << width << "x" << height);
    auto data = numbers<int>(width * height);
    std::vector<int> expected;
    for (std::uint32_t y = 0; y < height; ++y)
      for (std::uint32_t x = 0; x < width; ++x) {
        int sum = 0;
        for (std::uint32_t k = 0; k < height; ++k) sum += data[k * width + x];
        for (std::uint32_t k = 0; y % 2 && k < width; ++k) sum -= 3 * data[y * width + k];
        expected.push_back(sum);
      }
    device.run("rows_and_columns", {1}, {width, height}, 0, data.data());
    EXPECT_EQ(data, expected);
  }
}

int sum_of_column(std::uint32_t x, std::uint32_t height) {
  int sum = 0;
  for (std::uint32_t k = 0; k < height; ++k) sum += static_cast<int>(x + k);
  return sum;
}

TEST_P(usual, all_rows_of_a_tile_vote) {
  for (auto [width, height] : {std::pair{8u, 8u}, {8u, 5u}, {3u, 2u}}) {
    for (int limit : {-1, 20, 40, 1000}) {
      SCOPED_TRACE(testing::Message() << width << "x" << height << " " << limit);
      int count = 0;
      for (std::uint32_t y = 0; y < height; ++y)
        for (std::uint32_t x = 0; x < width; ++x)
          count += sum_of_column(x, height) + static_cast<int>(y) > limit;
      std::vector<int> out(width * height);
      device.run("votes_of_rows", {1}, {width, height}, 0, out.data(), limit);
      EXPECT_THAT(out, testing::Each(count * 100 + (count == int(out.size())) * 10 + (count != 0)));
    }
  }
}

TEST_P(usual, any_row_of_a_tile_may_leave) {
  for (int gone : {-1, 0, 2, 3, 7}) {
    SCOPED_TRACE(gone);
    std::vector<int> out(64), expected;
    for (int y = 0; y < 8; ++y)
      for (std::uint32_t x = 0; x < 8; ++x)
        expected.push_back(y == gone ? -1 : sum_of_column(x, 8));
    device.run("rows_leave", {1}, {8, 8}, 0, out.data(), gone);
    EXPECT_EQ(out, expected);
  }
}

TEST_P(usual, shared_memory_is_that_of_the_kernel_alone) {
  EXPECT_EQ(device.kernel("product").static_shared_bytes, 16u * 16 * 4 + 16 * 17 * 4);
  EXPECT_EQ(device.kernel("rows_and_columns").static_shared_bytes, 8u * 8 * 4);
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

TEST_P(usual, a_thread_may_have_several_rows_of_a_tile) {
  for (auto [width, height] : {std::pair{48, 32}, {37, 29}, {16, 5}, {1, 40}}) {
    for (unsigned rows : {8u, 16u}) {
      auto in = numbers<int>(static_cast<std::size_t>(width * height));
      std::vector<int> out(in.size(), -1), expected(in.size());
      for (int y = 0; y < height; ++y)
        for (int x = 0; x < width; ++x) expected[x * height + y] = in[y * width + x];
      device.run("turned",
                 {static_cast<unsigned>(width + 15) / 16, static_cast<unsigned>(height + 15) / 16},
                 {16, rows}, 0, in.data(), out.data(), width, height);
      EXPECT_EQ(out, expected) << width << "x" << height << " by " << rows;
    }
  }
}

TEST_P(usual, threads_that_lie_apart_add_up_as_far_as_there_is_something) {
  for (std::uint32_t width : {64u, 32u, 16u}) {
    for (int n : {64 * 9, 64 * 9 - 1, 64 * 8 + 3, 100, 64, 1, 0, -5}) {
      SCOPED_TRACE(testing::Message() << width << " " << n);
      const auto in = numbers<float>(width * 9);
      std::vector<float> out(9), expected(9);
      const int end = std::min(n, static_cast<int>(in.size()));
      for (int i = 0; i < end; ++i) expected[static_cast<std::uint32_t>(i) / width] += in[i];
      device.run("spread_sums", {9}, {width}, 0, in.data(), out.data(), end);
      EXPECT_EQ(out, expected);
    }
  }
}

TEST_P(usual, places_that_lie_apart_are_found_as_far_as_there_is_something) {
  for (std::uint32_t n : {64u * 9, 64u * 9 - 1, 64u * 8 + 3, 100u, 64u, 1u, 0u}) {
    SCOPED_TRACE(n);
    const auto in = numbers<int>(64 * 9);
    std::vector<int> out(in.size(), -1), expected(in.size(), -1);
    for (std::uint32_t block = 0; block < 9; ++block) {
      std::vector<int> part(64, 1000);
      for (std::uint32_t t = 0; t < 64 && block * 64 + t < n; ++t) part[t] = in[block * 64 + t];
      for (std::uint32_t k = 1; k < 64; k *= 2)
        for (std::uint32_t j = 0; j < 64; j += 2 * k) part[j] += part[j + k];
      for (std::uint32_t t = 0; t < 64 && block * 64 + t < n; ++t)
        expected[block * 64 + t] = part[t];
    }
    device.run("spread_places", {9}, {64}, 0, in.data(), out.data(), n);
    EXPECT_EQ(out, expected);
  }
}

TEST_P(usual, each_of_two_guards_may_let_some_through) {
  for (std::uint32_t width : {64u, 32u}) {
    for (int n : {1152, 1151, 1100, 1080, 1024, 64, 63, 0}) {
      SCOPED_TRACE(testing::Message() << width << " " << n);
      const auto in = numbers<int>(128 * 9);
      std::vector<int> out(9), expected(9);
      const int end = std::min(n, static_cast<int>(width) * 18);
      for (int i = 0; i < end; ++i) expected[static_cast<std::uint32_t>(i) / (2 * width)] += in[i];
      device.run("two_guards", {9}, {width}, 0, in.data(), out.data(), end);
      EXPECT_EQ(out, expected);
    }
  }
}

TEST_P(usual, places_may_go_round_within_a_vector) {
  const auto in = numbers<int>(64);
  std::vector<int> out(64), expected;
  for (int t = 0; t < 64; ++t) expected.push_back(in[t * 3 % 64] + 3 * (in[t * 5 % 32] + 7));
  device.run("places_go_round", {1}, {64}, 0, in.data(), out.data());
  EXPECT_EQ(out, expected);
}

// Of the first `n` elements, what the blocks add up to.
template <class T>
std::vector<T> sums_of_blocks(const std::vector<T>& in, std::uint32_t width, std::uint32_t n,
                              T first = 0) {
  std::vector<T> sums(in.size() / width, first);
  for (std::uint32_t i = 0; i < n; ++i) sums[i / width] += in[i];
  return sums;
}

TEST_P(usual, blocks_of_any_width_add_up_in_memory_of_the_launch) {
  for (std::uint32_t width : {256u, 128u, 512u, 1024u, 32u, 1u}) {
    const std::uint32_t blocks = 5, all = width * blocks;
    for (std::uint32_t n : {all, all - 1, all - width, width / 2, 0u}) {
      SCOPED_TRACE(testing::Message() << width << " " << n);
      const auto reals = numbers<float>(all);
      const auto whole = numbers<int>(all);
      std::vector<float> sums(blocks);
      std::vector<int> whole_sums(blocks);
      device.run("dynamic_halves", {blocks}, {width}, width * 4, reals.data(), sums.data(), int(n));
      EXPECT_EQ(sums, sums_of_blocks(reals, width, n));
      if (width > 1) {
        device.run("dynamic_spread", {blocks}, {width}, width * 4, whole.data(), whole_sums.data(),
                   int(n));
        EXPECT_EQ(whole_sums, sums_of_blocks(whole, width, n, 5));
      }
    }
  }
}

TEST_P(usual, rounds_go_through_memory_of_the_launch) {
  for (std::uint32_t width : {256u, 255u, 128u, 1u}) {
    for (std::uint32_t bytes : {8 * width, 8 * width + 4096}) {
      SCOPED_TRACE(testing::Message() << width << " " << bytes);
      const auto in = numbers<int>(width * 3);
      std::vector<int> out(in.size());
      device.run("dynamic_rounds", {3}, {width}, bytes, in.data(), out.data());
      EXPECT_EQ(out, sums_of(in, width));
    }
  }
}

TEST_P(usual, places_may_be_padded_against_conflicts_of_banks) {
  for (std::uint32_t blocks : {1u, 5u}) {
    const auto in = numbers<int>(128 * blocks);
    std::vector<int> out(in.size()), expected(in.size());
    for (std::uint32_t first = 0; first < 128 * blocks; first += 128)
      std::exclusive_scan(&in[first], &in[first] + 128, &expected[first], 0);
    device.run("padded_tree", {blocks}, {64}, 0, in.data(), out.data());
    EXPECT_EQ(out, expected);
  }
}

TEST_P(usual, places_may_be_padded_and_not) {
  const auto in = numbers<int>(64);
  std::vector<int> out(64), expected;
  for (int t = 0; t < 64; ++t) {
    const int place = t + t / 32;
    expected.push_back((place < 64 ? in[place] : 7) + 3 * in[63 - t] + (t == 5 ? 7 : 0));
  }
  device.run("padded_in_part", {1}, {64}, 0, in.data(), out.data());
  EXPECT_EQ(out, expected);
}

TEST_P(usual, warps_add_up_and_the_first_adds_up_what_they_have) {
  for (const char* kernel : {"warps_add_downwards", "warps_add_crosswise"}) {
    for (std::uint32_t width : {256u, 224u, 512u, 1024u, 64u, 32u}) {
      const std::uint32_t blocks = 5, all = width * blocks;
      for (std::uint32_t n : {all, all - 1, all - 33, all - width, width / 2, 0u}) {
        SCOPED_TRACE(testing::Message() << kernel << " " << width << " " << n);
        const auto in = numbers<int>(all);
        std::vector<int> out(blocks), expected(blocks);
        for (std::uint32_t i = 0; i < n; ++i) expected[i / width] += in[i];
        device.run(kernel, {blocks}, {width}, 0, in.data(), out.data(), int(n));
        EXPECT_EQ(out, expected);
      }
    }
  }
}

INSTANTIATE_TEST_SUITE_P(levels, usual, testing::Values(".O0", ".O2"),
                         [](const auto& info) { return std::string(info.param + 1); });

struct widths : testing::TestWithParam<const char*> {
  image device{std::string(PASS_IMAGES "/widths") + GetParam() + ".so"};
};

TEST_P(widths, blocks_of_each_add_up) {
  for (std::uint32_t width : {128u, 256u, 512u, 1024u, 64u, 32u}) {
    const std::uint32_t blocks = 5, all = width * blocks;
    for (std::uint32_t n : {all, all - 1, all - width, width / 2, 0u}) {
      SCOPED_TRACE(testing::Message() << width << " " << n);
      const auto reals = numbers<float>(all);
      const auto whole = numbers<int>(all);
      std::vector<float> sums(blocks);
      std::vector<int> whole_sums(blocks);
      device.run("halves", {blocks}, {width}, width * 4, reals.data(), sums.data(), int(n));
      EXPECT_EQ(sums, sums_of_blocks(reals, width, n));
      device.run("shuffles", {blocks}, {width}, 0, whole.data(), whole_sums.data(), int(n));
      EXPECT_EQ(whole_sums, sums_of_blocks(whole, width, n));
    }
  }
}

INSTANTIATE_TEST_SUITE_P(levels, widths, testing::Values(".O0", ".O2"),
                         [](const auto& info) { return std::string(info.param + 1); });

}  // namespace
}  // namespace sb::test
