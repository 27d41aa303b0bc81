// Blocks whose threads share a fiber and have times of their own: what the compiler would emit, a
// round of all threads at a time.
#include <gtest/gtest.h>

#include <algorithm>
#include <functional>

#include "kernels.hpp"

namespace sb::engine::testing {
namespace {

using abi::look_answer;
using abi::round_outcome;
using abi::sleep_kind;

bool sleeps(thread_context* self, std::uint32_t thread, sleep_kind kind, std::uint64_t time) {
  return device::call<std::uint32_t>(device::table().thread_sleeps, self, thread,
                                     static_cast<std::uint32_t>(kind), time) != 0;
}
bool is_asleep(thread_context* self, std::uint32_t thread) {
  return device::call<std::uint32_t>(device::table().thread_is_asleep, self, thread) != 0;
}
look_answer looks(thread_context* self, std::uint32_t thread, std::uint64_t seen) {
  return static_cast<look_answer>(
      device::call<std::uint32_t>(device::table().thread_looks, self, thread, seen));
}
std::uint64_t clock_of(thread_context* self, std::uint32_t thread) {
  self->linear_tid = thread;
  return device::clock(self);
}

// What a thread does from one stop to the next: how it stopped, or that it is over.
enum class stop { over, sleeps, looks, sees_time };
using step = std::function<stop(thread_context*, std::uint32_t thread, int turn)>;
struct step_params {
  const step* go_on;
};

void in_rounds(const char* params, thread_context* self) {
  const step& go_on = *params_of<step_params>(params).go_on;
  const std::uint32_t threads = self->block->block_dim[0];
  std::vector<stop> at(threads, stop::sleeps);
  std::vector<int> turns(threads);
  for (bool first = true;; first = false) {
    bool any_sleeps = false, any_looks = false, naps = false, moved = first;
    for (std::uint32_t t = 0; t < threads; ++t) {
      if (at[t] == stop::over) continue;
      if (!is_asleep(self, t)) {
        at[t] = go_on(self, t, turns[t]++);
        moved |= at[t] == stop::over || at[t] == stop::sees_time;
        naps |= at[t] == stop::sleeps;
      }
      any_sleeps |= at[t] == stop::sleeps;
      any_looks |= at[t] == stop::looks || at[t] == stop::sees_time;
    }
    if (!any_sleeps && !any_looks) return;
    const round_outcome how = moved               ? round_outcome::got_on
                              : naps && any_looks ? round_outcome::naps
                              : any_looks         ? round_outcome::spins
                                                  : round_outcome::sleeps;
    device::call(device::table().spun, self, static_cast<std::uint32_t>(how));
  }
}

void run(std::uint32_t blocks, std::uint32_t threads, abi::thread_times times, const step& go_on) {
  engine_test t;
  abi::kernel_info info = kernel(abi::kernel_mode::block_fiber, in_rounds, "in_rounds");
  info.times = times;
  t.e.submit(t.stream(), launch(info, {blocks}, {threads}, step_params{&go_on}));
  EXPECT_EQ(t.sync(), status::success);
}

// Of a loop that sees another time whenever it looks.
stop looks_until(thread_context* self, std::uint32_t thread, std::uint64_t now) {
  return looks(self, thread, now) == look_answer::sleeps ? stop::sleeps : stop::sees_time;
}

TEST(thread_times, threads_wake_in_the_order_of_time) {
  constexpr std::uint32_t threads = 8;
  std::vector<std::uint32_t> order;
  std::uint64_t begin = 0;
  run(1, threads, abi::thread_times::are_read,
      [&](thread_context* self, std::uint32_t thread, int turn) {
        if (turn != 0) {
          order.push_back(thread);
          EXPECT_GE(clock_of(self, thread), begin + (threads - thread) * 4'000'000);
          return stop::over;
        }
        if (thread == 0) begin = clock_of(self, thread);
        EXPECT_TRUE(
            sleeps(self, thread, sleep_kind::until_clock, begin + (threads - thread) * 4'000'000));
        return stop::sleeps;
      });
  EXPECT_EQ(order, (std::vector<std::uint32_t>{7, 6, 5, 4, 3, 2, 1, 0}));
}

TEST(thread_times, a_time_that_has_come_is_not_waited_for) {
  run(1, 2, abi::thread_times::are_read, [&](thread_context* self, std::uint32_t thread, int) {
    const std::uint64_t now = clock_of(self, thread);
    EXPECT_FALSE(sleeps(self, thread, sleep_kind::until_clock, now));
    EXPECT_FALSE(sleeps(self, thread, sleep_kind::for_ns, 0));
    return stop::over;
  });
}

// Thread 3 of each block writes what its others look for. Those of the first block sleep between.
TEST(thread_times, a_sleeper_wakes_beside_threads_that_look) {
  constexpr std::uint32_t blocks = 6;
  std::atomic<int> flags[blocks] = {};
  run(blocks, 64, abi::thread_times::sleep,
      [&](thread_context* self, std::uint32_t thread, int turn) {
        const std::uint32_t block = self->block->block_idx[0];
        std::atomic<int>& flag = flags[block];
        if (thread == 3 && turn < 5) {
          sleeps(self, thread, sleep_kind::for_ns, 20'000);
          return stop::sleeps;
        }
        if (thread == 3) flag = 1;
        if (flag != 0) return stop::over;
        const bool slept = looks(self, thread, 0) == look_answer::goes_on;
        if (block != 0) return stop::looks;
        EXPECT_EQ(slept, turn != 0);
        sleeps(self, thread, sleep_kind::for_ns, 100);
        return stop::sleeps;
      });
}

// Blocks that sleep between looks let the one begin that they wait for.
TEST(thread_times, blocks_that_sleep_between_looks_let_others_begin) {
  constexpr std::uint32_t blocks = 64;
  std::atomic<int> flag{0};
  std::atomic<std::uint64_t> naps{0};
  run(blocks, 64, abi::thread_times::sleep,
      [&](thread_context* self, std::uint32_t thread, int turn) {
        if (self->block->block_idx[0] == blocks - 1) flag = 1;
        if (flag != 0) return stop::over;
        if (turn != 0) looks(self, thread, 0);
        sleeps(self, thread, sleep_kind::for_ns, 100);
        ++naps;
        return stop::sleeps;
      });
  EXPECT_LT(naps, 64u * 64u * 30u);
}

// Who reads the clock in every look, at short intervals, sleeps in the end, and sees time pass.
TEST(thread_times, threads_that_look_until_some_time_let_a_sleeper_wake_before) {
  struct looker {
    std::uint64_t begin, last;
    int short_intervals;
  };
  for (const std::uint32_t threads : {2u, 512u}) {
    int flag = 0, gave_up = 0, slept = 0, looks_of_first = 0, most_intervals = 0;
    std::vector<looker> lookers(threads);
    run(1, threads, abi::thread_times::are_read,
        [&](thread_context* self, std::uint32_t thread, int turn) {
          // Until the others sleep between their looks, or have had every chance to.
          if (thread == threads - 1 && (turn == 0 || (slept == 0 && looks_of_first < 1000))) {
            sleeps(self, thread, sleep_kind::for_ns, 1'000'000);
            return stop::sleeps;
          }
          if (thread == threads - 1) flag = 1;
          if (flag != 0) return stop::over;
          const std::uint64_t now = clock_of(self, thread);
          looker& l = lookers[thread];
          if (turn == 0) l.begin = now;
          looks_of_first += thread == 0 ? 1 : 0;
          if (now - l.begin > 100'000'000'000) {
            ++gave_up;
            return stop::over;
          }
          const bool is_short = turn != 0 && now - l.last < std::uint64_t{500} * threads;
          l.short_intervals = is_short ? l.short_intervals + 1 : 0;
          l.last = now;
          const stop how = looks_until(self, thread, now);
          if (how == stop::sleeps) {
            ++slept;
            l.short_intervals = 0;
          }
          most_intervals = std::max(most_intervals, l.short_intervals);
          return how;
        });
    EXPECT_EQ(gave_up, 0) << threads;
    // A build that is too slow for short intervals shows nothing here.
    EXPECT_LT(most_intervals, 64) << threads;
  }
}

// And who looks in vain until some time gives up then.
TEST(thread_times, a_loop_that_only_the_clock_ends_does) {
  std::vector<std::uint64_t> begin(40), end(40);
  run(1, 40, abi::thread_times::are_read,
      [&](thread_context* self, std::uint32_t thread, int turn) {
        const std::uint64_t now = clock_of(self, thread);
        if (turn == 0) begin[thread] = now;
        end[thread] = now;
        if (now - begin[thread] >= 300'000) return stop::over;
        return looks_until(self, thread, now);
      });
  for (int t = 0; t < 40; ++t) EXPECT_GE(end[t] - begin[t], 300'000u) << t;
}

}  // namespace
}  // namespace sb::engine::testing
