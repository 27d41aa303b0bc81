// Turns of host threads in modelled time.
#include "engine/host_clocks.hpp"

#include <gtest/gtest.h>

#include <atomic>
#include <functional>
#include <string>
#include <thread>
#include <utility>
#include <vector>

namespace sb::engine {
namespace {

// A device whose only events are what a test puts there.
struct events final : host_clocks::events {
  std::vector<std::pair<std::uint64_t, std::function<void()>>> list;
  std::atomic<int> hangs{0};
  std::atomic<int> host_turns{0};
  std::function<void()> on_hang;

  std::uint64_t next_ns() override {
    return list.empty() ? host_clocks::never : list.front().first;
  }
  void step() override {
    const auto next = list.front();
    list.erase(list.begin());
    next.second();
  }
  bool idle() const override { return list.empty(); }
  bool hung() override {
    ++hangs;
    if (!on_hang) return false;
    on_hang();
    return true;
  }
  void host_ran(std::uint64_t) override { ++host_turns; }
  std::uint32_t calling_thread() override { return name; }
  static thread_local std::uint32_t name;
};

thread_local std::uint32_t events::name = host_clocks::nobody;

struct host_clocks_turns : testing::Test {
  events device;
  host_clocks clocks{device};
  std::string order;  // written in turns: no lock

