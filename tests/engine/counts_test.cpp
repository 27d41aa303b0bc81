// Counting what a launch does from a sample of its blocks.
#include <gtest/gtest.h>

#include <numeric>

#include "engine/launch_counts.hpp"
#include "kernels.hpp"

namespace sb::engine::testing {
namespace {

struct params {
  std::vector<std::atomic<int>>* runs;  // by block: how often each thread of it ran
};

std::uint32_t block_of(const thread_context* self) { return self->block->block_idx[0]; }

// A whole block in one go.
void plain(const char* p, thread_context* self) {
  (*params_of<params>(p).runs)[block_of(self)] += static_cast<int>(self->block->block_dim[0]);
}

// A thread; it waits for the others, as samples may.
void counted(const char* p, thread_context* self) {
  ++(*params_of<params>(p).runs)[block_of(self)];
  device::barrier(self);
  ++self->block->counts->threads;
  self->block->counts->fp32 += block_of(self);
}

struct counted_kernel {
  explicit counted_kernel(abi::kernel_entry entry = plain)
      : version(fiber_kernel(counted, "counted")), kernel(loop_kernel(entry, "plain")) {
    kernel.counted = &version;
  }
  abi::kernel_info version, kernel;
};

TEST(counts, come_from_a_sample_and_every_block_runs_once) {
  const counted_kernel k;  // outlives the engine, as kernels do
  engine_test t;
  std::vector<std::atomic<int>> runs(1000);
  auto got = t.e.count(t.stream(), launch(k.kernel, {1000}, {64}, params{&runs}));
  ASSERT_TRUE(got);
  EXPECT_EQ(got->threads, 1000 * 64);
  // The middle blocks of four parts stand for all: 125, 375, 625, 875.
  EXPECT_EQ(got->fp32, 250u * 64 * (125 + 375 + 625 + 875));
  for (const auto& each : runs) EXPECT_EQ(each, 64);
}

TEST(counts, are_exact_when_every_block_is_a_sample) {
  const counted_kernel k;  // outlives the engine, as kernels do
  engine_test t;
  for (const std::uint32_t blocks : {1u, 2u, 3u, 5u, 100u}) {
    std::vector<std::atomic<int>> runs(blocks);
    auto got = t.e.count(t.stream(), launch(k.kernel, {blocks}, {32}, params{&runs}),
                         launch_counts::every_block);
    ASSERT_TRUE(got);
    EXPECT_EQ(got->threads, blocks * 32);
    EXPECT_EQ(got->fp32, 32 * blocks * (blocks - 1) / 2);
    for (const auto& each : runs) EXPECT_EQ(each, 32);
  }
}

TEST(counts, are_zero_for_a_kernel_that_has_no_counted_version) {
  const abi::kernel_info kernel = loop_kernel(plain);
  engine_test t;
  std::vector<std::atomic<int>> runs(10);
  auto got = t.e.count(t.stream(), launch(kernel, {10}, {32}, params{&runs}));
  ASSERT_TRUE(got);
  EXPECT_EQ(got->threads, 0);
  for (const auto& each : runs) EXPECT_EQ(each, 32);
}

TEST(counts, of_a_launch_that_fails_are_its_error) {
  const counted_kernel k([](const char*, thread_context* self) { device::trap(self); });
  engine_test t;
  std::vector<std::atomic<int>> runs(100);
  auto got = t.e.count(t.stream(), launch(k.kernel, {100}, {32}, params{&runs}));
  EXPECT_FALSE(got);
}

TEST(counts, cover_the_grid_in_parts_of_equal_size) {
  for (std::uint64_t blocks = 1; blocks < 70; ++blocks) {
    for (std::uint64_t samples = 1; samples <= blocks + 1; ++samples) {
      launch_counts one(blocks, samples);
      std::uint64_t found = 0;
      for (std::uint64_t block = 0; block < blocks; ++block) {
        ASSERT_GE(one.next_sample(block), block);
        if (!one.is_sample(block)) continue;
        ++found;
        abi::kernel_counts counts{};
        counts.threads = 1;
        one.add(block, counts);
      }
      ASSERT_EQ(found, std::min(samples, blocks));
      ASSERT_EQ(one.total().threads, blocks) << samples;
    }
  }
}

}  // namespace
}  // namespace sb::engine::testing
