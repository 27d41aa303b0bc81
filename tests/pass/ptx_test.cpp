#include <gmock/gmock.h>
#include <gtest/gtest.h>

#include "harness/machine.hpp"

namespace sb::test {
namespace {

using testing::ElementsAre;

struct ptx : testing::TestWithParam<const char*> {
  image device{std::string(PASS_IMAGES "/ptx") + GetParam() + ".so"};
};

TEST_P(ptx, special_registers) {
  std::vector<unsigned> out(4 * 40);
  std::uint64_t wide[2] = {};
  device.run("registers", {1}, {40}, 0, out.data(), &wide[0]);
  EXPECT_THAT(std::vector(out.begin() + 4 * 35, out.begin() + 4 * 36), ElementsAre(3, 1, 7, 35));
  EXPECT_GT(wide[0], 1000u);
  EXPECT_GT(wide[1], 1000u);
}

TEST_P(ptx, loops_on_the_timer_are_solved) {
  EXPECT_EQ(device.kernel("timer_loop").mode, abi::kernel_mode::loop);
  auto result = device.run("timer_loop", {1}, {2}, 0, std::uint64_t(100000));
  EXPECT_LT(result.clock_reads, 10u);
  EXPECT_GE(result.cycles, 100000u);
}

TEST_P(ptx, integer_instructions) {
  std::vector<unsigned> out(16);
  unsigned a = 0x80001234, b = 0x0000abcd, c = 3;
  device.run("integers", {1}, {1}, 0, out.data(), a, b, c);
  EXPECT_THAT(out, ElementsAre(0x23, 0x80001d34, 0xabcd1234, a ^ b ^ c, a * b + c,
                               unsigned((std::uint64_t(a) * b) >> 32), (b << 8) | (a >> 24), 1,
                               a + c, 1, 12, 6, unsigned(-8), 0, 1, 9));
}

TEST_P(ptx, floating_point_instructions) {
  std::vector<float> out(6);
  device.run("floats", {1}, {1}, 0, out.data(), 2.5f, 4.0f, 1.25);
  EXPECT_THAT(out, ElementsAre(12.5f, 2.0f, 3.5f, 2.5f, 2.0f, 4.0f));
}

TEST_P(ptx, memory_instructions) {
  std::vector<int> data = {10, 20}, out(8);
  device.run("memory", {1}, {1}, 0, data.data(), out.data());
  EXPECT_THAT(out, ElementsAre(10, 20, 33, 44, 45, 10, 17, 20));
}

TEST_P(ptx, shared_addresses_count_from_the_start_of_shared_memory) {
  std::vector<int> out(32);
  device.run("shared_addresses", {1}, {32}, 0, out.data());
  EXPECT_EQ(out[0], 3);
  EXPECT_EQ(out[31], 90);
}

TEST_P(ptx, a_loop_on_an_acquiring_load_yields) {
  int flag = 0, out = 0;
  EXPECT_EQ(device.kernel("acquires").mode, abi::kernel_mode::block_fiber);
  device.run("acquires", {1}, {2}, 0, &flag, &out);
  EXPECT_EQ(out, 6);
}

TEST_P(ptx, exit_ends_the_thread_and_trap_the_kernel) {
  std::vector<int> out(3);
  device.run("leaves", {1}, {3}, 0, out.data());
  EXPECT_THAT(out, ElementsAre(2, 1, 2));
  EXPECT_TRUE(device.run("stops", {1}, {1}, 0).trapped);
}

INSTANTIATE_TEST_SUITE_P(levels, ptx, testing::Values(".O0", ".O2"),
                         [](const auto& info) { return std::string(info.param + 1); });

}  // namespace
}  // namespace sb::test
