#include <gtest/gtest.h>

#include <array>
#include <cmath>
#include <numeric>

#include "harness/machine.hpp"

namespace sb::test {
namespace {

struct strides : testing::TestWithParam<const char*> {
  image device{std::string(PASS_IMAGES "/strides") + GetParam() + ".so"};
  bool loops(const char* kernel) const {
    return device.kernel(kernel).mode == abi::kernel_mode::loop;
  }
};

TEST_P(strides, every_element_has_its_turn_once) {
  ASSERT_TRUE(loops("add_one"));
  for (int n : {0, 1, 7, 31, 32, 33, 63, 64, 65, 127, 128, 500}) {
    std::vector<int> data(512), expected(512);
    std::iota(data.begin(), data.end(), 0);
    for (int i = 0; i < 512; ++i) expected[i] = i + (i < n);
    device.run("add_one", {2}, {32}, 0, data.data(), n);
    EXPECT_EQ(data, expected) << n;
    for (int i = 0; i < 512; ++i) expected[i] += i <= n ? 2 : 0;
    device.run("wide_index", {3}, {20}, 0, data.data(), static_cast<long>(n));
    EXPECT_EQ(data, expected) << n;
  }
}

TEST_P(strides, values_that_a_thread_carries_round_come_out) {
  ASSERT_TRUE(loops("thread_sums"));
  std::vector<int> data(400);
  for (int i = 0; i < 400; ++i) data[i] = i * 7919 % 1000;
  for (unsigned n : {0u, 5u, 60u, 64u, 100u, 333u, 400u}) {
    std::vector<int> sums(128), expected(128);
    for (unsigned t = 0; t < 64; ++t) {
      int sum = 0, rounds = 100;
      for (unsigned i = t; i < n; i += 64) {
        if (data[i] & 1) sum += data[i];
        rounds = sum ^ static_cast<int>(i);
      }
      expected[2 * t] = sum;
      expected[2 * t + 1] = rounds;
    }
    device.run("thread_sums", {2}, {32}, 0, data.data(), sums.data(), n);
    EXPECT_EQ(sums, expected) << n;
  }
}

TEST_P(strides, threads_without_a_round_of_their_own_keep_the_common_ones) {
  std::vector<int> data(100, 2);
  for (int n : {0, 20, 32, 40, 64, 100}) {
    std::vector<int> out(32), expected(32);
    for (int t = 0; t < 32; ++t) {
      expected[t] = 5 * (3 + 2 * (t < n ? (n - t + 31) / 32 : 0));
    }
    device.run("after_the_loop", {1}, {32}, 0, data.data(), out.data(), n);
    EXPECT_EQ(out, expected) << n;
  }
}

TEST_P(strides, an_index_may_wrap_between_two_threads) {
  for (unsigned start : {0u, 50u, 0xffffffe0u, 0xfffffff0u, 0xffffffffu}) {
    for (unsigned n : {0u, 40u, 200u, 0xfffffff8u, 0xffffffffu}) {
      for (unsigned step : {64u, 0x40000000u}) {
        std::vector<unsigned> counts(32), expected(32);
        for (unsigned t = 0; t < 32; ++t) {
          unsigned found = 0;
          for (unsigned i = start + t; i < n; i += step) {
            found += 1 + (i & 1);
            if (found > 1000) break;
          }
          expected[t] = found;
        }
        device.run("wraps", {1}, {32}, 0, counts.data(), start, n, step);
        EXPECT_EQ(counts, expected) << start << " " << n << " " << step;
      }
    }
  }
}

TEST_P(strides, common_rounds_and_barriers_live_together) {
  ASSERT_TRUE(loops("then_a_barrier"));
  for (int n : {0, 3, 64, 65, 300}) {
    std::vector<int> data(300), out(300), expected(300);
    std::iota(data.begin(), data.end(), 5);
    int sum = std::accumulate(data.begin(), data.begin() + n, 0);
    for (int i = 0; i < n; ++i) expected[i] = sum - data[i];
    device.run("then_a_barrier", {1}, {64}, 0, data.data(), out.data(), n);
    EXPECT_EQ(out, expected) << n;
  }
}

TEST_P(strides, threads_walk_along_columns_side_by_side) {
  ASSERT_TRUE(loops("down_columns"));
  ASSERT_TRUE(loops("up_columns"));
  for (int width : {3, 34, 64, 70}) {
    const int rows = 80;
    std::vector<int> in(width * rows), out(width * rows, 1), expected(width * rows, 1);
    for (int i = 0; i < width * rows; ++i) in[i] = i * 7919 % 101;
    for (int i = width; i < width * rows; ++i) expected[i] = in[i] + expected[i - width];
    device.run("down_columns", {3}, {32}, 0, in.data(), out.data(), width, rows);
    EXPECT_EQ(out, expected) << width;
    for (int y = 0; y < rows - 1; ++y)
      for (int x = 1; x < width - 1; ++x)
        expected[y * width + x] =
            in[y * width + x] + in[(y + 1) * width + x - 1] + in[y * width + x + 1];
    device.run("up_columns", {1}, {static_cast<unsigned>(width - 2)}, 0, in.data(), out.data(),
               width, rows);
    EXPECT_EQ(out, expected) << width;
  }
}

TEST_P(strides, sums_of_equal_length_are_those_of_each_thread) {
  ASSERT_TRUE(loops("product"));
  const int width = 40;
  for (int n : {0, 1, 2, 17, 30}) {
    std::vector<float> a(n * n + 1), b(n * width + 1), c(n * width), expected(n * width);
    for (int i = 0; i < n * n; ++i) a[i] = static_cast<float>(i % 7);
    for (int i = 0; i < n * width; ++i) b[i] = static_cast<float>(i % 5);
    for (int y = 0; y < n; ++y)
      for (int x = 0; x < width; ++x)
        for (int k = 0; k < n; ++k) expected[y * width + x] += a[y * n + k] * b[k * width + x];
    device.run("product", {3, 4}, {16, 8}, 0, a.data(), b.data(), c.data(), n, width);
    EXPECT_EQ(c, expected) << n;
  }
}

TEST_P(strides, sums_of_equal_length_stand_between_barriers) {
  ASSERT_TRUE(loops("fold"));
  std::vector<float> in(64);
  for (int i = 0; i < 64; ++i) in[i] = static_cast<float>(i * 37 % 64);
  for (int n : {0, 1, 5, 64}) {
    std::vector<float> sum = in, last(64), out(64);
    for (int round = 0; round < 3; ++round) {
      const std::vector<float> part = sum;
      for (int t = 0; t < 64; ++t)
        for (int j = 0; j < n; ++j) {
          sum[t] = std::fma(sum[t], 0.5f, part[j]);
          last[t] = part[j] - sum[t];
        }
    }
    device.run("fold", {1}, {64}, 0, in.data(), out.data(), n);
    for (int t = 0; t < 64; ++t) EXPECT_NEAR(out[t], sum[t] + last[t], 1e-3) << n << " " << t;
  }
}

TEST_P(strides, values_that_rounds_compute_from_each_other_are_those_of_each_thread) {
  ASSERT_TRUE(loops("iterate"));
  std::vector<float> in(96), out(96);
  for (int i = 0; i < 96; ++i) in[i] = static_cast<float>(i * 37 % 64);
  for (int n : {0, 1, 2, 65, 200}) {
    device.run("iterate", {1}, {96}, 0, in.data(), out.data(), n);
    for (int t = 0; t < 96; ++t) {
      float v = in[t], w = 1;
      for (int j = 0; j < n; ++j) {
        const float next = (v - 2.0f) * 0.5f + w;
        w = w * 0.25f + v;
        v = next;
      }
      EXPECT_NEAR(out[t], v - w, 1e-3f * (1 + std::abs(v - w))) << n << " " << t;
    }
  }
}

float halved(float v, int rounds) {
  for (int j = 0; j < rounds; ++j) v = v * 0.5f + 1.0f;
  return v;
}

TEST_P(strides, loops_behind_a_guard_are_for_those_who_pass_it) {
  ASSERT_TRUE(loops("guarded"));
  std::vector<float> in(128);
  std::iota(in.begin(), in.end(), 0.0f);
  for (int n : {0, 1, 31, 32, 33, 64, 100, 127, 128, 1000}) {
    for (int rounds : {0, 1, 3, 100}) {
      std::vector<float> out(128);
      device.run("guarded", {4}, {32}, 0, in.data(), out.data(), n, rounds);
      for (int i = 0; i < 128; ++i)
        EXPECT_FLOAT_EQ(out[i], i < n ? halved(in[i], rounds) : -1)
            << n << " " << rounds << " " << i;
    }
  }
}

TEST_P(strides, loops_behind_several_guards_are_for_those_who_pass_all) {
  ASSERT_TRUE(loops("guarded_twice"));
  for (auto [width, height, far] :
       {std::array{16, 8, 0}, {16, 8, 5}, {13, 8, 5}, {16, 7, 0}, {3, 2, 1}}) {
    std::vector<float> in(width * height, 4.0f), out(width * height, -1.0f);
    for (int i = 0; i < far; ++i) in[i * 3 % in.size()] = 200.0f + i;
    device.run("guarded_twice", {2, 2}, {8, 4}, 0, in.data(), out.data(), width, height, 70);
    for (std::size_t i = 0; i < in.size(); ++i)
      EXPECT_FLOAT_EQ(out[i], in[i] > 100 ? in[i] : halved(in[i], 70)) << width << " " << i;
  }
}

TEST_P(strides, both_sides_of_a_guard_have_their_loops) {
  ASSERT_TRUE(loops("guarded_else"));
  std::vector<float> in(64);
  std::iota(in.begin(), in.end(), 1.0f);
  for (int n : {0, 1, 32, 63, 64, 70}) {
    std::vector<float> out(64);
    device.run("guarded_else", {1}, {64}, 0, in.data(), out.data(), n, 80);
    for (int i = 0; i < 64; ++i) {
      float v = 0;
      for (int j = 0; j < 80; ++j) v = i >= n ? v * 0.25f + in[i] : v * 0.5f - in[i];
      EXPECT_FLOAT_EQ(out[i], v * 2.0f) << n << " " << i;
    }
  }
}

TEST_P(strides, an_index_that_comes_back_to_itself_on_a_long_way_is_left_alone) {
  std::vector<float> a(64), out(32);
  for (int i = 0; i < 64; ++i) a[i] = static_cast<float>(i);
  device.run("two_ways", {1}, {32}, 0, a.data(), out.data(), 100, 5);
  for (unsigned t = 0; t < 32; ++t) {
    float sum = 0;
    for (unsigned k = 0, i = t; k < 100; ++k, i = (i + 5) * 3 + 1) sum += a[i & 63];
    EXPECT_EQ(out[t], sum) << t;
  }
}

INSTANTIATE_TEST_SUITE_P(levels, strides, testing::Values(".O0", ".O2"),
                         [](const auto& info) { return std::string(info.param + 1); });

}  // namespace
}  // namespace sb::test
