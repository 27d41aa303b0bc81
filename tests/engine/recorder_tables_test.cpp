// Tables that a recorder looks into for every operation.
#include "engine/recorder_tables.hpp"

#include <gtest/gtest.h>

#include <memory>
#include <vector>

#include "engine/told_operations.hpp"

namespace sb::engine {
namespace {

TEST(recorder_tables, an_id_that_outlives_many_others_is_found_and_takes_no_memory_for_them) {
  id_ring<int> ring;
  const std::size_t places = ring.places();
  int old = 0, young = 0;
  ring.add(5, &old);
  for (std::uint64_t id = 6; id < 100'000; ++id) {
    ring.add(id, &young);
    ASSERT_EQ(ring.find(5), &old);
    ASSERT_EQ(ring.find(id), &young);
    ring.remove(id);
    ASSERT_EQ(ring.find(id), nullptr);
  }
  EXPECT_EQ(ring.places(), places);
  ring.remove(5);
  EXPECT_EQ(ring.find(5), nullptr);
}

TEST(recorder_tables, all_ids_that_are_pending_are_found) {
  constexpr std::uint64_t count = 10'000;
  std::vector<int> values(count);
  id_ring<int> ring;
  for (std::uint64_t id = 0; id < count; ++id) ring.add(id, &values[id]);
  for (std::uint64_t id = 0; id < count; ++id) ASSERT_EQ(ring.find(id), &values[id]);
  EXPECT_GE(ring.places(), count);
  for (std::uint64_t id = 0; id < count; ++id) ring.remove(id);
  for (std::uint64_t id = 0; id < count; ++id) ASSERT_EQ(ring.find(id), nullptr);
}

// Records of one event in several streams differ in their stream alone.
TEST(recorder_tables, operations_that_take_turns_stay_known) {
  const auto told = std::make_unique<told_operations>();
  const auto event = std::make_shared<event_state>();
  event->traced_as = 3;
  constexpr std::uint32_t streams = 4;
  const auto signs = [&](std::uint32_t stream) {
    submission n;
    n.as.stream = stream_id{stream};
    n.what = record_operation{event};
    return operation_signs(n, 17);
  };
  trace::number next = 0;
  for (int round = 0; round < 100; ++round)
    for (std::uint32_t s = 0; s < streams; ++s)
      if (told->find(signs(s)) == trace::none) told->keep(signs(s), next++);
  EXPECT_LT(next, 50u);
  for (std::uint32_t s = 0; s < streams; ++s) EXPECT_NE(told->find(signs(s)), trace::none);
  // One that is made in its place is another event.
  for (const std::uint32_t number : {4u, event_state::no_number}) {
    event->traced_as = number;
    EXPECT_EQ(told->find(signs(0)), trace::none);
  }
}

TEST(recorder_tables, waits_are_alike_whose_records_are_as_far_before_them) {
  submission n;
  n.what = wait_operation{command_id{9}};
  const auto told = std::make_unique<told_operations>();
  told->keep(operation_signs(n, 17, 3), 5);
  n.what = wait_operation{command_id{12}};
  EXPECT_EQ(told->find(operation_signs(n, 17, 3)), 5u);
  EXPECT_EQ(told->find(operation_signs(n, 17, 4)), trace::none);
  EXPECT_TRUE(operation_signs(n, 17).empty());
}

TEST(recorder_tables, the_number_of_a_record_is_that_of_its_command_or_unknown) {
  const auto numbers = std::make_unique<record_numbers>();
  for (const std::uint64_t command : {0u, 1u, 5u, 1024u})
    EXPECT_EQ(numbers->find(command), record_numbers::unknown);
  numbers->keep(0, 7);
  numbers->keep(5, 8);
  EXPECT_EQ(numbers->find(0), 7u);
  EXPECT_EQ(numbers->find(5), 8u);
  numbers->keep(5 + 1024, 9);  // the same place
  EXPECT_EQ(numbers->find(5), record_numbers::unknown);
  EXPECT_EQ(numbers->find(5 + 1024), 9u);
}

}  // namespace
}  // namespace sb::engine
