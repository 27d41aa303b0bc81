// Kernels on the multiprocessors: residency, blocks, priorities.
#include <gtest/gtest.h>

#include <vector>

#include "commands.hpp"
#include "driver.hpp"

namespace sb::sched {
namespace {

command with_priority(command c, int priority) {
  c.priority = static_cast<std::int8_t>(priority);
  return c;
}

command cooperative(command c) {
  c.kernel.cooperative = true;
  return c;
}

TEST(residency, at_most_128_kernels_run_at_once) {
  driver d;
  std::vector<command_id> gates;
  for (int i = 0; i < 200; ++i) {
    gates.push_back(d.hold(kernel_in(d.non_blocking())));
  }
  for (int i = 0; i < 200; ++i) {
    EXPECT_EQ(d.running(gates[i]), i < 128) << i;
  }
  d.open(gates[7]);
  EXPECT_TRUE(d.running(gates[128]));
  EXPECT_FALSE(d.running(gates[129]));
  for (const command_id gate : gates) {
    d.open(gate);
    EXPECT_TRUE(d.done(gate));
  }
}

// h200/queues.tsv conn.1.gates.enqueued: 128 gates are resident, so the 129th mark cannot run.
TEST(residency, with_one_connection_a_kernel_that_finds_no_place_holds_the_queue) {
  driver d(1);
  int marks = 0;
  for (int i = 0; i < 160; ++i) {
    const stream_id s = d.non_blocking();
    marks += d.done(d.submit(kernel_in(s))) ? 1 : 0;
    d.hold(kernel_in(s));
  }
  EXPECT_EQ(marks, 128);
  EXPECT_FALSE(d.done(d.submit(fill_in(d.non_blocking()))));
}

TEST(residency, a_kernel_alone_gets_its_occupancy) {
  struct {
    std::uint32_t threads, shared, per_multiprocessor;
  } const cases[] = {{1, 0, 32},  {64, 0, 32},  {96, 0, 21},    {128, 0, 16},   {256, 16384, 8},
                     {768, 0, 2}, {1024, 0, 2}, {33, 40000, 5}, {32, 232448, 1}};
  for (const auto& c : cases) {
    driver d;
    command k = kernel_in(d.non_blocking(), 1'000'000, c.threads);
    k.kernel.shared_bytes = c.shared;
    k.kernel.registers = 16;
    const command_id id = d.hold(k);
    EXPECT_EQ(d.running_blocks(id), c.per_multiprocessor * 132U) << c.threads << " " << c.shared;
  }
}

TEST(residency, grants_come_in_batches) {
  driver d;
  const command_id id = d.hold(kernel_in(d.non_blocking(), 100'000, 256));
  std::size_t grants = 0;
  while (!d.done(id)) {
    d.blocks_done(id, d.running_blocks(id));
  }
  for (const action& a : d.history()) {
    grants += a.kind == action_kind::grant;
  }
  EXPECT_EQ(grants, (100'000 + 1055) / 1056);
}

TEST(residency, every_block_of_a_huge_grid_is_granted_exactly_once) {
  driver d;
  const std::uint64_t blocks = std::uint64_t{2147483647} * 4;
  const command_id id = d.hold(kernel_in(d.non_blocking(), blocks, 1024));
  d.blocks_done(id, d.running_blocks(id));
  EXPECT_EQ(d.running_blocks(id), 264U);
  EXPECT_FALSE(d.done(id));
}

TEST(residency, blocks_that_passed_are_granted_no_more) {
  driver d;
  const command_id a = d.hold(kernel_in(d.non_blocking(), 1000, 1024));
  const command_id b = d.hold(kernel_in(d.non_blocking(), 10, 1024));
  d.blocks_done(a, 100, 600);
  EXPECT_EQ(d.running_blocks(a), 264U);  // 36 are left
  EXPECT_EQ(d.running_blocks(b), 0U);
  d.blocks_done(a, 0, 36);
  EXPECT_EQ(d.running_blocks(a), 264U);
  EXPECT_EQ(d.running_blocks(b), 0U);
  d.blocks_done(a, 4);
  EXPECT_EQ(d.running_blocks(b), 4U);
  d.blocks_done(a, 260);
  EXPECT_TRUE(d.done(a));
  EXPECT_EQ(d.running_blocks(b), 10U);
}

// Another worker's report lets the scheduler grant what has passed already.
TEST(residency, blocks_that_passed_may_have_been_granted_meanwhile) {
  driver d;
  const command_id a = d.hold(kernel_in(d.non_blocking(), 1000, 1024));
  d.blocks_done(a, 264);
  d.blocks_done(a, 264);
  EXPECT_EQ(d.running_blocks(a), 264U);  // 208 are left
  d.get().blocks_done(a, 100, 308);      // 100 of the 308 are among the 264
  EXPECT_FALSE(d.done(a));
  d.get().blocks_done(a, 64);
  EXPECT_TRUE(d.done(a));
}

TEST(residency, two_kernels_share_the_device_when_both_fit) {
  driver d;
  const command_id a = d.hold(kernel_in(d.non_blocking(), 132, 1024));
  const command_id b = d.hold(kernel_in(d.non_blocking(), 132, 1024));
  const command_id c = d.hold(kernel_in(d.non_blocking(), 1, 1024));
  EXPECT_EQ(d.running_blocks(a), 132U);
  EXPECT_EQ(d.running_blocks(b), 132U);
  EXPECT_TRUE(d.running(c));
  EXPECT_EQ(d.running_blocks(c), 0U);
  d.blocks_done(b, 1);
  EXPECT_EQ(d.running_blocks(c), 1U);
}

TEST(residency, a_kernel_that_uses_shared_memory_leaves_room_for_one_that_does_not) {
  driver d;
  command big = kernel_in(d.non_blocking(), 132, 32);
  big.kernel.shared_bytes = 200'000;
  d.hold(big);
  const command_id other = d.hold(kernel_in(d.non_blocking(), 132, 1024));
  EXPECT_EQ(d.running_blocks(other), 132U);
}

// Otherwise what every multiprocessor has left would add up to places that no multiprocessor has.
TEST(residency, blocks_that_take_more_than_half_of_a_multiprocessor_never_share_one) {
  driver d;
  command big = kernel_in(d.non_blocking(), 132, 32);
  big.kernel.shared_bytes = 200'000;
  const command_id first = d.hold(big);
  big = with_priority(kernel_in(d.non_blocking(), 2, 32), -5);
  big.kernel.shared_bytes = 150'000;
  const command_id second = d.hold(big);
  EXPECT_EQ(d.running_blocks(second), 0U);
  d.blocks_done(first, 1);
  EXPECT_EQ(d.running_blocks(second), 1U);
  command heavy = kernel_in(d.non_blocking(), 133, 1024);
  heavy.kernel.registers = 40;
  const command_id third = d.hold(heavy);
  EXPECT_EQ(d.running_blocks(third), 0U);  // behind the other, whose second block does not fit
  d.blocks_done(first, 1);
  EXPECT_EQ(d.running_blocks(second), 2U);
  EXPECT_EQ(d.running_blocks(third), 132U);
}

TEST(residency, the_kernel_that_started_first_gets_all_its_blocks_first) {
  driver d;
  const command_id a = d.hold(kernel_in(d.non_blocking(), 1000, 1024));
  const command_id b = d.hold(kernel_in(d.non_blocking(), 10, 1024));
  EXPECT_EQ(d.running_blocks(a), 264U);
  d.blocks_done(a, 264);
  EXPECT_EQ(d.running_blocks(a), 264U);
  EXPECT_EQ(d.running_blocks(b), 0U);
  d.blocks_done(a, 264);
  d.blocks_done(a, 264);
  EXPECT_EQ(d.running_blocks(a), 208U);
  EXPECT_EQ(d.running_blocks(b), 10U);
}

TEST(priority, a_small_urgent_kernel_overtakes_a_full_device_at_a_block_boundary) {
  driver d;
  const command_id low = d.hold(kernel_in(d.non_blocking(), 10'000, 1024));
  const command_id waiting = d.hold(kernel_in(d.non_blocking(), 1, 1024));
  const command_id urgent = d.hold(with_priority(kernel_in(d.non_blocking(), 2, 1024), -5));
  EXPECT_EQ(d.running_blocks(urgent), 0U);
  d.blocks_done(low, 1);
  EXPECT_EQ(d.running_blocks(urgent), 1U);
  d.blocks_done(low, 1);
  EXPECT_EQ(d.running_blocks(urgent), 2U);
  d.blocks_done(low, 1);
  EXPECT_EQ(d.running_blocks(low), 262U);
  EXPECT_EQ(d.running_blocks(waiting), 0U);
}

// tests/timing/h200/kernels.tsv priority.three_after_two.high: each of the three waits for the end
// of a wave.
TEST(priority, blocks_that_wait_have_the_room_of_an_urgent_kernel_before_what_follows_it) {
  driver d;
  const command_id low = d.hold(kernel_in(d.non_blocking(), 10'000, 1024));
  const stream_id stream = d.non_blocking();
  const command_id first = d.hold(with_priority(kernel_in(stream, 1, 1024), -5));
  const command_id second = d.hold(with_priority(kernel_in(stream, 1, 1024), -5));
  d.blocks_done(low, 1);
  EXPECT_EQ(d.running_blocks(first), 1U);
  d.open(first);
  EXPECT_EQ(d.running_blocks(low), 264U);
  EXPECT_EQ(d.running_blocks(second), 0U);
  d.blocks_done(low, 1);
  EXPECT_EQ(d.running_blocks(second), 1U);
}

TEST(priority, six_levels_go_in_order) {
  driver d;
  const command_id full = d.hold(kernel_in(d.non_blocking(), 264, 1024));
  std::vector<command_id> levels;
  for (int priority = 0; priority >= -5; --priority) {
    levels.push_back(d.hold(with_priority(kernel_in(d.non_blocking(), 1, 1024), priority)));
  }
  for (int i = 5; i >= 0; --i) {
    d.blocks_done(full, 1);
    for (int j = 0; j < 6; ++j) {
      EXPECT_EQ(d.running_blocks(levels[j]), j >= i ? 1U : 0U) << i << " " << j;
    }
  }
}

TEST(priority, an_urgent_kernel_becomes_resident_first) {
  driver d;
  std::vector<command_id> gates;
  for (int i = 0; i < 128; ++i) {
    gates.push_back(d.hold(kernel_in(d.non_blocking())));
  }
  const command_id low = d.hold(kernel_in(d.non_blocking()));
  const command_id urgent = d.hold(with_priority(kernel_in(d.non_blocking()), -1));
  d.open(gates[0]);
  EXPECT_TRUE(d.running(urgent));
  EXPECT_FALSE(d.running(low));
}

TEST(cooperative_launch, gets_all_blocks_at_once_or_none) {
  driver d;
  const command_id first = d.hold(kernel_in(d.non_blocking(), 10, 1024));
  const command_id grid = d.hold(cooperative(kernel_in(d.non_blocking(), 264, 1024)));
  EXPECT_EQ(d.running_blocks(grid), 0U);
  d.blocks_done(first, 9);
  EXPECT_EQ(d.running_blocks(grid), 0U);
  d.blocks_done(first, 1);
  EXPECT_EQ(d.running_blocks(grid), 264U);
}

TEST(faults, an_abandoned_kernel_gives_its_room_back) {
  driver d;
  const stream_id s = d.non_blocking();
  const command_id bad = d.hold(kernel_in(s, 10'000, 1024));
  const command_id after = d.submit(kernel_in(s));
  const command_id other = d.hold(kernel_in(d.non_blocking(), 200, 1024));
  d.get().abandon(bad);
  d.run();
  EXPECT_TRUE(d.done(bad));
  EXPECT_TRUE(d.done(after));
  EXPECT_EQ(d.running_blocks(other), 200U);
  d.get().blocks_done(bad, 264);  // its blocks end late: nobody minds
  d.run();
  EXPECT_EQ(d.running_blocks(other), 200U);
}

TEST(faults, a_kernel_abandoned_before_its_first_block_gives_its_place_back) {
  driver d;
  const command_id full = d.hold(kernel_in(d.non_blocking(), 264, 1024));
  const command_id first = d.hold(kernel_in(d.non_blocking(), 1, 1024));
  const command_id bad = d.hold(kernel_in(d.non_blocking(), 1, 1024));
  const command_id last = d.hold(kernel_in(d.non_blocking(), 1, 1024));
  d.get().abandon(bad);
  d.run();
  EXPECT_TRUE(d.done(bad));
  d.blocks_done(full, 2);
  EXPECT_EQ(d.running_blocks(first), 1U);
  EXPECT_EQ(d.running_blocks(last), 1U);
}

}  // namespace
}  // namespace sb::sched
