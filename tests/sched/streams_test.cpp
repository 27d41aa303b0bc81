// Streams, default streams and events.
#include <gtest/gtest.h>

#include <array>

#include "commands.hpp"
#include "driver.hpp"

namespace sb::sched {
namespace {

TEST(streams, commands_of_one_stream_run_in_order) {
  driver d;
  const stream_id s = d.non_blocking();
  const command_id gate = d.hold(kernel_in(s));
  const command_id kernel = d.submit(kernel_in(s));
  const command_id copy = d.submit(upload_in(s));
  EXPECT_TRUE(d.running(gate));
  EXPECT_FALSE(d.done(kernel));
  EXPECT_FALSE(d.done(copy));
  d.open(gate);
  EXPECT_TRUE(d.done(kernel));
  EXPECT_TRUE(d.done(copy));
}

TEST(streams, a_stream_is_clear_when_nothing_is_before_what_comes_next) {
  driver d;
  const stream_id s = d.non_blocking();
  const stream_id other = d.non_blocking();
  EXPECT_TRUE(d.get().clear(s));
  const command_id gate = d.hold(kernel_in(s));
  EXPECT_FALSE(d.get().clear(s));
  EXPECT_TRUE(d.get().clear(other));
  d.open(gate);
  EXPECT_TRUE(d.get().clear(s));
}

TEST(streams, one_that_was_over_before_is_done_and_takes_an_id) {
  driver d;
  const stream_id s = d.non_blocking();
  const command_id first = d.submit(kernel_in(s));
  const command_id passed = d.get().pass();
  EXPECT_EQ(passed.value, first.value + 1);
  EXPECT_TRUE(d.get().done(passed));
  EXPECT_EQ(d.submit(kernel_in(s)).value, passed.value + 1);
}

TEST(streams, what_comes_after_a_gathering_comes_after_all_of_it) {
  driver d;
  const std::array gates{d.hold(kernel_in(d.non_blocking())), d.hold(kernel_in(d.non_blocking()))};
  const gathering both = d.get().gather(gates);
  const stream_id s = d.non_blocking();
  const command_id first = d.get().submit(kernel_in(s), {}, both);
  const command_id second = d.get().submit(kernel_in(d.non_blocking()), {}, both);
  const wait_target end{.scope = wait_scope::stream, .command = {}, .stream = s, .device = {}};
  const waiter_id w = d.wait(end);
  const std::size_t started = d.history().size();
  d.open(gates[0]);
  EXPECT_FALSE(d.get().done(both));
  EXPECT_EQ(d.history().size(), started);
  d.open(gates[1]);
  EXPECT_TRUE(d.get().done(both));
  EXPECT_TRUE(d.done(first));
  EXPECT_TRUE(d.done(second));
  EXPECT_TRUE(d.released(w));
}

TEST(streams, a_gathering_of_what_is_over_is_done_and_stays_so_when_others_have_its_place) {
  driver d;
  const stream_id s = d.non_blocking();
  const command_id gate = d.hold(kernel_in(s));
  const gathering first = d.get().gather({&gate, 1});
  d.open(gate);
  EXPECT_TRUE(d.get().done(first));
  EXPECT_TRUE(d.get().done(d.get().gather({&gate, 1})));
  const command_id other = d.hold(kernel_in(s));
  const gathering second = d.get().gather({&other, 1});
  EXPECT_TRUE(d.get().done(first));
  EXPECT_FALSE(d.get().done(second));
  d.open(other);
  EXPECT_TRUE(d.get().done(second));
}

TEST(streams, what_comes_after_a_gathering_costs_one_edge) {
  constexpr std::size_t count = 10'000;
  driver d;
  std::vector<command_id> gates;
  for (std::size_t i = 0; i < 1'000; ++i) gates.push_back(d.hold(kernel_in(d.non_blocking())));
  const gathering all = d.get().gather(gates);
  const std::size_t before = d.get().memory_bytes();
  const stream_id s = d.non_blocking();
  for (std::size_t i = 0; i < count; ++i) d.get().submit(kernel_in(s), {}, all);
  EXPECT_LT(d.get().memory_bytes() - before, 160 * count);
}

TEST(streams, a_long_stream_does_not_delay_the_others) {
  driver d;
  const stream_id slow = d.non_blocking();
  const stream_id other = d.non_blocking();
  d.hold(kernel_in(slow));
  for (int i = 0; i < 1000; ++i) {
    d.submit(kernel_in(slow));
    EXPECT_TRUE(d.done(d.submit(kernel_in(other))));
  }
}

// AdaptiveCpp#879: a task graph in front of an in-order queue made it four times slower. What is
// ahead of a command in its stream is one command, however many there are.
TEST(streams, an_in_order_stream_costs_one_link_a_command_and_starts_one_at_a_time) {
  constexpr std::size_t count = 100'000;
  driver d;
  const stream_id s = d.non_blocking();
  const command_id gate = d.hold(kernel_in(s));
  const std::size_t before = d.get().memory_bytes();
  for (std::size_t i = 0; i < count; ++i) d.get().submit(kernel_in(s));
  EXPECT_LT(d.get().memory_bytes() - before, 160 * count);
  d.get().clear_actions();
  command_id running = gate;
  for (std::size_t i = 0; i < 1000; ++i) {
    d.get().blocks_done(running, 1);
    ASSERT_EQ(d.get().actions().size(), 2u);  // the next one's start and grant
    running = d.get().actions()[0].id;
    d.get().clear_actions();
  }
}

TEST(streams, ids_grow_in_the_order_of_submission) {
  driver d;
  const stream_id s = d.non_blocking();
  command_id last = d.submit(kernel_in(s));
  for (int i = 0; i < 5000; ++i) {
    const command_id next = d.submit(i % 3 == 0 ? record_in(s) : kernel_in(s));
    EXPECT_LT(last, next);
    last = next;
  }
}

TEST(streams, an_id_that_was_never_submitted_counts_as_done) {
  driver d;
  EXPECT_TRUE(d.done({}));
  EXPECT_TRUE(d.done({12345}));
}

TEST(streams, memory_of_complete_commands_is_used_again) {
  driver d;
  const stream_id s = d.non_blocking();
  d.submit(kernel_in(s));
  for (int i = 0; i < 5000; ++i) {
    d.submit(kernel_in(s));
  }
  const std::size_t before = d.get().memory_bytes();
  for (int i = 0; i < 50000; ++i) {
    d.submit(kernel_in(s));
  }
  EXPECT_LT(d.get().memory_bytes(), before + 4096);
}

// One command that stays pending keeps little alive behind it.
TEST(streams, a_command_pending_for_long_does_not_make_memory_grow) {
  driver d;
  const stream_id held = d.non_blocking();
  const stream_id s = d.non_blocking();
  const command_id gate = d.hold(kernel_in(held));
  for (int i = 0; i < 5000; ++i) {
    d.submit(kernel_in(s));
  }
  const std::size_t before = d.get().memory_bytes();
  for (int i = 0; i < 200000; ++i) {
    d.submit(kernel_in(s));
  }
  EXPECT_LT(d.get().memory_bytes(), before + 8192);
  d.open(gate);
  EXPECT_TRUE(d.done(gate));
}

TEST(legacy_stream, waits_for_blocking_streams_and_they_for_it) {
  driver d;
  const stream_id legacy = d.legacy();
  const stream_id a = d.blocking();
  const stream_id b = d.blocking();
  const command_id gate = d.hold(kernel_in(a));
  const command_id between = d.submit(kernel_in(legacy));
  const command_id after = d.submit(kernel_in(b));
  EXPECT_FALSE(d.done(between));
  EXPECT_FALSE(d.done(after));
  d.open(gate);
  EXPECT_TRUE(d.done(between));
  EXPECT_TRUE(d.done(after));
}

TEST(legacy_stream, blocking_streams_do_not_wait_for_each_other) {
  driver d;
  d.legacy();
  const stream_id a = d.blocking();
  const stream_id b = d.blocking();
  d.hold(kernel_in(a));
  EXPECT_TRUE(d.done(d.submit(kernel_in(b))));
}

TEST(legacy_stream, non_blocking_streams_take_no_part) {
  driver d;
  const stream_id legacy = d.legacy();
  const stream_id n = d.non_blocking();
  const command_id gate = d.hold(kernel_in(legacy));
  EXPECT_TRUE(d.done(d.submit(kernel_in(n))));
  d.hold(kernel_in(n));
  d.open(gate);
  EXPECT_TRUE(d.done(d.submit(kernel_in(legacy))));
}

TEST(legacy_stream, a_record_in_it_is_legacy_work) {
  driver d;
  const stream_id a = d.blocking();
  const stream_id b = d.blocking();
  const command_id gate = d.hold(kernel_in(a));
  d.submit(record_in(d.legacy()));
  const command_id after = d.submit(kernel_in(b));
  EXPECT_FALSE(d.done(after));
  d.open(gate);
  EXPECT_TRUE(d.done(after));
}

TEST(legacy_stream, a_wait_in_it_is_legacy_work) {
  driver d;
  const stream_id n = d.non_blocking();
  const stream_id b = d.blocking();
  const command_id gate = d.hold(kernel_in(n));
  const command_id record = d.submit(record_in(n));
  d.submit(wait_in(d.legacy(), record));
  const command_id after = d.submit(kernel_in(b));
  EXPECT_FALSE(d.done(after));
  d.open(gate);
  EXPECT_TRUE(d.done(after));
}

TEST(legacy_stream, a_wait_in_it_for_a_complete_record_is_still_legacy_work) {
  driver d;
  const stream_id a = d.blocking();
  const stream_id b = d.blocking();
  const command_id record = d.submit(record_in(b));
  ASSERT_TRUE(d.done(record));
  const command_id gate = d.hold(kernel_in(a));
  d.submit(wait_in(d.legacy(), record));
  const command_id after = d.submit(kernel_in(b));
  EXPECT_FALSE(d.done(after));
  d.open(gate);
  EXPECT_TRUE(d.done(after));
}

TEST(legacy_stream, each_device_has_its_own) {
  driver d(8, {}, 2);
  const stream_id here = d.legacy(0);
  const stream_id there = d.legacy(1);
  EXPECT_NE(here, there);
  EXPECT_EQ(here, d.legacy(0));
  d.hold(kernel_in(here));
  EXPECT_TRUE(d.done(d.submit(kernel_in(there))));
  EXPECT_TRUE(d.done(d.submit(kernel_in(d.blocking(1)))));
}

TEST(legacy_stream, work_of_a_destroyed_blocking_stream_still_holds_it) {
  driver d;
  const stream_id a = d.blocking();
  const command_id gate = d.hold(kernel_in(a));
  d.get().destroy_stream(a);
  const command_id after = d.submit(kernel_in(d.legacy()));
  EXPECT_FALSE(d.done(after));
  d.open(gate);
  EXPECT_TRUE(d.done(after));
}

TEST(events, a_wait_keeps_the_record_it_saw) {
  driver d;
  const stream_id n1 = d.non_blocking();
  const stream_id n2 = d.non_blocking();
  const command_id first = d.hold(kernel_in(n1));
  const command_id record = d.submit(record_in(n1));
  d.submit(wait_in(n2, record));
  const command_id second = d.hold(kernel_in(n1));
  d.submit(record_in(n1));  // recorded again: does not move the wait
  const command_id kernel = d.submit(kernel_in(n2));
  EXPECT_FALSE(d.done(kernel));
  d.open(first);
  EXPECT_TRUE(d.done(kernel));
  EXPECT_TRUE(d.running(second));
}

TEST(events, a_wait_for_nothing_recorded_takes_no_place) {
  driver d;
  const stream_id n = d.non_blocking();
  d.hold(kernel_in(n));
  const command_id wait = d.submit(wait_in(n, {}));
  EXPECT_TRUE(d.done(wait));
}

TEST(events, a_wait_for_a_complete_record_takes_no_place) {
  driver d;
  const stream_id legacy = d.legacy();
  const stream_id b = d.blocking();
  const command_id record = d.submit(record_in(b));
  d.hold(kernel_in(legacy));
  EXPECT_TRUE(d.done(d.submit(wait_in(b, record))));
  EXPECT_TRUE(d.get().idle(b));
}

TEST(events, a_wait_holds_only_later_work) {
  driver d;
  const stream_id n1 = d.non_blocking();
  const stream_id n2 = d.non_blocking();
  const command_id gate = d.hold(kernel_in(n1));
  const command_id record = d.submit(record_in(n1));
  const command_id before = d.submit(kernel_in(n2));
  d.submit(wait_in(n2, record));
  const command_id after = d.submit(kernel_in(n2));
  EXPECT_TRUE(d.done(before));
  EXPECT_FALSE(d.done(after));
  d.open(gate);
  EXPECT_TRUE(d.done(after));
}

TEST(events, a_wait_crosses_devices) {
  driver d(8, {}, 2);
  const stream_id here = d.non_blocking(0);
  const stream_id there = d.non_blocking(1);
  const command_id gate = d.hold(kernel_in(here));
  d.submit(wait_in(there, d.submit(record_in(here))));
  const command_id after = d.submit(kernel_in(there));
  EXPECT_FALSE(d.done(after));
  d.open(gate);
  EXPECT_TRUE(d.done(after));
}

TEST(events, a_stream_may_wait_for_its_own_record) {
  driver d;
  const stream_id n = d.non_blocking();
  const command_id gate = d.hold(kernel_in(n));
  const command_id record = d.submit(record_in(n));
  d.submit(wait_in(n, record));
  const command_id after = d.submit(kernel_in(n));
  d.open(gate);
  EXPECT_TRUE(d.done(after));
}

// A wait that names the same command twice must not count it once.
TEST(events, a_command_may_name_a_dependency_several_times) {
  driver d;
  const stream_id n1 = d.non_blocking();
  const stream_id n2 = d.non_blocking();
  const command_id gate = d.hold(kernel_in(n1));
  const std::array<command_id, 3> twice{gate, gate, gate};
  const command_id after = d.submit(kernel_in(n2), twice);
  EXPECT_FALSE(d.done(after));
  d.open(gate);
  EXPECT_TRUE(d.done(after));
}

// Ten thousand records in a chain complete in one step, without recursion.
TEST(events, a_long_chain_of_records_completes_at_once) {
  driver d;
  const stream_id n = d.non_blocking();
  const command_id gate = d.hold(kernel_in(n));
  command_id last;
  for (int i = 0; i < 1000000; ++i) {
    last = d.get().submit(record_in(n));
  }
  d.open(gate);
  EXPECT_TRUE(d.done(last));
}

TEST(host_functions, run_one_at_a_time_over_all_streams) {
  driver d(8, {}, 2);
  const command_id first = d.hold(host_function_in(d.non_blocking(0)));
  const command_id second = d.submit(host_function_in(d.non_blocking(0)));
  const command_id third = d.submit(host_function_in(d.non_blocking(1)));
  EXPECT_FALSE(d.done(second));
  EXPECT_FALSE(d.done(third));
  EXPECT_TRUE(d.done(d.submit(kernel_in(d.non_blocking(0)))));
  d.open(first);
  EXPECT_TRUE(d.done(second));
  EXPECT_TRUE(d.done(third));
}

TEST(graphs, nodes_wait_only_for_what_they_name) {
  driver d;
  const stream_id s = d.non_blocking();
  const command_id gate = d.hold(kernel_in(s));
  const std::array<command_id, 1> begin{d.submit(marker_in(s))};
  const command_id held = d.hold(node(kernel_in(s)), begin);
  const command_id free = d.submit(node(kernel_in(s)), begin);
  const std::array<command_id, 2> leaves{held, free};
  d.submit(marker_in(s), leaves);
  const command_id after = d.submit(kernel_in(s));
  EXPECT_FALSE(d.done(free));
  d.open(gate);
  EXPECT_TRUE(d.done(free));
  EXPECT_TRUE(d.running(held));
  EXPECT_FALSE(d.done(after));
  EXPECT_FALSE(d.get().idle(s));
  d.open(held);
  EXPECT_TRUE(d.done(after));
}

TEST(graphs, a_section_lasts_as_long_as_what_is_submitted_for_it) {
  driver d;
  const stream_id s = d.non_blocking();
  const std::array<command_id, 1> begin{d.submit(marker_in(s))};
  const std::array<command_id, 1> section{d.hold(node(section_in(s)), begin)};
  d.submit(marker_in(s), section);
  const command_id after = d.submit(kernel_in(s));
  EXPECT_TRUE(d.running(section[0]));
  // The stream may be destroyed meanwhile: commands of the section still find it.
  d.get().destroy_stream(s);
  const command_id inside = d.hold(node(kernel_in(s)));
  EXPECT_TRUE(d.running(inside));
  d.open(inside);
  EXPECT_TRUE(d.done(inside));
  EXPECT_FALSE(d.done(after));
  d.open(section[0]);
  EXPECT_TRUE(d.done(after));
}

}  // namespace
}  // namespace sb::sched
