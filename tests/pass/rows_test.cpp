#include <gtest/gtest.h>

#include <array>
#include <numeric>

#include "harness/machine.hpp"

namespace sb::test {
namespace {

enum class way { joined, in_turn, one_at_a_time };

struct rows : testing::TestWithParam<const char*> {
  image device{std::string(PASS_IMAGES "/rows") + GetParam() + ".so"};

  // How the kernel went through its grid of several blocks.
  static way of(const outcome& done) {
    return done.longest_row == 1 ? way::one_at_a_time : done.told_row ? way::in_turn : way::joined;
  }

  // Rows of any length do the same.
  template <class Check>
  void each_length(Check check) {
    for (std::uint32_t most : {1u, 2u, 3u, ~0u}) {
      SCOPED_TRACE(most);
      device.most_blocks = most;
      check(most != 1);
    }
  }
};

std::vector<int> numbers(int n, int from = 0) {
  std::vector<int> all(static_cast<std::size_t>(n));
  std::iota(all.begin(), all.end(), from);
  return all;
}

TEST_P(rows, blocks_that_know_only_their_place_are_one_wide_block) {
  each_length([&](bool several) {
    for (int n : {0, 1, 31, 32, 33, 100, 159, 160}) {
      std::vector<int> data(160), expected(160);
      for (int i = 0; i < n; ++i) expected[i] = i;
      outcome done = device.run("plain", {5}, {32}, 0, data.data(), n);
      EXPECT_EQ(data, expected) << n;
      EXPECT_TRUE(!several || of(done) == way::joined);
      std::fill(data.begin(), data.end(), 0);
      std::fill(expected.begin(), expected.begin() + n, 1);
      done = device.run("wide", {8}, {20}, 0, data.data(), static_cast<long>(n));
      EXPECT_EQ(data, expected) << n;
      EXPECT_TRUE(!several || of(done) == way::joined);
    }
  });
}

TEST_P(rows, sums_may_have_more_in_them) {
  each_length([&](bool several) {
    for (int offset : {-40, -1, 0, 7, 100}) {
      std::vector<int> data(128, -1), expected(128, -1);
      for (int i = std::max(0, offset); i < std::min(128, offset + 96); ++i) expected[i] = 2 * i;
      outcome done = device.run("with_offset", {6}, {16}, 0, data.data(), offset, 128);
      EXPECT_EQ(data, expected) << offset;
      EXPECT_TRUE(!several || of(done) == way::joined);
    }
    std::vector<int> data(4 * 60), expected(4 * 60);
    for (int i = 0; i < 240; ++i) expected[i] = i / 4 * 4 + 10 * (i % 4);
    outcome done = device.run("four_each", {6}, {10}, 0, data.data());
    EXPECT_EQ(data, expected);
    EXPECT_TRUE(!several || of(done) == way::joined);
  });
}

TEST_P(rows, what_blocks_do_before_they_meet_is_one_wide_block) {
  const std::vector<int> in = numbers(700, 5);
  each_length([&](bool several) {
    for (int height : {1, 2}) {
      for (int n : {0, 1, 79, 80, 81, 333, 700}) {
        const int width = 16, blocks = 5, threads = width * height;
        std::vector<int> out(blocks * threads), expected(blocks * threads), part(threads);
        for (int b = 0; b < blocks; ++b) {
          for (int t = 0; t < threads; ++t) {
            int sum = 0, odd = 1;
            for (int i = b * width + t % width; i < n; i += width * blocks) {
              sum += in[i];
              odd += in[i] & 1;
            }
            part[t] = sum * odd;
          }
          for (int t = 0; t < threads; ++t)
            expected[b * threads + t] = part[t] + 3 * part[threads - 1 - t] + b;
        }
        outcome done = device.run("block_sums", {5}, {16, static_cast<std::uint32_t>(height)}, 0,
                                  in.data(), out.data(), n);
        EXPECT_EQ(out, expected) << n << ' ' << height;
        EXPECT_TRUE(!several || of(done) == way::in_turn);
      }
    }
  });
}

TEST_P(rows, a_width_in_the_source_is_one_that_blocks_must_have) {
  EXPECT_EQ(device.kernel("of_width_32").row_width, 32u);
  std::vector<int> data(160);
  EXPECT_EQ(of(device.run("of_width_32", {5}, {32}, 0, data.data())), way::joined);
  EXPECT_EQ(data, numbers(160, 1));
  std::vector<int> half(160), expected(160);
  for (int i = 0; i < 160; ++i) expected[i] = i % 32 < 16 ? i + 1 : 0;
  EXPECT_EQ(of(device.run("of_width_32", {5}, {16}, 0, half.data())), way::one_at_a_time);
  EXPECT_EQ(half, expected);
}

TEST_P(rows, blocks_that_overlap_run_one_at_a_time) {
  std::vector<int> data(96), expected(96);
  for (int i = 0; i < 96; ++i) expected[i] = (i < 32) + (i >= 3 && i < 35) + (i >= 6 && i < 38);
  EXPECT_EQ(of(device.run("other_stride", {3}, {32}, 0, data.data())), way::one_at_a_time);
  EXPECT_EQ(data, expected);
}

TEST_P(rows, rows_end_where_the_grid_does) {
  each_length([&](bool several) {
    const int width = 50, height = 23;
    std::vector<int> in = numbers(width * height), out(in.size()), expected(in.size());
    for (int y = 1; y < height - 1; ++y)
      for (int x = 1; x < width - 1; ++x) expected[y * width + x] = 4 * (y * width + x);
    outcome done =
        device.run("plane", {7, 6}, {8, 4}, 0, in.data(), out.data(), int{width}, int{height});
    EXPECT_EQ(out, expected);
    EXPECT_TRUE(!several || of(done) == way::joined);
  });
}

TEST_P(rows, loops_over_the_grid_go_through_memory_side_by_side) {
  each_length([&](bool several) {
    for (int n : {0, 5, 64, 65, 500, 1000}) {
      std::vector<int> in = numbers(n, 3), out(64), expected(64);
      for (int i = 0; i < n; ++i) expected[i % 64] += in[i];
      outcome done = device.run("strided_sums", {4}, {16}, 0, in.data(), out.data(), n);
      EXPECT_EQ(out, expected) << n;
      EXPECT_TRUE(!several || of(done) == way::joined);
    }
  });
  // What each thread keeps must fit into the cache.
  EXPECT_LE(device.kernel("strided_sums").row_threads, device.kernel("plain").row_threads);
}

// Several rounds at a time must end where one at a time would.
TEST_P(rows, an_index_that_strides_may_wrap_between_threads_and_between_rounds) {
  constexpr unsigned threads = 64, most_rounds = 1000;
  const auto one_by_one = [](unsigned place, unsigned start, unsigned n, unsigned step) {
    std::array<unsigned, 3> out = {0, 7, 0};  // found, last, rounds
    for (unsigned i = start + place; i < n && out[2] < most_rounds; i += step, ++out[2])
      out[0] += 1 + (i & 1), out[1] = i;
    return out;
  };
  int tried = 0;
  each_length([&](bool several) {
    for (unsigned start : {0u, 50u, 100u, 0x3fffffffu, 0xffffffe0u, 0xfffffff0u, 0xffffffffu})
      for (unsigned n : {0u, 40u, 127u, 128u, 200u, 1000u, 0x80000020u, 0xfffffff8u, 0xffffffffu})
        for (unsigned step : {64u, 0x30000001u, 0x70000000u, 0xfffffff0u, 0xffffffc0u}) {
          std::vector<unsigned> counts(2 * threads), expected;
          bool ends = true;
          for (unsigned t = 0; t < threads; ++t) {
            const auto [found, last, rounds] = one_by_one(t, start, n, step);
            expected.insert(expected.end(), {found, last});
            ends = ends && rounds < most_rounds;
          }
          if (!ends) continue;
          ++tried;
          outcome done = device.run("counted_rounds", {4}, {16}, 0, counts.data(), start, n, step);
          EXPECT_EQ(counts, expected) << start << " " << n << " " << step;
          EXPECT_TRUE(!several || of(done) == way::joined);
          const unsigned odd[] = {0, 1, 0, 1};
          const unsigned* at = odd;
          std::fill(counts.begin(), counts.end(), 0);
          done = device.run("read_rounds", {4}, {16}, 0, at, counts.data(), start, n, step);
          EXPECT_EQ(counts, expected) << start << " " << n << " " << step;
          EXPECT_TRUE(!several || of(done) == way::joined);
        }
  });
  EXPECT_GT(tried, 200);
}

TEST_P(rows, blocks_that_can_be_told_apart_run_in_turn) {
  each_length([&](bool several) {
    std::vector<int> data(96);
    auto check = [&](const char* kernel, auto expected) {
      outcome done = device.run(kernel, {3}, {32}, 0, data.data());
      EXPECT_TRUE(!several || of(done) == way::in_turn) << kernel;
      for (int i = 0; i < 96; ++i) ASSERT_EQ(data[i], expected(i)) << kernel << " " << i;
    };
    check("knows_block", [](int i) { return i / 32; });
    check("knows_thread", [](int i) { return i % 32; });
    check("knows_lane", [](int i) { return i % 32; });
    check("turned_round", [](int i) { return i / 32 * 1000 + 31 - i % 32; });
  });
}

TEST_P(rows, an_index_that_wraps_before_it_grows_wide_wraps_in_each_block) {
  each_length([&](bool several) {
    // The third block starts at zero again.
    const std::uint32_t far = 0u - 32;
    std::vector<int> data(100), expected(100);
    for (std::uint32_t block = 0; block < 5; ++block)
      for (std::uint64_t thread = 0; thread < 16; ++thread)
        ++expected[(std::uint32_t{block * 16 + far} + thread) % 100];
    outcome done = device.run("extends_early", {5}, {16}, 0, data.data(), far);
    EXPECT_EQ(data, expected);
    EXPECT_TRUE(!several || of(done) == way::in_turn);
  });
}

TEST_P(rows, shared_memory_is_each_blocks_own) {
  each_length([&](bool several) {
    for (int n : {0, 10, 64, 1000}) {
      std::vector<int> in = numbers(n), out(4), expected(4);
      for (int i = 0; i < n; ++i) expected[i / 16 % 4] += i;
      outcome done = device.run("sums_of_rounds", {4}, {16}, 0, in.data(), out.data(), n);
      EXPECT_EQ(out, expected) << n;
      EXPECT_TRUE(!several || of(done) == way::in_turn);
    }
  });
}

TEST_P(rows, who_asks_the_engine_is_in_a_block_that_it_knows) {
  outcome done = device.run("prints", {4}, {16}, 0);
  EXPECT_EQ(of(done), way::one_at_a_time);
  EXPECT_EQ(done.printed, "0 1 2 3 ");
  std::vector<std::uint64_t> clocks(64);
  EXPECT_EQ(of(device.run("reads_clock", {4}, {16}, 0, clocks.data())), way::one_at_a_time);
}

TEST_P(rows, rows_whose_threads_go_down_columns_are_short) {
  EXPECT_LT(device.kernel("turned").row_threads, device.kernel("kept_upright").row_threads);
  each_length([&](bool several) {
    const std::vector<int> in = numbers(19 * 7, 3);
    std::vector<int> out(in.size()), expected(in.size());
    for (std::size_t y = 0; y < 7; ++y)
      for (std::size_t x = 0; x < 19; ++x) expected[x * 7 + y] = in[y * 19 + x];
    auto done = device.run("turned", {5, 3}, {4, 3}, 0, in.data(), out.data(), 19, 7);
    EXPECT_EQ(of(done), several ? way::joined : way::one_at_a_time);
    EXPECT_EQ(out, expected);
  });
}

template <class T, class Inside, class Value>
void turns(image& device, const char* kernel, Inside inside, Value value) {
  for (auto [columns, rows] : {std::pair{4u, 5u}, {8u, 4u}, {4u, 8u}, {3u, 9u}, {5u, 1u}}) {
    for (auto [width, height] : {std::pair{19, 13}, {16, 8}, {7, 12}, {8, 3}, {1, 20}, {9, 1}}) {
      SCOPED_TRACE(testing::Message()
                   << kernel << " " << columns << "x" << rows << " of " << width << "x" << height);
      std::vector<T> in(static_cast<std::size_t>(width * height)), out(in.size(), T(99)), expected;
      for (std::size_t i = 0; i < in.size(); ++i) in[i] = static_cast<T>(i * 7 % 31);
      expected = out;
      for (int y = 0; y < height; ++y)
        for (int x = 0; x < width; ++x)
          if (inside(x, y, width, height))
            expected[static_cast<std::size_t>(x * height + y)] =
                static_cast<T>(value(&in[static_cast<std::size_t>(y * width)], x));
      const std::uint32_t wide = (static_cast<std::uint32_t>(width) + columns - 1) / columns,
                          high = (static_cast<std::uint32_t>(height) + rows - 1) / rows;
      device.run(kernel, {wide, high}, {columns, rows}, 0, in.data(), out.data(), width, height);
      EXPECT_EQ(out, expected);
    }
  }
}

TEST_P(rows, rows_of_threads_that_store_side_by_side_go_together) {
  auto all = [](int, int, int, int) { return true; };
  auto next = [](auto* row, int x) { return row[x] + 1; };
  each_length([&](bool) {
    turns<int>(device, "turned", all, [](const int* row, int x) { return row[x]; });
    turns<unsigned char>(device, "turned_bytes", all, next);
    turns<int>(device, "turned_unsigned", all, next);
    turns<int>(
        device, "turned_inside",
        [](int x, int y, int width, int height) {
          return x >= 1 && y >= 2 && x < width - 1 && y < height - 1;
        },
        next);
    turns<double>(
        device, "turned_doubles", [](int, int y, int, int) { return y % 3 != 1; },
        [](const double* row, int x) { return 2 * row[x] - row[0]; });
  });
}

// As many columns of a picture as other kernels have threads.
TEST_P(rows, rows_of_blocks_with_rows_of_threads_are_long) {
  EXPECT_GE(device.kernel("kept_upright").row_threads, 4 * device.kernel("plain").row_threads);
}

TEST_P(rows, threads_add_up_rows_of_their_own) {
  each_length([&](bool) {
    for (int height : {21, 20, 17, 3, 0}) {
      for (int width : {13, 1, 0}) {
        std::vector<float> in(21 * 13), out(21, 99), expected(21, 99);
        for (unsigned i = 0; i < in.size(); ++i) in[i] = float(i * 7 % 5) - 2;
        for (int y = 0; y < height; ++y) {
          float sum = 0, last = 1;
          for (int x = 0; x < width; ++x) {
            const float one = in[static_cast<unsigned>(y * width + x)];
            sum = 2 * sum + one * last;
            last = y % 3 == 0 ? -one : one;
          }
          expected[static_cast<unsigned>(y)] = sum - last;
        }
        device.run("sums_of_rows", {3}, {7}, 0, in.data(), out.data(), width, height);
        EXPECT_EQ(out, expected) << height << " " << width;
      }
    }
  });
}

TEST_P(rows, threads_read_what_they_stored_in_rows_of_their_own) {
  each_length([&](bool) {
    std::vector<float> data(18 * 6), expected;
    for (unsigned i = 0; i < data.size(); ++i) data[i] = float(i % 11);
    expected = data;
    for (unsigned y = 0; y < 18; ++y) {
      float sum = 1;
      float* own = &expected[y * 6];
      for (int x = 1; x < 6; ++x) {
        own[x] = own[x - 1] + sum;
        sum = own[x] - own[0];
      }
    }
    device.run("steps_of_rows", {2}, {9}, 0, data.data(), 6);
    EXPECT_EQ(data, expected);
  });
}

INSTANTIATE_TEST_SUITE_P(levels, rows, testing::Values(".O0", ".O2"),
                         [](const auto& info) { return std::string(info.param + 1); });

}  // namespace
}  // namespace sb::test
