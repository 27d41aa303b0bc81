#include "engine/fiber.hpp"

#include <gtest/gtest.h>

#include <algorithm>
#include <cfenv>
#include <thread>
#include <vector>

#include "engine/spin_policy.hpp"
#include "engine/stack_pool.hpp"

namespace sb::engine {
namespace {

struct ping {
  fiber home;
  fiber* away = nullptr;
  int steps = 0;
  double kept = 0;
};

void count_up(void* argument) {
  auto& p = *static_cast<ping*>(argument);
  double local = 0.5;
  for (int i = 0; i < 10; ++i) {
    ++p.steps;
    local += i;
    switch_fiber(*p.away, p.home);
  }
  p.kept = local;
  leave_fiber(*p.away, p.home);
}

TEST(fiber, keeps_its_locals_over_switches) {
  stack_pool pool(thread_stack_bytes);
  ping p;
  adopt_thread(p.home);
  p.away = pool.take(1);
  prepare_fiber(*p.away, &count_up, &p);
  volatile double mine = 3.25;
  for (int i = 1; i <= 10; ++i) {
    switch_fiber(p.home, *p.away);
    EXPECT_EQ(p.steps, i);
  }
  switch_fiber(p.home, *p.away);
  EXPECT_EQ(p.kept, 45.5);
  EXPECT_EQ(mine, 3.25);
  pool.give(p.away);
}

TEST(fiber, goes_on_on_another_thread) {
  stack_pool pool(thread_stack_bytes);
  ping p;
  p.away = pool.take(1);
  prepare_fiber(*p.away, &count_up, &p);
  for (int i = 0; i < 11; ++i) {
    std::thread([&] {
      adopt_thread(p.home);
      switch_fiber(p.home, *p.away);
    }).join();
  }
  EXPECT_EQ(p.steps, 10);
  EXPECT_EQ(p.kept, 45.5);
  pool.give(p.away);
}

void round_up(void* argument) {
  auto& p = *static_cast<ping*>(argument);
  std::fesetround(FE_UPWARD);
  switch_fiber(*p.away, p.home);
  p.steps = std::fegetround();
  std::fesetround(FE_TONEAREST);
  leave_fiber(*p.away, p.home);
}

TEST(fiber, has_its_own_rounding_mode) {
  stack_pool pool(thread_stack_bytes);
  ping p;
  adopt_thread(p.home);
  p.away = pool.take(1);
  prepare_fiber(*p.away, &round_up, &p);
  switch_fiber(p.home, *p.away);
  EXPECT_EQ(std::fegetround(), FE_TONEAREST);
  switch_fiber(p.home, *p.away);
  EXPECT_EQ(p.steps, FE_UPWARD);
  EXPECT_EQ(std::fegetround(), FE_TONEAREST);
  pool.give(p.away);
}

// As a kernel does whose threads are there all at once, so many in a block.
void use(stack_pool& pool, std::size_t blocks, std::size_t threads) {
  std::vector<fiber*> lists;
  for (std::size_t i = 0; i < blocks; ++i) {
    lists.push_back(pool.take(threads));
    for (fiber* f = lists.back(); f != nullptr; f = f->next) f->touched = true;
  }
  for (fiber* list : lists) pool.give(list);
}

TEST(stack_pool, stacks_that_are_used_again_and_again_keep_their_pages) {
  stack_pool pool(thread_stack_bytes, {.always = 16, .most = 1000});
  for (int launch = 0; launch < 50; ++launch) use(pool, 50, 10);
  EXPECT_EQ(pool.cooled(), 0u);
}

TEST(stack_pool, stacks_that_are_not_used_any_more_give_their_pages_back_once) {
  stack_pool pool(thread_stack_bytes, {.always = 16, .most = 1000});
  use(pool, 50, 10);
  for (int launch = 0; launch < 1000; ++launch) use(pool, 2, 10);
  EXPECT_EQ(pool.cooled(), 500u - 20u);
}

TEST(stack_pool, no_more_stacks_than_allowed_keep_their_pages) {
  stack_pool pool(thread_stack_bytes, {.always = 16, .most = 100});
  use(pool, 50, 10);
  EXPECT_EQ(pool.cooled(), 400u);
}

TEST(stack_pool, hands_out_stacks_that_do_not_overlap) {
  stack_pool pool(thread_stack_bytes);
  fiber* list = pool.take(200);
  std::vector<char*> bases;
  for (fiber* f = list; f != nullptr; f = f->next) {
    bases.push_back(f->stack);
    f->stack[0] = 1;
    f->stack[f->stack_bytes - 1] = 1;
  }
  EXPECT_EQ(bases.size(), 200u);
  std::sort(bases.begin(), bases.end());
  for (std::size_t i = 1; i < bases.size(); ++i)
    EXPECT_GE(bases[i] - bases[i - 1], static_cast<std::ptrdiff_t>(thread_stack_bytes));
  pool.give(list);
  fiber* again = pool.take(1);
  EXPECT_NE(std::find(bases.begin(), bases.end(), again->stack), bases.end());
  pool.give(again);
}

TEST(spin_policy, looks_often_at_first_and_leaves_the_core_later) {
  EXPECT_LT(spin_pause_ns(1'000, 40'000, false), 1'000u);
  EXPECT_GE(spin_pause_ns(1'000, 40'000, true), 3 * 40'000u);
  EXPECT_GE(spin_pause_ns(100'000'000, 40'000, false), 7 * 40'000u);
  EXPECT_LE(spin_pause_ns(100'000'000, 0, false), 100'000u);
}

}  // namespace
}  // namespace sb::engine
