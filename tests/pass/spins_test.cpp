#include <gmock/gmock.h>
#include <gtest/gtest.h>

#include <array>
#include <numeric>

#include "harness/machine.hpp"

namespace sb::test {
namespace {

using testing::Each;
using testing::ElementsAre;

struct spins : testing::TestWithParam<const char*> {
  image device{std::string(PASS_IMAGES "/spins") + GetParam() + ".so"};

  template <typename... Args>
  outcome run(const char* kernel, dims grid, dims block, Args... args) {
    EXPECT_EQ(device.kernel(kernel).mode, abi::kernel_mode::block_fiber) << kernel;
    outcome result = device.run(kernel, grid, block, 0, args...);
    EXPECT_FALSE(result.stuck) << kernel;
    return result;
  }
};

TEST_P(spins, a_thread_begins_when_the_one_before_it_stops) {
  int taken = 0, count = 0;
  run("one_at_a_time", {1}, {64}, &taken, &count);
  EXPECT_EQ(taken, 0);
  EXPECT_EQ(count, 64);
}

TEST_P(spins, threads_wait_for_later_ones) {
  std::vector<int> flags(50), out(50), expected(50, 7);
  run("each_waits_for_the_next", {1}, {50}, flags.data(), out.data());
  std::iota(expected.begin(), expected.end(), 7);
  expected.back() -= 7;
  EXPECT_EQ(out, expected);
}

TEST_P(spins, a_loop_that_sees_something_new_in_each_turn_goes_on_for_some) {
  constexpr int n = 90, size = 101;
  std::vector<int> keys(n), table(size, -1), counts(size);
  for (int i = 0; i < n; ++i) keys[i] = i % 60 * 13;
  auto result = run("finds_a_place", {3}, {32}, table.data(), counts.data(), size, keys.data(), n);
  EXPECT_EQ(std::count(table.begin(), table.end(), -1), size - 60);
  EXPECT_EQ(std::accumulate(counts.begin(), counts.end(), 0), n);
  EXPECT_LE(result.yields, 12u);
}

TEST_P(spins, but_not_for_ever) {
  int counter = 0, stop = 0;
  std::vector<int> out(32);
  run("counts_until_told", {2}, {32}, &counter, &stop, out.data());
  EXPECT_THAT(out, Each(1));
}

// The kernels' threads wait for number 40.
TEST_P(spins, a_loop_may_wait_while_it_looks_at_other_places) {
  for (int how = 0; how < 5; ++how) {
    std::vector<int> flags(256), out(64, 5);
    std::fill_n(out.begin(), 40, 0);
    run("looks_around", {1}, {64}, flags.data(), how, out.data());
    EXPECT_THAT(out, Each(5)) << how;
  }
}

TEST_P(spins, a_loop_may_wait_and_have_two_entries) {
  for (const char* kernel : {"enters_at_two_places", "switches_into_a_loop"}) {
    for (int how = 0; how < 3; ++how) {
      std::vector<int> flags(2), out(64);
      out[40] = 3;
      run(kernel, {1}, {64}, flags.data(), how, out.data());
      EXPECT_THAT(out, Each(3)) << kernel << " " << how;
    }
  }
}

TEST_P(spins, a_plain_load_that_the_compiler_makes_again_may_wait) {
  for (int how = 0; how < 3; ++how) {
    int flag = 0;
    std::vector<int> out(64);
    out[40] = 3;
    run("reads_again", {1}, {64}, &flag, how, out.data());
    EXPECT_THAT(out, Each(3)) << how;
  }
}

TEST_P(spins, loops_that_end_by_themselves_need_not_stop) {
  std::vector<int> flags(64), out(64);
  flags[62] = 1;
  EXPECT_EQ(device.kernel("looks_ahead").mode, abi::kernel_mode::loop);
  device.run("looks_ahead", {1}, {16}, 0, flags.data(), out.data());
  EXPECT_THAT(std::vector(out.begin(), out.begin() + 16), Each(31));
  int n = 4;
  EXPECT_EQ(device.kernel("counts_to_what_is_read").mode, abi::kernel_mode::loop);
  device.run("counts_to_what_is_read", {1}, {16}, 0, &n, out.data());
  EXPECT_EQ(std::accumulate(out.begin(), out.end(), 0), 16 * 6);
}

TEST_P(spins, a_barrier_opens_when_nobody_spins_any_more) {
  constexpr int n = 40, rounds = 4;
  std::vector<int> out(n), expected(n);
  run("turns_between_barriers", {1}, {n}, rounds, out.data());
  for (int round = 0; round < rounds; ++round) {
    int order = round, held = 0;
    for (int t = n - 1; t >= 0; --t) {
      order = static_cast<int>(static_cast<unsigned>(order) * 3u + static_cast<unsigned>(t));
      expected[t] =
          static_cast<int>(static_cast<unsigned>(expected[t]) + static_cast<unsigned>(order));
      held += t % 3 == round % 3 ? 1 : 0;
    }
    for (int& one : expected)
      one = static_cast<int>(static_cast<unsigned>(one) + static_cast<unsigned>(held));
  }
  EXPECT_EQ(out, expected);
}

TEST_P(spins, what_threads_bring_to_a_barrier_is_kept_until_it_opens) {
  std::vector<int> out(8);
  run("brings_to_a_barrier", {1}, {8}, out.data());
  EXPECT_THAT(out, ElementsAre(610, 611, 613, 616, 610, 610, 610, 610));
}

TEST_P(spins, threads_that_have_returned_are_waited_for_by_nobody) {
  std::vector<int> out(8, -1);
  run("some_have_left", {1}, {8}, 5, out.data());
  EXPECT_THAT(out, ElementsAre(100, 201, 302, 403, 4, -1, -1, -1));
}

TEST_P(spins, blocks_meet_by_counting) {
  int arrived = 0;
  std::vector<int> data(5 * 16);
  run("blocks_meet_by_hand", {5}, {16}, &arrived, 3, data.data());
  EXPECT_THAT(data, Each(6));
  EXPECT_EQ(arrived, 15);
}

TEST_P(spins, blocks_may_meet_across_the_grid_too) {
  int turn = 0;
  std::vector<int> data(4);
  run("meets_the_grid_too", {4}, {4}, &turn, data.data());
  EXPECT_THAT(data, ElementsAre(40, 41, 42, 43));
}

// A block whose threads go round and meet, and see nothing new, lets others run.
TEST_P(spins, meeting_others_on_the_way_round_a_loop_is_no_progress_for_ever) {
  for (const char* kernel : {"polls_between_barriers", "halves_of_warps_poll"}) {
    int flag = 0;
    std::vector<int> out(64, 1);
    outcome result = device.run(kernel, {1}, {64}, 0, &flag, 100, out.data());
    EXPECT_FALSE(result.stuck) << kernel;
    EXPECT_THAT(out, Each(0)) << kernel;
    EXPECT_GE(result.rounds_in_vain, 32u) << kernel;
    EXPECT_LT(result.rounds_in_vain, result.yields) << kernel;
  }
}

TEST_P(spins, warps_stop_together) {
  std::vector<int> flags = {0, 0, 1}, out(96), expected(96);
  for (int i = 0; i < 96; ++i) expected[i] = i ^ 1;
  run("warps_look_together", {1}, {96}, flags.data(), out.data());
  EXPECT_EQ(out, expected);
  int flag = 0;
  run("a_lane_looks_for_its_warp", {1}, {64}, &flag, out.data());
  out.resize(64);
  EXPECT_THAT(out, Each(5));
}

TEST_P(spins, lanes_may_wait_alone_beside_warp_operations) {
  for (const char* kernel : {"a_lane_waits_alone", "lanes_wait_for_each_other"}) {
    EXPECT_EQ(device.kernel(kernel).mode, abi::kernel_mode::lanes) << kernel;
    int flag = 0;
    std::vector<int> out(80), expected(80);
    for (int i = 0; i < 80; ++i) expected[i] = (i ^ 1) + 3;
    EXPECT_FALSE(device.run(kernel, {1}, {80}, 0, &flag, out.data()).stuck) << kernel;
    EXPECT_EQ(out, expected) << kernel;
  }
}

TEST_P(spins, lanes_may_leave_before_others_meet) {
  EXPECT_EQ(device.kernel("some_lanes_leave").mode, abi::kernel_mode::lanes);
  int flag = 0;
  std::vector<int> out(40, -1), expected(40, -1);
  for (int i = 0; i < 40; ++i)
    if (i % 5 != 4) expected[i] = i < 32 ? 26 : 6;
  EXPECT_FALSE(device.run("some_lanes_leave", {1}, {40}, 0, &flag, out.data()).stuck);
  EXPECT_EQ(out, expected);
}

TEST_P(spins, who_asks_which_lanes_are_there_stops_as_lanes_that_meet_do) {
  EXPECT_EQ(device.kernel("asks_who_is_there").mode, abi::kernel_mode::lanes);
  int flag = 0;
  std::vector<unsigned> out(40), expected(40, ~0u);
  std::fill_n(expected.begin() + 32, 8, 0xffu);
  EXPECT_FALSE(device.run("asks_who_is_there", {1}, {40}, 0, &flag, out.data()).stuck);
  EXPECT_EQ(out, expected);
}

TEST_P(spins, threads_that_spin_have_clocks_of_their_own) {
  int flag = 0;
  std::vector<long long> out(64);
  run("reads_the_clock", {1}, {64}, &flag, out.data());
  EXPECT_THAT(out, Each(1020));
  EXPECT_EQ(device.kernel("reads_the_clock").times, abi::thread_times::are_read);
}

// Its first thread sleeps before it writes what the others wait for.
TEST_P(spins, a_thread_sleeps_while_others_look) {
  std::vector<int> out(64);
  auto result = run("sleeps_before_it_writes", {1}, {64}, out.data());
  EXPECT_THAT(out, Each(7));
  EXPECT_EQ(result.waits, 3u);
  EXPECT_EQ(device.kernel("sleeps_before_it_writes").times, abi::thread_times::sleep);
}

TEST_P(spins, a_barrier_stays_closed_while_somebody_sleeps) {
  std::vector<int> out(48);
  auto result = run("sleeps_before_a_barrier", {1}, {48}, out.data());
  for (int t = 0; t < 48; ++t) EXPECT_EQ(out[t], 48 * 47 / 2 + t) << t;
  EXPECT_EQ(result.waits, 48u / 3);
  EXPECT_GE(result.yields, 1u);
}

// Each looks for what the one before it wrote, and sleeps between two looks.
TEST_P(spins, threads_sleep_in_loops) {
  std::vector<int> out(40), expected(40);
  auto result = run("passes_on_and_sleeps", {1}, {40}, out.data());
  std::iota(expected.begin(), expected.end(), 1);
  EXPECT_EQ(out, expected);
  EXPECT_LT(result.rounds_in_vain, 10u);
}

TEST_P(spins, a_thread_that_waits_for_the_clock_goes_on_behind_it) {
  std::vector<int> out(33, -1);
  auto result = run("waits_and_adds", {1}, {33}, 5000ll, out.data());
  EXPECT_EQ(out, std::vector<int>(33, 33));
  EXPECT_GE(result.cycles, 6000u);
  EXPECT_EQ(device.kernel("waits_and_adds").times, abi::thread_times::are_read);
}

TEST_P(spins, lanes_sleep_beside_warp_operations) {
  EXPECT_EQ(device.kernel("some_lanes_sleep").mode, abi::kernel_mode::lanes);
  std::vector<int> out(40), expected(40, 496);
  std::fill_n(expected.begin() + 32, 8, 284);
  EXPECT_FALSE(device.run("some_lanes_sleep", {1}, {40}, 0, out.data()).stuck);
  EXPECT_EQ(out, expected);
}

TEST_P(spins, sleep_in_a_function_that_stays_a_call_needs_fibers) {
  EXPECT_EQ(device.kernel("sleeps_in_recursion").mode, abi::kernel_mode::fibers);
}

// What threads come to for themselves, and the sum of all odd numbers among it.
std::vector<int> works_before_its_turn(int threads, int rounds) {
  std::vector<std::array<int, 3>> own(threads, {1, 2, 3});
  std::vector<int> all(threads), out(threads);
  int odd = 0;
  for (int i = 0; i < rounds; ++i) {
    for (int t = 0; t < threads; ++t) all[t] = own[t][i % 3] + i;
    for (int t = 0; t < threads; ++t) own[t][(i + t) % 3] += all[(t + 1) % threads];
    for (int t = 0; t < threads; ++t) odd += own[t][i % 3] & 1;
  }
  for (int t = threads - 1; t >= 0; --t)
    out[t] =
        own[t][0] + own[t][1] * 10 + own[t][2] * 100 + odd + (t + 1 < threads ? out[t + 1] : 0);
  for (int t = 0; t < threads; ++t) out[t] += own[t][rounds % 3];
  return out;
}

TEST_P(spins, all_do_together_what_comes_before_the_first_may_wait) {
  for (const int threads : {1, 7, 32, 64}) {
    int turn = 0;
    std::vector<int> out(threads);
    run("works_before_its_turn", {1}, {static_cast<std::uint32_t>(threads)}, &turn, 5, out.data());
    EXPECT_EQ(out, works_before_its_turn(threads, 5)) << threads;
  }
}

TEST_P(spins, what_comes_before_may_have_ways_of_its_own_to_a_barrier) {
  constexpr int threads = 33, rounds = 4;
  int turn = 0;
  std::vector<int> out(threads), expected(threads);
  run("parts_before_its_turn", {1}, {threads}, &turn, rounds, out.data());
  for (int t = threads - 1; t >= 0; --t) {
    int own = 0;
    for (int i = 0; i < rounds; ++i) own = own * 3 + i + t;
    own = t % 2 == 1 ? own + 5 : own ^ 3;
    expected[t] = own + (t + 1 < threads ? expected[t + 1] : 0);
  }
  EXPECT_EQ(out, expected);
}

INSTANTIATE_TEST_SUITE_P(levels, spins, testing::Values(".O0", ".O2"),
                         [](const auto& info) { return std::string(info.param + 1); });

}  // namespace
}  // namespace sb::test
