// How much of pageable sources a device takes in, as recorded on an H200 (thresholds.tsv staged.*).
#include <gtest/gtest.h>

#include <vector>

#include "helpers.hpp"

namespace sb::engine::test {
namespace {

// How many copies of a size find room when none is finished; stops at `most`.
int taken(memory& m, std::size_t bytes, int most) {
  std::vector<std::shared_ptr<char>> held;
  while (static_cast<int>(held.size()) < most) {
    auto buffer = m.try_stage(first, bytes);
    if (!buffer) break;
    held.push_back(std::move(buffer));
  }
  return static_cast<int>(held.size());
}

TEST(staging, holds_one_copy_of_two_mebibytes_or_two_of_one) {
  memory m(small_devices());
  EXPECT_EQ(taken(m, 2 * mib, 9), 1);
  EXPECT_EQ(taken(m, mib, 9), 2);
  EXPECT_EQ(taken(m, mib + 1, 9), 1);
  EXPECT_EQ(taken(m, 2 * mib + 4096, 9), 0);
}

TEST(staging, a_copy_above_64_kib_takes_a_whole_slot) {
  memory m(small_devices());
  EXPECT_EQ(taken(m, 64 * kib + 1, 9), 2);
  const auto half = m.try_stage(first, 512 * kib);
  EXPECT_EQ(taken(m, 3 * mib / 2, 9), 0);
  EXPECT_EQ(taken(m, mib, 9), 1);
}

TEST(staging, small_copies_go_with_their_command) {
  memory m(small_devices());
  const auto full = m.try_stage(first, 2 * mib);
  ASSERT_TRUE(full);
  EXPECT_EQ(taken(m, 64 * kib, 100), 60);
  EXPECT_GE(taken(m, 16 * kib, 300), 200);
  EXPECT_LT(taken(m, 16 * kib, 300), 300);
  EXPECT_GE(taken(m, 4096, 1000), 950);
  EXPECT_LT(taken(m, 4096, 1000), 1000);
  EXPECT_EQ(taken(m, 3072, 1020), 1020);
}

TEST(staging, keeps_what_the_source_held) {
  memory m(small_devices());
  std::vector<char> source(5000, 7);
  const auto staged = m.try_stage(first, source.data(), source.size());
  source.assign(5000, 9);
  EXPECT_EQ(static_cast<char*>(staged.get())[4999], 7);
}

TEST(staging, devices_do_not_share_it) {
  memory m(small_devices());
  const auto one = m.try_stage(first, 2 * mib);
  EXPECT_TRUE(m.try_stage(second, 2 * mib));
}

TEST(staging, may_outlive_the_memory) {
  std::shared_ptr<char> kept;
  {
    memory m(small_devices());
    kept = m.try_stage(first, 100);
  }
  kept.get()[99] = 1;
}

}  // namespace
}  // namespace sb::engine::test
