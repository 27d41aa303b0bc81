#include <gmock/gmock.h>
#include <gtest/gtest.h>

#include <numeric>

#include "harness/machine.hpp"

namespace sb::test {
namespace {

using testing::Each;
using testing::ElementsAre;

struct threads : testing::TestWithParam<const char*> {
  image device{std::string(PASS_IMAGES "/threads") + GetParam() + ".so"};
  bool loops(const char* kernel) const {
    return device.kernel(kernel).mode == abi::kernel_mode::loop;
  }
};

TEST_P(threads, a_barrier_separates_writes_from_reads) {
  std::vector<int> data(64);
  std::iota(data.begin(), data.end(), 0);
  EXPECT_EQ(device.kernel("reverse").static_shared_bytes, 256u);
  device.run("reverse", {1}, {64}, 0, data.data());
  for (int i = 0; i < 64; ++i) {
    EXPECT_EQ(data[i], 63 - i);
  }
}

TEST_P(threads, barriers_work_inside_loops_with_dynamic_shared_memory) {
  std::vector<int> in(512, 1), out(2);
  EXPECT_EQ(device.kernel("reduce").static_shared_bytes, 0u);
  device.run("reduce", {2}, {256}, 1024, in.data(), out.data());
  EXPECT_THAT(out, ElementsAre(256, 256));
}

TEST_P(threads, static_and_dynamic_shared_memory_do_not_overlap) {
  std::vector<int> out(5);
  EXPECT_EQ(device.kernel("static_and_dynamic").static_shared_bytes, 35u);
  device.run("static_and_dynamic", {1}, {3}, 64, out.data());
  EXPECT_THAT(out, ElementsAre(111, 114, 117, 0, 64));
}

TEST_P(threads, a_kernel_counts_only_the_shared_memory_that_it_reaches) {
  EXPECT_EQ(device.kernel("calls_far").static_shared_bytes, 32u + 8u);
  EXPECT_LE(device.kernel("calls_near").static_shared_bytes, 48u);
  std::vector<int> out(8);
  device.run("calls_far", {1}, {8}, 0, out.data());
  EXPECT_THAT(out, Each(5));
  device.run("calls_near", {1}, {8}, 64, out.data());
  EXPECT_EQ(out[7], 47);
}

TEST_P(threads, recursion_stays_a_call_in_loop_mode) {
  std::vector<int> out(12);
  EXPECT_TRUE(loops("recursion"));
  device.run("recursion", {1}, {12}, 0, out.data());
  EXPECT_EQ(out[11], 89);
}

TEST_P(threads, virtual_functions_know_their_thread) {
  std::vector<int> out = {1, 0, 1, 0};
  device.run("virtual_calls", {1}, {4}, 0, out.data());
  EXPECT_THAT(out, ElementsAre(9, 7, 11, 7));
}

TEST_P(threads, function_pointers_know_their_thread) {
  std::vector<int> out(4);
  EXPECT_TRUE(loops("function_pointers"));
  device.run("function_pointers", {1}, {4}, 0, out.data());
  EXPECT_THAT(out, ElementsAre(10, 20, 12, 20));
}

TEST_P(threads, a_barrier_behind_a_function_pointer_needs_fibers) {
  std::vector<int> data = {0, 1, 2, 3, 4, 5, 6, 7};
  EXPECT_FALSE(loops("barrier_behind_a_pointer"));
  device.run("barrier_behind_a_pointer", {1}, {8}, 0, data.data());
  EXPECT_THAT(data, ElementsAre(7, 6, 5, 4, 3, 2, 1, 0));
}

TEST_P(threads, warps_shuffle) {
  std::vector<int> out(2);
  device.run("warp_sum", {1}, {64}, 0, out.data());
  EXPECT_THAT(out, ElementsAre(496, 1520));
}

TEST_P(threads, spin_locks_end) {
  for (const char* kernel : {"spin_lock", "spin_lock_with_break", "short_lock"}) {
    int lock = 0, counter = 0;
    EXPECT_FALSE(loops(kernel)) << kernel;
    auto result = device.run(kernel, {2}, {64}, 0, &lock, &counter);
    EXPECT_EQ(counter, 128) << kernel;
    EXPECT_FALSE(result.stuck) << kernel;
  }
}

TEST_P(threads, a_consumer_waits_for_a_producer_of_its_block) {
  int slot[2] = {}, out = 0;
  auto result = device.run("producer_consumer", {1}, {2}, 0, &slot[0], &out);
  EXPECT_EQ(out, 42);
  EXPECT_GT(result.yields, 0u);
}

TEST_P(threads, blocks_wait_for_other_blocks) {
  int turn = 0;
  std::vector<int> order(6);
  device.run("blocks_in_turn", {6}, {2}, 0, &turn, order.data());
  EXPECT_THAT(order, ElementsAre(5, 4, 3, 2, 1, 0));
}

TEST_P(threads, a_plain_flag_with_a_fence_is_a_spin_loop) {
  int flag = 0, out = 0;
  EXPECT_FALSE(loops("fenced_flag"));
  device.run("fenced_flag", {1}, {2}, 0, &flag, &out);
  EXPECT_EQ(out, 1);
}

TEST_P(threads, a_loop_that_asks_a_function_yields) {
  int flag = 0, out = 0;
  EXPECT_FALSE(loops("asks_a_function"));
  device.run("asks_a_function", {1}, {2}, 0, &flag, &out);
  EXPECT_EQ(out, 1);
}

TEST_P(threads, nanosleep_lets_others_run) {
  int flag = 0, out = 0;
  EXPECT_EQ(device.kernel("sleeps_and_looks").mode, abi::kernel_mode::block_fiber);
  device.run("sleeps_and_looks", {1}, {2}, 0, &flag, &out);
  EXPECT_EQ(out, 1);
}

TEST_P(threads, a_loop_that_sleeps_a_number_of_times_tells_that_it_gets_on) {
  int flag = 0;
  std::vector<int> out(2, -1);
  auto result = device.run("sleeps_and_looks_again", {1}, {2}, 0, &flag, 5, out.data());
  EXPECT_EQ(out, (std::vector{0, 0}));
  EXPECT_EQ(result.waits, 10u);
  EXPECT_EQ(result.rounds_asleep, 5u);
  EXPECT_EQ(result.seen.size(), 4u);  // 5, 4, 3, 2 and not the flag alone
}

TEST_P(threads, atomics_without_dependence_on_others_stay_in_loop_mode) {
  EXPECT_TRUE(loops("histogram"));
  EXPECT_TRUE(loops("retry"));
  std::vector<unsigned char> data(1000, 3);
  std::vector<int> bins(256);
  device.run("histogram", {1}, {64}, 0, data.data(), 1000, bins.data());
  EXPECT_EQ(bins[3], 1000);
  float sum = 1;
  device.run("retry", {2}, {32}, 0, &sum, 0.5f);
  EXPECT_EQ(sum, 33);
}

// It may come back to a place that another thread has emptied meanwhile.
TEST_P(threads, a_probe_that_goes_round_may_stop) {
  EXPECT_EQ(device.kernel("probe").mode, abi::kernel_mode::block_fiber);
  std::vector<int> table(64);
  EXPECT_EQ(device.run("probe", {1}, {50}, 0, table.data(), 64).yields, 0u);
  EXPECT_EQ(std::count(table.begin(), table.end(), 0), 14);
}

TEST_P(threads, printf_goes_to_the_engine) {
  EXPECT_EQ(device.run("prints", {1}, {2}, 0, 9).printed,
            "thread 0 of 9: text 2.5\nthread 1 of 9: text 2.5\n");
}

TEST_P(threads, new_and_malloc_come_from_the_device_heap) {
  std::vector<int> out(6);
  device.run("allocates", {1}, {6}, 0, out.data());
  EXPECT_THAT(out, ElementsAre(0, 1, 2, 3, 4, 5));
}

TEST_P(threads, a_failed_assertion_names_its_expression) {
  std::vector<int> out(4);
  EXPECT_EQ(device.run("asserts", {1}, {4}, 0, 6, out.data()).failed_assertion, "");
  auto result = device.run("asserts", {1}, {4}, 0, 1, out.data());
  EXPECT_THAT(result.failed_assertion, testing::HasSubstr("limit > 5"));
}

TEST_P(threads, a_trap_ends_the_kernel) {
  std::vector<int> out(2);
  EXPECT_TRUE(device.run("traps", {1}, {2}, 0, out.data()).trapped);
  EXPECT_THAT(out, ElementsAre(1, 0));
}

TEST_P(threads, a_grid_barrier_is_noted_in_the_descriptor) {
  EXPECT_EQ(device.kernel("grid_wide").uses_cooperative_groups_grid, 1u);
  EXPECT_EQ(device.kernel("reverse").uses_cooperative_groups_grid, 0u);
}

TEST_P(threads, what_has_no_loop_no_barrier_and_no_call_is_straight) {
  image basics(std::string(PASS_IMAGES "/basics") + GetParam() + ".so");
  EXPECT_EQ(basics.kernel("nothing").is_straight, abi::straight_without_floats);
  EXPECT_EQ(basics.kernel("bounded").is_straight, abi::straight_without_floats);
  EXPECT_EQ(basics.kernel("saxpy").is_straight, 1u);
  EXPECT_EQ(basics.kernel("conversions").is_straight, 1u);  // floats are all it looks at
  EXPECT_EQ(device.kernel("reverse").is_straight, 0u);      // a barrier
  EXPECT_EQ(device.kernel("reduce").is_straight, 0u);       // a loop
  EXPECT_EQ(device.kernel("asserts").is_straight, 0u);
  EXPECT_EQ(device.kernel("calls_far").is_straight, 0u);
}

INSTANTIATE_TEST_SUITE_P(levels, threads, testing::Values(".O0", ".O2"),
                         [](const auto& info) { return std::string(info.param + 1); });

}  // namespace
}  // namespace sb::test
