#include "cudart/handle_table.hpp"

#include <gtest/gtest.h>

#include <thread>
#include <vector>

namespace {

struct thing {
  int value = 0;
};

TEST(handle_table, tells_live_handles_from_others) {
  sb::cudart::handle_table<thing, 16> table;
  thing foreign;
  thing* one = table.create();
  ASSERT_NE(nullptr, one);
  EXPECT_TRUE(table.alive(one));
  EXPECT_FALSE(table.alive(nullptr));
  EXPECT_FALSE(table.alive(&foreign));
  EXPECT_FALSE(table.alive(reinterpret_cast<thing*>(reinterpret_cast<char*>(one) + 1)));
  EXPECT_TRUE(table.destroy(one));
  EXPECT_FALSE(table.alive(one));
  EXPECT_FALSE(table.destroy(one));
}

TEST(handle_table, is_full_at_its_capacity) {
  sb::cudart::handle_table<thing, 2> table;
  thing* first = table.create();
  EXPECT_NE(nullptr, table.create());
  EXPECT_EQ(nullptr, table.create());
  EXPECT_TRUE(table.destroy(first));
  EXPECT_NE(nullptr, table.create());
}

TEST(handle_table, of_many_threads_that_destroy_one_handle_one_wins) {
  sb::cudart::handle_table<thing, 16> table;
  for (int round = 0; round < 100; ++round) {
    thing* one = table.create();
    std::atomic<int> winners{0};
    std::vector<std::thread> threads;
    for (int i = 0; i < 4; ++i) threads.emplace_back([&] { winners += table.destroy(one); });
    for (auto& t : threads) t.join();
    EXPECT_EQ(1, winners);
  }
}

}  // namespace
