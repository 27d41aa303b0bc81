#include <gtest/gtest.h>

#include <utility>
#include <vector>

#include "harness/machine.hpp"

namespace sb::test {
namespace {

struct linear_warps : testing::TestWithParam<const char*> {
  image device{std::string(PASS_IMAGES "/linear") + GetParam() + ".so"};
};

std::vector<int> numbers(unsigned count) {
  std::vector<int> in(count);
  for (unsigned i = 0; i < count; ++i) in[i] = static_cast<int>(i * 7919 % 1013);
  return in;
}

TEST_P(linear_warps, rows_that_break_warps_need_no_fibers) {
  for (const char* name : {"places", "written_otherwise"}) {
    const abi::kernel_info& kernel = device.kernel(name);
    const abi::kernel_info* broken = kernel.otherwise;
    ASSERT_NE(broken, nullptr) << name;
    EXPECT_EQ(kernel.mode, abi::kernel_mode::loop) << name;
    EXPECT_EQ(broken->mode, abi::kernel_mode::loop) << name;
    EXPECT_EQ(broken->static_shared_bytes, kernel.static_shared_bytes);
    EXPECT_STREQ(broken->name, name);  // timelines name it as the program does
    EXPECT_EQ(&abi::variant_for(kernel, {100, 1, 1, 1}), &kernel);
    EXPECT_EQ(&abi::variant_for(kernel, {64, 4, 2, 1}), &kernel);
    EXPECT_EQ(&abi::variant_for(kernel, {16, 16, 1, 1}), broken);
    EXPECT_EQ(&abi::variant_for(kernel, {5, 7, 3, 1}), broken);
  }
}

TEST_P(linear_warps, layers_that_a_kernel_does_not_know_have_a_block_function_of_their_own) {
  for (const char* name : {"sum_of_tile", "some_stay", "rows_of_layers"}) {
    const abi::kernel_info& kernel = device.kernel(name);
    ASSERT_NE(kernel.otherwise, nullptr) << name;
    const abi::kernel_info& rows = abi::variant_for(kernel, {16, 16, 1, 1});
    const abi::kernel_info& layers = abi::variant_for(kernel, {16, 2, 4, 1});
    EXPECT_EQ(rows.mode, abi::kernel_mode::loop) << name;
    EXPECT_EQ(abi::variant_for(kernel, {64, 2, 4, 1}).mode, abi::kernel_mode::loop) << name;
    EXPECT_EQ(layers.mode, abi::kernel_mode::loop) << name;
    EXPECT_NE(&rows, &layers) << name;
  }
}

TEST_P(linear_warps, a_kernel_that_is_written_for_one_row_has_a_block_function_for_several) {
  for (const char* name : {"one_row", "one_row_in_parts"}) {
    const abi::kernel_info& kernel = device.kernel(name);
    EXPECT_EQ(kernel.mode, abi::kernel_mode::loop) << name;
    EXPECT_EQ(abi::variant_for(kernel, {16, 16, 1, 1}).mode, abi::kernel_mode::loop) << name;
    EXPECT_EQ(abi::variant_for(kernel, {5, 7, 3, 1}).mode, abi::kernel_mode::loop) << name;
    EXPECT_NE(&abi::variant_for(kernel, {16, 16, 1, 1}), &kernel) << name;
  }
}

// Whole warps, in rows and layers that break them.
const std::vector<dims> broken_shapes = {dims{16, 16},   dims{8, 4, 3},  dims{24, 4},   dims{1, 64},
                                         dims{16, 2, 5}, dims{48, 2, 3}, dims{4, 1, 24}};

// What every thread has when the lanes of each warp have added theirs up.
std::vector<int> lane_sums(std::vector<int> values) {
  for (unsigned d = 16; d > 0; d /= 2) {
    const std::vector<int> before = values;
    for (unsigned t = 0; t < values.size(); ++t) values[t] += before[t % 32 + d < 32 ? t + d : t];
  }
  return values;
}

// The lanes of a thread's warp for which something holds.
template <class Holds>
int lanes_of_warp(unsigned thread, Holds holds) {
  unsigned mask = 0;
  for (unsigned lane = 0; lane < 32; ++lane)
    mask |= unsigned{holds(thread / 32 * 32 + lane)} << lane;
  return static_cast<int>(mask);
}

TEST_P(linear_warps, kernels_that_only_know_x_may_have_rows_and_layers) {
  const std::vector<int> in = numbers(1024);
  for (dims block : broken_shapes) {
    const unsigned count = block.x * block.y * block.z;
    std::vector<int> values(count), out(block.x), expected(block.x);
    for (unsigned t = 0; t < count; ++t) values[t] = in[t % block.x];
    values = lane_sums(values);
    for (unsigned t = 0; t < count; ++t) expected[t % block.x] += 4 * values[t];
    device.run("one_row", {2, 2}, block, 0, in.data(), out.data());
    EXPECT_EQ(out, expected) << block.x << " " << block.y << " " << block.z;
  }
}

TEST_P(linear_warps, rows_of_such_kernels_part_and_leave_by_columns) {
  const std::vector<int> in = numbers(1024);
  for (dims block : broken_shapes) {
    for (int n : {0, 3, 100}) {
      const unsigned count = block.x * block.y * block.z;
      std::vector<int> out(block.x), expected(block.x);
      int sum = 0;
      for (unsigned t = 0; t < count; ++t) {
        auto votes = [&](unsigned i) { return i % block.x < 5 && in[i % block.x] % 2 == 1; };
        sum += in[t % block.x] + (t % block.x < 5 ? lanes_of_warp(t, votes) & 0xffff : 0);
      }
      for (unsigned t = 0; t < count; ++t) {
        if (static_cast<int>(t % block.x) < n) expected[t % block.x] += 3 * sum;
      }
      device.run("one_row_in_parts", {3}, block, 0, in.data(), out.data(), n);
      EXPECT_EQ(out, expected) << block.x << " " << block.y << " " << block.z << " " << n;
    }
  }
}

TEST_P(linear_warps, kernels_that_do_not_know_their_layer_may_have_some) {
  const std::vector<int> in = numbers(1024);
  for (dims block : broken_shapes) {
    const unsigned layer = block.x * block.y, count = layer * block.z;
    std::vector<int> values(count), out(layer), expected(layer);
    for (unsigned t = 0; t < count; ++t) values[t] = in[t % layer];
    values = lane_sums(values);
    for (unsigned t = 0; t < count; ++t) {
      auto odd = [&](unsigned i) { return i % layer < 32 && i % layer / block.x % 2 == 1; };
      expected[t % layer] += 2 * (values[t] + (odd(t) ? lanes_of_warp(t, odd) & 0xffff : 0));
    }
    device.run("rows_of_layers", {2}, block, 0, in.data(), out.data());
    EXPECT_EQ(out, expected) << block.x << " " << block.y << " " << block.z;
  }
}

TEST_P(linear_warps, every_thread_knows_where_it_is) {
  for (unsigned width = 1; width <= 1024; ++width) {
    const unsigned rows = 1024 / width;
    for (unsigned layers : {1u, 3u}) {
      const dims block{width, rows / layers, layers};
      if (block.y == 0) continue;
      const unsigned count = block.x * block.y * block.z;
      std::vector<unsigned> out(count), expected(count);
      for (unsigned t = 0; t < count; ++t) {
        const unsigned from = (t ^ 1) < count ? t ^ 1 : t;
        expected[t] = from % width | from / width % block.y << 11 | from / width / block.y << 22;
      }
      device.run("places", {1}, block, 0, out.data());
      ASSERT_EQ(out, expected) << block.x << " " << block.y << " " << block.z;
    }
  }
}

TEST_P(linear_warps, the_linear_index_is_known_in_any_words) {
  for (dims block : {dims{16, 16}, dims{5, 7, 3}, dims{24, 4}, dims{1, 64}, dims{31, 3}}) {
    std::vector<int> in = numbers(block.x * block.y * block.z), out(in.size()), expected(in);
    std::vector<int> lanes(in.begin() + 32, in.begin() + 64);
    for (unsigned d = 16; d > 0; d /= 2) {
      const std::vector<int> before = lanes;
      // A lane beyond the last answers with the asking one's own.
      for (unsigned i = 0; i < 32; ++i) lanes[i] += before[i + d < 32 ? i + d : i];
    }
    for (unsigned i = 0; i < 32; ++i) expected[32 + i] += lanes[i];
    device.run("written_otherwise", {1}, block, 0, in.data(), out.data());
    EXPECT_EQ(out, expected) << block.x << " " << block.y;
  }
}

TEST_P(linear_warps, tiles_of_any_shape_are_added_up) {
  for (dims block :
       {dims{16, 16}, dims{8, 8}, dims{16, 4}, dims{32, 8}, dims{4, 24}, dims{64, 4}}) {
    const unsigned stride = 2 * block.x;
    std::vector<int> in = numbers(4 * block.x * block.y), out(4), expected(4);
    for (unsigned i = 0; i < in.size(); ++i) {
      expected[i / stride / block.y * 2 + i % stride / block.x] += in[i];
    }
    device.run("sum_of_tile", {2, 2}, block, 0, in.data(), out.data(), static_cast<int>(stride));
    EXPECT_EQ(out, expected) << block.x << " " << block.y;
  }
}

TEST_P(linear_warps, threads_that_return_by_row_and_column_count_no_more) {
  for (dims block : {dims{16, 16}, dims{24, 4}, dims{31, 3}, dims{7, 9}}) {
    for (auto [columns, rows] : {std::pair{9u, 2u}, {100u, 100u}, {5u, 100u}, {0u, 0u}}) {
      const unsigned count = block.x * block.y;
      std::vector<int> in = numbers(count), out(count), expected(count, -1);
      auto stays = [&, columns = columns, rows = rows](unsigned t) {
        return t < count && t % block.x < columns && t / block.x < rows;
      };
      for (unsigned t = 0; t < count; ++t) {
        int here = 0, odd = 0;
        for (unsigned i = t & ~31u; i < (t | 31u) + 1; ++i) {
          here += stays(i);
          odd += stays(i) && i / block.x % 2 == 1 && in[i] % 2 == 1;
        }
        if (stays(t)) {
          expected[t] =
              in[t / block.x * block.x] + 100000 * here + (t / block.x % 2 == 1 ? 1000 * odd : 0);
        }
      }
      device.run("some_stay", {1}, block, 0, in.data(), out.data(), static_cast<int>(columns),
                 static_cast<int>(rows));
      EXPECT_EQ(out, expected) << block.x << " " << block.y << " " << columns << " " << rows;
    }
  }
}

INSTANTIATE_TEST_SUITE_P(levels, linear_warps, testing::Values(".O0", ".O2"),
                         [](const auto& info) { return std::string(info.param + 1); });

}  // namespace
}  // namespace sb::test
