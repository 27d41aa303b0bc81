// What the blocks of a kernel do that draws its work: one of them drew all of it.
#include <gtest/gtest.h>

#include "engine/known_work.hpp"

namespace sb::engine {
namespace {

constexpr double l2_bytes = 64 << 20;
constexpr std::uint64_t unit = abi::spent_unit;

thread_spent spent(std::uint64_t issued) { return {issued * unit, 0, 0}; }

// Each thread draws one after the other, in turns; item i takes `length(i)` instructions.
template <class Length>
access_summary block_that_draws(std::uint32_t threads, int items, Length length) {
  static int counter;
  access_trace trace;
  trace.begin(threads);
  std::vector<std::uint64_t> done(threads, 0);
  std::vector<bool> left(threads, false);
  std::uint64_t value = 0;
  for (std::uint32_t gone = 0; gone < threads;)
    for (std::uint32_t t = 0; t < threads; ++t) {
      if (left[t]) continue;
      trace.went_round(t, spent(done[t]));
      trace.draws().note(t, false, {&counter, value, 1});
      if (value++ < static_cast<std::uint64_t>(items)) {
        done[t] += length(static_cast<int>(value) - 1);
      } else {
        left[t] = true;
        trace.spent(t, done[t] * unit, 0, 0);
        ++gone;
      }
    }
  return trace.summary();
}

TEST(draws, a_warps_item_takes_as_long_as_that_of_its_longest_lane) {
  const auto all = block_that_draws(32, 64, [](int i) { return i % 32 == i / 32 ? 100 : 10; });
  EXPECT_EQ(all.drawn.drawers, 1u);
  EXPECT_EQ(all.drawn.threads, 32u);
  EXPECT_EQ(all.drawn.lengths, (std::vector<double>{100, 100}));
  // No lane took more than 110.
  EXPECT_EQ(all.issued, 200 * 32);
  EXPECT_EQ(all.drawn.draws, 96);
}

TEST(draws, of_a_block_for_which_one_thread_draws_all_warps_go_round_together) {
  int counter = 0;
  access_trace trace;
  trace.begin(64);
  for (std::uint64_t round = 0; round < 3; ++round)
    for (const std::uint32_t t : {0u, 40u}) {
      // Either of the two has the long one.
      const std::uint64_t before = t == 0 ? (round > 0 ? 90 : 0) + (round > 1 ? 10 : 0)
                                          : (round > 0 ? 10 : 0) + (round > 1 ? 90 : 0);
      trace.went_round(t, spent(before));
      if (t == 0) trace.draws().note(t, false, {&counter, round, 1});
    }
  trace.spent(0, 100 * unit, 0, 0);
  trace.spent(40, 100 * unit, 0, 0);
  const auto all = trace.summary();
  EXPECT_EQ(all.drawn.drawers, 1u);
  EXPECT_EQ(all.drawn.lengths, (std::vector<double>{90, 90}));
  EXPECT_EQ(all.longest_issued, 180 * 32);
  EXPECT_EQ(all.issued, 200 * 32);
}

TEST(draws, who_draws_in_front_of_its_loop_may_never_go_round) {
  int counter = 0;
  access_trace trace;
  trace.begin(32);
  for (std::uint64_t value = 0; value < 64; ++value)
    trace.draws().note(static_cast<std::uint32_t>(value % 32), false, {&counter, value, 1});
  const drawn_items drawn = trace.summary().drawn;
  EXPECT_TRUE(drawn.any());
  EXPECT_TRUE(drawn.lengths.empty());
  EXPECT_EQ(drawn.draws, 64);
}

drawn_items equal_items(std::size_t count, std::uint32_t drawers) {
  drawn_items items;
  items.lengths.assign(count, 100);
  items.drawers = items.threads = drawers;
  items.draws = items.moved = static_cast<double>(count + drawers);
  return items;
}

TEST(draws, the_last_round_is_one_for_all) {
  const resident_blocks one_each{.blocks = 132, .multiprocessors = 132};
  EXPECT_DOUBLE_EQ(uneven_draws(equal_items(264, 1), 1, one_each).drawer, 1);
  EXPECT_DOUBLE_EQ(uneven_draws(equal_items(133, 1), 1, one_each).drawer, 2 / (133.0 / 132));
  EXPECT_DOUBLE_EQ(uneven_draws(equal_items(133, 1), 1, one_each).multiprocessor,
                   2 / (133.0 / 132));
  // Items that are not known are as those that are.
  EXPECT_DOUBLE_EQ(uneven_draws(equal_items(66, 1), 4, one_each).drawer, 1);
}

TEST(draws, few_items_are_on_some_multiprocessors) {
  const resident_blocks eight_each{.blocks = 1056, .multiprocessors = 132};
  const unevenness found = uneven_draws(equal_items(132, 1), 1, eight_each);
  EXPECT_DOUBLE_EQ(found.drawer, 8);
  EXPECT_GT(found.multiprocessor, 2);
  EXPECT_LT(found.multiprocessor, 6);
  // There is no more room than for one.
  const resident_blocks one_each{.blocks = 132, .multiprocessors = 132};
  EXPECT_DOUBLE_EQ(uneven_draws(equal_items(66, 1), 1, one_each).multiprocessor, 2);
}

TEST(draws, what_one_block_drew_is_spread_over_all_that_are_there) {
  block_work all, rest;
  all.issued = 1000 + 50;
  all.atomics = 300 + 4;
  rest.issued = 50;
  rest.atomics = 4;
  const auto items = equal_items(1000, 1);
  const block_work each = spread_draws(all, rest, items, {.blocks = 100, .multiprocessors = 100});
  EXPECT_DOUBLE_EQ(each.issued, 60);
  EXPECT_DOUBLE_EQ(each.atomics, 7);
}

TEST(draws, what_others_drew_was_as_long_as_what_was_counted) {
  block_work all, rest;
  all.issued = 1000;
  auto items = equal_items(100, 1);
  // The counter went on by 300, and by one for each of the 100 that drew in vain.
  items.moved = 400 + 100;
  const block_work each = spread_draws(all, rest, items, {.blocks = 100, .multiprocessors = 100});
  EXPECT_DOUBLE_EQ(each.issued, 40);
}

TEST(draws, blocks_that_come_later_find_nothing_left) {
  known_work known;
  known.count_draws({.blocks = 100, .multiprocessors = 100});
  EXPECT_EQ(known.places(0, 100, 400), (std::vector<std::uint64_t>{0, 99}));
  EXPECT_EQ(known.places(100, 100, 400), std::vector<std::uint64_t>{});
  EXPECT_EQ(known.places(0, 2, 2), std::vector<std::uint64_t>{0});
  known.expect();
  known.expect();
  known.all_began();
  const auto note = [&](std::uint64_t index, int items) {
    known.note(index, 400, {}, block_that_draws(32, items, [](int) { return 10; }), l2_bytes);
  };
  note(99, 0);  // it may end before the one that drew
  note(0, 32 * 1000);
  known.use_samples();
  ASSERT_TRUE(known.uneven());
  EXPECT_EQ(known.next_change(0), 100u);
  EXPECT_DOUBLE_EQ(known.of(0).issued, 1000 * 10 * 32 / 100.0);
  EXPECT_DOUBLE_EQ(known.of(100).issued, 0);
}

TEST(draws, who_comes_when_others_got_nothing_asks_while_those_work_that_did) {
  known_work known;
  known.count_draws({.blocks = 100, .multiprocessors = 100});
  known.expect();
  known.expect();
  known.all_began();
  const auto note = [&](std::uint64_t index, int items, double atomics) {
    auto block = block_that_draws(32, items, [](int) { return 10; });
    block.atomics = atomics;
    known.note(index, 400, {}, block, l2_bytes);
  };
  note(0, 32 * 10, 11);
  note(99, 0, 1);
  known.use_samples();
  EXPECT_DOUBLE_EQ(known.of(0).atomics, 1 + 10 / 100.0 + 3);
  EXPECT_DOUBLE_EQ(known.of(100).atomics, 0);
}

}  // namespace
}  // namespace sb::engine
