// Kernels whose entry runs a whole block, on a fiber of the block: it stops where the blocks of the
// grid meet.
#include <gtest/gtest.h>

#include "kernels.hpp"

namespace sb::engine::testing {
namespace {

template <class Params>
status run(abi::kernel_entry entry, extent3 grid, extent3 block, const Params& params) {
  engine_test t;
  const abi::kernel_info info = kernel(abi::kernel_mode::block_fiber, entry, "meets");
  kernel_operation k = launch(info, grid, block, params);
  k.cooperative = true;
  t.e.submit(t.stream(), k);
  return t.sync();
}

// What the pass makes of code that calls the engine: the threads in turn, each with its number.
template <class Thread>
void for_threads(thread_context* self, Thread thread) {
  for (std::uint32_t i = 0; i < self->block->block_dim[0]; ++i) {
    self->tid[0] = self->linear_tid = i;
    thread();
  }
}

struct counter_params {
  std::atomic<int>*counter, *wrong;
};

TEST(grid, all_blocks_go_on_together) {
  std::atomic<int> counter{0}, wrong{0};
  EXPECT_EQ(run(
                [](const char* p, thread_context* self) {
                  const auto& q = params_of<counter_params>(p);
                  for (int round = 1; round <= 3; ++round) {
                    for_threads(self, [&] { ++*q.counter; });
                    device::grid_sync(self);
                    if (*q.counter != round * 200 * 700) ++*q.wrong;
                    device::grid_sync(self);
                  }
                },
                {200}, {700}, counter_params{&counter, &wrong}),
            status::success);
  EXPECT_EQ(counter, 3 * 200 * 700);
  EXPECT_EQ(wrong, 0);
}

TEST(grid, who_is_over_counts_as_there) {
  std::atomic<int> counter{0}, wrong{0};
  EXPECT_EQ(run(
                [](const char* p, thread_context* self) {
                  const auto& q = params_of<counter_params>(p);
                  for (std::uint32_t i = 0; i < self->block->block_idx[0]; ++i) {
                    ++*q.counter;
                    device::grid_sync(self);
                  }
                },
                {30}, {64}, counter_params{&counter, &wrong}),
            status::success);
  EXPECT_EQ(counter, 30 * 29 / 2);
}

TEST(grid, a_block_may_fail_while_others_wait_for_it) {
  EXPECT_EQ(run(
                [](const char*, thread_context* self) {
                  device::grid_sync(self);
                  if (self->block->block_idx[0] == 30) device::trap(self);
                  device::grid_sync(self);
                },
                {40}, {64}, 0),
            status::launch_failure);
}

void wait_a_millisecond(thread_context* self) {
  for_threads(self, [&] { device::wait_until(self, device::clock(self) + 1'980'000); });
}

// Threads wait by a logical clock. The block has waited when it comes to a meeting.
TEST(grid, waits_are_over_before_a_meeting) {
  std::atomic<int> begun{0}, early{0};
  EXPECT_EQ(run(
                [](const char* p, thread_context* self) {
                  const std::uint64_t begin = device::global_timer(self);
                  if (self->block->block_idx[0] == 0) wait_a_millisecond(self);
                  device::grid_sync(self);
                  const std::uint64_t took = device::global_timer(self) - begin;
                  if (self->block->block_idx[0] == 0 && took < 1'000'000)
                    ++*params_of<counter_params>(p).wrong;
                },
                {20}, {64}, counter_params{&begun, &early}),
            status::success);
  EXPECT_EQ(early, 0);
}

TEST(grid, waits_are_over_before_the_end) {
  static const abi::kernel_info waits = kernel(
      abi::kernel_mode::block_fiber,
      [](const char*, thread_context* self) { wait_a_millisecond(self); }, "waits");
  engine_test t;
  const std::uint64_t begin = t.e.now_ns();
  t.e.submit(t.stream(), launch(waits, {4}, {64}, 0));
  EXPECT_EQ(t.sync(), status::success);
  EXPECT_GE(t.e.now_ns() - begin, 1'000'000u);
}

}  // namespace
}  // namespace sb::engine::testing
