// Threads of blocks that sleep, look at memory, and read clocks.
#include <gtest/gtest.h>

#include "kernels.hpp"

namespace sb::engine::testing {
namespace {

// Runs one launch of a fiber kernel to its end.
template <class Params>
status run(abi::kernel_entry entry, extent3 grid, extent3 block, const Params& params) {
  engine_test t;
  const abi::kernel_info info = fiber_kernel(entry, "kernel");
  t.e.submit(t.stream(), launch(info, grid, block, params));
  return t.sync();
}

struct counter_params {
  std::atomic<int>* counter;
  std::atomic<int>* wrong;
};

struct nap_params {
  std::atomic<int>* flag;
  std::atomic<std::uint64_t>* naps;
};

// Threads that sleep 100 ns are due again before the last of their block sleeps.
void expect_sleepers_to_give_way(abi::kernel_entry entry) {
  std::atomic<int> flag{0};
  std::atomic<std::uint64_t> naps{0};
  EXPECT_EQ(run(entry, {64}, {64}, nap_params{&flag, &naps}), status::success);
  // Turns of a millisecond, and four of each block before the next begins: hundreds of thousands.
  EXPECT_LT(naps, 64u * 64u * 30u);
}

TEST(progress, blocks_that_sleep_between_looks_let_others_begin) {
  expect_sleepers_to_give_way([](const char* p, thread_context* self) {
    const auto& q = params_of<nap_params>(p);
    if (self->block->block_idx[0] == 63) *q.flag = 1;
    for (int seen = 0; (seen = q.flag->load()) == 0; ++*q.naps) {
      device::nanosleep(self, 100);
      device::spin(self, static_cast<std::uint64_t>(seen));
    }
  });
}

TEST(progress, blocks_that_only_sleep_let_others_begin) {
  expect_sleepers_to_give_way([](const char* p, thread_context* self) {
    const auto& q = params_of<nap_params>(p);
    if (self->block->block_idx[0] == 63) *q.flag = 1;
    for (; q.flag->load() == 0; ++*q.naps) device::nanosleep(self, 100);
  });
}

// The last thread of the block is awake, and the others are due again whenever some of them slept.
TEST(progress, threads_that_sleep_for_short_times_let_others_of_their_block_come) {
  std::atomic<int> flag{0};
  std::atomic<std::uint64_t> naps{0};
  EXPECT_EQ(run(
                [](const char* p, thread_context* self) {
                  const auto& q = params_of<nap_params>(p);
                  device::barrier(self);
                  if (self->linear_tid == 1023) *q.flag = 1;
                  for (int seen = 0; (seen = q.flag->load()) == 0; ++*q.naps) {
                    device::nanosleep(self, 200);
                    device::spin(self, q.naps->load());
                  }
                },
                {1}, {1024}, nap_params{&flag, &naps}),
            status::success);
}

TEST(progress, blocks_that_sleep_see_what_the_host_and_other_streams_write) {
  static const abi::kernel_info sleeps = fiber_kernel(
      [](const char* p, thread_context* self) {
        const auto& q = params_of<nap_params>(p);
        ++*q.naps;
        for (int seen = 0; (seen = q.flag->load()) == 0;) {
          device::nanosleep(self, self->block->block_idx[0] % 2 == 0 ? 100 : 20'000);
          device::spin(self, static_cast<std::uint64_t>(seen));
        }
      },
      "sleeps");
  static const abi::kernel_info sets = fiber_kernel(
      [](const char* p, thread_context*) { *params_of<nap_params>(p).flag = 1; }, "sets");
  engine_test t;
  for (const bool by_host : {true, false}) {
    std::atomic<int> flag{0};
    std::atomic<std::uint64_t> begun{0};
    t.e.submit(t.stream(), launch(sleeps, {20}, {64}, nap_params{&flag, &begun}));
    while (begun != 20 * 64) std::this_thread::yield();
    if (by_host)
      flag = 1;
    else
      t.e.submit(t.stream(), launch(sets, {1}, {1}, nap_params{&flag, &begun}));
    EXPECT_EQ(t.sync(), status::success);
  }
}

// Those that look until some time always have something new to see, the time.
TEST(progress, threads_that_look_until_some_time_let_a_sleeper_of_their_block_wake) {
  for (const std::uint32_t threads : {32u, 1024u}) {
    std::atomic<int> flag{0}, gave_up{0};
    EXPECT_EQ(run(
                  [](const char* p, thread_context* self) {
                    const auto& q = params_of<counter_params>(p);
                    if (self->linear_tid == 0) {
                      device::nanosleep(self, 1000);
                      *q.counter = 1;
                    }
                    const std::uint64_t begin = device::clock(self);
                    while (q.counter->load() == 0) {
                      const std::uint64_t now = device::clock(self);
                      if (now - begin > 200'000'000) {
                        ++*q.wrong;
                        break;
                      }
                      device::spin(self, now);
                    }
                  },
                  {1}, {threads}, counter_params{&flag, &gave_up}),
              status::success);
    EXPECT_EQ(gave_up, 0) << threads;
  }
}

TEST(progress, a_sleeper_wakes_beside_threads_that_look_without_end) {
  std::atomic<int> flag{0}, wrong{0};
  EXPECT_EQ(run(
                [](const char* p, thread_context* self) {
                  const auto& q = params_of<counter_params>(p);
                  if (self->linear_tid == 40) {
                    for (int i = 0; i < 10; ++i) device::nanosleep(self, 20'000);
                    *q.counter = 1;
                  }
                  for (int seen = 0; (seen = q.counter->load()) == 0;)
                    device::spin(self, static_cast<std::uint64_t>(seen));
                },
                {3}, {64}, counter_params{&flag, &wrong}),
            status::success);
}

// --- time

struct time_params {
  std::atomic<std::uint64_t>* shortest;
};

void least(std::atomic<std::uint64_t>& value, std::uint64_t other) {
  std::uint64_t now = value.load();
  while (other < now && !value.compare_exchange_weak(now, other)) {
  }
}

TEST(time, what_comes_after_a_wait_happens_after_it) {
  std::atomic<std::uint64_t> shortest{~0ull};
  EXPECT_EQ(run(
                [](const char* p, thread_context* self) {
                  const std::uint64_t real = device::global_timer(self);
                  const std::uint64_t begin = device::clock(self);
                  device::wait_until(self, begin + 1'980'000);
                  if (device::clock(self) < begin + 1'980'000) std::abort();
                  least(*params_of<time_params>(p).shortest, device::global_timer(self) - real);
                },
                {20}, {64}, time_params{&shortest}),
            status::success);
  EXPECT_GE(shortest, 1'000'000u);
}

// Threads whose waits end one after the other, in the opposite order, beside others that read the
// clock: what each does after its wait is done when another sees a later time.
TEST(time, nobody_sees_a_time_at_which_a_sleeper_of_the_block_should_have_been_awake) {
  struct params {
    std::atomic<std::uint64_t>*begin, *asleep, *awake;
    std::atomic<int>* wrong;
  };
  constexpr std::uint64_t each = 100'000, slack = 10'000;
  constexpr int sleepers = 8;
  std::atomic<std::uint64_t> begin{0}, asleep{0}, awake{0};
  std::atomic<int> wrong{0};
  EXPECT_EQ(run(
                [](const char* p, thread_context* self) {
                  const auto& q = params_of<params>(p);
                  if (self->linear_tid == 0) *q.begin = device::clock(self);
                  device::barrier(self);
                  const std::uint64_t from = *q.begin;
                  if (self->linear_tid < sleepers) {
                    ++*q.asleep;
                    device::wait_until(self, from + (sleepers - self->linear_tid) * each);
                    ++*q.awake;
                  }
                  while (q.asleep->load() < sleepers) device::spin(self, q.asleep->load());
                  while (q.awake->load() < sleepers) {
                    const std::uint64_t now = device::clock(self);
                    const std::uint64_t due = (now - from - slack) / each;
                    if (now > from + slack && q.awake->load() < due) ++*q.wrong;
                    device::spin(self, now);
                  }
                },
                {1}, {96}, params{&begin, &asleep, &awake, &wrong}),
            status::success);
  EXPECT_EQ(awake, sleepers);
  EXPECT_EQ(wrong, 0);
}

// Each sleeps until all have begun to: one after another they never would.
TEST(time, threads_and_blocks_wait_together) {
  std::atomic<int> asleep{0};
  EXPECT_EQ(run(
                [](const char* p, thread_context* self) {
                  std::atomic<int>& all = *params_of<std::atomic<int>*>(p);
                  ++all;
                  while (all.load() < 40 * 32) device::nanosleep(self, 1'000'000);
                },
                {40}, {32}, &asleep),
            status::success);
}

TEST(time, a_sleep_is_a_millisecond_at_most) {
  engine_test t;
  static const abi::kernel_info naps = fiber_kernel(
      [](const char*, thread_context* self) {
        for (int i = 0; i < 10; ++i) device::nanosleep(self, 4'000'000'000);
      },
      "long naps");
  const std::uint64_t begin = t.e.now_ns();
  t.e.submit(t.stream(), launch(naps, {1}, {1}, 0));
  EXPECT_EQ(t.sync(), status::success);
  EXPECT_LT(t.e.now_ns() - begin, 20'000'000'000u);  // as asked for: 40 seconds
}

void nap_in_loop(const char*, thread_context* self) {
  for (std::uint32_t i = 0; i < self->block->block_dim[0]; ++i) {
    self->tid[0] = self->linear_tid = i;
    device::wait_until(self, device::clock(self) + 1'980'000);
  }
}

TEST(time, loop_blocks_wait_logically_and_end_on_time) {
  engine_test t;
  static const abi::kernel_info naps = loop_kernel(&nap_in_loop, "naps");
  const std::uint64_t begin = t.e.now_ns();
  t.e.submit(t.stream(), launch(naps, {4096}, {256}, 0));
  EXPECT_EQ(t.sync(), status::success);
  // 4096 x 256 waits of a millisecond: one after another they would go on for 17 minutes.
  EXPECT_GE(t.e.now_ns() - begin, 1'000'000u);
}

TEST(time, a_clock_loop_that_the_compiler_did_not_solve_ends) {
  engine_test t;
  static const abi::kernel_info unsolved = loop_kernel(
      [](const char*, thread_context* self) {
        for (std::uint32_t i = 0; i < self->block->block_dim[0]; ++i) {
          self->tid[0] = self->linear_tid = i;
          const std::uint64_t begin = device::clock(self);
          while (device::clock(self) - begin < 19'800'000) {
          }
        }
      },
      "unsolved");
  const std::uint64_t begin = t.e.now_ns();
  t.e.submit(t.stream(), launch(unsolved, {4}, {256}, 0));
  EXPECT_EQ(t.sync(), status::success);
  EXPECT_GE(t.e.now_ns() - begin, 10'000'000u);
  static const abi::kernel_info in_fibers = fiber_kernel(
      [](const char*, thread_context* self) {
        const std::uint64_t begin = device::clock(self);
        while (device::clock(self) - begin < 1'980'000) {
        }
      },
      "unsolved");
  t.e.submit(t.stream(), launch(in_fibers, {4}, {64}, 0));
  EXPECT_EQ(t.sync(), status::success);
}

TEST(time, clock_advances_at_every_read) {
  std::atomic<int> counter{0}, wrong{0};
  EXPECT_EQ(run(
                [](const char* p, thread_context* self) {
                  std::uint64_t before = device::clock(self);
                  for (int i = 0; i < 20; ++i) {
                    const std::uint64_t now = device::clock(self);
                    if (now <= before) ++*params_of<counter_params>(p).wrong;
                    before = now;
                  }
                },
                {1}, {4}, counter_params{&counter, &wrong}),
            status::success);
  EXPECT_EQ(wrong, 0);
}

}  // namespace
}  // namespace sb::engine::testing
