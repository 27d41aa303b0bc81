// Blocks of fibers: barriers, warp operations, progress.
#include <gtest/gtest.h>
#include <algorithm>

#include <array>
#include <set>

#include "engine/device_heap.hpp"
#include "engine/print_fifo.hpp"
#include "kernels.hpp"

namespace sb::engine::testing {
namespace {

constexpr std::uint32_t full = 0xffffffffu;

std::uint32_t lane_of(const thread_context* self) { return self->linear_tid % 32; }

// Runs one launch of a fiber kernel to its end.
template <class Params>
status run(abi::kernel_entry entry, extent3 grid, extent3 block, const Params& params,
           std::uint32_t static_shared = 0, std::uint32_t dynamic_shared = 0,
           bool cooperative = false) {
  engine_test t;
  const abi::kernel_info info = fiber_kernel(entry, "kernel", static_shared);
  kernel_operation k = launch(info, grid, block, params, dynamic_shared);
  k.cooperative = cooperative;
  t.e.submit(t.stream(), k);
  return t.sync();
}

TEST(block, numbers_threads_and_blocks_as_cuda_does) {
  struct params {
    std::vector<std::array<std::uint32_t, 7>>* seen;
  };
  std::vector<std::array<std::uint32_t, 7>> seen(2 * 3 * 2 * 4 * 2 * 3);
  EXPECT_EQ(run(
                [](const char* p, thread_context* self) {
                  const auto& b = *self->block;
                  const std::uint32_t block =
                      b.block_idx[0] +
                      b.grid_dim[0] * (b.block_idx[1] + b.grid_dim[1] * b.block_idx[2]);
                  (*params_of<params>(p).seen)[block * 24 + self->linear_tid] = {
                      b.block_idx[0], b.block_idx[1], b.block_idx[2],  self->tid[0],
                      self->tid[1],   self->tid[2],   self->linear_tid};
                },
                {2, 3, 2}, {4, 2, 3}, params{&seen}),
            status::success);
  EXPECT_EQ(std::set(seen.begin(), seen.end()).size(), seen.size());
  EXPECT_EQ(seen[24 + 5], (std::array<std::uint32_t, 7>{1, 0, 0, 1, 1, 0, 5}));
}

TEST(block, has_shared_memory_of_its_own) {
  struct params {
    std::atomic<int>* wrong;
  };
  std::atomic<int> wrong{0};
  EXPECT_EQ(run(
                [](const char* p, thread_context* self) {
                  auto* fixed = reinterpret_cast<std::uint32_t*>(self->block->shared);
                  auto* dynamic = reinterpret_cast<std::uint32_t*>(self->block->dynamic_shared);
                  const std::uint32_t t = self->linear_tid;
                  const std::uint32_t b = self->block->block_idx[0];
                  auto& wrong = *params_of<params>(p).wrong;
                  if (reinterpret_cast<std::uintptr_t>(dynamic) % 128 != 0) ++wrong;
                  fixed[t] = b * 1000 + t;
                  dynamic[t] = t * 1000 + b;
                  device::barrier(self);
                  const std::uint32_t other = (t + 1) % 64;
                  if (fixed[other] != b * 1000 + other) ++wrong;
                  if (dynamic[other] != other * 1000 + b) ++wrong;
                },
                {50}, {64}, params{&wrong}, 64 * 4, 64 * 4),
            status::success);
  EXPECT_EQ(wrong, 0);
}

struct counter_params {
  std::atomic<int>* counter;
  std::atomic<int>* wrong;
};

TEST(barrier, holds_until_all_threads_arrive) {
  std::atomic<int> counter{0}, wrong{0};
  EXPECT_EQ(run(
                [](const char* p, thread_context* self) {
                  const auto& q = params_of<counter_params>(p);
                  for (int round = 1; round <= 20; ++round) {
                    ++*q.counter;
                    device::barrier(self);
                    if (*q.counter != round * 1024) ++*q.wrong;
                    device::barrier(self);
                  }
                },
                {1}, {1024}, counter_params{&counter, &wrong}),
            status::success);
  EXPECT_EQ(counter, 20 * 1024);
  EXPECT_EQ(wrong, 0);
}

TEST(barrier, counts_and_combines_predicates) {
  std::atomic<int> counter{0}, wrong{0};
  EXPECT_EQ(run(
                [](const char* p, thread_context* self) {
                  const auto& q = params_of<counter_params>(p);
                  using kind = abi::barrier_kind;
                  const int third = self->linear_tid % 3 == 0;
                  if (device::barrier(self, kind::count, third) != 34) ++*q.wrong;
                  if (device::barrier(self, kind::and_, third) != 0) ++*q.wrong;
                  if (device::barrier(self, kind::and_, 7) != 1) ++*q.wrong;
                  if (device::barrier(self, kind::or_, third) != 1) ++*q.wrong;
                  if (device::barrier(self, kind::or_, 0) != 0) ++*q.wrong;
                },
                {2}, {100}, counter_params{&counter, &wrong}),
            status::success);
  EXPECT_EQ(wrong, 0);
}

// h200/faults.tsv barrier.some.return, barrier.warp.return, barrier.unequal
TEST(barrier, counts_threads_that_are_gone_as_arrived) {
  std::atomic<int> counter{0}, wrong{0};
  EXPECT_EQ(run(
                [](const char* p, thread_context* self) {
                  const auto& q = params_of<counter_params>(p);
                  if (self->linear_tid >= 16) return;
                  device::barrier(self);
                  ++*q.counter;
                },
                {1}, {32}, counter_params{&counter, &wrong}),
            status::success);
  EXPECT_EQ(counter, 16);
  counter = 0;
  EXPECT_EQ(run(
                [](const char* p, thread_context* self) {
                  const auto& q = params_of<counter_params>(p);
                  if (self->linear_tid < 32) device::barrier(self);
                  device::barrier(self);
                  ++*q.counter;
                },
                {1}, {64}, counter_params{&counter, &wrong}),
            status::success);
  EXPECT_EQ(counter, 64);
}

TEST(barrier, that_can_never_complete_is_an_error_and_not_a_hang) {
  std::atomic<int> counter{0}, wrong{0};
  EXPECT_EQ(run(
                [](const char*, thread_context* self) {
                  if (self->linear_tid < 32) {
                    device::barrier(self);
                  } else {
                    device::warp_sync(self, self->linear_tid == 32 ? 3u : full);
                  }
                },
                {1}, {64}, counter_params{&counter, &wrong}),
            status::launch_failure);
}

TEST(warp, shuffles_as_ptx_says) {
  std::atomic<int> counter{0}, wrong{0};
  EXPECT_EQ(
      run(
          [](const char* p, thread_context* self) {
            const auto& q = params_of<counter_params>(p);
            using kind = abi::shuffle_kind;
            const std::uint32_t lane = lane_of(self);
            const std::uint64_t value = 100 + self->linear_tid;
            const std::uint64_t base = 100 + self->linear_tid - lane;
            int in_range = -1;
            const auto expect = [&](std::uint64_t got, std::uint64_t want) {
              if (got != want) ++*q.wrong;
            };
            expect(device::shuffle(self, full, kind::index, value, 5), base + 5);
            expect(device::shuffle(self, full, kind::index, value, 35, 32, &in_range), base + 3);
            expect(static_cast<std::uint64_t>(in_range), 1);
            expect(device::shuffle(self, full, kind::up, value, 4, 32, &in_range),
                   lane >= 4 ? value - 4 : value);
            expect(static_cast<std::uint64_t>(in_range), lane >= 4);
            expect(device::shuffle(self, full, kind::down, value, 3, 8, &in_range),
                   lane % 8 < 5 ? value + 3 : value);
            expect(static_cast<std::uint64_t>(in_range), lane % 8 < 5);
            expect(device::shuffle(self, full, kind::xor_, value, 16), base + (lane ^ 16));
            expect(device::shuffle(self, full, kind::index, value, 1, 4), base + (lane & ~3u) + 1);
            if (lane % 2 == 0) {
              expect(device::shuffle(self, 0x55555555u, kind::index, value, 2), base + 2);
            }
            ++*q.counter;
          },
          {3}, {96}, counter_params{&counter, &wrong}),
      status::success);
  EXPECT_EQ(counter, 288);
  EXPECT_EQ(wrong, 0);
}

TEST(warp, votes_matches_and_reduces) {
  std::atomic<int> counter{0}, wrong{0};
  EXPECT_EQ(run(
                [](const char* p, thread_context* self) {
                  const auto& q = params_of<counter_params>(p);
                  const std::uint32_t lane = lane_of(self);
                  const auto expect = [&](std::uint32_t got, std::uint32_t want) {
                    if (got != want) ++*q.wrong;
                  };
                  using vote = abi::vote_kind;
                  using reduce = abi::reduce_kind;
                  expect(device::vote(self, full, vote::all, 1), 1);
                  expect(device::vote(self, full, vote::all, lane != 9), 0);
                  expect(device::vote(self, full, vote::any, lane == 9), 1);
                  expect(device::vote(self, full, vote::uniform, 0), 1);
                  expect(device::vote(self, full, vote::uniform, lane == 0), 0);
                  expect(device::vote(self, full, vote::ballot, lane % 2 == 0), 0x55555555u);
                  int all = -1;
                  expect(device::match(self, full, false, lane / 8), 0xffu << lane / 8 * 8);
                  expect(device::match(self, full, true, 7, &all), full);
                  expect(static_cast<std::uint32_t>(all), 1);
                  expect(device::match(self, full, true, lane, &all), 0);
                  expect(static_cast<std::uint32_t>(all), 0);
                  expect(device::reduce(self, full, reduce::add, lane), 496);
                  expect(device::reduce(self, full, reduce::max_u, lane * 3), 93);
                  expect(device::reduce(self, full, reduce::min_s, lane - 10),
                         static_cast<std::uint32_t>(-10));
                  expect(device::reduce(self, full, reduce::or_, 1u << lane), full);
                  expect(device::reduce(self, full, reduce::xor_, 1), 0);
                  ++*q.counter;
                },
                {1}, {64}, counter_params{&counter, &wrong}),
            status::success);
  EXPECT_EQ(counter, 64);
  EXPECT_EQ(wrong, 0);
}

TEST(warp, does_not_wait_for_lanes_that_are_gone) {
  std::atomic<int> counter{0}, wrong{0};
  EXPECT_EQ(run(
                [](const char* p, thread_context* self) {
                  const auto& q = params_of<counter_params>(p);
                  if (lane_of(self) >= 10) return;
                  if (device::vote(self, full, abi::vote_kind::ballot, 1) != 0x3ffu) ++*q.wrong;
                  ++*q.counter;
                },
                {1}, {40}, counter_params{&counter, &wrong}),
            status::success);
  EXPECT_EQ(counter, 18);
}

TEST(warp, active_mask_names_the_lanes_that_came_the_same_way) {
  std::atomic<int> counter{0}, wrong{0};
  EXPECT_EQ(run(
                [](const char* p, thread_context* self) {
                  const auto& q = params_of<counter_params>(p);
                  if (device::active_mask(self, 1) != full) ++*q.wrong;
                  if (lane_of(self) % 4 == 0) {
                    if (device::active_mask(self, 2) != 0x11111111u) ++*q.wrong;
                  } else if (lane_of(self) < 16) {
                    if (device::active_mask(self, 3) != 0xeeeeu) ++*q.wrong;
                  }
                  ++*q.counter;
                },
                {2}, {64}, counter_params{&counter, &wrong}),
            status::success);
  EXPECT_EQ(counter, 128);
  EXPECT_EQ(wrong, 0);
}

TEST(warp, lanes_at_a_later_place_wait_for_those_that_may_join_them) {
  std::atomic<int> counter{0}, wrong{0};
  EXPECT_EQ(run(
                [](const char* p, thread_context* self) {
                  const auto& q = params_of<counter_params>(p);
                  for (std::uint32_t round = 0; round <= lane_of(self); ++round)
                    if (device::active_mask(self, 1) != full << round) ++*q.wrong;
                  if (device::active_mask(self, 2) != full) ++*q.wrong;
                  ++*q.counter;
                },
                {2}, {64}, counter_params{&counter, &wrong}),
            status::success);
  EXPECT_EQ(counter, 128);
  EXPECT_EQ(wrong, 0);
}

// Half of a warp asks again and again, until the other half has been answered behind its loop.
TEST(warp, lanes_that_parted_for_good_do_not_wait_for_others_that_ask) {
  std::atomic<int> answered{0}, wrong{0};
  EXPECT_EQ(run(
                [](const char* p, thread_context* self) {
                  const auto& q = params_of<counter_params>(p);
                  if (lane_of(self) < 16) {
                    while (*q.counter != 16) device::active_mask(self, 1);
                  } else {
                    const std::uint32_t here = device::active_mask(self, 2, abi::place_of_parted);
                    if (here != 0xffff0000u) ++*q.wrong;
                    ++*q.counter;
                  }
                },
                {1}, {32}, counter_params{&answered, &wrong}),
            status::success);
  EXPECT_EQ(wrong, 0);
}

TEST(warp, lanes_that_slept_together_are_together) {
  std::atomic<int> counter{0}, wrong{0};
  EXPECT_EQ(run(
                [](const char* p, thread_context* self) {
                  const auto& q = params_of<counter_params>(p);
                  device::nanosleep(self, 1 + lane_of(self) * 20'000);
                  const std::uint32_t here = device::active_mask(self, 1, abi::place_behind_sleep);
                  if (here != full) ++*q.wrong;
                  ++*q.counter;
                },
                {1}, {64}, counter_params{&counter, &wrong}),
            status::success);
  EXPECT_EQ(counter, 64);
  EXPECT_EQ(wrong, 0);
}

TEST(progress, a_spin_lock_inside_a_warp_ends) {
  struct params {
    std::atomic<int>* lock;
    int* protected_count;
  };
  std::atomic<int> lock{0};
  int count = 0;
  EXPECT_EQ(run(
                [](const char* p, thread_context* self) {
                  const auto& q = params_of<params>(p);
                  int expected = 0;
                  while (!q.lock->compare_exchange_strong(expected, 1)) {
                    expected = 0;
                    device::yield(self);
                  }
                  ++*q.protected_count;
                  q.lock->store(0);
                },
                {4}, {64}, params{&lock, &count}),
            status::success);
  EXPECT_EQ(count, 256);
}

TEST(progress, blocks_that_wait_for_earlier_blocks_end) {
  std::atomic<int> counter{0}, wrong{0};
  EXPECT_EQ(run(
                [](const char* p, thread_context* self) {
                  const auto& q = params_of<counter_params>(p);
                  const int mine = static_cast<int>(self->block->block_idx[0]);
                  while (q.counter->load() != mine) device::yield(self);
                  q.counter->store(mine + 1);
                },
                {300}, {1}, counter_params{&counter, &wrong}),
            status::success);
  EXPECT_EQ(counter, 300);
}

TEST(progress, blocks_that_wait_for_later_blocks_end) {
  std::atomic<int> counter{0}, wrong{0};
  EXPECT_EQ(run(
                [](const char* p, thread_context* self) {
                  const auto& q = params_of<counter_params>(p);
                  const int mine = 199 - static_cast<int>(self->block->block_idx[0]);
                  int seen = 0;
                  while ((seen = q.counter->load()) != mine)
                    device::spin(self, static_cast<std::uint64_t>(seen));
                  q.counter->store(mine + 1);
                },
                {200}, {1}, counter_params{&counter, &wrong}),
            status::success);
  EXPECT_EQ(counter, 200);
}

struct chain_params {
  std::atomic<int>*counter, *looks;
  bool forwards;
};
constexpr int blocks_of_chain = 400;

// How often the blocks of a chain look, each of which waits for its neighbour.
int looks_of_chain(bool forwards) {
  std::atomic<int> counter{0}, looks{0};
  EXPECT_EQ(run(
                [](const char* p, thread_context* self) {
                  const auto& q = params_of<chain_params>(p);
                  const int block = static_cast<int>(self->block->block_idx[0]);
                  const int mine = q.forwards ? block : blocks_of_chain - 1 - block;
                  int seen = 0;
                  while ((seen = q.counter->load()) != mine) {
                    ++*q.looks;
                    device::spin(self, static_cast<std::uint64_t>(seen));
                  }
                  q.counter->store(mine + 1);
                },
                {blocks_of_chain}, {1}, chain_params{&counter, &looks, forwards}),
            status::success);
  EXPECT_EQ(counter, blocks_of_chain);
  return looks;
}

// Looked at in any other order, each round would find one block that can go on: half of all pairs,
// whatever else the machine does. (In this one, it may keep a worker from its block for some
// rounds.)
TEST(progress, chains_of_blocks_go_on_in_few_rounds) {
  constexpr int limit = blocks_of_chain * blocks_of_chain / 4, attempts = 10;
  for (const bool forwards : {true, false}) {
    int least = looks_of_chain(forwards);
    for (int i = 1; i < attempts && least >= limit; ++i)
      least = std::min(least, looks_of_chain(forwards));
    EXPECT_LT(least, limit) << (forwards ? "forwards" : "backwards");
  }
}

TEST(progress, a_grid_barrier_lets_all_blocks_through_together) {
  std::atomic<int> counter{0}, wrong{0};
  EXPECT_EQ(run(
                [](const char* p, thread_context* self) {
                  const auto& q = params_of<counter_params>(p);
                  for (int round = 1; round <= 3; ++round) {
                    ++*q.counter;
                    device::grid_sync(self);
                    if (*q.counter != round * 40 * 32) ++*q.wrong;
                    device::grid_sync(self);
                  }
                },
                {40}, {32}, counter_params{&counter, &wrong}, 0, 0, true),
            status::success);
  EXPECT_EQ(counter, 3 * 40 * 32);
  EXPECT_EQ(wrong, 0);
}

TEST(progress, a_loop_over_an_atomic_counter_is_not_taken_for_idle_spinning) {
  std::atomic<int> counter{0}, wrong{0};
  EXPECT_EQ(run(
                [](const char* p, thread_context* self) {
                  const auto& q = params_of<counter_params>(p);
                  for (int i = 0; (i = q.counter->fetch_add(1)) < 200'000;)
                    device::spin(self, static_cast<std::uint64_t>(i));
                },
                {2}, {32}, counter_params{&counter, &wrong}),
            status::success);
}

// --- what kernels have besides

TEST(heap, gives_memory_until_its_limit) {
  std::atomic<int> counter{0}, wrong{0};
  EXPECT_EQ(run(
                [](const char* p, thread_context* self) {
                  auto* small = static_cast<char*>(device::allocate(self, 1000));
                  if (small == nullptr) {
                    ++*params_of<counter_params>(p).wrong;
                    return;
                  }
                  std::memset(small, 1, 1000);
                  if (device::allocate(self, 64 << 20) != nullptr)
                    ++*params_of<counter_params>(p).wrong;
                  device::deallocate(self, small);
                },
                {4}, {64}, counter_params{&counter, &wrong}),
            status::success);
  EXPECT_EQ(wrong, 0);
}

TEST(print, comes_out_at_synchronisation_and_not_before) {
  engine_test t;
  const stream_id s = t.stream();
  static const abi::kernel_info hello = fiber_kernel(
      [](const char*, thread_context* self) {
        if (device::print(self, "hello %d %s\n", 7, "device") != 2) std::abort();
      },
      "hello");
  ::testing::internal::CaptureStdout();
  const command_id id = t.e.submit(s, launch(hello, {1}, {2}, 0));
  while (!t.e.done(id)) std::this_thread::yield();
  std::printf("before\n");
  t.e.synchronize(whole_stream(s), first_device);
  EXPECT_EQ(::testing::internal::GetCapturedStdout(), "before\nhello 7 device\nhello 7 device\n");
}

TEST(print, loses_the_oldest_text_when_the_buffer_is_full) {
  print_fifo fifo(10);
  fifo.add("aaaa");
  fifo.add("bbbb");
  fifo.add("cccc");
  ::testing::internal::CaptureStdout();
  fifo.flush(stdout);
  EXPECT_EQ(::testing::internal::GetCapturedStdout(), "bbbbcccc");
}

TEST(print, is_not_lost_while_a_host_waits) {
  print_fifo fifo(10);
  ::testing::internal::CaptureStdout();
  {
    const print_fifo::reader waits(fifo);
    for (const char* text : {"aaaa", "bbbb", "cccc", "dddd"}) fifo.add(text);
  }
  fifo.flush(stdout);
  EXPECT_EQ(::testing::internal::GetCapturedStdout(), "aaaabbbbccccdddd");
}

TEST(print, has_the_room_that_it_was_given_before_the_first_text) {
  print_fifo fifo(10);
  EXPECT_TRUE(fifo.resize(20));
  for (const char* text : {"aaaa", "bbbb", "cccc"}) fifo.add(text);
  EXPECT_FALSE(fifo.resize(10));
  ::testing::internal::CaptureStdout();
  fifo.flush(stdout);
  EXPECT_EQ(::testing::internal::GetCapturedStdout(), "aaaabbbbcccc");
}

// h200/limits.tsv heap.*.greatest
TEST(heap, has_the_room_that_it_was_given_before_the_first_piece) {
  device_heap heap;
  ASSERT_TRUE(heap.resize(64 << 20));
  EXPECT_EQ(heap.allocate(61407232), nullptr);
  void* const most = heap.allocate(61341696);
  EXPECT_NE(most, nullptr);
  EXPECT_FALSE(heap.resize(8 << 20));
  EXPECT_TRUE(heap.free(most));
  heap.reset();
  EXPECT_EQ(heap.allocate(61341696), nullptr);
}

TEST(heap, tells_where_pieces_lie_for_counts) {
  device_heap heap;
  int other = 0;
  auto* const piece = static_cast<char*>(heap.allocate(100, 5000));
  EXPECT_EQ(heap.counted(piece), 5000u);
  EXPECT_EQ(heap.counted(piece + 99), 5099u);
  EXPECT_EQ(heap.counted(&other), reinterpret_cast<std::uint64_t>(&other));
}

}  // namespace
}  // namespace sb::engine::testing
