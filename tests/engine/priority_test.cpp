// Priorities on the workers: a higher one goes first at every block boundary, not only when a
// worker comes back for more.
#include <gtest/gtest.h>

#include <algorithm>
#include <memory>

#include "kernels.hpp"

namespace sb::engine::testing {
namespace {

// A kernel of many short blocks of which one, late enough that workers take many at once, stops
// until the host lets it go.
struct board {
  std::atomic<int> begun{0};
  int stop_at = 0;
  std::atomic<bool> stopped{false};
  std::atomic<bool> go{false};
  std::atomic<int> seen{-1};  // blocks that had begun when the urgent kernel did
  std::atomic<int> next{0};
  int order[8] = {};

  void wait_until_stopped() const {
    while (!stopped.load(std::memory_order_acquire)) std::this_thread::yield();
  }
};

void short_block(const char* params, thread_context* /*self*/) {
  board& b = *params_of<board*>(params);
  if (b.begun.fetch_add(1) != b.stop_at) return;
  b.stopped.store(true, std::memory_order_release);
  while (!b.go.load(std::memory_order_acquire)) std::this_thread::yield();
}
void urgent_block(const char* params, thread_context* /*self*/) {
  board& b = *params_of<board*>(params);
  b.seen.store(b.begun.load());
}
struct level_params {
  board* b;
  int level;
};
void level_block(const char* params, thread_context* /*self*/) {
  const auto& p = params_of<level_params>(params);
  p.b->order[p.b->next.fetch_add(1)] = p.level;
}

const abi::kernel_info short_loop = loop_kernel(&short_block, "short");
const abi::kernel_info short_fibers = fiber_kernel(&short_block, "short");
const abi::kernel_info urgent_kernel = loop_kernel(&urgent_block, "urgent");
const abi::kernel_info level_kernel = loop_kernel(&level_block, "level");

constexpr std::uint32_t whole_multiprocessor = 200 << 10;  // bytes of shared memory

int blocks_before_urgent(const abi::kernel_info& kernel, std::uint32_t blocks, int stop_at = 3000) {
  engine_test t(options_for_tests(1, 1));
  board b;
  b.stop_at = stop_at;
  t.e.submit(t.stream(), launch(kernel, {blocks, 1, 1}, {}, &b));
  b.wait_until_stopped();
  t.e.submit(t.stream(-5), launch(urgent_kernel, {}, {}, &b));
  b.go.store(true, std::memory_order_release);
  EXPECT_EQ(t.sync(), status::success);
  EXPECT_EQ(b.begun, static_cast<int>(blocks));
  return b.seen;
}

// Where the machine has other work, the block may be held so long that the pool adds a worker, and
// that may have taken the urgent kernel without having begun it when the first one goes on.
int fewest_before_urgent(const abi::kernel_info& kernel, std::uint32_t blocks, int stop_at = 3000) {
  constexpr int tries = 20;
  int fewest = blocks_before_urgent(kernel, blocks, stop_at);
  for (int i = 1; i < tries && fewest > stop_at + 1; ++i)
    fewest = std::min(fewest, blocks_before_urgent(kernel, blocks, stop_at));
  return fewest;
}

TEST(priority, an_urgent_kernel_begins_at_the_next_block_boundary) {
  EXPECT_EQ(fewest_before_urgent(short_loop, 4000), 3001);
  EXPECT_EQ(fewest_before_urgent(short_fibers, 4000), 3001);
}

// 4224 blocks of one thread fill an H200: the urgent one waits for the first that ends.
TEST(priority, an_urgent_kernel_overtakes_a_full_device_at_the_next_block_boundary) {
  EXPECT_EQ(fewest_before_urgent(short_loop, 12'000), 3001);
  EXPECT_EQ(fewest_before_urgent(short_fibers, 12'000), 3001);
}

// By then the worker takes blocks before they are granted.
TEST(priority, an_urgent_kernel_overtakes_blocks_that_go_ahead) {
  EXPECT_EQ(fewest_before_urgent(short_loop, 400'000, 200'000), 200'001);
}

// One thread a block: 4224 of them are resident, the last of which leave room for the other kernel.
TEST(priority, a_kernel_of_the_same_priority_waits_for_blocks_that_go_ahead) {
  constexpr int blocks = 400'000, resident = 4224;
  engine_test t;
  board b;
  b.stop_at = 1000;
  t.e.submit(t.stream(), launch(short_loop, {blocks, 1, 1}, {}, &b));
  b.wait_until_stopped();
  t.e.submit(t.stream(), launch(urgent_kernel, {}, {}, &b));
  b.go.store(true, std::memory_order_release);
  EXPECT_EQ(t.sync(), status::success);
  EXPECT_EQ(b.begun, blocks);
  EXPECT_GE(b.seen, blocks - resident);
}

TEST(priority, six_levels_wait_behind_a_full_device_and_begin_in_order) {
  engine_test t(options_for_tests(1, 1));
  board b;
  b.stop_at = 100;
  t.e.submit(t.stream(), launch(short_loop, {600, 1, 1}, {}, &b, whole_multiprocessor));
  b.wait_until_stopped();
  for (const int level : {-2, 0, -4, -1, -5, -3}) {
    t.e.submit(t.stream(level),
               launch(level_kernel, {}, {}, level_params{&b, level}, whole_multiprocessor));
  }
  b.go.store(true, std::memory_order_release);
  EXPECT_EQ(t.sync(), status::success);
  for (int i = 0; i < 6; ++i) EXPECT_EQ(b.order[i], i - 5);
}

struct count_params {
  std::atomic<std::uint8_t>* counts;
};
void count_block(const char* params, thread_context* self) {
  const abi::block_context* block = self->block;
  params_of<count_params>(params).counts[block->block_idx[0]].fetch_add(1);
}
void count_row(const char* params, thread_context* self) {
  const abi::block_context* block = self->block;
  for (std::uint32_t i = 0; i < block->row_blocks; ++i)
    params_of<count_params>(params).counts[block->block_idx[0] + i].fetch_add(1);
}
const abi::kernel_info count_loop = loop_kernel(&count_block, "count");
const abi::kernel_info count_rows = [] {
  abi::kernel_info info = loop_kernel(&count_row, "count");
  info.row_threads = 64;
  return info;
}();
const abi::kernel_info count_fibers = fiber_kernel(&count_block, "count");

TEST(priority, blocks_that_made_way_run_once) {
  for (const abi::kernel_info* kernel : {&count_loop, &count_rows, &count_fibers}) {
    const std::uint32_t blocks = kernel == &count_fibers ? 20'000 : 500'000;
    engine_test t;
    const auto counts = std::make_unique<std::atomic<std::uint8_t>[]>(blocks);
    std::atomic<std::uint8_t> urgent{0};
    const stream_id low = t.stream();
    const stream_id high = t.stream(-5);
    t.e.submit(low, launch(*kernel, {blocks, 1, 1}, {}, count_params{counts.get()}));
    for (int i = 0; i < 200; ++i) {
      t.e.submit(high, launch(count_loop, {}, {}, count_params{&urgent}));
      EXPECT_EQ(t.e.synchronize(whole_stream(high), first_device), status::success);
    }
    EXPECT_EQ(t.sync(), status::success);
    EXPECT_EQ(urgent, 200);
    std::uint32_t wrong = 0;
    for (std::uint32_t i = 0; i < blocks; ++i) wrong += counts[i] != 1;
    EXPECT_EQ(wrong, 0U);
  }
}

}  // namespace
}  // namespace sb::engine::testing
