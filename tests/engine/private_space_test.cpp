#include "engine/private_space.hpp"

#include <gtest/gtest.h>

#include <cstring>

namespace sb::engine {
namespace {

constexpr std::size_t large = 3 << 20;

TEST(private_space, arrays_with_different_numbers_have_memory_of_their_own) {
  private_space space;
  char* first = space.hold(0, large);
  char* third = space.hold(2, large);
  ASSERT_NE(first, nullptr);
  ASSERT_NE(third, nullptr);
  std::memset(first, 1, large);
  std::memset(third, 3, large);
  EXPECT_EQ(first[large - 1], 1);
  EXPECT_EQ(third[0], 3);
}

TEST(private_space, memory_stays_for_the_next_block_that_needs_no_more) {
  private_space space;
  char* memory = space.hold(1, large);
  ASSERT_NE(memory, nullptr);
  space.release();
  EXPECT_EQ(space.hold(1, large / 2), memory);
  char* more = space.hold(1, 2 * large);
  ASSERT_NE(more, nullptr);
  std::memset(more, 5, 2 * large);
  space.release();
  EXPECT_EQ(space.hold(1, large), more);
}

TEST(private_space, more_memory_than_there_is_is_refused) {
  private_space space;
  EXPECT_EQ(space.hold(0, std::size_t{1} << 60), nullptr);
  EXPECT_NE(space.hold(0, large), nullptr);
}

}  // namespace
}  // namespace sb::engine
