// What the counted version of a kernel counts, against what the kernel says.
#include <gtest/gtest.h>

#include <array>
#include <numeric>

#include "harness/machine.hpp"

namespace sb::test {
namespace {

struct counts : testing::TestWithParam<const char*> {
  image device{std::string(PASS_IMAGES "/counts") + GetParam() + ".so"};
};

TEST_P(counts, of_saxpy_are_those_of_the_threads_in_range) {
  std::vector<float> x(100, 2), y(100, 3);
  auto got = device.run_counted("saxpy", {4}, {32}, 0, 100, 5.0f, x.data(), y.data()).counts;
  EXPECT_EQ(y, std::vector<float>(100, 13));
  EXPECT_EQ(got.threads, 128);
  EXPECT_EQ(got.global_loaded, 100 * 8);
  EXPECT_EQ(got.global_stored, 100 * 4);
  EXPECT_EQ(got.fp32, 100 * 2);
  EXPECT_EQ(got.fp64 + got.fp16 + got.special + got.barriers + got.atomics, 0);
  EXPECT_EQ(got.local_loaded + got.local_stored + got.shared_loaded + got.shared_stored, 0);
  EXPECT_GE(got.integer, 128 * 2);
  EXPECT_LE(got.integer, 128 * 8);
}

TEST_P(counts, of_a_tiled_product_have_its_tiles_and_barriers) {
  const int n = 32, tile = 8;
  std::vector<float> a(n * n, 1), b(n * n, 2), c(n * n);
  auto got = device
                 .run_counted("matmul", {n / tile, n / tile}, {tile, tile}, 0, a.data(), b.data(),
                              c.data(), n)
                 .counts;
  EXPECT_EQ(c, std::vector<float>(n * n, 2 * n));
  const std::uint64_t threads = n * n, tiles = n / tile;
  EXPECT_EQ(got.threads, threads);
  EXPECT_EQ(got.global_loaded, threads * tiles * 8);
  EXPECT_EQ(got.global_stored, threads * 4);
  EXPECT_EQ(got.shared_stored, threads * tiles * 8);
  EXPECT_EQ(got.shared_loaded, threads * n * 8);
  EXPECT_EQ(got.fp32, threads * n * 2);
  EXPECT_EQ(got.barriers, threads * tiles * 2);
  EXPECT_EQ(got.local_loaded + got.local_stored + got.special, 0);
}

TEST_P(counts, follow_loops_whose_length_depends_on_data) {
  std::vector<int> count(64);
  std::iota(count.begin(), count.end(), 0);
  std::vector<double> out(64);
  auto got = device.run_counted("rounds", {1}, {64}, 0, count.data(), out.data()).counts;
  EXPECT_EQ(got.fp64, 2 * 63 * 64 / 2);
  EXPECT_EQ(got.global_stored, 64 * 8);
  EXPECT_EQ(got.fp32, 0);
}

TEST_P(counts, tell_arithmetic_from_special_functions) {
  std::vector<float> x(32, 4), y(32);
  std::vector<double> d(32, 1), e(32);
  auto got = device.run_counted("mathematics", {1}, {32}, 0, x.data(), y.data(), d.data(), e.data())
                 .counts;
  EXPECT_EQ(got.fp32, 32 * (2 + 1));     // fma, the sum
  EXPECT_EQ(got.fp64, 32 * 1);           // the product
  EXPECT_EQ(got.special, 32 * (3 + 1));  // division, root, sine; exp
}

TEST_P(counts, have_halves_apart) {
  std::vector<std::uint16_t> x(32, 0x3c00), y(32, 0x3c00);
  auto got = device.run_counted("halves", {1}, {32}, 0, x.data(), y.data()).counts;
  EXPECT_EQ(y, std::vector<std::uint16_t>(32, 0x4000));
  EXPECT_EQ(got.fp16, 32);
  EXPECT_EQ(got.fp32, 0);
  EXPECT_EQ(got.global_loaded, 32 * 4);
}

TEST_P(counts, have_atomics_by_memory_and_constants_apart) {
  std::vector<unsigned char> in(64);
  std::iota(in.begin(), in.end(), 0);
  std::vector<int> bins(64);
  std::vector<float> out(64);
  auto got =
      device.run_counted("histogram", {1}, {64}, 0, in.data(), bins.data(), out.data()).counts;
  EXPECT_EQ(bins, std::vector<int>(64, 1));
  EXPECT_EQ(got.atomics, 128);
  EXPECT_EQ(got.shared_atomics, 64);
  EXPECT_EQ(got.barriers, 128);
  EXPECT_EQ(got.constant_loaded, 64 * 4);
  EXPECT_EQ(got.shared_stored, 64 * 4);
  EXPECT_EQ(got.shared_loaded, 64 * 4);
  EXPECT_EQ(got.global_stored, 64 * 4);
}

TEST_P(counts, have_warp_operations_and_not_the_memory_of_their_answers) {
  std::vector<int> in(64, 1), out(2);
  auto got = device.run_counted("warp_sum", {1}, {64}, 0, in.data(), out.data()).counts;
  EXPECT_EQ(out, std::vector<int>(2, 32));
  EXPECT_EQ(got.warp_operations, 64 * 5);
  EXPECT_EQ(got.global_loaded, 64 * 4);
  EXPECT_EQ(got.global_stored, 2 * 4);
  EXPECT_EQ(got.local_loaded + got.local_stored, 0);
}

TEST_P(counts, have_private_arrays_as_local_memory) {
  std::vector<int> in(32), out(32);
  std::iota(in.begin(), in.end(), 0);
  auto got = device.run_counted("private_array", {1}, {32}, 0, in.data(), out.data()).counts;
  EXPECT_EQ(got.local_stored, 32 * 16 * 4);
  EXPECT_EQ(got.local_loaded, 32 * 4);
}

TEST_P(counts, go_on_in_functions_that_are_called) {
  std::vector<double> p(32, 8);
  auto got = device.run_counted("calls", {1}, {32}, 0, p.data()).counts;
  EXPECT_EQ(p, std::vector<double>(32, 2));
  EXPECT_EQ(got.fp64, 32 * 2);
}

TEST_P(counts, have_a_texture_as_one_instruction) {
  std::vector<float> texture(64, 1);
  std::vector<unsigned> out(32);
  const struct {
    const float* texels;
    int count;
  } image{texture.data(), 4};
  const auto all = device.run_counted("textured", {1}, {32}, 0, &image, out.data());
  const auto& got = all.counts;
  EXPECT_EQ(out[3], 12u);
  EXPECT_EQ(all.loads, 32 * abi::spent_unit);
  EXPECT_EQ(all.touched, std::vector<std::uint32_t>(32 * (4 + 1), 4));  // texels, what is stored
  EXPECT_EQ(got.global_loaded, 32 * 8);
  EXPECT_EQ(got.global_stored, 32 * 4);
  EXPECT_EQ(got.fp32, 0);
  EXPECT_EQ(got.local_loaded + got.local_stored, 0);
}

TEST_P(counts, have_copies_of_any_length) {
  std::vector<char> from(32 * 7, 'x'), to(32 * 7);
  auto got =
      device.run_counted("copies", {1}, {32}, 0, from.data(), to.data(), std::size_t{7}).counts;
  EXPECT_EQ(to, from);
  EXPECT_EQ(got.global_loaded, 32 * 7);
  EXPECT_EQ(got.global_stored, 32 * 7);
}

TEST_P(counts, tell_when_a_lock_is_taken_and_given_back) {
  using enum abi::lock_event;
  struct expected {
    const char* kernel;
    std::vector<abi::lock_event> events;
    int lock;  // what was taken
  };
  for (const expected& one : {expected{"takes_a_lock", {taken, fence, fence, written}, 0},
                              {"exchanges_for_a_lock", {taken, written}, 0},
                              {"waits_for_its_ticket", {taken, written}, 1},
                              {"looks_before_it_draws", {}, 0},
                              {"retries", {}, 0}}) {
    std::array<int, 2> lock = {};
    int count = 0;
    const auto result = device.run_counted(one.kernel, {1}, {1}, 0, lock.data(), &count);
    std::vector<abi::lock_event> events;
    for (const lock_step& step : result.lock_steps)
      if (step.lock == nullptr || step.lock == &lock[one.lock]) events.push_back(step.event);
    EXPECT_EQ(events, one.events) << one.kernel;
  }
}

TEST_P(counts, tell_what_was_done_while_a_lock_was_held) {
  std::array<int, 2> lock = {};
  int count = 0;
  const auto steps =
      device.run_counted("takes_a_lock", {1}, {1}, 0, lock.data(), &count).lock_steps;
  EXPECT_EQ(steps.back().loads - steps.front().loads, abi::spent_unit);
  EXPECT_EQ(count, 1);
}

// What a device's compiler would make of the kernel: for code that the optimiser has seen.
struct costs : testing::Test {
  image device{std::string(PASS_IMAGES "/counts.O2.so")};
};

TEST_F(costs, a_product_and_a_sum_are_one_instruction) {
  std::vector<float> x(32, 2), y(32, 3);
  auto got = device.run_counted("saxpy", {1}, {32}, 0, 32, 5.0f, x.data(), y.data());
  EXPECT_EQ(got.counts.fp32_issued, 32);
  EXPECT_EQ(got.counts.fp32, 64);
  EXPECT_EQ(got.touched, std::vector<std::uint32_t>(96, 4));
  EXPECT_EQ(got.loads, 32 * abi::spent_unit);  // both at once
}

TEST_F(costs, a_shift_by_any_amount_is_one_instruction) {
  std::vector<unsigned> in(32, 0x80000001u), out(96);
  std::vector<int> by(32, 1);
  by[1] = 32;
  by[2] = -1;
  auto got = device.run_counted("shifts", {1}, {32}, 0, in.data(), by.data(), out.data());
  EXPECT_EQ((std::vector{out[0], out[32], out[64]}), (std::vector{2u, 0x40000000u, 0xc0000000u}));
  EXPECT_EQ((std::vector{out[1], out[33], out[65]}), (std::vector{0u, 0u, ~0u}));
  EXPECT_EQ((std::vector{out[2], out[34], out[66]}), (std::vector{0u, 0u, ~0u}));
  // With the places in three arrays, from which the others are a constant away.
  EXPECT_EQ(got.counts.integer, 32 * (3 + 3));
}

TEST_F(costs, the_parts_of_a_vector_are_one_access) {
  struct alignas(16) float4 {
    float x[4];
  };
  std::vector<float4> from(32, {{1, 2, 3, 4}}), to(32);
  auto got = device.run_counted("vectors", {1}, {32}, 0, from.data(), to.data());
  EXPECT_EQ(to[31].x[3], 8);
  EXPECT_EQ(got.touched, std::vector<std::uint32_t>(64, 16));
  EXPECT_EQ(got.counts.global_loaded, 32 * 16);
}

TEST_F(costs, loads_of_a_loop_come_together_unless_one_needs_the_last) {
  std::vector<unsigned> next(64, 1);
  unsigned out = 0;
  auto chased = device.run_counted("chase", {1}, {1}, 0, next.data(), &out, 160);
  EXPECT_GE(chased.loads, 160 * abi::spent_unit);
  std::vector<float> in(160, 1);
  float sum = 0;
  auto summed = device.run_counted("sum", {1}, {1}, 0, in.data(), &sum, 160);
  EXPECT_EQ(sum, 160);
  EXPECT_LE(summed.loads, 160 / 4 * abi::spent_unit);
  EXPECT_GE(summed.steps, 160 * abi::spent_unit);
}

TEST_F(costs, a_multiply_add_of_three_registers_takes_two_turns_unless_it_shares_one) {
  const auto issued = [&](const char* kernel) {
    const auto rounds = [&](int times) {
      std::vector<float> values{1, 0.5f, 2, 3, 4};
      return device.run_counted(kernel, {1}, {1}, 0, values.data(), times).issued;
    };
    return rounds(200) - rounds(100);
  };
  const std::uint64_t two = issued("two_each");
  EXPECT_EQ(issued("three_each"), two + 200 * abi::spent_unit);
  EXPECT_EQ(issued("one_in_common"), two);
}

INSTANTIATE_TEST_SUITE_P(levels, counts, testing::Values(".O0", ".O2"),
                         [](const auto& info) { return std::string(info.param + 1); });

}  // namespace
}  // namespace sb::test
