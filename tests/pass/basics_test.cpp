#include <gmock/gmock.h>
#include <gtest/gtest.h>

#include <numeric>

#include "harness/machine.hpp"

namespace sb::test {
namespace {

using testing::ElementsAre;

struct basics : testing::TestWithParam<const char*> {
  image device{std::string(PASS_IMAGES "/basics") + GetParam() + ".so"};
};

TEST_P(basics, saxpy_runs_in_loop_mode_and_respects_its_guard) {
  std::vector<float> x(1000, 2), y(1000, 1);
  EXPECT_EQ(device.kernel("saxpy").mode, abi::kernel_mode::loop);
  device.run("saxpy", {5}, {256}, 0, 900, 3.0f, x.data(), y.data());
  EXPECT_EQ(std::accumulate(y.begin(), y.begin() + 900, 0.0f), 6300);
  EXPECT_EQ(std::accumulate(y.begin() + 900, y.end(), 0.0f), 100);
}

TEST_P(basics, a_kernel_without_parameters_runs) {
  EXPECT_EQ(device.kernel("nothing").param_count, 0u);
  device.run("nothing", {2}, {32}, 0);
}

TEST_P(basics, threads_and_blocks_have_three_dimensions) {
  std::vector<int> out(2 * 3 * 2 * 24, -1);
  device.run("indices", {2, 3, 2}, {4, 3, 2}, 0, out.data());
  EXPECT_EQ(out[0], 0);
  EXPECT_EQ(out[4 + 2], 12);
  EXPECT_EQ(out[24 + 12 + 1], 1101);
  EXPECT_EQ(out[11 * 24 + 23], 11123);
  EXPECT_EQ(std::count(out.begin(), out.end(), -1), 0);
}

TEST_P(basics, a_return_ends_one_thread_only) {
  std::vector<int> out(8);
  device.run("early_return", {1}, {8}, 0, out.data());
  EXPECT_THAT(out, ElementsAre(0, 1, 2, 0, 4, 4, 0, 4));
}

TEST_P(basics, private_arrays_belong_to_one_thread) {
  std::vector<int> out(256);
  device.run("private_arrays", {1}, {256}, 0, out.data());
  for (int i = 0; i < 256; ++i) {
    EXPECT_EQ(out[i], 120 * i);
  }
}

struct pair {
  double a;
  char b;
};
struct alignas(16) quad {
  float x, y, z, w;
};
struct big {
  int a[1500];
};
struct dims3 {
  unsigned x, y, z;
};

TEST_P(basics, parameters_of_every_kind_arrive) {
  std::vector<long> out(13);
  big b = {};
  b.a[0] = 40;
  b.a[1499] = 2;
  int referenced = 77;
  device.run("every_kind", {1}, {1}, 0, out.data(), true, 'e', pair{3, 5}, 12, quad{1, 2, 3, 4}, b,
             pair{30, 3}, 123456789012l, 1.5f, std::uint8_t(200), dims3{1, 2, 3}, short(7),
             static_cast<void*>(nullptr), &referenced, 2.0);
  EXPECT_THAT(out, ElementsAre(1, 3005, 12, 4321, 42, 33, 123456789012, 150, 200, 321, 7, 77, 2));
  const auto& info = device.kernel("every_kind");
  ASSERT_EQ(info.param_count, 16u);
  EXPECT_EQ(info.params[2].size, 1u);         // an empty class
  EXPECT_EQ(info.params[5].offset % 16, 0u);  // aligned as declared
  EXPECT_EQ(info.params[6].size, sizeof(big));
  EXPECT_STREQ(info.name, "every_kind");
}

TEST_P(basics, a_thread_may_change_its_parameters) {
  std::vector<int> out(4);
  big b = {};
  device.run("changed_parameters", {1}, {4}, 0, out.data(), 10, b, quad{0, 5, 0, 0});
  EXPECT_THAT(out, ElementsAre(26, 28, 30, 32));
}

TEST_P(basics, templates_and_function_objects_are_kernels) {
  std::vector<int> out(4);
  device.run("_Z5applyI5timesEvPiT_", {1}, {4}, 0, out.data(), 3);
  EXPECT_THAT(out, ElementsAre(0, 3, 6, 9));
}

TEST_P(basics, launch_bounds_are_in_the_descriptor) {
  EXPECT_EQ(device.kernel("bounded").max_threads_per_block, 256u);
  EXPECT_EQ(device.kernel("bounded").min_blocks_per_multiprocessor, 2u);
  EXPECT_EQ(device.kernel("saxpy").max_threads_per_block, 1024u);
}

TEST_P(basics, device_constant_and_managed_variables) {
  std::vector<int> out(5);
  int managed = 8;
  ASSERT_NE(device.symbol("shared_with_host.sb_managed"), nullptr);
  *static_cast<void**>(device.symbol("shared_with_host.sb_managed")) = &managed;
  *static_cast<int*>(device.symbol("counter")) = 4;
  static_cast<float*>(device.symbol("table"))[2] = 30;
  device.run("variables", {1}, {1}, 0, out.data());
  EXPECT_THAT(out, ElementsAre(4, 30, testing::Ge(10), 5, 8));
  EXPECT_EQ(managed, 5);
  EXPECT_EQ(*static_cast<int*>(device.symbol("counter")), 5);
}

// Recorded on hardware: a division by zero gives all ones, the remainder gives the dividend.
TEST_P(basics, divisions_that_c_leaves_undefined_do_what_the_device_does) {
  std::vector<int> out(9);
  device.run("divisions", {1}, {1}, 0, out.data(), 0, -1, 0ll);
  EXPECT_THAT(out, ElementsAre(-1, 7, INT32_MIN, 0, -1, 7, -1, -100, 1));
}

TEST_P(basics, divisions_that_only_some_threads_come_to) {
  constexpr unsigned threads = 150;
  std::vector<int> table(64);
  for (int i = 0; i < 64; ++i) table[i] = i * i + 1;
  // The first thread of every vector, of any length, is one that does not divide.
  std::vector<char> asked(threads), none(threads);
  for (unsigned t = 0; t < threads; ++t) asked[t] = t % 4 == 0 ? 0 : static_cast<char>(t % 3);
  for (int d : {-7, -1, 0, 3}) {
    std::vector<int> out(threads), expected(threads), zeros(threads);
    for (unsigned t = 0; t < threads; ++t) {
      int quotient = d != 0 ? 1000 / d : 0;
      expected[t] = asked[t] == 0   ? 0
                    : asked[t] == 1 ? table[45 % 32] + 100 * quotient
                                    : table[45 % 32] + table[1 + 13 / 2] + 100 * quotient;
    }
    device.run("divisions_of_some", {1}, {threads}, 0, asked.data(), table.data(), out.data(), 45u,
               32u, 1000, d);
    EXPECT_EQ(out, expected) << d;
    device.run("divisions_of_some", {1}, {threads}, 0, none.data(), table.data(), out.data(), 45u,
               0u, INT32_MIN, d);
    EXPECT_EQ(out, zeros) << d;
  }
}

TEST_P(basics, conversions_saturate) {
  std::vector<int> out(4);
  device.run("conversions", {1}, {1}, 0, out.data(), 1e20f, -3.0f);
  EXPECT_THAT(out, ElementsAre(INT32_MAX, INT32_MIN, 0, 255));
}

TEST_P(basics, the_descriptor_tells_which_pointers_are_read_and_written) {
  const auto& info = device.kernel("pointer_uses");
  auto flags = [&](int i) { return info.params[i].flags; };
  EXPECT_EQ(flags(0), abi::param_is_pointer | abi::param_is_read);
  EXPECT_EQ(flags(1), abi::param_is_pointer | abi::param_is_written);
  EXPECT_EQ(flags(2), abi::param_is_pointer | abi::param_is_read | abi::param_is_written);
  EXPECT_EQ(flags(3), +abi::param_is_pointer);
}

TEST_P(basics, the_descriptor_tells_which_pointers_are_seen_as_values) {
  const auto& info = device.kernel("pointer_values");
  auto has = [&](int i, std::uint32_t flag) { return (info.params[i].flags & flag) != 0; };
  for (int seen : {0, 1, 3, 4, 5}) EXPECT_TRUE(has(seen, abi::param_is_carried)) << seen;
  EXPECT_FALSE(has(2, abi::param_is_carried));  // only followed
  EXPECT_TRUE(has(1, abi::param_is_written));
  EXPECT_TRUE(has(2, abi::param_is_written));
  // A call through a pointer accesses no data.
  EXPECT_FALSE(has(4, abi::param_is_read | abi::param_is_written));
}

TEST_P(basics, the_descriptor_tells_whether_pointer_parameters_lead_to_all_that_is_touched) {
  for (const char* name : {"saxpy", "follows_parameters", "keeps_to_itself", "reads_constants"})
    EXPECT_EQ(device.kernel(name).reaches_other_memory, 0u) << name;
  EXPECT_EQ(device.kernel("saxpy").constant_count, 0u);
  EXPECT_EQ(device.kernel("reads_constants").constant_count, 1u);
  for (const char* name :
       {"follows_structure", "follows_table", "uses_variable", "follows_variable", "follows_number",
        "calls_one_that_follows", "copies_to_structure", "adds_to_variable", "calls_pointer"})
    EXPECT_EQ(device.kernel(name).reaches_other_memory, 1u) << name;
}

INSTANTIATE_TEST_SUITE_P(levels, basics, testing::Values(".O0", ".O2"),
                         [](const auto& info) { return std::string(info.param + 1); });

}  // namespace
}  // namespace sb::test
