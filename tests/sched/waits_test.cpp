// What the host asks and waits for.
#include <gtest/gtest.h>

#include "commands.hpp"
#include "driver.hpp"

namespace sb::sched {
namespace {

wait_target for_stream(stream_id s) {
  wait_target t;
  t.scope = wait_scope::stream;
  t.stream = s;
  return t;
}

wait_target for_command(command_id c) {
  wait_target t;
  t.scope = wait_scope::command;
  t.command = c;
  return t;
}

wait_target for_device(std::uint32_t device, wait_scope scope = wait_scope::device) {
  wait_target t;
  t.scope = scope;
  t.device = {device};
  return t;
}

TEST(queries, a_query_says_busy_while_a_kernel_runs) {
  driver d;
  const stream_id s = d.non_blocking();
  EXPECT_TRUE(d.get().idle(s));
  const command_id gate = d.hold(kernel_in(s));
  EXPECT_FALSE(d.get().idle(s));
  EXPECT_FALSE(d.get().idle(device_id{0}));
  d.open(gate);
  EXPECT_TRUE(d.get().idle(s));
  EXPECT_TRUE(d.get().idle(device_id{0}));
}

TEST(queries, a_record_alone_does_not_make_a_stream_busy) {
  driver d;
  d.hold(kernel_in(d.legacy()));
  const stream_id b = d.blocking();
  const command_id record = d.submit(record_in(b));
  EXPECT_FALSE(d.done(record));
  EXPECT_TRUE(d.get().idle(b));
}

TEST(queries, the_legacy_stream_covers_blocking_streams_and_not_the_other_way_round) {
  driver d;
  const stream_id legacy = d.legacy();
  const stream_id b = d.blocking();
  const stream_id n = d.non_blocking();
  const command_id gate = d.hold(kernel_in(b));
  EXPECT_FALSE(d.get().idle(legacy));
  EXPECT_TRUE(d.get().idle(n));
  d.open(gate);
  EXPECT_TRUE(d.get().idle(legacy));
  const command_id held = d.hold(kernel_in(legacy));
  EXPECT_FALSE(d.get().idle(legacy));
  EXPECT_TRUE(d.get().idle(b));
  d.open(held);
  d.hold(kernel_in(n));
  EXPECT_TRUE(d.get().idle(legacy));
}

TEST(waits, a_wait_for_nothing_is_released_at_once) {
  driver d;
  const stream_id s = d.non_blocking();
  EXPECT_TRUE(d.released(d.wait(for_stream(s))));
  EXPECT_TRUE(d.released(d.wait(for_device(0))));
  EXPECT_TRUE(d.released(d.wait(for_command({}))));
  EXPECT_TRUE(d.released(d.wait(for_device(0, wait_scope::blocking_streams))));
}

TEST(waits, only_work_submitted_before_the_wait_counts) {
  driver d;
  const stream_id s = d.non_blocking();
  const command_id first = d.hold(kernel_in(s));
  const waiter_id stream = d.wait(for_stream(s));
  const waiter_id device = d.wait(for_device(0));
  d.hold(kernel_in(s));
  d.hold(kernel_in(d.non_blocking()));
  EXPECT_FALSE(d.released(stream));
  EXPECT_FALSE(d.released(device));
  d.open(first);
  EXPECT_TRUE(d.released(stream));
  EXPECT_TRUE(d.released(device));
}

TEST(waits, a_device_is_waited_for_in_all_its_streams) {
  driver d(8, {}, 2);
  const command_id a = d.hold(kernel_in(d.non_blocking()));
  const command_id b = d.hold(kernel_in(d.blocking()));
  const command_id c = d.hold(kernel_in(d.blocking(1)));
  const waiter_id w = d.wait(for_device(0));
  d.open(c);
  d.open(a);
  EXPECT_FALSE(d.released(w));
  d.open(b);
  EXPECT_TRUE(d.released(w));
}

TEST(waits, the_legacy_stream_is_waited_for_with_all_blocking_streams) {
  driver d;
  const stream_id legacy = d.legacy();
  const command_id a = d.hold(kernel_in(d.blocking()));
  const command_id b = d.hold(kernel_in(d.blocking()));
  d.hold(kernel_in(d.non_blocking()));
  const waiter_id before = d.wait(for_stream(legacy));
  d.submit(kernel_in(legacy));
  const command_id c = d.hold(kernel_in(d.blocking()));
  const waiter_id after = d.wait(for_device(0, wait_scope::blocking_streams));
  d.open(a);
  EXPECT_FALSE(d.released(before));
  d.open(b);
  EXPECT_TRUE(d.released(before));
  EXPECT_FALSE(d.released(after));
  d.open(c);
  EXPECT_TRUE(d.released(after));
}

TEST(waits, a_blocking_stream_that_is_idle_does_not_wait_for_legacy_work) {
  driver d;
  const stream_id b = d.blocking();
  d.hold(kernel_in(d.legacy()));
  EXPECT_TRUE(d.released(d.wait(for_stream(b))));
}

TEST(waits, a_wait_for_a_record_is_released_with_it) {
  driver d;
  const stream_id s = d.non_blocking();
  const command_id gate = d.hold(kernel_in(s));
  const command_id record = d.submit(record_in(s));
  const waiter_id first = d.wait(for_command(record));
  const waiter_id second = d.wait(for_command(record));
  EXPECT_FALSE(d.released(first));
  d.open(gate);
  EXPECT_TRUE(d.released(first));
  EXPECT_TRUE(d.released(second));
}

// pending.tsv alone.*, turns.*: a kernel that runs has left the queue.
TEST(waits, a_queue_has_1021_entries) {
  driver d;
  const auto compute = queue_class::compute;
  const auto out = queue_class::device_to_host;
  const stream_id s = d.non_blocking();
  const command_id gate = d.hold(kernel_in(s));
  EXPECT_EQ(d.get().pending_entries(s, compute), 0U);
  d.submit(kernel_in(s));
  for (int i = 0; i < 510; ++i) {
    d.submit(kernel_in(s));
    d.submit(record_in(s));
    d.submit(fill_in(s));
    d.submit(copy_in(s, copy_direction::device_to_host));
  }
  EXPECT_EQ(d.get().pending_entries(s, compute), 1021U);
  EXPECT_EQ(d.get().pending_entries(s, out), 510U);
  const waiter_id w = d.get().wait_for_room(s, compute, 1021);
  const waiter_id other_queue = d.get().wait_for_room(s, out, 1021);
  const waiter_id other_stream = d.get().wait_for_room(d.non_blocking(), compute, 1021);
  d.run();
  EXPECT_FALSE(d.released(w));
  EXPECT_TRUE(d.released(other_queue));
  EXPECT_TRUE(d.released(other_stream));
  d.open(gate);
  EXPECT_TRUE(d.released(w));
  EXPECT_EQ(d.get().pending_entries(s, compute), 0U);
}

// pending.tsv alone.graph.*
TEST(waits, a_graph_launch_takes_one_entry_whatever_is_in_it) {
  driver d;
  const stream_id s = d.non_blocking();
  const command_id gate = d.hold(kernel_in(s));
  const command_id head = d.submit(of_kind_in(s, command_kind::graph_head));
  const command_id after[] = {head};
  d.submit(node(kernel_in(s)), after);
  d.submit(node(kernel_in(s)), after);
  EXPECT_EQ(d.get().pending_entries(s, queue_class::compute), 1U);
  const waiter_id w = d.get().wait_for_room(s, queue_class::compute, 1);
  d.run();
  EXPECT_FALSE(d.released(w));
  d.open(gate);
  EXPECT_TRUE(d.released(w));
  EXPECT_EQ(d.get().pending_entries(s, queue_class::compute), 0U);
}

// pending_conn1.tsv streams.*
TEST(waits, streams_of_one_connection_have_their_entries_together) {
  driver d(1);
  const stream_id a = d.non_blocking();
  const stream_id b = d.non_blocking();
  const command_id gate = d.hold(kernel_in(a));
  d.submit(kernel_in(a));
  d.submit(kernel_in(b));
  EXPECT_EQ(d.get().pending_entries(a, queue_class::compute), 2U);
  EXPECT_EQ(d.get().pending_entries(b, queue_class::compute), 2U);
  const waiter_id w = d.get().wait_for_room(b, queue_class::compute, 2);
  d.run();
  EXPECT_FALSE(d.released(w));
  d.open(gate);
  EXPECT_TRUE(d.released(w));
}

TEST(destroyed_streams, work_still_runs_and_the_id_stays_taken_until_then) {
  driver d;
  const stream_id s = d.non_blocking();
  const command_id gate = d.hold(kernel_in(s));
  const command_id after = d.submit(kernel_in(s));
  d.get().destroy_stream(s);
  const stream_id other = d.non_blocking();
  EXPECT_NE(other, s);
  const waiter_id w = d.wait(for_device(0));
  EXPECT_FALSE(d.released(w));
  d.open(gate);
  EXPECT_TRUE(d.done(after));
  EXPECT_TRUE(d.released(w));
  EXPECT_EQ(d.non_blocking(), s);
}

}  // namespace
}  // namespace sb::sched
