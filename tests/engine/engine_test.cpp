// Work through the whole engine: submission, scheduler, workers, copy engines, host functions.
#include "engine/engine.hpp"

#include <gtest/gtest.h>

#include <numeric>

#include "kernels.hpp"

namespace sb::engine::testing {
namespace {

struct add_params {
  std::atomic<int>* sum;
  int value;
};

// What the compiler makes of `atomicAdd(sum, value)`: a loop over the block's threads.
void add_block(const char* params, thread_context* self) {
  const auto& p = params_of<add_params>(params);
  const std::uint32_t* d = self->block->block_dim;
  for (std::uint32_t t = 0; t < d[0] * d[1] * d[2]; ++t) p.sum->fetch_add(p.value);
}
const abi::kernel_info add_kernel = loop_kernel(&add_block, "add");

TEST(engine, runs_every_block_of_a_loop_kernel_once) {
  engine_test t;
  std::atomic<int> sum{0};
  t.e.submit(t.stream(), launch(add_kernel, {7, 5, 3}, {4, 2, 1}, add_params{&sum, 1}));
  EXPECT_EQ(t.sync(), status::success);
  EXPECT_EQ(sum, 7 * 5 * 3 * 8);
}

TEST(engine, runs_a_stream_in_order) {
  engine_test t;
  const stream_id s = t.stream();
  std::vector<int> from(1000), on_device(1000), to(1000);
  std::iota(from.begin(), from.end(), 0);
  copy_operation in;
  in.destination = on_device.data();
  in.source = from.data();
  in.width = from.size() * sizeof(int);
  copy_operation out = in;
  out.destination = to.data();
  out.source = on_device.data();
  out.direction = copy_direction::device_to_host;
  struct double_params {
    std::vector<int>* values;
  };
  static const abi::kernel_info twice = loop_kernel(
      [](const char* params, thread_context* self) {
        auto& values = *params_of<double_params>(params).values;
        const std::uint32_t block = self->block->block_idx[0];
        for (std::uint32_t i = block * 100; i < block * 100 + 100; ++i) values[i] *= 2;
      },
      "twice");
  t.e.submit(s, in);
  t.e.submit(s, launch(twice, {10}, {100}, double_params{&on_device}));
  t.e.submit(s, out);
  bool called = false;
  t.e.submit(s, host_operation{[&](status error) { called = error == status::success; }});
  EXPECT_EQ(t.e.synchronize(whole_stream(s), first_device), status::success);
  EXPECT_TRUE(called);
  for (int i = 0; i < 1000; ++i) EXPECT_EQ(to[static_cast<std::size_t>(i)], 2 * i);
}

TEST(engine, stamps_events_in_the_order_of_the_stream) {
  engine_test t;
  const stream_id s = t.stream();
  gate g;
  auto before = std::make_shared<event_state>();
  auto after = std::make_shared<event_state>();
  const command_id first = t.e.submit(s, record_operation{before});
  t.e.submit(s, g.operation());
  const command_id second = t.e.submit(s, record_operation{after});
  g.wait_until_reached();
  EXPECT_TRUE(t.e.done(first));
  EXPECT_FALSE(t.e.done(second));
  EXPECT_EQ(before->reached_record, first.value);
  EXPECT_EQ(after->last_record, second.value);
  EXPECT_EQ(after->reached_record, command_id::none_value);
  g.open();
  EXPECT_EQ(t.e.synchronize(one_command(second), first_device), status::success);
  EXPECT_GT(after->reached_ns, before->reached_ns);
}

TEST(engine, fills_in_one_to_three_dimensions) {
  engine_test t;
  const stream_id s = t.stream();
  std::vector<std::uint32_t> words(64, 0);
  fill_operation f;
  f.destination = words.data();
  f.value = 0x01020304;
  f.element_size = 4;
  f.width = 2;
  f.height = 3;
  f.depth = 2;
  f.pitch = 16;
  f.slice = 128;
  t.e.submit(s, f);
  EXPECT_EQ(t.sync(), status::success);
  int set = 0;
  for (std::uint32_t w : words) set += w == 0x01020304;
  EXPECT_EQ(set, 12);
  EXPECT_EQ(words[32], 0x01020304u);
  EXPECT_EQ(words[2], 0u);
}

}  // namespace
}  // namespace sb::engine::testing
