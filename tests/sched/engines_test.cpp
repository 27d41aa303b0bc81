// Copy engines: what they take next.
#include <gtest/gtest.h>

#include <algorithm>
#include <string>
#include <utility>
#include <vector>

#include "commands.hpp"
#include "driver.hpp"

namespace sb::sched {
namespace {

TEST(copy_engines, one_transfer_at_a_time_in_each_direction) {
  driver d;
  const auto in = [&] { return d.non_blocking(); };
  const command_id up = d.hold(upload_in(in(), 1 << 20));
  const command_id up_next = d.submit(upload_in(in(), 1 << 20));
  const command_id down = d.hold(download_in(in()));
  const command_id down_next = d.submit(download_in(in()));
  const command_id across = d.hold(copy_in(in(), copy_direction::device_to_device));
  const command_id peer = d.submit(copy_in(in(), copy_direction::peer));
  EXPECT_TRUE(d.running(up) && d.running(down) && d.running(across));
  EXPECT_FALSE(d.done(up_next) || d.done(down_next) || d.done(peer));
  d.open(up);
  EXPECT_TRUE(d.done(up_next));
  EXPECT_FALSE(d.done(down_next));
  d.open(down);
  EXPECT_TRUE(d.done(down_next));
  d.open(across);
  EXPECT_TRUE(d.done(peer));
}

TEST(copy_engines, each_device_has_its_own) {
  driver d(8, {}, 2);
  d.hold(upload_in(d.non_blocking(0), 1 << 20));
  EXPECT_TRUE(d.done(d.submit(upload_in(d.non_blocking(1), 1 << 20))));
}

// In which order an engine takes `each` copies of every stream, submitted in turn: the streams'
// numbers.
std::string copies_in_turn(std::uint32_t connections, std::size_t streams, int each,
                           copy_direction direction) {
  driver d(connections);
  std::vector<stream_id> all;
  for (std::size_t i = 0; i < streams; ++i) all.push_back(d.non_blocking());
  std::vector<std::pair<command_id, std::size_t>> pending;
  for (int i = 0; i < each; ++i) {
    for (std::size_t s = 0; s < streams; ++s) {
      pending.emplace_back(d.hold(copy_in(all[s], direction, 1 << 20)), s);
    }
  }
  std::string order;
  while (!pending.empty()) {
    const auto next = std::find_if(pending.begin(), pending.end(),
                                   [&](const auto& one) { return d.running(one.first); });
    if (next == pending.end()) return order + " stuck";
    order += std::to_string(next->second);
    const command_id id = next->first;
    pending.erase(next);
    d.open(id);
  }
  return order;
}

constexpr copy_direction both_ways[] = {copy_direction::host_to_device,
                                        copy_direction::device_to_host};

// timing/h200/orders.tsv in_turn.*
TEST(copy_engines, a_queue_is_worked_off_before_the_next) {
  for (const copy_direction way : both_ways) {
    EXPECT_EQ(copies_in_turn(8, 2, 4, way), "00001111");
    EXPECT_EQ(copies_in_turn(8, 4, 3, way), "000111222333");
  }
}

// As an H200 takes them, by what is in memory when.
TEST(copy_engines, a_stream_whose_queue_another_took_goes_to_the_next) {
  for (const copy_direction way : both_ways) {
    EXPECT_EQ(copies_in_turn(8, 5, 4, way), "04104210432104321323");
    EXPECT_EQ(copies_in_turn(8, 6, 4, way), "041520431520431520431523");
    EXPECT_EQ(copies_in_turn(8, 8, 2, way), "0404151526263737");
  }
}

TEST(copy_engines, connections_that_were_set_are_queues_of_copies_too) {
  for (const copy_direction way : both_ways) {
    EXPECT_EQ(copies_in_turn(1, 3, 3, way), "012012012");
    EXPECT_EQ(copies_in_turn(2, 3, 3, way), "021021021");
    EXPECT_EQ(copies_in_turn(2, 4, 2, way), "02021313");
    EXPECT_EQ(copies_in_turn(32, 6, 2, way), "001122334455");
  }
}

TEST(copy_engines, a_queue_that_has_nothing_ready_loses_the_engine) {
  driver d;
  const stream_id a = d.non_blocking(), b = d.non_blocking();
  const command_id first = d.hold(upload_in(a, 1 << 20));
  const command_id between = d.hold(kernel_in(a));
  const command_id after = d.hold(upload_in(a, 1 << 20));
  const command_id other = d.hold(upload_in(b, 1 << 20)), last = d.hold(upload_in(b, 1 << 20));
  d.open(first);
  EXPECT_TRUE(d.running(between) && d.running(other));
  d.open(between);
  EXPECT_FALSE(d.running(after));
  d.open(other);
  EXPECT_TRUE(d.running(last));
  d.open(last);
  EXPECT_TRUE(d.running(after));
}

// It would wait for as long as the queues get more.
TEST(copy_engines, a_copy_of_a_graph_goes_before_what_was_submitted_later) {
  driver d;
  const stream_id a = d.non_blocking();
  const command_id first = d.hold(upload_in(a, 1 << 20));
  const command_id of_graph = d.hold(node(upload_in(d.non_blocking(), 1 << 20)));
  const command_id later = d.hold(upload_in(a, 1 << 20));
  d.open(first);
  EXPECT_TRUE(d.running(of_graph));
  d.open(of_graph);
  EXPECT_TRUE(d.running(later));
}

TEST(copy_engines, fills_and_host_copies_wait_for_no_engine) {
  driver d;
  for (const copy_direction direction :
       {copy_direction::host_to_device, copy_direction::device_to_host,
        copy_direction::device_to_device}) {
    d.hold(copy_in(d.non_blocking(), direction, 1 << 20));
  }
  EXPECT_TRUE(d.done(d.submit(fill_in(d.non_blocking()))));
  EXPECT_TRUE(d.done(d.submit(copy_in(d.non_blocking(), copy_direction::host_to_host))));
}

}  // namespace
}  // namespace sb::sched
