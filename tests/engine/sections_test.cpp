// Conditional nodes of graphs: which body runs, how often, and what waits for it.
#include <gtest/gtest.h>

#include <chrono>

#include "kernels.hpp"

namespace sb::engine::testing {
namespace {

struct set_params {
  condition_value* value;
  std::uint32_t to;
  std::atomic<int>* runs;
};
void set_block(const char* params, thread_context*) {
  const auto& p = params_of<set_params>(params);
  if (p.runs != nullptr) p.runs->fetch_add(1);
  if (p.value != nullptr) p.value->store(p.to);
}
const abi::kernel_info set_kernel = loop_kernel(&set_block, "set");

void count_down_block(const char* params, thread_context*) {
  const auto& p = params_of<set_params>(params);
  p.runs->fetch_add(1);
  p.value->fetch_sub(1);
}
const abi::kernel_info count_down_kernel = loop_kernel(&count_down_block, "count_down");

operation set(condition_value* value, std::uint32_t to, std::atomic<int>* runs = nullptr) {
  return launch(set_kernel, {}, {}, set_params{value, to, runs});
}
operation count(std::atomic<int>& runs) { return set(nullptr, 0, &runs); }
operation count_down(condition_value* value, std::atomic<int>& runs) {
  return launch(count_down_kernel, {}, {}, set_params{value, 0, &runs});
}

// A chain of operations.
graph_plan chain(std::vector<operation> all) {
  graph_plan plan;
  for (operation& what : all) {
    graph_plan::item item{std::move(what), first_device, std::nullopt, {}};
    if (!plan.items.empty()) item.after = {static_cast<std::uint32_t>(plan.items.size() - 1)};
    plan.items.push_back(std::move(item));
  }
  return plan;
}

operation conditional(condition_kind kind, const std::shared_ptr<condition_value>& value,
                      std::vector<graph_plan> bodies) {
  conditional_operation c;
  c.kind = kind;
  c.value = value;
  c.bodies = std::make_shared<const std::vector<graph_plan>>(std::move(bodies));
  return c;
}

struct sections : ::testing::Test {
  engine_test t;
  stream_id s = t.stream();
  std::shared_ptr<condition_value> value = std::make_shared<condition_value>(0);
  std::atomic<int> first{0}, second{0}, after{0};

