// What warps do to memory, from the accesses of their threads.
#include "engine/access_trace.hpp"

#include <gtest/gtest.h>

#include <functional>

namespace sb::engine {
namespace {

using address_of = std::function<std::uint64_t(std::uint32_t thread, std::uint32_t time)>;

constexpr std::uint64_t somewhere = 1 << 20;

void go(access_trace& trace, std::uint32_t threads, std::uint32_t times, abi::access_kind kind,
        bool shared, std::uint32_t bytes, const address_of& address, std::uint32_t place = 0) {
  for (std::uint32_t t = 0; t < threads; ++t)
    for (std::uint32_t i = 0; i < times; ++i)
      trace.touch(t, somewhere + address(t, i), bytes, kind, shared, place);
}

access_summary of(std::uint32_t threads, std::uint32_t times, abi::access_kind kind, bool shared,
                  std::uint32_t bytes, const address_of& address) {
  access_trace trace;
  trace.begin(threads);
  go(trace, threads, times, kind, shared, bytes, address);
  return trace.summary();
}

TEST(access_trace, neighbours_share_lines_and_strangers_do_not) {
  const auto close =
      of(64, 1, abi::access_kind::load, false, 4, [](auto t, auto) { return t * 4; });
  EXPECT_EQ(close.lines, 2);
  EXPECT_EQ(close.l2_bytes, 64 * 4);
  const auto far =
      of(64, 1, abi::access_kind::load, false, 4, [](auto t, auto) { return t * 128; });
  EXPECT_EQ(far.lines, 64);
  EXPECT_EQ(far.l2_requests, 64);
  EXPECT_EQ(far.l2_bytes, 64 * 32);
  const auto same = of(64, 1, abi::access_kind::load, false, 4, [](auto, auto) { return 0; });
  EXPECT_EQ(same.lines, 2);
  EXPECT_EQ(same.l2_requests, 1);
}

TEST(access_trace, wide_loads_are_as_many_lines_as_they_have_bytes) {
  const auto wide =
      of(32, 1, abi::access_kind::load, false, 16, [](auto t, auto) { return t * 16; });
  EXPECT_EQ(wide.lines, 4);
  EXPECT_EQ(wide.l2_bytes, 512);
}

TEST(access_trace, what_a_block_has_loaded_is_in_its_cache) {
  const auto rows =
      of(32, 8, abi::access_kind::load, false, 4, [](auto t, auto i) { return t * 32 + i * 4; });
  EXPECT_EQ(rows.lines, 8 * 8);
  EXPECT_EQ(rows.l2_bytes, 32 * 32);
  EXPECT_EQ(rows.missed_loads, 1);
}

TEST(access_trace, a_part_of_a_sector_is_written_twice) {
  const auto whole =
      of(32, 1, abi::access_kind::store, false, 4, [](auto t, auto) { return t * 4; });
  EXPECT_EQ(whole.l2_bytes, 128);
  EXPECT_EQ(whole.l2_requests, 1);
  const auto parts =
      of(32, 1, abi::access_kind::store, false, 4, [](auto t, auto) { return t * 32; });
  EXPECT_EQ(parts.l2_bytes, 2 * 32 * 32);
}

TEST(access_trace, words_of_one_bank_take_turns_and_one_word_is_for_all) {
  const auto turns = [](std::uint32_t stride) {
    return of(32, 1, abi::access_kind::load, true, 4, [=](auto t, auto) { return t * stride * 4; })
        .shared_turns;
  };
  EXPECT_EQ(turns(0), 1);
  EXPECT_EQ(turns(1), 1);
  EXPECT_EQ(turns(2), 2);
  EXPECT_EQ(turns(32), 32);
  EXPECT_EQ(turns(33), 1);
}

TEST(access_trace, atomics_of_a_warp_at_one_address_go_in_turn) {
  const auto turns = [](abi::access_kind kind, std::uint32_t words) {
    return of(64, 3, kind, false, 4, [=](auto t, auto) { return t % words * 4; }).atomics;
  };
  EXPECT_EQ(turns(abi::access_kind::atomic, 1), 3 * 64);
  EXPECT_EQ(turns(abi::access_kind::atomic, 4), 3 * 16);      // one sector, eight at each word
  EXPECT_EQ(turns(abi::access_kind::atomic, 32), 3 * 2 * 4);  // four sectors, one at each word
  EXPECT_EQ(turns(abi::access_kind::joined_atomic, 1), 3 * 2);
  const auto floats = of(64, 3, abi::access_kind::float_atomic, false, 4,
                         [](auto, auto) { return std::uint64_t{0}; });
  EXPECT_EQ(floats.atomics, 3 * 64);
  EXPECT_EQ(floats.float_atomics, 3 * 64);
}

TEST(access_trace, sums_of_floats_in_shared_memory_are_tried_again) {
  const auto retries = [](abi::access_kind kind, std::uint32_t bytes, std::uint32_t words) {
    return of(64, 3, kind, true, bytes, [=](auto t, auto) { return t % words * 8; }).shared_retries;
  };
  EXPECT_EQ(retries(abi::access_kind::atomic, 4, 1), 0);
  EXPECT_EQ(retries(abi::access_kind::float_atomic, 4, 1), 3 * 64);
  EXPECT_EQ(retries(abi::access_kind::float_atomic, 4, 16), 3 * 4);
  EXPECT_GT(retries(abi::access_kind::float_atomic, 8, 1), 3 * 64);
  EXPECT_LT(retries(abi::access_kind::joined_atomic, 8, 1), 3 * 4);
}

TEST(access_trace, the_hosts_memory_is_beside_the_devices) {
  const auto above = [](std::uint64_t address) {
    return address >= 2 * somewhere ? access_trace::memory_range{true, 2 * somewhere, 3 * somewhere}
                                    : access_trace::memory_range{false, 0, 2 * somewhere};
  };
  access_trace trace;
  trace.begin(32);
  const auto own = [](auto t, auto) { return t * 4; };
  const auto far = [](auto t, auto) { return somewhere + t * 4; };
  go(trace, 32, 1, abi::access_kind::load, false, 4, own, 0);
  go(trace, 32, 1, abi::access_kind::load, false, 4, far, 1);
  go(trace, 32, 1, abi::access_kind::store, false, 4, far, 2);
  const access_summary all = trace.summary(above);
  EXPECT_EQ(all.l2_bytes, 128);
  EXPECT_EQ(all.host_read, 128);
  EXPECT_EQ(all.host_written, 128);
  EXPECT_EQ(all.host_requests, 1);
  EXPECT_EQ(all.missed_loads, 2);
  EXPECT_EQ(all.missed_host_loads, 1);
  EXPECT_EQ(trace.summary().host_read, 0);
}

TEST(access_trace, the_first_times_stand_for_all_of_them) {
  const auto once =
      of(1024, 1, abi::access_kind::load, false, 4, [](auto t, auto) { return t * 4; });
  const auto often = of(1024, 1000, abi::access_kind::load, false, 4,
                        [](auto t, auto i) { return std::uint64_t{i} * 4096 + t * 4; });
  EXPECT_EQ(often.lines, 1000 * once.lines);
  EXPECT_EQ(often.l2_bytes, 1000 * once.l2_bytes);
}

TEST(access_trace, a_warp_takes_as_long_as_its_longest_thread) {
  access_trace trace;
  trace.begin(64);
  for (std::uint32_t t = 0; t < 64; ++t)
    trace.spent(t, abi::spent_unit * (t == 5 ? 100 : 10), abi::spent_unit * t,
                abi::spent_unit * (t < 32 ? 7 : 0));
  const access_summary all = trace.summary();
  EXPECT_EQ(all.issued, 32 * 100 + 32 * 10);
  EXPECT_EQ(all.longest_issued, 32 * 100);
  EXPECT_EQ(all.loads, 7);
  EXPECT_EQ(all.warp_loads, 7);
  EXPECT_EQ(all.steps, 63);
}

}  // namespace
}  // namespace sb::engine
