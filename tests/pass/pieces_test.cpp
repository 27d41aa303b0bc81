#include <gmock/gmock.h>
#include <gtest/gtest.h>

#include <numeric>

#include "harness/machine.hpp"

namespace sb::test {
namespace {

struct pieces : testing::TestWithParam<const char*> {
  image device{std::string(PASS_IMAGES "/pieces") + GetParam() + ".so"};
  bool loops(const char* kernel) const {
    return device.kernel(kernel).mode == abi::kernel_mode::loop;
  }
};

TEST_P(pieces, threads_that_take_several_elements_take_those_that_there_are) {
  for (const char* kernel : {"in_a_loop", "unrolled", "by_hand", "all_or_none"}) {
    ASSERT_TRUE(loops(kernel));
    for (int n : {0, 1, 37, 64, 200, 255, 256}) {
      std::vector<int> x(256), y(256), expected;
      std::iota(x.begin(), x.end(), 5);
      std::iota(y.begin(), y.end(), -100);
      expected = y;
      for (int i = 0; i < n; ++i) expected[i] += 3 * x[i];
      if (kernel == std::string("all_or_none")) {
        for (int i = 0; i < n; ++i) {
          int last = i / 64 * 64 + i % 16 + 48;
          if (last >= n) expected[i] -= 3 * x[i];
        }
      }
      if (kernel == std::string("in_a_loop")) {
        device.run(kernel, {4}, {16}, 0, 3, x.data(), y.data(), n, 4);
      } else {
        device.run(kernel, {4}, {16}, 0, 3, x.data(), y.data(), n);
      }
      EXPECT_EQ(y, expected) << kernel << " " << n;
    }
  }
}

TEST_P(pieces, a_later_piece_finds_what_an_earlier_one_loaded_and_stored) {
  ASSERT_TRUE(loops("kept"));
  for (int n : {0, 3, 8, 13, 16, 27, 32}) {
    std::vector<int> x(32), y(32, 1), expected(32, 1);
    std::iota(x.begin(), x.end(), 2);
    for (int block = 0; block < 2; ++block) {
      for (int t = 0; t < 8; ++t) {
        int i = block * 16 + t;
        if (i >= n) continue;
        expected[i] = x[i] + (t == 1 ? 100 : 0) + (x[i] * 3 > 20 ? x[i] * 3 : 0);
        if (i + 8 < n) expected[i + 8] = x[i] + x[i + 8];
      }
    }
    device.run("kept", {2}, {8}, 0, x.data(), y.data(), n);
    EXPECT_EQ(y, expected) << n;
  }
}

TEST_P(pieces, borders_behind_a_guard_are_brought_by_those_who_pass_it) {
  ASSERT_TRUE(loops("borders_inside"));
  for (auto [columns, rows] : {std::pair{5, 3}, {8, 8}, {8, 6}, {3, 1}, {1, 2}}) {
    const int width = 23, height = 11;
    std::vector<int> in(width * height), out(width * height, 5), expected(width * height);
    for (int i = 0; i < width * height; ++i) in[i] = i * 7919 % 101;
    for (int y = 0; y < height; ++y) {
      for (int x = 0; x < width; ++x) {
        const int tx = x % columns, ty = y % rows;
        auto at = [&](int i, int j) { return in[j * width + i]; };
        int left = tx == 0 ? x > 0 ? at(x - 1, y) : -1 : at(x - 1, y);
        // In the block, at the column that brings more, or nobody's.
        bool in_block = tx + 1 < columns && x + 1 < width;
        int right = in_block || (tx == 4 && x + 1 < width) ? at(x + 1, y) : -7;
        int above = ty == 0 ? y > 0 ? at(x, y - 1) : -2 : at(x, y - 1);
        int below = -7;
        if (ty == rows - 1 && ty != 0) {
          below = y + 1 < height ? at(x, y + 1) : -3;
        } else if (ty + 1 < rows && y + 1 < height) {
          below = at(x, y + 1);
        }
        expected[y * width + x] = at(x, y) + 3 * left + 5 * right + 7 * above + 11 * below;
      }
    }
    device.run("borders_inside",
               {static_cast<unsigned>((width + columns - 1) / columns),
                static_cast<unsigned>((height + rows - 1) / rows)},
               {static_cast<unsigned>(columns), static_cast<unsigned>(rows)}, 0, in.data(),
               out.data(), width, height);
    EXPECT_EQ(out, expected) << columns << " " << rows;
  }
}

TEST_P(pieces, few_threads_do_what_only_they_do) {
  ASSERT_TRUE(loops("few_threads"));
  for (int row : {-1, 0, 2, 9}) {
    for (int from : {0, 1, 3, -1}) {
      for (int layer : {0, 1, 5, -1}) {
        std::vector<int> out(4 * 3 * 2), expected;
        for (int z = 0; z < 2; ++z) {
          for (int y = 0; y < 3; ++y) {
            for (int x = 0; x < 4; ++x) {
              expected.push_back(1 + 10 * (y < row) + 100 * (unsigned(y) >= unsigned(from)) +
                                 1000 * (z == layer && x == 2) + 10000 * (x == from && y >= row));
            }
          }
        }
        device.run("few_threads", {1}, {4, 3, 2}, 0, out.data(), row, from, layer);
        EXPECT_EQ(out, expected) << row << " " << from << " " << layer;
      }
    }
  }
}

INSTANTIATE_TEST_SUITE_P(levels, pieces, testing::Values(".O0", ".O2"),
                         [](const auto& info) { return std::string(info.param + 1); });

}  // namespace
}  // namespace sb::test
