// What threads do while they hold a lock.
#include "engine/lock_trace.hpp"

#include <gtest/gtest.h>

namespace sb::engine {
namespace {

using abi::lock_event;
constexpr std::uint64_t here = 4096, there = 8192, one_step = abi::spent_unit;

TEST(lock_trace, counts_what_is_done_between_taking_it_and_giving_it_back) {
  lock_trace trace;
  trace.begin(2);
  trace.note(0, here, lock_event::taken, {0, 10 * one_step, 2 * one_step});
  trace.note(1, here, lock_event::tried, {});
  trace.note(1, 0, lock_event::fence, {});
  trace.note(0, 0, lock_event::fence, {});
  trace.note(0, there, lock_event::written, {});  // what it guards
  trace.note(0, 0, lock_event::fence, {});
  trace.note(0, here, lock_event::written, {0, 17 * one_step, 5 * one_step});
  trace.note(0, 0, lock_event::fence, {});
  const taken_locks got = trace.locks();
  EXPECT_EQ(got.turns, 1);
  EXPECT_EQ(got.threads, 1);
  EXPECT_EQ(got.steps, 7);
  EXPECT_EQ(got.loads, 3);
  EXPECT_EQ(got.fences, 2);
  EXPECT_EQ(got.addresses, std::vector<std::uint64_t>{here});
}

TEST(lock_trace, who_writes_there_without_having_taken_it_gives_nothing_back) {
  lock_trace trace;
  trace.begin(2);
  trace.note(0, here, lock_event::written, {});
  trace.note(0, here, lock_event::taken, {});
  trace.note(1, here, lock_event::written, {});
  EXPECT_EQ(trace.locks().turns, 0);
}

TEST(lock_trace, counts_threads_and_places_once) {
  lock_trace trace;
  trace.begin(3);
  for (const std::uint32_t thread : {0u, 2u})
    for (const std::uint64_t lock : {there, here, there}) {
      trace.note(thread, lock, lock_event::taken, {});
      trace.note(thread, lock, lock_event::written, {});
    }
  const taken_locks got = trace.locks();
  EXPECT_EQ(got.turns, 6);
  EXPECT_EQ(got.threads, 2);
  EXPECT_EQ(got.addresses, (std::vector<std::uint64_t>{here, there}));
}

// Some give it back as they take it: by an exchange, from one number to the other.
TEST(lock_trace, who_has_it_and_exchanges_again_gives_it_back) {
  lock_trace trace;
  trace.begin(1);
  for (int i = 0; i < 4; ++i) trace.note(0, here, lock_event::taken, {});
  EXPECT_EQ(trace.locks().turns, 2);
}

// Marks that stay are no locks.
TEST(lock_trace, what_nobody_gives_back_is_forgotten) {
  lock_trace trace;
  trace.begin(1);
  for (std::uint64_t i = 0; i < 1000; ++i) trace.note(0, here + i * 4, lock_event::taken, {});
  trace.note(0, here, lock_event::written, {});
  EXPECT_EQ(trace.locks().turns, 0);
  trace.note(0, here + 999 * 4, lock_event::written, {});
  EXPECT_EQ(trace.locks().turns, 1);
}

double locks_of(const std::vector<std::vector<std::uint64_t>>& blocks, std::uint64_t all) {
  lock_census census;
  for (const auto& one : blocks) census.note(one);
  return census.in_all(all);
}

TEST(lock_census, blocks_have_some_in_common_or_each_its_own) {
  EXPECT_EQ(locks_of({{}, {}}, 100), 0);
  EXPECT_DOUBLE_EQ(locks_of({{here}, {}, {here}, {here}}, 100), 1);
  EXPECT_DOUBLE_EQ(locks_of({{here, there}, {here, there}}, 100), 2);
  EXPECT_DOUBLE_EQ(locks_of({{here}, {there}}, 100), 100);
}

// Every fourth of 132 blocks has the same.
TEST(lock_census, blocks_have_a_few_in_turn) {
  std::vector<std::vector<std::uint64_t>> blocks;
  for (const std::uint64_t block : {4, 16, 66, 67, 115}) blocks.push_back({here + block % 4 * 128});
  EXPECT_NEAR(locks_of(blocks, 132), 4, 1);
}

// One of 64 each, which no two of those have that were seen; or each its own two.
TEST(lock_census, there_are_as_many_as_have_room_between_those_seen) {
  std::vector<std::vector<std::uint64_t>> few, own;
  for (const std::uint64_t block : {16, 66, 264, 265, 461}) {
    few.push_back({here + block * 7 % 64 * 128});
    own.push_back({here + block * 128, here + block * 128 + 64});
  }
  EXPECT_NEAR(locks_of(few, 528), 64, 16);
  EXPECT_NEAR(locks_of(own, 528), 1056, 100);
}

}  // namespace
}  // namespace sb::engine
