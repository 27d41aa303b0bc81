// What blocks share, from two neighbours.
#include "engine/known_work.hpp"

#include <gtest/gtest.h>

#include <functional>

namespace sb::engine {
namespace {

constexpr double l2_bytes = 64 << 20;
constexpr std::uint64_t blocks = 1 << 16;

using address_of = std::function<std::uint64_t(std::uint64_t block, std::uint32_t thread)>;

access_summary block_at(std::uint64_t block, abi::access_kind kind, const address_of& address) {
  access_trace trace;
  trace.begin(256);
  for (std::uint32_t t = 0; t < 256; ++t)
    trace.touch(t, (1 << 20) + address(block, t), 4, kind, false, 0);
  return trace.summary();
}

block_work of_two(abi::access_kind kind, const address_of& address) {
  const access_summary a = block_at(10, kind, address), b = block_at(11, kind, address);
  block_work work = work_of({}, a);
  spread(work, a, b, blocks, l2_bytes);
  return work;
}

TEST(kernel_work, blocks_that_go_on_where_the_last_ended_need_more_than_the_cache) {
  const auto work =
      of_two(abi::access_kind::load, [](auto block, auto t) { return (block * 256 + t) * 4; });
  EXPECT_EQ(work.memory_share, 1);
  EXPECT_EQ(work.memory_bytes, 1024);
}

TEST(kernel_work, warps_that_load_nothing_bring_nobodys_loads_nearer) {
  const auto misses = [](std::uint32_t threads) {
    access_trace trace;
    trace.begin(threads);
    for (std::uint32_t t = 0; t < threads; ++t) {
      for (std::uint32_t i = 0; t < 32 && i < 10; ++i)
        trace.touch(t, (1 << 20) + (i * 32 + t) * 4, 4, abi::access_kind::load, false, 0);
      trace.spent(t, abi::spent_unit, 0, t < 32 ? 10 * abi::spent_unit : 0);
    }
    abi::kernel_counts counts{};
    counts.threads = threads;
    return work_of(counts, trace.summary()).load_misses;
  };
  EXPECT_EQ(misses(32), 1);
  EXPECT_EQ(misses(1024), 1);
}

TEST(kernel_work, what_all_blocks_read_stays_in_the_cache) {
  const auto work = of_two(abi::access_kind::load, [](auto, auto t) { return t * 4; });
  EXPECT_EQ(work.memory_bytes, 0);
}

TEST(kernel_work, blocks_that_read_here_and_there_share_the_table) {
  const auto within = [](std::uint64_t size) {
    return [=](std::uint64_t block, std::uint32_t t) {
      std::uint64_t x = (block * 256 + t) * 0x9e3779b97f4a7c15u;
      x = (x ^ (x >> 30)) * 0xbf58476d1ce4e5b9u;
      x = (x ^ (x >> 27)) * 0x94d049bb133111ebu;
      return (x ^ (x >> 31)) % size / 4 * 4;
    };
  };
  EXPECT_EQ(of_two(abi::access_kind::load, within(4 << 20)).memory_bytes, 0);
  EXPECT_GT(of_two(abi::access_kind::load, within(1 << 30)).memory_bytes, 0);
}

TEST(kernel_work, tiles_of_rows_are_no_table) {
  const auto work = of_two(abi::access_kind::load, [](auto block, auto t) {
    return (t / 32 * (1 << 16) + block * 32 + t % 32) * 4;
  });
  EXPECT_EQ(work.memory_share, 1);
}

TEST(kernel_work, atomics_of_all_blocks_may_be_at_one_address) {
  const auto one = of_two(abi::access_kind::atomic, [](auto, auto) { return 0; });
  EXPECT_EQ(one.atomic_sectors, 1);
  EXPECT_EQ(one.atomic_chunks, 1);
  const auto own = of_two(abi::access_kind::atomic, [](auto block, auto) { return block * 32; });
  EXPECT_EQ(own.atomic_sectors, static_cast<double>(blocks));
  EXPECT_LT(own.atomic_chunks, own.atomic_sectors);
}

TEST(kernel_work, samples_are_in_order_and_two_are_neighbours) {
  for (std::uint64_t n = 1; n < 300; ++n) {
    const auto places = work_samples::places(n);
    ASSERT_LT(places.back(), n);
    bool neighbours = n == 1;
    for (std::size_t i = 1; i < places.size(); ++i) {
      ASSERT_LT(places[i - 1], places[i]) << n;
      neighbours = neighbours || places[i] == places[i - 1] + 1;
    }
    EXPECT_TRUE(neighbours) << n;
  }
}

TEST(kernel_work, a_block_is_the_average_of_the_samples) {
  work_samples all;
  for (const std::uint64_t index : {3, 4, 9}) {
    abi::kernel_counts counts{};
    counts.threads = 256;
    counts.fp32_issued = index * 100;
    all.add(
        index, blocks, counts,
        block_at(index, abi::access_kind::load, [](auto b, auto t) { return (b * 256 + t) * 4; }),
        l2_bytes);
  }
  EXPECT_NEAR(all.work().fp32, 1600.0 / 3, 1e-9);
  EXPECT_EQ(all.work().memory_bytes, 1024);
}

TEST(kernel_work, atomics_of_any_sample_have_an_address) {
  for (const std::uint64_t with : {8, 32, 33, 55}) {
    work_samples all;
    const auto places = work_samples::places(64);
    for (const std::uint64_t index : places) {
      const auto kind = index == with ? abi::access_kind::atomic : abi::access_kind::load;
      all.add(index, 64, {}, block_at(index, kind, [](auto, auto) { return 0; }), l2_bytes);
    }
    EXPECT_NEAR(all.work().atomics, 256.0 / static_cast<double>(places.size()), 1e-9) << with;
    EXPECT_EQ(all.work().atomic_sectors, 1) << with;
    EXPECT_EQ(all.work().atomic_chunks, 1) << with;
  }
}

TEST(kernel_work, blocks_that_take_turns_at_few_addresses_share_them) {
  const auto sectors = [](std::uint64_t period) {
    work_samples all;
    for (const std::uint64_t index : work_samples::places(1056))
      all.add(index, 1056, {},
              block_at(index, abi::access_kind::atomic,
                       [=](auto block, auto) { return block % period * 128; }),
              l2_bytes);
    return all.work().atomic_sectors;
  };
  EXPECT_LE(sectors(4), 4);
  EXPECT_EQ(sectors(1 << 20), 1056);
}

TEST(kernel_work, samples_are_kept_while_blocks_are_missing) {
  known_work known;
  known.count();
  known.expect();
  known.expect();
  known.all_began();
  abi::kernel_counts counts{};
  for (const std::uint64_t fp32 : {100, 300, 1000}) {
    counts.fp32_issued = fp32;
    known.note(fp32, blocks, counts, {}, l2_bytes);
    known.use_samples();
    EXPECT_EQ(known.counts(), fp32 == 100);
  }
  EXPECT_EQ(known.work.fp32, 200);
}

access_summary that_issues(double instructions) {
  access_summary s;
  s.issued = instructions;
  return s;
}

TEST(kernel_work, of_a_grid_whose_blocks_differ_more_are_counted) {
  known_work known;
  known.count();
  for (const std::uint64_t index : {100, 400, 401}) {
    known.note(index, 1000, {}, that_issues(500), l2_bytes);
    EXPECT_GE(known.next_counted(index, 1000), 1000u);
  }
  known.use_samples();
  EXPECT_FALSE(known.uneven());
  known.note(600, 1000, {}, that_issues(700), l2_bytes);
  std::uint64_t count = 0;
  for (std::uint64_t at = known.next_counted(601, 1000); at < 1000;
       at = known.next_counted(at + 1, 1000)) {
    ++count;
    known.note(at, 1000, {}, that_issues(static_cast<double>(at)), l2_bytes);
  }
  EXPECT_GT(count, 70u);
  EXPECT_LT(count, 90u);
  known.use_samples();
  ASSERT_TRUE(known.uneven());
  EXPECT_EQ(known.of(0).issued, 500);
  EXPECT_EQ(known.of(599).issued, 500);
  EXPECT_EQ(known.of(600).issued, 700);
  EXPECT_NEAR(known.of(999).issued, 999, 10);
  for (std::uint64_t at = known.next_change(0), last = 0; at < 1000; at = known.next_change(at)) {
    EXPECT_GT(at, last);
    EXPECT_EQ(&known.of(at - 1), &known.of(last));
    last = at;
  }
}

TEST(kernel_work, blocks_that_do_much_are_counted_more_rarely) {
  const auto counted = [](double instructions) {
    known_work known;
    known.count();
    known.note(0, 100'000, {}, that_issues(instructions), l2_bytes);
    known.note(1, 100'000, {}, that_issues(2 * instructions), l2_bytes);
    std::uint64_t count = 0;
    for (std::uint64_t at = 2; (at = known.next_counted(at, 100'000)) < 100'000; ++at) ++count;
    return count;
  };
  EXPECT_NEAR(static_cast<double>(counted(1000)), 192, 2);
  EXPECT_NEAR(static_cast<double>(counted(1e9)), 16, 2);
}

TEST(kernel_work, the_oldest_launches_are_forgotten_but_not_those_that_run) {
  known_launches all;
  const auto first = all.at(0);
  first->launches = 7;
  for (std::uint64_t key = 1; key < known_launches::most; ++key) all.at(key)->launches = 1;
  EXPECT_EQ(all.at(0), first);
  all.at(known_launches::most)->launches = 1;
  EXPECT_EQ(all.size(), known_launches::most);
  EXPECT_EQ(first->launches, 7u);
  EXPECT_EQ(all.at(known_launches::most)->launches, 1u);
  EXPECT_EQ(all.at(0)->launches, 0u);
  EXPECT_EQ(all.size(), known_launches::most);
}

}  // namespace
}  // namespace sb::engine
