// A lane does its nodes one at a time, in their order, by its own thread or by one that waits.
#include "engine/lane.hpp"

#include <gtest/gtest.h>

#include <array>
#include <atomic>
#include <thread>
#include <vector>

#include "engine/node.hpp"

namespace sb::engine {
namespace {

constexpr auto anything = [](const node&) { return true; };

struct watched_lane {
  std::vector<const node*> done;  // by one at a time
  std::atomic<int> inside{0}, helped{0}, count{0};
  std::thread::id self = std::this_thread::get_id();
  lane of{"test", [this](node& n) {
            EXPECT_EQ(++inside, 1);
            done.push_back(&n);
            if (std::this_thread::get_id() == self) ++helped;
            --inside;
            ++count;
          }};
};

// Without end if the thread that waits is never the first.
TEST(lane, a_thread_that_waits_does_what_nobody_has_begun_with) {
  watched_lane l;
  std::array<node, 3> nodes;
  int pushed = 0;
  while (l.helped == 0) {
    for (node& n : nodes) l.of.push(n);
    pushed += nodes.size();
    while (l.count != pushed)
      if (!l.of.waits() || !l.of.help(anything)) std::this_thread::yield();
  }
  for (std::size_t i = 0; i < l.done.size(); ++i)
    ASSERT_EQ(l.done[i], &nodes[i % nodes.size()]) << i;
  EXPECT_FALSE(l.of.waits());
}

TEST(lane, it_does_not_do_what_it_does_not_want) {
  watched_lane l;
  std::array<node, 2> nodes;
  for (int round = 1; round <= 1000; ++round) {
    l.of.push(nodes[0]);
    l.of.push(nodes[1]);
    while (l.count != 2 * round) EXPECT_FALSE(l.of.help([](const node&) { return false; }));
  }
  EXPECT_EQ(l.helped, 0);
}

// Two of one engine would be two transfers at a time.
TEST(lane, nobody_begins_while_another_is_with_a_node) {
  std::atomic<bool> begun{false}, open{false};
  std::atomic<int> count{0};
  lane l{"test", [&](node&) {
           begun = true;
           begun.notify_all();
           open.wait(false);
           ++count;
         }};
  std::array<node, 2> nodes;
  l.push(nodes[0]);
  l.push(nodes[1]);
  begun.wait(false);
  EXPECT_FALSE(l.waits());
  EXPECT_FALSE(l.help(anything));
  open = true;
  open.notify_all();
  while (count != 2) std::this_thread::yield();
}

TEST(lane, who_does_nothing_more_rests_once_behind_a_row) {
  constexpr int rows = 1000;
  std::atomic<int> count{0}, rests{0};
  std::array<node, 3> nodes;
  lane* self = nullptr;
  lane l{"test",
         [&](node& n) {  // as the end of an operation lets the next one begin
           ++count;
           if (&n != &nodes.back()) self->push(*(&n + 1));
         },
         [&] { EXPECT_EQ(count, 3 * ++rests); }};
  self = &l;
  for (int row = 1; row <= rows; ++row) {
    l.push(nodes.front());
    while (rests != row) std::this_thread::yield();
  }
}

// Without end if the thread that waits is never the first.
TEST(lane, who_helps_rests_behind_each) {
  std::atomic<int> count{0}, helped{0}, rests{0};
  const std::thread::id self = std::this_thread::get_id();
  lane l{"test",
         [&](node&) {
           if (std::this_thread::get_id() == self) ++helped;
           ++count;
         },
         [&] {
           if (std::this_thread::get_id() == self) ++rests;
         }};
  std::array<node, 3> nodes;
  for (int pushed = 0; helped == 0;) {
    for (node& n : nodes) l.push(n);
    pushed += nodes.size();
    while (count != pushed)
      if (!l.help(anything)) std::this_thread::yield();
  }
  EXPECT_EQ(rests, helped);
}

// Without end if the thread that helps is never the first.
TEST(lane, it_is_not_over_while_somebody_helps) {
  std::atomic<bool> helps{false}, open{false};
  std::atomic<int> count{0};
  std::atomic<std::thread::id> other;
  lane l{"test", [&](node&) {
           if (std::this_thread::get_id() == other.load()) {
             helps = true;
             open.wait(false);
           }
           ++count;
         }};
  std::thread helper([&] {
    other = std::this_thread::get_id();
    while (!helps) l.help(anything);
  });
  node n;
  for (int pushed = 0; !helps; ++pushed) {
    l.push(n);
    while (!helps && count != pushed + 1) std::this_thread::yield();
  }
  EXPECT_FALSE(l.stop(std::chrono::milliseconds(1)));
  open = true;
  open.notify_all();
  helper.join();
}

}  // namespace
}  // namespace sb::engine
