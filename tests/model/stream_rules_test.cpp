#include "model/stream_rules.hpp"

#include <gtest/gtest.h>

namespace sb {
namespace {

command copy_of(copy_direction direction, std::uint64_t bytes) {
  command c;
  c.kind = command_kind::copy;
  c.direction = direction;
  c.bytes = bytes;
  return c;
}

command of_kind(command_kind kind) {
  command c;
  c.kind = kind;
  return c;
}

TEST(stream_rules, only_blocking_streams_synchronise_with_the_legacy_stream) {
  EXPECT_TRUE(synchronises_with_legacy(stream_kind::blocking));
  EXPECT_FALSE(synchronises_with_legacy(stream_kind::non_blocking));
}

TEST(stream_rules, a_record_does_not_make_a_stream_busy_but_a_wait_does) {
  EXPECT_FALSE(makes_stream_busy(command_kind::event_record));
  EXPECT_TRUE(makes_stream_busy(command_kind::event_wait));
  EXPECT_TRUE(makes_stream_busy(command_kind::kernel));
}

TEST(stream_rules, small_copies_to_the_device_travel_with_the_kernels) {
  EXPECT_EQ(queue_of(of_kind(command_kind::kernel)), queue_class::compute);
  EXPECT_EQ(queue_of(of_kind(command_kind::fill)), queue_class::compute);
  EXPECT_EQ(queue_of(copy_of(copy_direction::host_to_device, 4)), queue_class::compute);
  EXPECT_EQ(queue_of(copy_of(copy_direction::host_to_device, 16384)), queue_class::compute);
  EXPECT_EQ(queue_of(copy_of(copy_direction::host_to_device, 32768)), queue_class::host_to_device);
  EXPECT_EQ(queue_of(copy_of(copy_direction::device_to_host, 4)), queue_class::device_to_host);
  EXPECT_EQ(queue_of(copy_of(copy_direction::device_to_device, 8 << 20)), queue_class::compute);
}

TEST(stream_rules, records_waits_and_markers_take_no_place_in_a_queue) {
  for (const command_kind kind :
       {command_kind::event_record, command_kind::event_wait, command_kind::marker}) {
    EXPECT_EQ(queue_of(of_kind(kind)), queue_class::none);
    EXPECT_TRUE(is_instant(kind));
  }
}

TEST(stream_rules, a_host_function_takes_a_place_only_if_it_has_to_wait) {
  EXPECT_EQ(host_function_queue(queue_class::device_to_host, true), queue_class::device_to_host);
  EXPECT_EQ(host_function_queue(queue_class::device_to_host, false), queue_class::none);
}

TEST(stream_rules, there_are_one_to_thirty_two_connections) {
  EXPECT_EQ(usable_connections(0), 1U);
  EXPECT_EQ(usable_connections(1), 1U);
  EXPECT_EQ(usable_connections(8), 8U);
  EXPECT_EQ(usable_connections(32), 32U);
  EXPECT_EQ(usable_connections(33), 32U);
}

TEST(stream_rules, copies_have_four_queues_for_each_direction_unless_connections_were_set) {
  for (const queue_class copies : {queue_class::host_to_device, queue_class::device_to_host}) {
    EXPECT_EQ(queues_of(copies, 1), 1U);
    EXPECT_EQ(queues_of(copies, 2), 2U);
    EXPECT_EQ(queues_of(copies, 8), 4U);
    EXPECT_EQ(queues_of(copies, 32), 32U);
  }
  EXPECT_EQ(queues_of(queue_class::compute, 1), 1U);
  EXPECT_EQ(queues_of(queue_class::compute, 32), 32U);
}

}  // namespace
}  // namespace sb
