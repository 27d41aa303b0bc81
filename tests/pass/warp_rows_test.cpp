#include <gtest/gtest.h>

#include <numeric>

#include "harness/machine.hpp"

namespace sb::test {
namespace {

struct warp_rows : testing::TestWithParam<const char*> {
  image device{std::string(PASS_IMAGES "/warp_rows") + GetParam() + ".so"};
  bool loops(const char* kernel) const {
    return device.kernel(kernel).mode == abi::kernel_mode::loop;
  }
};

// What a lane of a warp gets from the others.
template <class T>
T shuffled(unsigned kind, const std::vector<T>& warp, unsigned lane, unsigned d, unsigned width) {
  unsigned segment = lane & ~(width - 1), last = segment | (width - 1), from = lane;
  bool in_range = true;
  if (kind == 0) from = segment | (d & (width - 1));
  if (kind == 1) from = lane - d, in_range = d <= lane - segment;
  if (kind == 2) from = lane + d, in_range = d <= last - lane;
  if (kind == 3) from = lane ^ d, in_range = from <= last;
  return in_range && from % 32 < warp.size() ? warp[from % 32] : warp[lane];
}

void add_up(std::vector<int>& warp) {
  for (unsigned d = 16; d > 0; d /= 2) {
    std::vector<int> before = warp;
    for (unsigned i = 0; i < warp.size(); ++i) warp[i] += shuffled(3, before, i, d, 32);
  }
}

// Rows of many lengths: none, less than a warp has lanes, several rounds.
struct matrix {
  explicit matrix(int count) : rows(count), starts(1) {
    for (int i = 0; i < count; ++i) starts.push_back(starts.back() + i * 37 % 131);
    for (int i = 0; i < starts.back(); ++i) in.push_back(i % 101 - 50);
  }
  [[nodiscard]] int lane_of(int row, int lane) const {
    unsigned sum = 0;
    for (int i = starts[row] + lane; i < starts[row + 1]; i += 32) sum = sum * 3 + unsigned(in[i]);
    return static_cast<int>(sum);
  }
  int rows;
  std::vector<int> starts, in;
};

TEST_P(warp_rows, a_warp_adds_up_its_row_inside_of_a_condition) {
  for (const char* kernel : {"rows_inside", "rows_returned", "rows_in_turn"}) {
    ASSERT_TRUE(loops(kernel)) << kernel;
    for (unsigned threads : {32u, 96u, 256u}) {
      matrix m(77);
      std::vector<int> out(100, -1), expected(100, -1);
      for (int row = 0; row < m.rows; ++row) {
        std::vector<int> warp;
        for (int lane = 0; lane < 32; ++lane) warp.push_back(m.lane_of(row, lane));
        add_up(warp);
        expected[row] = warp[0];
      }
      bool in_turn = kernel == std::string("rows_in_turn");
      device.run(kernel, {in_turn ? 5 : 80 * 32 / threads + 1}, {threads}, 0, m.starts.data(),
                 m.in.data(), out.data(), m.rows);
      EXPECT_EQ(out, expected) << kernel << " " << threads;
    }
  }
}

// 48 threads are a warp and a half: there a warp has two rows, in the second block.
TEST_P(warp_rows, lanes_of_one_warp_may_have_two_rows) {
  for (auto [kernel, apart] : {std::pair("rows_of_all", 0u), std::pair("rows_of_four", 128u)}) {
    ASSERT_TRUE(loops(kernel)) << kernel;
    for (unsigned threads : {20u, 32u, 48u, 100u, 128u}) {
      matrix m(200);
      unsigned blocks = 7, stride = apart ? apart : threads;
      std::vector<int> out(1000, -1), expected(1000, -1);
      for (unsigned block = 0; block < blocks; ++block) {
        for (unsigned first = 0; first < threads; first += 32) {
          std::vector<int> warp;
          for (unsigned t = first; t < std::min(first + 32, threads); ++t) {
            int at = static_cast<int>(block * stride + t);
            warp.push_back(m.lane_of(at / 32, at % 32) + at / 32);
          }
          add_up(warp);
          std::copy(warp.begin(), warp.end(), expected.begin() + block * stride + first);
        }
      }
      device.run(kernel, {blocks}, {threads}, 0, m.starts.data(), m.in.data(), out.data(), m.rows);
      EXPECT_EQ(out, expected) << kernel << " " << threads;
    }
  }
}

// The rounds of each lane, and what it gets from the next.
template <class Index, class Goes>
std::vector<unsigned> rounds(unsigned threads, Index first, unsigned apart, Index step, Goes goes) {
  using bits = std::make_unsigned_t<Index>;
  std::vector<unsigned> sums, out;
  for (unsigned t = 0; t < threads; ++t) {
    unsigned sum = 0;
    for (Index i = static_cast<Index>(bits(first) + apart * (t % 32)); goes(i);
         i = static_cast<Index>(bits(i) + bits(step))) {
      sum = sum * 31 + static_cast<unsigned>(i);
    }
    sums.push_back(sum);
  }
  for (unsigned t = 0; t < threads; ++t) {
    bool last = t % 32 == 31 || t + 1 == threads;
    out.push_back(sums[t] + sums[last ? t : t + 1]);
  }
  return out;
}

TEST_P(warp_rows, common_rounds_and_the_last_of_each_lane_are_those_of_the_loop) {
  for (const char* kernel : {"signed_rounds", "unsigned_rounds", "wide_rounds"}) {
    ASSERT_TRUE(loops(kernel)) << kernel;
  }
  for (unsigned threads : {32u, 72u}) {
    for (int step : {1, 7, 31, 32, 33, 96}) {
      for (int length : {-40, 0, 1, 17, 31, 32, 33, 63, 64, 100}) {
        std::vector<unsigned> out(threads);
        int first = -20, limit = first + length;
        device.run("signed_rounds", {1}, {threads}, 0, first, limit, step, out.data());
        EXPECT_EQ(out, rounds(threads, first, 1, step, [&](int i) { return i < limit; }))
            << step << " " << length;
        unsigned from = 1000, to = from + static_cast<unsigned>(length);
        auto by = static_cast<unsigned>(step);
        device.run("unsigned_rounds", {1}, {threads}, 0, from, to, by, out.data());
        EXPECT_EQ(out, rounds(threads, from, 1, by, [&](unsigned i) { return i <= to; }))
            << step << " " << length;
        long far = (1l << 40) - 20, end = far + length, wide = step;
        device.run("wide_rounds", {1}, {threads}, 0, far, end, wide, out.data());
        EXPECT_EQ(out, rounds(threads, far, 3, wide, [&](long i) { return i < end; }))
            << step << " " << length;
      }
    }
  }
}

TEST_P(warp_rows, an_index_that_wraps_goes_on_where_it_comes_to) {
  for (unsigned first : {0xe0000000u, 0xf0000000u, 0xfffffff0u, 0xffffffffu, 5u}) {
    for (unsigned limit : {0xf000000au, 0xf0000020u, 0xe8000000u}) {
      std::vector<unsigned> out(64);
      unsigned step = 0x30000001u;
      device.run("unsigned_rounds", {1}, {64}, 0, first, limit, step, out.data());
      EXPECT_EQ(out, rounds(64, first, 1, step, [&](unsigned i) { return i <= limit; }))
          << first << " " << limit;
    }
  }
}

TEST_P(warp_rows, warps_scan_and_then_their_sums) {
  ASSERT_TRUE(loops("scan_block"));
  for (unsigned threads : {32u, 64u, 256u, 1024u}) {
    std::vector<int> in(threads), out(threads), expected(threads);
    for (unsigned i = 0; i < threads; ++i) in[i] = static_cast<int>(i * 7919 % 1000) - 300;
    std::partial_sum(in.begin(), in.end(), expected.begin());
    device.run("scan_block", {1}, {threads}, 0, in.data(), out.data());
    EXPECT_EQ(out, expected) << threads;
  }
}

TEST_P(warp_rows, known_distances_are_those_of_the_device) {
  ASSERT_TRUE(loops("known_distances"));
  for (unsigned threads : {1u, 20u, 32u, 70u}) {
    std::vector<long> in(threads), out(threads * 72), expected;
    for (unsigned t = 0; t < threads; ++t) in[t] = (1l << 40) * (t + 1) + t;
    for (unsigned t = 0; t < threads; ++t) {
      unsigned first = t / 32 * 32;
      std::vector<long> warp(in.begin() + first, in.begin() + std::min(first + 32, threads));
      for (unsigned kind : {0u, 1u, 2u, 3u}) {
        for (unsigned width : {32u, 8u, 1u}) {
          for (unsigned d : {0u, 1u, 5u, 16u, 31u, 40u}) {
            expected.push_back(shuffled(kind, warp, t % 32, d, width));
          }
        }
      }
    }
    device.run("known_distances", {1}, {threads}, 0, in.data(), out.data());
    EXPECT_EQ(out, expected) << threads;
  }
}

INSTANTIATE_TEST_SUITE_P(levels, warp_rows, testing::Values(".O0", ".O2"),
                         [](const auto& info) { return std::string(info.param + 1); });

}  // namespace
}  // namespace sb::test
