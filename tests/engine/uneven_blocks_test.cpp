#include "engine/uneven_blocks.hpp"

#include <gtest/gtest.h>

namespace sb::engine {
namespace {

// Work that takes as long as the pipes need for all that is together.
block_work of_instructions(double issued) {
  block_work w;
  w.issued = issued;
  w.warps = 32;
  return w;
}

constexpr int kernel = 0, other = 0;

TEST(uneven_blocks, one_that_is_left_has_its_multiprocessor_to_itself) {
  uneven_blocks blocks(4);
  blocks.add(0, &kernel, of_instructions(1e6), 7, 8, true);
  blocks.add(1, &kernel, of_instructions(4e6), 1, 8, true);  // beside one of the others
  EXPECT_TRUE(blocks.last_ones(&kernel, h200_timing()).empty());
  blocks.remove(0);
  const auto faster = blocks.last_ones(&kernel, h200_timing());
  ASSERT_EQ(faster.size(), 1u);
  EXPECT_EQ(faster[0].id, 1u);
  EXPECT_NEAR(faster[0].times, 0.5, 0.05);
  EXPECT_TRUE(blocks.last_ones(&kernel, h200_timing()).empty());  // it knows
}

TEST(uneven_blocks, those_beside_others_that_are_left_have_not) {
  uneven_blocks blocks(4);
  blocks.add(0, &kernel, of_instructions(1e6), 3, 8, true);
  blocks.add(1, &kernel, of_instructions(4e6), 1, 8, true);  // on the fourth
  blocks.add(2, &kernel, of_instructions(1e6), 3, 8, true);
  blocks.add(3, &kernel, of_instructions(4e6), 1, 8, true);  // there, too
  blocks.remove(0);
  blocks.remove(2);
  EXPECT_TRUE(blocks.last_ones(&kernel, h200_timing()).empty());
}

TEST(uneven_blocks, kernels_have_nothing_to_do_with_each_other) {
  uneven_blocks blocks(2);
  const int second = other + 1;
  blocks.add(0, &kernel, of_instructions(1e6), 2, 4, true);
  blocks.add(1, &second, of_instructions(1e6), 2, 2, true);
  const auto faster = blocks.last_ones(&kernel, h200_timing());
  ASSERT_EQ(faster.size(), 1u);
  EXPECT_EQ(faster[0].id, 0u);
  EXPECT_TRUE(blocks.last_ones(&second, h200_timing()).empty());
}

}  // namespace
}  // namespace sb::engine
