#include "model/block_rules.hpp"

#include <gtest/gtest.h>

namespace sb {
namespace {

TEST(BlockRules, AKernelBeginsBeforeItsBlocksUnlessTheyWaitForRoomThatLong) {
  const kernel_begin at_once = begin_with_room(1000, 500, 200);
  EXPECT_EQ(at_once.kernel, 1000U);
  EXPECT_EQ(at_once.blocks, 1500U);
  const kernel_begin in_time = begin_with_room(1000, 500, 1500);
  EXPECT_EQ(in_time.kernel, 1000U);
  EXPECT_EQ(in_time.blocks, 1500U);
  const kernel_begin late = begin_with_room(1000, 500, 1501);
  EXPECT_EQ(late.kernel, 1501U);
  EXPECT_EQ(late.blocks, 1501U);
}

TEST(BlockRules, AMomentIsShortForTheBlocksToo) {
  EXPECT_TRUE(ends_in_a_moment(0, 100'000, 99'500, 980));
  EXPECT_FALSE(ends_in_a_moment(0, 100'000, 99'000, 980));
  EXPECT_FALSE(ends_in_a_moment(0, 10'000, 9'500, 980));         // a twentieth of their time
  EXPECT_FALSE(ends_in_a_moment(99'990, 100'000, 99'990, 980));  // they have just begun
}

}  // namespace
}  // namespace sb