  command_id launch_chain(const std::vector<operation>& all,
                          const std::vector<condition_default>& defaults = {}) {
    std::vector<std::uint32_t> places(all.size());
    std::vector<graph_item> items;
    for (std::size_t i = 0; i < all.size(); ++i) {
      places[i] = static_cast<std::uint32_t>(i);
      graph_item item{&all[i], first_device, 0, {}};
      if (i != 0) item.after = std::span(&places[i - 1], 1);
      items.push_back(item);
    }
    auto given = std::make_shared<const std::vector<condition_default>>(defaults);
    return t.e.submit_graph(s, items, {}, given);
  }
};

TEST_F(sections, an_if_runs_its_body_once_when_the_value_is_not_zero) {
  const operation c =
      conditional(condition_kind::if_, value, {chain({count(first)}), chain({count(second)})});
  launch_chain({set(value.get(), 7), c, count(after)});
  EXPECT_EQ(t.sync(), status::success);
  EXPECT_EQ(first, 1);
  EXPECT_EQ(second, 0);
  launch_chain({set(value.get(), 0), c, count(after)});
  EXPECT_EQ(t.sync(), status::success);
  EXPECT_EQ(first, 1);
  EXPECT_EQ(second, 1);
  EXPECT_EQ(after, 2);
}

TEST_F(sections, a_while_runs_its_body_until_the_value_is_zero) {
  const operation c = conditional(condition_kind::while_, value,
                                  {chain({count(first), count_down(value.get(), second)})});
  launch_chain({c, count(after)}, {{value, 1000}});
  EXPECT_EQ(t.sync(), status::success);
  EXPECT_EQ(first, 1000);
  EXPECT_EQ(second, 1000);
  EXPECT_EQ(after, 1);
}

TEST_F(sections, a_default_is_given_at_every_launch_in_the_order_of_the_stream) {
  const operation c =
      conditional(condition_kind::while_, value, {chain({count_down(value.get(), first)})});
  for (int i = 0; i < 20; ++i) launch_chain({c}, {{value, 3}});
  EXPECT_EQ(t.sync(), status::success);
  EXPECT_EQ(first, 60);
}

TEST_F(sections, a_switch_runs_the_body_that_the_value_names_or_none) {
  const operation c =
      conditional(condition_kind::switch_, value, {chain({count(first)}), chain({count(second)})});
  for (const std::uint32_t to : {1u, 1u, 0u, 2u, 77u}) launch_chain({set(value.get(), to), c});
  EXPECT_EQ(t.sync(), status::success);
  EXPECT_EQ(first, 1);
  EXPECT_EQ(second, 2);
}

TEST_F(sections, loops_nest) {
  const auto inner_value = std::make_shared<condition_value>(0);
  const operation inner = conditional(condition_kind::while_, inner_value,
                                      {chain({count_down(inner_value.get(), second)})});
  const operation outer =
      conditional(condition_kind::while_, value,
                  {chain({set(inner_value.get(), 4), inner, count_down(value.get(), first)})});
  launch_chain({outer}, {{value, 5}});
  EXPECT_EQ(t.sync(), status::success);
  EXPECT_EQ(first, 5);
  EXPECT_EQ(second, 20);
}

TEST_F(sections, what_follows_waits_for_the_body_and_other_streams_do_not) {
  gate held;
  const operation c = conditional(condition_kind::if_, value, {chain({held.operation()})});
  launch_chain({c, count(after)}, {{value, 1}});
  const command_id behind = t.e.submit(s, count(second));
  held.wait_until_reached();
  t.e.submit(t.stream(), count(first));
  while (first == 0) std::this_thread::yield();
  EXPECT_EQ(after, 0);
  EXPECT_FALSE(t.e.idle(s));
  EXPECT_FALSE(t.e.done(behind));
  held.open();
  EXPECT_EQ(t.sync(), status::success);
  EXPECT_EQ(after, 1);
  EXPECT_EQ(second, 1);
}

// Nothing happens in the loop, so only another branch can end it; the engine must stay free for it.
TEST_F(sections, a_loop_with_an_empty_body_leaves_the_engine_to_others) {
  gate held;
  const operation loop = conditional(condition_kind::while_, value, {graph_plan{}});
  const operation hold = held.operation();
  const operation stop = set(value.get(), 0);
  const std::uint32_t place = 1;
  const graph_item items[] = {{&loop, first_device, 0, {}},
                              {&hold, first_device, 0, {}},
                              {&stop, first_device, 0, std::span(&place, 1)}};
  auto given = std::make_shared<const std::vector<condition_default>>(
      std::vector<condition_default>{{value, 1}});
  const command_id end = t.e.submit_graph(s, items, {}, given);
  held.wait_until_reached();
  t.e.submit(t.stream(), count(first));
  while (first == 0) std::this_thread::yield();
  EXPECT_FALSE(t.e.done(end));
  held.open();
  EXPECT_EQ(t.sync(), status::success);
}

// On a device the kernel is done long before the node looks, although nothing orders the two.
TEST_F(sections, a_first_node_sees_what_short_first_kernels_set) {
  const operation c =
      conditional(condition_kind::switch_, value, {chain({count(first)}), chain({count(second)})});
  const operation a_set = set(value.get(), 1);
  const graph_item items[] = {{&a_set, first_device, 0, {}}, {&c, first_device, 0, {}}};
  // A machine that leaves the kernel lying for so long is not waited for.
  constexpr auto longest_wait = std::chrono::milliseconds(50);
  for (int i = 0; i < 50; ++i) {
    value->store(0);
    const int before = second;
    const auto begin = std::chrono::steady_clock::now();
    t.e.submit_graph(s, items);
    EXPECT_EQ(t.sync(), status::success);
    const bool sees = second == before + 1;
    EXPECT_TRUE(sees || std::chrono::steady_clock::now() - begin >= longest_wait);
  }
}

TEST_F(sections, a_first_node_does_not_wait_for_ever_for_first_kernels) {
  gate held;
  const operation hold = held.operation();
  const operation c = conditional(condition_kind::if_, value, {chain({count(first)})});
  const graph_item items[] = {{&hold, first_device, 0, {}}, {&c, first_device, 0, {}}};
  value->store(1);
  t.e.submit_graph(s, items);
  while (first == 0) std::this_thread::yield();
  held.open();
  EXPECT_EQ(t.sync(), status::success);
}

void fault_block(const char*, thread_context* self) { device::trap(self); }
const abi::kernel_info fault_kernel = loop_kernel(&fault_block, "fault");

TEST_F(sections, a_fault_in_the_body_ends_the_loop) {
  const operation fault = launch(fault_kernel, {}, {}, 0);
  const operation c = conditional(condition_kind::while_, value, {chain({count(first), fault})});
  launch_chain({c, count(after)}, {{value, 1}});
  EXPECT_EQ(t.sync(), status::launch_failure);
  EXPECT_EQ(first, 1);
  EXPECT_EQ(after, 0);
}

TEST_F(sections, the_stream_may_be_destroyed_while_its_loop_runs) {
  gate held;
  const operation c = conditional(condition_kind::while_, value,
                                  {chain({held.operation(), count_down(value.get(), first)})});
  launch_chain({c, count(after)}, {{value, 3}});
  held.wait_until_reached();
  t.e.destroy_stream(s);
  held.open();
  EXPECT_EQ(t.sync(), status::success);
  EXPECT_EQ(first, 3);
  EXPECT_EQ(after, 1);
}

}  // namespace
}  // namespace sb::engine::testing
