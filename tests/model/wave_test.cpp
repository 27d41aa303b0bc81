// What bounds a kernel.
#include <gtest/gtest.h>

#include <limits>

#include "model/timing_profile.hpp"

namespace sb {
namespace {

constexpr std::uint32_t multiprocessors = 132;

double ns(const block_work& work, std::uint64_t blocks) {
  return wave_of(h200_timing(), work, blocks, multiprocessors, false).ns;
}

block_work chain(double warps) {
  return {.issued = 10000 * 32 * warps, .warps = warps, .fp32 = 10000 * 32 * warps, .steps = 10000};
}

TEST(wave, few_warps_wait_for_themselves_and_many_for_each_other) {
  const double one = ns(chain(1), 1);
  EXPECT_NEAR(one, 10000 * h200_timing().step_ns, 0.2 * one);
  EXPECT_NEAR(ns(chain(4), multiprocessors), one, 0.1 * one);
  EXPECT_GT(ns(chain(32), multiprocessors), 1.6 * one);
}

TEST(wave, warps_that_wait_for_the_one_that_works_do_not_make_it_quicker) {
  constexpr double one = 10000 * 32;
  const block_work alone{.issued = one, .longest_issued = one, .warps = 1, .fp32 = one},
      beside{.issued = one + 31 * 32, .longest_issued = one, .warps = 32, .fp32 = one};
  EXPECT_NEAR(ns(beside, multiprocessors), ns(alone, multiprocessors),
              0.01 * ns(alone, multiprocessors));
  // Shared memory is one for all schedulers.
  const block_work reads{.issued = one, .longest_issued = one, .warps = 1, .shared_turns = one},
      two{.issued = 2 * one, .longest_issued = one, .warps = 32, .shared_turns = 2 * one};
  EXPECT_LT(ns(two, multiprocessors), 1.5 * ns(reads, multiprocessors));
  EXPECT_GT(ns(two, multiprocessors), 1.3 * ns(reads, multiprocessors));
}

TEST(wave, blocks_take_time_to_begin) {
  const block_work nothing{.issued = 32, .warps = 1};
  EXPECT_GE(ns(nothing, 4224), 4224 / h200_timing().blocks_per_ns);
}

TEST(wave, a_block_takes_the_place_of_another_only_after_a_turn) {
  const timing_profile& t = h200_timing();
  const block_work nothing{.issued = 32 * 32, .warps = 32};
  const double first = wave_of(t, nothing, 264, multiprocessors, true).ns;
  const double later = wave_of(t, nothing, 264, multiprocessors, false).ns;
  EXPECT_NEAR(later, t.block_turn_ns, 0.1 * t.block_turn_ns);
  EXPECT_NEAR(first, t.block_ns + 264 / t.blocks_per_ns, 1);
}

TEST(wave, loads_wait_longer_beside_stores) {
  block_work reads{.issued = 32,
                   .warps = 8,
                   .l2_bytes = 1024,
                   .memory_share = 1,
                   .load_misses = 1,
                   .loads = 100};
  const double alone = ns(reads, 132);
  reads.stores_beside = 1;
  EXPECT_NEAR(ns(reads, 132) - alone, 100 * h200_timing().store_beside_ns, 0.05 * alone);
}

TEST(wave, what_memory_has_is_slower_than_what_a_cache_has) {
  block_work reads{.issued = 32, .warps = 8, .l2_requests = 800, .l2_bytes = 102400};
  const double cached = ns(reads, 1056);
  reads.memory_bytes = reads.l2_bytes;
  reads.memory_share = 1;
  EXPECT_GT(ns(reads, 1056), 1.5 * cached);
}

TEST(wave, one_address_takes_atomics_in_turn) {
  block_work adds{
      .warps = 8, .l2_bytes = 32, .atomics = 256, .atomic_sectors = 1e5, .atomic_chunks = 1e4};
  const double spread = ns(adds, 1056);
  adds.atomic_sectors = adds.atomic_chunks = 1;
  EXPECT_GT(ns(adds, 1056), 20 * spread);
}

TEST(wave, atomics_are_at_one_address_at_least) {
  block_work adds{.warps = 8, .l2_bytes = 32, .atomics = 256};
  const double nowhere = ns(adds, 1056);
  adds.atomic_sectors = adds.atomic_chunks = 1;
  EXPECT_EQ(nowhere, ns(adds, 1056));
}

TEST(wave, sums_of_floats_wait_for_each_other_only_at_one_address) {
  block_work adds{
      .warps = 8, .l2_bytes = 32, .atomics = 256, .atomic_sectors = 1, .atomic_chunks = 1};
  const double whole = ns(adds, 1056);
  adds.float_atomics = adds.atomics;
  EXPECT_GT(ns(adds, 1056), 2 * whole);
  adds.atomic_sectors = 8;
  EXPECT_EQ(ns(adds, 1056), whole);
}

TEST(wave, the_hosts_memory_comes_over_the_link) {
  const timing_profile& t = h200_timing();
  block_work reads{.warps = 8, .host_read = 102400, .host_requests = 800};
  const double bytes = 1056 * reads.host_read;
  EXPECT_NEAR(ns(reads, 1056), bytes / t.host_read_bytes_per_ns, 0.05 * ns(reads, 1056));
  reads.host_written = reads.host_read;
  EXPECT_LT(ns(reads, 1056), 1.5 * bytes / t.host_read_bytes_per_ns);
  // Words here and there are bound by the requests.
  const block_work words{.warps = 8, .host_read = 8192, .host_requests = 256};
  EXPECT_GT(ns(words, 1056), 2 * 1056 * words.host_read / t.host_read_bytes_per_ns);
  // One thread that follows pointers waits for each.
  const block_work follows{
      .warps = 1, .load_misses = 1, .host_requests = 100, .host_misses = 1, .loads = 100};
  EXPECT_GT(ns(follows, 1), 100 * t.host_load_ns);
}

TEST(wave, only_a_time_moves_the_clock) {
  constexpr double infinite = std::numeric_limits<double>::infinity();
  EXPECT_EQ(rounded_ns(1.5), 2u);
  EXPECT_EQ(rounded_ns(infinite), 0u);
  EXPECT_EQ(rounded_ns(-infinite), 0u);
  EXPECT_EQ(rounded_ns(std::numeric_limits<double>::quiet_NaN()), 0u);
  EXPECT_EQ(rounded_ns(-1), 0u);
  EXPECT_EQ(rounded_ns(1e30), 10'000'000'000'000'000u);
}

TEST(wave, a_cache_holds_what_is_well_below_its_size) {
  EXPECT_EQ(share_of_memory(20e6, 60e6), 0);
  EXPECT_EQ(share_of_memory(60e6, 60e6), 1);
}

// One thread of each block takes it once; around nothing.
block_work with_lock(double turns, double places) {
  block_work w{.issued = 32, .warps = 1};
  w.locks = turns;
  w.lock_threads = 1;
  w.lock_places = places;
  return w;
}

TEST(wave, holders_of_a_lock_come_one_after_the_other) {
  const timing_profile& t = h200_timing();
  const double few = ns(with_lock(100, 1), 2);
  EXPECT_NEAR(few, 200 * t.lock_ns, 0.05 * few);
  // More of them that try make it slower for each.
  const double many = ns(with_lock(1, 1), 1056) / 1056;
  EXPECT_GT(many, 2 * t.lock_ns);
  // Several locks are taken at the same time, but by each thread in turn.
  EXPECT_NEAR(ns(with_lock(100, 8), 128), ns(with_lock(100, 1), 16), 1000);
  EXPECT_NEAR(ns(with_lock(100, 128), 128), 100 * t.lock_ns, 3000);
}

TEST(wave, a_lock_is_held_for_as_long_as_what_is_done_meanwhile) {
  const timing_profile& t = h200_timing();
  block_work w = with_lock(100, 1);
  const double bare = ns(w, 8);
  w.locked_fences = 200;
  w.locked_loads = 300;
  EXPECT_NEAR(ns(w, 8) - bare, 800 * (2 * t.fence_ns + 3 * t.l2_load_ns), 1);
}

TEST(wave, blocks_work_for_themselves_between_their_turns) {
  block_work w = chain(1);
  const double alone = ns(w, 8);
  w.locks = w.lock_threads = w.lock_places = 1;
  EXPECT_NEAR(ns(w, 8), alone + 8 * h200_timing().lock_ns, 100);  // all come at its end
  w.locks = 4;
  EXPECT_NEAR(ns(w, 8), alone, 1);
}

}  // namespace
}  // namespace sb
