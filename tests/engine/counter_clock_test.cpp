#include "engine/counter_clock.hpp"

#include <gtest/gtest.h>

#include <thread>
#include <vector>

namespace sb::engine {
namespace {

// Asks until the counter is known, or the clock has decided to do without.
void settle(const counter_clock& clock) {
  const std::uint64_t begin = steady_ns();
  while (!clock.reads_the_counter() && steady_ns() - begin < 100'000'000) (void)clock.now();
}

TEST(CounterClock, keeps_step_with_the_system) {
  const counter_clock clock;
  settle(clock);
  const std::uint64_t system = steady_ns(), counted = clock.now();
  std::uint64_t system_later = system;
  while (system_later - system < 50'000'000) system_later = steady_ns();
  const std::uint64_t counted_later = clock.now();
  // Whoever is interrupted between two looks is late by that: the best of some.
  std::uint64_t apart = ~std::uint64_t{0};
  for (int i = 0; i < 1000; ++i) {
    const std::uint64_t before = steady_ns(), now = clock.now(), after = steady_ns();
    apart = std::min(apart, now < before ? before - now : now > after ? now - after : 0);
  }
  EXPECT_LT(apart, 100'000U);
  EXPECT_GE(counted_later - counted, 49'000'000U);
  EXPECT_GE(counted, system - std::min<std::uint64_t>(system, 100'000));
}

TEST(CounterClock, never_goes_back) {
  const counter_clock clock;
  std::vector<std::thread> threads;
  std::atomic<bool> back{false};
  for (int t = 0; t < 3; ++t)
    threads.emplace_back([&] {
      std::uint64_t last = clock.now();
      const std::uint64_t begin = steady_ns();
      while (steady_ns() - begin < 60'000'000) {
        const std::uint64_t now = clock.now();
        // Both clocks are asked while it settles, by threads that may be stopped in between.
        if (now + 1000 < last) back = true;
        last = now;
      }
    });
  for (std::thread& t : threads) t.join();
  EXPECT_FALSE(back);
}

}  // namespace
}  // namespace sb::engine
