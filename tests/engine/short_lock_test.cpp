#include "engine/short_lock.hpp"

#include <gtest/gtest.h>

#include <atomic>
#include <mutex>
#include <thread>
#include <vector>

#include "engine/patience.hpp"

namespace sb::engine::testing {
namespace {

TEST(short_lock, who_looks_for_it_soon_has_it_alone_or_goes_without) {
  constexpr int threads = 3, rounds = 20'000;
  short_lock lock;
  std::atomic<int> went_without{0};
  int done = 0;  // guarded by the lock
  std::vector<std::thread> all;
  for (int t = 0; t < threads; ++t)
    all.emplace_back([&] {
      for (int i = 0; i < rounds; ++i) {
        if (!lock.try_lock_soon()) {
          ++went_without;
          continue;
        }
        ++done;
        lock.unlock();
      }
    });
  for (std::thread& one : all) one.join();
  EXPECT_EQ(done + went_without, threads * rounds);
  const std::lock_guard held(lock);
  EXPECT_FALSE(lock.try_lock_soon());
}

// Whoever leaves something does it himself or leaves a note: nothing is left over.
TEST(short_lock, what_was_left_before_a_note_is_done_by_whoever_leaves) {
  constexpr int threads = 4, rounds = 20'000;
  short_lock lock;
  std::atomic<int> left{0};
  int done = 0;  // guarded by the lock
  const auto attend = [&] {
    do {
      lock.lock_for_notes();
      done += left.exchange(0, std::memory_order_relaxed);
    } while (lock.unlock_with_note());
  };
  std::vector<std::thread> all;
  for (int t = 0; t < threads; ++t)
    all.emplace_back([&, t] {
      for (int i = 0; i < rounds; ++i) {
        if (t == 0) {  // takes no notes, and keeps the others waiting
          const std::lock_guard held(lock);
          ++done;
        } else {
          left.fetch_add(1, std::memory_order_relaxed);
          if (!lock.leave_note()) attend();
        }
      }
    });
  for (std::thread& one : all) one.join();
  EXPECT_TRUE(lock.try_lock());
  EXPECT_EQ(left, 0);
  EXPECT_EQ(done, threads * rounds);
}

TEST(short_lock, who_refuses_notes_hears_of_the_one_before_and_gets_no_other) {
  short_lock lock;
  EXPECT_FALSE(lock.leave_note());
  lock.lock();
  EXPECT_FALSE(lock.leave_note());
  lock.unlock();
  lock.lock_for_notes();
  EXPECT_FALSE(lock.try_lock());
  EXPECT_TRUE(lock.leave_note());
  EXPECT_TRUE(lock.leave_note());
  EXPECT_TRUE(lock.refuse_notes());
  EXPECT_FALSE(lock.leave_note());
  EXPECT_FALSE(lock.unlock_with_note());
  EXPECT_TRUE(lock.try_lock());
}

TEST(patience, ends_for_a_while_when_nothing_was_gained_for_long) {
  patience one;
  const auto left_out = [&] {
    unsigned times = 0;
    while (!one.has_any()) ++times;
    return times;
  };
  for (unsigned round = 0; round < 2; ++round) {
    for (unsigned times = 1; times < patience::most; ++times) {
      one.lost();
      EXPECT_EQ(left_out(), 0U);
    }
    one.lost();
    EXPECT_EQ(left_out(), patience::left_out);
  }
  for (unsigned times = 0; times < 2 * patience::most; ++times) {
    one.lost();
    one.gained();
    EXPECT_EQ(left_out(), 0U);
  }
}

}  // namespace
}  // namespace sb::engine::testing
