#include <gmock/gmock.h>
#include <gtest/gtest.h>

#include <numeric>

#include "harness/machine.hpp"

namespace sb::test {
namespace {

using testing::Each;
using testing::ElementsAre;

struct regions : testing::TestWithParam<const char*> {
  image device{std::string(PASS_IMAGES "/regions") + GetParam() + ".so"};
  bool loops(const char* kernel) const {
    return device.kernel(kernel).mode == abi::kernel_mode::loop;
  }
};

TEST_P(regions, a_loop_with_barriers_goes_round_once_for_the_block) {
  ASSERT_TRUE(loops("tiles"));
  constexpr int n = 8;
  std::vector<float> a(n * n), b(n * n), c(n * n), expected(n * n);
  std::iota(a.begin(), a.end(), 1.0f);
  std::iota(b.begin(), b.end(), -9.0f);
  for (int i = 0; i < n; ++i)
    for (int j = 0; j < n; ++j)
      for (int k = 0; k < n; ++k) expected[i * n + j] += a[i * n + k] * b[k * n + j];
  device.run("tiles", {2, 2}, {4, 4}, 0, a.data(), b.data(), c.data(), n);
  EXPECT_EQ(c, expected);
}

TEST_P(regions, threads_at_an_edge_store_besides_what_all_store) {
  ASSERT_TRUE(loops("with_borders"));
  for (auto [columns, rows] : {std::pair{8, 5}, {7, 3}, {1, 1}}) {
    const int width = 23, height = 11;
    std::vector<int> in(width * height), out(width * height, 5), expected(width * height);
    for (int i = 0; i < width * height; ++i) in[i] = i * 7919 % 101;
    // As a thread finds it in the tile of the block (bx, by).
    auto cell = [&](int x, int y, int bx, int by) {
      if (y < by * rows) return y < 0 ? -2 : in[y * width + x];
      if (x < bx * columns) return x < 0 ? -1 : in[y * width + x];
      return in[y * width + x] + (x % columns == columns - 1 ? 1000 : 0);
    };
    for (int y = 0; y < height; ++y)
      for (int x = 0; x < width; ++x)
        expected[y * width + x] = cell(x, y, x / columns, y / rows) +
                                  3 * cell(x - 1, y, x / columns, y / rows) +
                                  7 * cell(x, y - 1, x / columns, y / rows);
    device.run("with_borders",
               {static_cast<unsigned>((width + columns - 1) / columns),
                static_cast<unsigned>((height + rows - 1) / rows)},
               {static_cast<unsigned>(columns), static_cast<unsigned>(rows)}, 0, in.data(),
               out.data(), width, height);
    EXPECT_EQ(out, expected) << columns << " " << rows;
  }
}

TEST_P(regions, a_branch_that_all_threads_take_may_hold_a_barrier) {
  ASSERT_TRUE(loops("same_branch"));
  std::vector<int> data = {1, 2, 3, 4};
  device.run("same_branch", {1}, {4}, 0, data.data(), 1);
  EXPECT_THAT(data, ElementsAre(3, 5, 7, 5));
  device.run("same_branch", {1}, {4}, 0, data.data(), 0);
  EXPECT_THAT(data, ElementsAre(-3, -5, -7, -5));
}

TEST_P(regions, all_threads_may_return_between_barriers) {
  ASSERT_TRUE(loops("same_return"));
  std::vector<int> data = {1, 2, 3};
  device.run("same_return", {1}, {3}, 0, data.data(), 1);
  EXPECT_THAT(data, ElementsAre(1012, 1013, 1011));
  device.run("same_return", {1}, {3}, 0, data.data(), 5);
  EXPECT_THAT(data, ElementsAre(1012, 1013, 1011));
}

TEST_P(regions, a_shared_flag_decides_for_all) {
  ASSERT_TRUE(loops("until_flag"));
  std::vector<int> data = {3, 0, 5, 1}, rounds(4);
  device.run("until_flag", {1}, {4}, 0, data.data(), rounds.data());
  EXPECT_THAT(data, Each(0));
  EXPECT_THAT(rounds, Each(6));
}

TEST_P(regions, private_arrays_outlive_a_barrier) {
  ASSERT_TRUE(loops("private_array"));
  std::vector<int> data = {0, 4, 8};
  device.run("private_array", {1}, {3}, 0, data.data());
  // Thread by thread, round by round.
  std::vector<int> own[3], expected;
  for (int t = 0; t < 3; ++t) own[t] = {4 * t, 4 * t + 1, 4 * t + 2, 4 * t + 3};
  for (int r = 0; r < 3; ++r) {
    int tile[3];
    for (int t = 0; t < 3; ++t) tile[t] = own[t][(t + r) % 4];
    for (int t = 0; t < 3; ++t) own[t][tile[(t + 1) % 3] % 4] += r;
  }
  for (const auto& one : own)
    expected.push_back(one[0] + 10 * one[1] + 100 * one[2] + 1000 * one[3]);
  EXPECT_EQ(data, expected);
}

TEST_P(regions, barriers_count_what_the_threads_bring) {
  ASSERT_TRUE(loops("counted"));
  std::vector<int> data = {1, 2, 3, 5, 64}, out(5);
  device.run("counted", {1}, {5}, 0, data.data(), out.data());
  EXPECT_THAT(out, Each(311));
  data = {0, 2, 4, 6, 8};
  device.run("counted", {1}, {5}, 0, data.data(), out.data());
  EXPECT_THAT(out, Each(0));
}

TEST_P(regions, a_failure_in_one_region_ends_the_block) {
  ASSERT_TRUE(loops("fails_in_a_region"));
  std::vector<int> data = {0, 0, 0, 0};
  EXPECT_EQ(device.run("fails_in_a_region", {1}, {4}, 0, data.data(), 9).failed_assertion, "");
  EXPECT_THAT(data, Each(2));
  auto result = device.run("fails_in_a_region", {1}, {4}, 0, data.data(), 2);
  EXPECT_THAT(result.failed_assertion, testing::HasSubstr("< limit"));
  EXPECT_THAT(data, Each(3));
}

TEST_P(regions, one_condition_on_both_sides_of_a_barrier_does_not_divide_it) {
  ASSERT_TRUE(loops("guarded_twice"));
  std::vector<int> data = {1, 2, 3, 4, 5, 6, 7, 8};
  device.run("guarded_twice", {2}, {4}, 0, data.data(), 6);
  EXPECT_THAT(data, ElementsAre(2, 3, 4, 1, 6, 5, 7, 8));
}

TEST_P(regions, threads_that_have_left_do_not_count_at_barriers) {
  ASSERT_TRUE(loops("some_leave"));
  std::vector<int> data = {1, 2, 3, 4, 5, 6, 7, 8};
  device.run("some_leave", {1}, {8}, 0, data.data(), 4);
  EXPECT_THAT(data, ElementsAre(7, 7, 7, 7, -5, -6, -7, -8));
  device.run("some_leave", {1}, {8}, 0, data.data(), 8);
  EXPECT_THAT(data, ElementsAre(1, 2, 3, 4, 4, 3, 2, 1));
  device.run("some_leave", {1}, {8}, 0, data.data(), 0);
  EXPECT_THAT(data, ElementsAre(-1, -2, -3, -4, -4, -3, -2, -1));
}

TEST_P(regions, barriers_count_what_those_bring_that_are_left) {
  ASSERT_TRUE(loops("counted_after_leaving"));
  std::vector<int> data = {1, 2, 3, 5, 64, -1}, out(6);
  device.run("counted_after_leaving", {1}, {6}, 0, data.data(), out.data(), 4);
  EXPECT_THAT(out, ElementsAre(310, 310, 310, 310, 0, 0));
  device.run("counted_after_leaving", {1}, {6}, 0, data.data(), out.data(), 5);
  EXPECT_THAT(out, ElementsAre(311, 311, 311, 311, 311, 0));
  device.run("counted_after_leaving", {1}, {6}, 0, data.data(), out.data(), 6);
  EXPECT_THAT(out, ElementsAre(401, 401, 401, 401, 401, 401));
}

TEST_P(regions, a_loop_with_barriers_goes_on_without_those_that_leave_it) {
  ASSERT_TRUE(loops("rounds_differ"));
  std::vector<int> data(8);
  device.run("rounds_differ", {1}, {8}, 0, data.data());
  EXPECT_THAT(data, ElementsAre(1, 2, 3, 4, 5, 6, 7, 8));
}

// What each thread keeps of `data`: a number for each of its places.
std::vector<int> kept_by(int thread, const std::vector<int>& data) {
  std::vector<int> own(2048);
  for (int i = 0; i < 2048; ++i) own[(i * 5 + thread) % 2048] = i + data[thread];
  return own;
}

TEST_P(regions, private_arrays_of_any_size_outlive_a_barrier) {
  ASSERT_TRUE(loops("keeps_much"));
  for (int threads : {1, 96, 1000}) {
    std::vector<int> data(threads), expected(threads);
    for (int t = 0; t < threads; ++t) data[t] = t * 37 % 1013;
    for (int t = 0; t < threads; ++t) {
      const int next = (t + 1) % threads, at = kept_by(next, data)[next] & 2047;
      std::vector<int> own = kept_by(t, data);
      own[at] += static_cast<short>(at ^ t);
      expected[t] = own[77] + own[at] + static_cast<short>((77 + t) ^ t);
    }
    const outcome done =
        device.run("keeps_much", {1}, {std::uint32_t(threads)}, 0, data.data(), 77);
    EXPECT_EQ(data, expected) << threads;
    EXPECT_EQ(done.private_bytes, threads * (2048 * 4 + 3000 * 2));
  }
}

TEST_P(regions, private_arrays_of_any_size_outlive_a_warp_operation) {
  ASSERT_TRUE(loops("keeps_much_in_warps"));
  std::vector<int> data(96), expected(96), next(96);
  for (int t = 0; t < 96; ++t) data[t] = t * 37 % 1013;
  for (int t = 0; t < 96; ++t) {
    const int from = t % 32 + 1 < 32 ? t + 1 : t;
    next[t] = kept_by(from, data)[from];
  }
  for (int t = 0; t < 96; ++t) {
    std::vector<int> own = kept_by(t, data);
    own[next[t] & 2047] += t;
    expected[t] = own[next[t % 32 + 2 < 32 ? t + 2 : t] & 2047] + own[next[t] & 2047];
  }
  device.run("keeps_much_in_warps", {1}, {96}, 0, data.data());
  EXPECT_EQ(data, expected);
}

INSTANTIATE_TEST_SUITE_P(levels, regions, testing::Values(".O0", ".O2"),
                         [](const auto& info) { return std::string(info.param + 1); });

}  // namespace
}  // namespace sb::test
