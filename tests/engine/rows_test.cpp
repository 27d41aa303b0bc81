// Kernels that run a row of neighbouring blocks in one call.
#include <gmock/gmock.h>
#include <gtest/gtest.h>

#include <sstream>

#include "engine/launch_counts.hpp"
#include "kernels.hpp"

namespace sb::engine::testing {
namespace {

using ::testing::HasSubstr;

struct row_params {
  std::vector<std::atomic<int>>* runs;  // by block
  std::atomic<std::uint32_t>* longest;
};

void note_row(const char* params, thread_context* self) {
  const auto& p = params_of<row_params>(params);
  const abi::block_context& b = *self->block;
  const std::uint32_t row = b.block_idx[1] + b.grid_dim[1] * b.block_idx[2];
  std::uint32_t before = p.longest->load();
  while (before < b.row_blocks && !p.longest->compare_exchange_weak(before, b.row_blocks)) {
  }
  // A row that went beyond the grid would count for blocks of the next.
  for (std::uint32_t i = 0; i < b.row_blocks; ++i)
    ++(*p.runs)[(b.block_idx[0] + i) + row * b.grid_dim[0]];
}

abi::kernel_info row_kernel(abi::kernel_entry entry = note_row) {
  abi::kernel_info info = loop_kernel(entry, "rows");
  info.row_threads = 256;
  return info;
}

TEST(rows, every_block_is_in_one_row) {
  const abi::kernel_info kernel = row_kernel();
  std::vector<std::atomic<int>> runs(1001 * 3 * 2);
  std::atomic<std::uint32_t> longest{0};
  engine_test t;
  t.e.submit(t.stream(), launch(kernel, {1001, 3, 2}, {32}, row_params{&runs, &longest}));
  EXPECT_EQ(t.sync(), status::success);
  for (const auto& each : runs) ASSERT_EQ(each, 1);
  EXPECT_GT(longest, 1);
  EXPECT_LE(longest, 256 / 32);
}

TEST(rows, are_for_blocks_that_the_kernel_takes_them_for) {
  abi::kernel_info kernel = row_kernel();
  kernel.row_width = 64;
  engine_test t;
  for (std::uint32_t width : {32u, 64u, 512u}) {
    std::vector<std::atomic<int>> runs(5000);
    std::atomic<std::uint32_t> longest{0};
    t.e.submit(t.stream(), launch(kernel, {5000}, {width}, row_params{&runs, &longest}));
    EXPECT_EQ(t.sync(), status::success);
    for (const auto& each : runs) ASSERT_EQ(each, 1);
    EXPECT_EQ(longest > 1, width == 64) << width;
  }
}

TEST(rows, leave_out_the_samples) {
  abi::kernel_info version = fiber_kernel(
      [](const char* params, thread_context* self) {
        if (self->linear_tid == 0)
          ++(*params_of<row_params>(params).runs)[self->block->block_idx[0]];
        ++self->block->counts->threads;
      },
      "counted");
  abi::kernel_info kernel = row_kernel();
  engine_test t;
  kernel.counted = &version;
  std::vector<std::atomic<int>> runs(5000);
  std::atomic<std::uint32_t> longest{0};
  auto got = t.e.count(t.stream(), launch(kernel, {5000}, {32}, row_params{&runs, &longest}));
  ASSERT_TRUE(got);
  EXPECT_EQ(got->threads, 5000 * 32);
  for (const auto& each : runs) ASSERT_EQ(each, 1);
}

struct bad_params {
  bool tells;
  std::atomic<std::uint32_t>* first;
  std::atomic<std::uint32_t>* length;
};

TEST(rows, faults_name_the_block_or_the_row) {
  const abi::kernel_info kernel = row_kernel([](const char* params, thread_context* self) {
    const auto& p = params_of<bad_params>(params);
    abi::block_context& b = *self->block;
    std::uint32_t expected = 0;
    // Other workers' rows go on.
    if (b.row_blocks < 2 || !p.length->compare_exchange_strong(expected, b.row_blocks)) return;
    *p.first = b.block_idx[0];
    if (p.tells) b.row_at = 1;
    device::call(device::table().trap, self);
  });
  for (bool tells : {false, true}) {
    std::atomic<std::uint32_t> first{0}, length{0};
    engine_test t;
    ::testing::internal::CaptureStderr();
    t.e.submit(t.stream(), launch(kernel, {100'000}, {32}, bad_params{tells, &first, &length}));
    EXPECT_NE(t.sync(), status::success);
    const std::string text = ::testing::internal::GetCapturedStderr();
    ASSERT_GE(length, 2u);
    std::ostringstream where;
    where << "block (" << (tells ? first + 1 : first.load()) << ",0,0)";
    if (!tells) where << " to (" << first + length - 1 << ",0,0)";
    EXPECT_THAT(text, HasSubstr(where.str() + ":"));
  }
}

}  // namespace
}  // namespace sb::engine::testing