  // Threads that begin at these times; each writes its letter, then lets `step` pass, `times`
  // times.
  void run(const std::vector<std::uint64_t>& begins, std::uint64_t step, int times) {
    std::vector<host_clocks::thread*> announced;
    for (const std::uint64_t ns : begins) announced.push_back(clocks.announce(ns));
    std::vector<std::thread> threads;
    for (std::size_t i = 0; i < begins.size(); ++i) {
      threads.emplace_back([&, i] {
        clocks.adopt(announced[i]);
        for (int k = 0; k < times; ++k) {
          clocks.turn(k == 0 ? 0 : step);
          order += static_cast<char>('a' + i);
        }
        clocks.leave();
      });
    }
    for (std::thread& t : threads) t.join();
  }
};

TEST_F(host_clocks_turns, the_least_time_goes_first_and_then_the_first_made) {
  run({20, 0, 10}, 100, 2);
  EXPECT_EQ(order, "bcabca");
  EXPECT_TRUE(clocks.deterministic());
}

TEST_F(host_clocks_turns, equal_times_go_in_the_order_of_their_making) {
  run({5, 5, 5}, 7, 3);
  EXPECT_EQ(order, "abcabcabc");
}

TEST_F(host_clocks_turns, events_before_a_turn_happen_before_it) {
  device.list = {
      {5, [&] { order += '5'; }}, {10, [&] { order += 'X'; }}, {30, [&] { order += 'Y'; }}};
  run({10, 20}, 15, 2);
  EXPECT_EQ(order, "5XabaYb");
}

TEST_F(host_clocks_turns, a_thread_waits_until_it_is_woken_at_the_wakers_time) {
  int key = 0;
  auto* waiter = clocks.announce(0);
  auto* waker = clocks.announce(0);
  std::uint64_t woken_at = 0;
  std::thread first([&] {
    clocks.adopt(waiter);
    clocks.turn();
    EXPECT_TRUE(clocks.wait_on(&key));
    woken_at = clocks.now();
    clocks.leave();
  });
  std::thread second([&] {
    clocks.adopt(waker);
    clocks.turn();
    clocks.turn(500);
    EXPECT_EQ(clocks.wake(&key, 10, clocks.now()), 1u);
    clocks.leave();
  });
  first.join();
  second.join();
  EXPECT_EQ(woken_at, 500u);
}

TEST_F(host_clocks_turns, a_thread_knows_who_woke_it_and_who_made_it) {
  int key = 0;
  auto* waiter = clocks.announce(0);
  std::thread first([&] {
    clocks.adopt(waiter);
    clocks.turn();
    EXPECT_EQ(clocks.origin_of(waiter).maker, host_clocks::nobody);
    events::name = 7;
    auto* made = clocks.announce_own();
    std::thread second([&, made] {
      events::name = 8;
      clocks.adopt(made);
      clocks.turn();
      EXPECT_EQ(clocks.origin_of(made).maker, 7u);
      clocks.turn(100);
      clocks.wake_by_thread(&key, 1);
      clocks.turn(100);
      clocks.wake(&key, 1, 200);  // by the device
      clocks.turn(100);
      clocks.leave();
    });
    EXPECT_TRUE(clocks.wait_on(&key));
    EXPECT_EQ(clocks.woken_by(), 8u);
    EXPECT_TRUE(clocks.wait_on(&key));
    EXPECT_EQ(clocks.woken_by(), host_clocks::nobody);
    EXPECT_TRUE(clocks.wait_on(made));  // its end
    EXPECT_EQ(clocks.woken_by(), 8u);
    EXPECT_EQ(clocks.now(), 300u);
    second.join();
    clocks.leave();
  });
  first.join();
}

// What others do during the last look counts, and what wakes more than what does not.
TEST_F(host_clocks_turns, looks_end_by_what_another_thread_does_during_the_last_one) {
  constexpr static streambed_awaited lock{streambed_awaits_lock, nullptr};
  int key = 0, other_key = 0;
  auto* looks = clocks.announce(0);
  auto* wakes = clocks.announce(0);
  auto* runs = clocks.announce(0);
  std::vector<host_clocks::looks> seen;
  std::thread first([&] {
    clocks.adopt(looks);
    clocks.turn();
    const auto look = [&](int times, std::uint64_t ns) {
      for (int i = 0; i < times; ++i) clocks.yield(ns);
      seen.push_back(clocks.take_looks());
      clocks.turn(10);
    };
    look(1, 90);  // until 90: one runs
    look(2, 45);  // until 190: it runs again
    look(1, 90);  // until 290: one wakes, one runs
    clocks.looked(&key, &lock);
    look(1, 90);   // until 390: one lets go what it looked for, one wakes
    look(2, 500);  // nobody is there any more
    clocks.leave();
  });
  std::thread second([&] {
    clocks.adopt(wakes);
    clocks.turn();
    clocks.turn(250);
    clocks.wake_by_thread(&other_key, 1);
    clocks.turn(60);
    clocks.wake_by_thread(&key, 1);
    clocks.turn(10);
    clocks.leave();
  });
  std::thread third([&] {
    clocks.adopt(runs);
    clocks.turn();
    clocks.turn(50);
    clocks.turn(100);
    clocks.turn(25);
    clocks.turn(100);
    clocks.turn(75);
    clocks.wake_by_thread(&other_key, 1);
    clocks.turn(10);
    clocks.leave();
  });
  for (std::thread* t : {&first, &second, &third}) t->join();
  ASSERT_EQ(seen.size(), 5u);
  EXPECT_EQ(seen[0].ended_by.self, nullptr);
  EXPECT_EQ(seen[1].ended_by.self, runs);
  EXPECT_EQ(std::pair(seen[1].begin_ns, seen[1].end_ns), std::pair(100ul, 190ul));
  EXPECT_EQ(seen[1].count, 2u);
  EXPECT_EQ(seen[2].ended_by.self, wakes);
  EXPECT_EQ(seen[2].what, nullptr);
  EXPECT_EQ(seen[3].ended_by.self, wakes);
  EXPECT_EQ(seen[3].what, &lock);
  EXPECT_EQ(seen[4].ended_by.self, nullptr);
}

// A sleep may be code of the thread's own: only further sleeps show that it was a look.
TEST_F(host_clocks_turns, what_comes_behind_a_sleep_is_no_further_look_unless_it_is_one_like_it) {
  constexpr static streambed_awaited memory{streambed_awaits_memory, nullptr};
  int key = 0;
  auto* thread = clocks.announce(0);
  std::thread only([&] {
    clocks.adopt(thread);
    clocks.turn();
    const auto goes_on_with_a_wait = [&] {
      clocks.prepare(&key, host_clocks::never, &memory);
      const bool it_does = clocks.waits_on();
      clocks.cancel();
      return it_does;
    };
    clocks.yield(10);
    EXPECT_TRUE(clocks.looks_on());
    EXPECT_TRUE(goes_on_with_a_wait());
    EXPECT_FALSE(clocks.sleeps_on(100));
    clocks.take_looks();
    clocks.sleep(100);
    EXPECT_FALSE(clocks.looks_on());
    EXPECT_FALSE(goes_on_with_a_wait());
    EXPECT_TRUE(clocks.sleeps_on(100));
    clocks.take_looks();
    clocks.yield(10);
    EXPECT_TRUE(goes_on_with_a_wait());
    EXPECT_EQ(clocks.take_looks().begin_ns, 110U);
    clocks.leave();
  });
  only.join();
}

TEST_F(host_clocks_turns, a_wait_with_a_time_ends_then) {
  int key = 0;
  auto* waiter = clocks.announce(100);
  std::thread only([&] {
    clocks.adopt(waiter);
    clocks.turn();
    EXPECT_FALSE(clocks.wait_on(&key, 700));
    EXPECT_EQ(clocks.now(), 700u);
    clocks.leave();
  });
  only.join();
}

// One that waits for a lock is not; its next wait for a condition is, at once.
TEST_F(host_clocks_turns, a_wait_that_may_be_interrupted_ends_at_the_others_time) {
  constexpr static streambed_awaited lock{streambed_awaits_lock, nullptr};
  constexpr static streambed_awaited condition{streambed_awaits_condition, nullptr, true};
  int key = 0;
  auto* waiter = clocks.announce(0);
  auto* other = clocks.announce(10);
  std::thread waits([&] {
    clocks.adopt(waiter);
    clocks.turn();
    EXPECT_FALSE(clocks.wait_on(&key, 5000, &condition));
    EXPECT_TRUE(clocks.interrupted());
    EXPECT_EQ(clocks.now(), 10u);
    EXPECT_FALSE(clocks.wait_on(&key, 900, &lock));
    EXPECT_FALSE(clocks.interrupted());
    EXPECT_EQ(clocks.now(), 900u);
    EXPECT_FALSE(clocks.wait_on(&key, 5000, &condition));
    EXPECT_TRUE(clocks.interrupted());
    EXPECT_EQ(clocks.now(), 900u);
    EXPECT_FALSE(clocks.wait_on(&key, 5000, &condition));
    EXPECT_FALSE(clocks.interrupted());
    clocks.leave();
  });
  std::thread interrupts([&] {
    clocks.adopt(other);
    clocks.turn();
    clocks.interrupt(waiter);
    clocks.turn(100);
    clocks.interrupt(waiter);
    clocks.leave();
  });
  waits.join();
  interrupts.join();
}

TEST_F(host_clocks_turns, when_everybody_waits_that_is_told) {
  int key = 0;
  auto* waiter = clocks.announce(0);
  device.on_hang = [&] { clocks.wake(&key, 1, 9); };
  std::thread only([&] {
    clocks.adopt(waiter);
    clocks.turn();
    EXPECT_TRUE(clocks.wait_on(&key));
    clocks.leave();
  });
  only.join();
  EXPECT_EQ(device.hangs, 1);
}

// The thread that makes others leaves, so that they have their turn before they are there.
TEST_F(host_clocks_turns, a_thread_that_is_late_for_its_first_turn_has_not_had_one_before) {
  auto* maker = clocks.announce(0);
  clocks.adopt(maker);
  clocks.turn();
  auto* late = clocks.announce(5);
  clocks.leave();
  EXPECT_EQ(device.host_turns, 1);
  clocks.adopt(late);
  clocks.turn();
  EXPECT_EQ(device.host_turns, 1);
  EXPECT_EQ(clocks.now(), 5u);
  clocks.turn(10);
  EXPECT_EQ(device.host_turns, 2);
  clocks.leave();
  // The same when it left and begins again.
  clocks.adopt(clocks.announce(20));
  clocks.turn();
  clocks.again(late, 30);
  clocks.leave();
  EXPECT_EQ(device.host_turns, 4);
  clocks.adopt(late);
  clocks.turn();
  EXPECT_EQ(device.host_turns, 4);
  clocks.leave();
  EXPECT_TRUE(clocks.deterministic());
}

TEST_F(host_clocks_turns, a_thread_that_is_not_made_after_all_holds_nobody_up) {
  clocks.adopt(clocks.announce(0));
  clocks.turn();
  clocks.withdraw(clocks.announce(0));
  clocks.turn(10);
  EXPECT_EQ(clocks.now(), 10u);
  clocks.leave();
  EXPECT_TRUE(clocks.deterministic());
}

// One thread has the turn and lets nobody know what it does; another waits for its own.
void has_the_turn_and_does(host_clocks& clocks,
                           const std::function<void(std::atomic<bool>&)>& until_the_other_ran) {
  auto* silent = clocks.announce(0);
  auto* other = clocks.announce(0);
  std::atomic<bool> other_ran{false};
  std::thread first([&] {
    clocks.adopt(silent);
    clocks.turn();
    host_clocks::left();
    until_the_other_ran(other_ran);
    clocks.leave();
  });
  std::thread second([&] {
    clocks.adopt(other);
    clocks.turn(10);
    other_ran = true;
    other_ran.notify_all();
    clocks.leave();
  });
  first.join();
  second.join();
  EXPECT_FALSE(clocks.deterministic());
}

TEST_F(host_clocks_turns, a_silent_thread_loses_its_turn) {
  // Outside of what the clocks see.
  has_the_turn_and_does(clocks, [](std::atomic<bool>& other_ran) { other_ran.wait(false); });
}

TEST_F(host_clocks_turns, a_thread_that_computes_for_long_loses_its_turn) {
  has_the_turn_and_does(clocks, [](std::atomic<bool>& other_ran) {
    while (!other_ran) {
    }
  });
}

}  // namespace
}  // namespace sb::engine
