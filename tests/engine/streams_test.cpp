// Streams against each other: what must be concurrent, what must be ordered, and what others got
// wrong.
#include <gtest/gtest.h>
#include <sys/resource.h>

#include <array>
#include <chrono>
#include <functional>
#include <memory>

#include "kernels.hpp"

namespace sb::engine::testing {
namespace {

struct mark_params {
  std::atomic<int>* mark;
};
const abi::kernel_info mark_kernel = loop_kernel(
    [](const char* p, thread_context*) { params_of<mark_params>(p).mark->fetch_add(1); }, "mark");

kernel_operation mark(std::atomic<int>& m) { return launch(mark_kernel, {}, {}, mark_params{&m}); }

copy_operation copy(void* to, const void* from, std::size_t bytes,
                    copy_direction direction = copy_direction::host_to_device) {
  copy_operation c;
  c.destination = to;
  c.source = from;
  c.width = bytes;
  c.direction = direction;
  return c;
}

double cpu_seconds() {
  rusage u;
  getrusage(RUSAGE_SELF, &u);
  return static_cast<double>(u.ru_utime.tv_sec + u.ru_stime.tv_sec) +
         1e-6 * static_cast<double>(u.ru_utime.tv_usec + u.ru_stime.tv_usec);
}

TEST(streams, a_held_stream_holds_no_other) {
  engine_test t;
  gate g;
  t.e.submit(t.stream(), g.operation());
  g.wait_until_reached();
  std::atomic<int> done{0};
  int from = 7, to = 0, called = 0;
  for (int i = 0; i < 50; ++i) {
    const stream_id s = t.stream();
    t.e.submit(s, mark(done));
    t.e.submit(s, copy(&to, &from, sizeof to));
    t.e.submit(s, host_operation{[&](status) { ++called; }});
    EXPECT_EQ(t.e.synchronize(whole_stream(s), first_device), status::success);
  }
  EXPECT_EQ(done, 50);
  EXPECT_EQ(to, 7);
  EXPECT_EQ(called, 50);
  g.open();
  EXPECT_EQ(t.sync(), status::success);
}

// 128 is how many kernels an H200 keeps resident; there are two workers.
TEST(streams, kernels_that_spin_leave_room_for_others) {
  engine_test t;
  std::vector<std::unique_ptr<gate>> gates;
  for (int i = 0; i < 127; ++i) {
    gates.push_back(std::make_unique<gate>());
    t.e.submit(t.stream(), gates.back()->operation());
  }
  for (auto& g : gates) g->wait_until_reached();
  std::atomic<int> done{0};
  const stream_id s = t.stream();
  for (int i = 0; i < 100; ++i) t.e.submit(s, mark(done));
  EXPECT_EQ(t.e.synchronize(whole_stream(s), first_device), status::success);
  EXPECT_EQ(done, 100);

  const double cpu = cpu_seconds();
  const auto begin = std::chrono::steady_clock::now();
  host_flag later;
  std::thread([&] {
    std::this_thread::sleep_for(std::chrono::milliseconds(300));  // a span to measure over
    later.set();
  }).detach();
  later.wait();
  const std::chrono::duration<double> wall = std::chrono::steady_clock::now() - begin;
  RecordProperty("cores_used_by_127_spinning_kernels",
                 std::to_string((cpu_seconds() - cpu) / wall.count()));
  for (auto& g : gates) g->open();
  EXPECT_EQ(t.sync(), status::success);
}

TEST(streams, large_blocks_that_spin_all_make_progress) {
  struct params {
    std::atomic<int>* arrived;
    std::atomic<int>* flag;
  };
  std::atomic<int> arrived{0}, flag{0};
  engine_test t;
  static const abi::kernel_info hold = fiber_kernel(
      [](const char* p, thread_context* self) {
        const auto& q = params_of<params>(p);
        ++*q.arrived;
        int seen = 0;
        while ((seen = q.flag->load()) == 0) device::spin(self, static_cast<std::uint64_t>(seen));
      },
      "hold");
  t.e.submit(t.stream(), launch(hold, {20}, {256}, params{&arrived, &flag}));
  while (arrived != 20 * 256) std::this_thread::yield();
  flag = 1;
  EXPECT_EQ(t.sync(), status::success);
}

// HIP-CPU: streams were advanced in rounds.
TEST(streams, a_long_stream_does_not_delay_the_others) {
  engine_test t;
  const stream_id held = t.stream();
  const stream_id free = t.stream();
  gate g;
  std::atomic<int> behind{0}, beside{0};
  t.e.submit(held, g.operation());
  for (int i = 0; i < 200; ++i) {
    t.e.submit(held, mark(behind));
    t.e.submit(free, mark(beside));
  }
  EXPECT_EQ(t.e.synchronize(whole_stream(free), first_device), status::success);
  EXPECT_EQ(beside, 200);
  EXPECT_EQ(behind, 0);
  g.open();
  EXPECT_EQ(t.sync(), status::success);
  EXPECT_EQ(behind, 200);
}

// A block that computes for long without a yield point: both workers are inside one.
TEST(streams, blocks_that_never_yield_do_not_stop_others) {
  engine_test t;
  std::atomic<bool> end{false};
  static const abi::kernel_info busy = loop_kernel(
      [](const char* p, thread_context*) {
        while (!params_of<std::atomic<bool>*>(p)->load(std::memory_order_relaxed)) {
        }
      },
      "busy");
  std::atomic<bool>* flag = &end;
  t.e.submit(t.stream(), launch(busy, {3}, {1}, flag));
  std::atomic<int> done{0};
  const stream_id s = t.stream();
  t.e.submit(s, mark(done));
  EXPECT_EQ(t.e.synchronize(whole_stream(s), first_device), status::success);
  EXPECT_EQ(done, 1);
  end = true;
  EXPECT_EQ(t.sync(), status::success);
}

// Each block holds a stack per thread: a grid of long blocks must not have all of them half done.
TEST(streams, blocks_that_are_half_done_go_before_new_ones) {
  struct params {
    std::atomic<int>* begun;
    std::atomic<int>* ended;
    std::atomic<int>* most;
  };
  std::atomic<int> begun{0}, ended{0}, most{0};
  engine_test t;
  static const abi::kernel_info many_turns = fiber_kernel(
      [](const char* p, thread_context* self) {
        const auto& q = params_of<params>(p);
        if (self->linear_tid == 0) {
          const int open = ++*q.begun - *q.ended;
          int before = *q.most;
          while (before < open && !q.most->compare_exchange_weak(before, open)) {
          }
        }
        for (int i = 0; i < 1000; ++i) device::barrier(self);
        if (self->linear_tid == 0) ++*q.ended;
      },
      "many_turns");
  t.e.submit(t.stream(), launch(many_turns, {128}, {128}, params{&begun, &ended, &most}));
  EXPECT_EQ(t.sync(), status::success);
  EXPECT_EQ(ended, 128);
  EXPECT_LT(most, 64);
}

// HIP-CPU: query said done while a kernel ran.
TEST(streams, query_does_not_say_done_while_a_kernel_runs) {
  engine_test t;
  const stream_id s = t.stream();
  gate g;
  const command_id id = t.e.submit(s, g.operation());
  g.wait_until_reached();
  EXPECT_FALSE(t.e.idle(s));
  EXPECT_FALSE(t.e.idle(first_device));
  EXPECT_FALSE(t.e.done(id));
  g.open();
  EXPECT_EQ(t.sync(), status::success);
  EXPECT_TRUE(t.e.idle(s));
  EXPECT_TRUE(t.e.done(id));
}

// HIP-CPU: a destroyed stream lost its work.
TEST(streams, a_destroyed_stream_still_does_its_work) {
  engine_test t;
  const stream_id s = t.stream();
  gate g;
  std::atomic<int> done{0};
  int from = 3, to = 0;
  t.e.submit(s, g.operation());
  t.e.submit(s, mark(done));
  t.e.submit(s, copy(&to, &from, sizeof to));
  t.e.submit(s, host_operation{[&](status) { ++done; }});
  t.e.destroy_stream(s);
  g.open();
  EXPECT_EQ(t.sync(), status::success);
  EXPECT_EQ(done, 2);
  EXPECT_EQ(to, 3);
}

// alpaka#388: a re-recorded event deadlocked a wait.
TEST(events, a_wait_keeps_the_record_it_saw_when_the_event_is_recorded_again) {
  engine_test t;
  const stream_id a = t.stream(), b = t.stream();
  auto event = std::make_shared<event_state>();
  gate first, second;
  std::atomic<int> done{0};
  t.e.submit(a, first.operation());
  const command_id record = t.e.submit(a, record_operation{event});
  t.e.submit(b, wait_operation{record});
  t.e.submit(b, mark(done));
  t.e.submit(a, second.operation());
  const command_id again = t.e.submit(a, record_operation{event});
  first.open();
  EXPECT_EQ(t.e.synchronize(whole_stream(b), first_device), status::success);
  EXPECT_EQ(done, 1);
  EXPECT_EQ(event->reached_record, record.value);
  EXPECT_EQ(event->last_record, again.value);
  second.open();
  EXPECT_EQ(t.sync(), status::success);
  EXPECT_EQ(event->reached_record, again.value);
}

// HIP-CPU: waiting on the event of the first-created or the NULL stream hung.
TEST(events, of_the_first_and_of_the_legacy_stream_can_be_waited_for) {
  engine_test t;
  const stream_id first = t.e.create_stream(first_device, stream_kind::blocking, 0);
  const stream_id legacy = t.e.legacy_stream(first_device);
  const stream_id other = t.stream();
  std::atomic<int> done{0};
  for (const stream_id s : {first, legacy}) {
    auto event = std::make_shared<event_state>();
    t.e.submit(s, mark(done));
    const command_id record = t.e.submit(s, record_operation{event});
    t.e.submit(other, wait_operation{record});
    t.e.submit(other, mark(done));
    EXPECT_EQ(t.e.synchronize(one_command(record), first_device), status::success);
    EXPECT_EQ(t.e.synchronize(whole_stream(other), first_device), status::success);
  }
  EXPECT_EQ(done, 4);
}

TEST(streams, the_legacy_stream_and_blocking_streams_wait_for_each_other) {
  engine_test t;
  const stream_id blocking = t.e.create_stream(first_device, stream_kind::blocking, 0);
  const stream_id legacy = t.e.legacy_stream(first_device);
  gate g;
  std::atomic<int> done{0}, free{0};
  t.e.submit(blocking, g.operation());
  t.e.submit(legacy, mark(done));
  t.e.submit(blocking, mark(done));
  const stream_id other = t.stream();
  t.e.submit(other, mark(free));
  EXPECT_EQ(t.e.synchronize(whole_stream(other), first_device), status::success);
  EXPECT_EQ(done, 0);
  EXPECT_EQ(free, 1);
  g.open();
  EXPECT_EQ(t.sync(), status::success);
  EXPECT_EQ(done, 2);
}

// pocl#506: a callback under a lock hung.
TEST(host_functions, may_call_the_engine) {
  engine_test t;
  const stream_id s = t.stream(), other = t.stream();
  std::atomic<int> done{0};
  bool inside = false, idle = false;
  t.e.submit(s, host_operation{[&](status) {
               inside = engine::in_host_function();
               idle = t.e.idle(other);
               t.e.submit(other, mark(done));
             }});
  EXPECT_EQ(t.e.synchronize(whole_stream(s), first_device), status::success);
  EXPECT_EQ(t.e.synchronize(whole_stream(other), first_device), status::success);
  EXPECT_TRUE(inside);
  EXPECT_TRUE(idle);
  EXPECT_FALSE(engine::in_host_function());
  EXPECT_EQ(done, 1);
}

// chipStar: a host function blocked the caller.
TEST(host_functions, do_not_block_the_caller_nor_kernels_of_other_streams) {
  engine_test t;
  const stream_id s = t.stream(), other = t.stream();
  host_flag go, began;
  std::atomic<int> done{0};
  bool second = false;
  t.e.submit(s, host_operation{[&](status) {
               began.set();
               go.wait();
             }});
  t.e.submit(other, mark(done));
  const command_id kernel = t.e.submit(other, mark(done));
  t.e.submit(other, host_operation{[&](status) { second = true; }});
  began.wait();
  EXPECT_EQ(t.e.synchronize(one_command(kernel), first_device), status::success);
  EXPECT_EQ(done, 2);
  EXPECT_FALSE(second);  // CUDA: one at a time over all streams; h200/ordering.tsv
  go.set();
  EXPECT_EQ(t.sync(), status::success);
  EXPECT_TRUE(second);
}

// cuda-api-wrappers: a host callable passed by address dangled.
TEST(host_functions, own_their_callable_and_destroy_it_before_they_are_done) {
  engine_test t;
  const stream_id s = t.stream();
  gate g;
  auto owned = std::make_shared<int>(5);
  std::weak_ptr<int> watch = owned;
  int seen = 0;
  t.e.submit(s, g.operation());
  {
    auto local = [kept = std::move(owned), &seen](status) { seen = *kept; };
    t.e.submit(s, host_operation{std::move(local)});
  }
  EXPECT_FALSE(watch.expired());
  g.open();
  EXPECT_EQ(t.sync(), status::success);
  EXPECT_EQ(seen, 5);
  EXPECT_TRUE(watch.expired());
}

TEST(host_functions, of_one_stream_run_in_order) {
  engine_test t;
  const stream_id s = t.stream();
  std::vector<int> order;
  for (int i = 0; i < 100; ++i)
    t.e.submit(s, host_operation{[&order, i](status) { order.push_back(i); }});
  EXPECT_EQ(t.sync(), status::success);
  ASSERT_EQ(order.size(), 100u);
  for (int i = 0; i < 100; ++i) EXPECT_EQ(order[static_cast<std::size_t>(i)], i);
}

TEST(markers, run_in_order_and_before_a_synchronisation_returns) {
  engine_test t;
  std::vector<int> order;
  const stream_id s = t.stream();
  gate g;
  t.e.submit(s, g.operation());
  for (int i = 0; i < 20; ++i) t.e.submit(s, marker_operation{[&order, i] { order.push_back(i); }});
  g.open();
  EXPECT_EQ(t.sync(), status::success);
  ASSERT_EQ(order.size(), 20u);
  for (int i = 0; i < 20; ++i) EXPECT_EQ(order[static_cast<std::size_t>(i)], i);
}

TEST(copies, come_after_what_they_depend_on_and_before_what_depends_on_them) {
  engine_test t;
  const stream_id s = t.stream();
  std::vector<char> from(64 << 20, 1), to(64 << 20, 0);
  gate g;
  t.e.submit(s, g.operation());
  const command_id id = t.e.submit(s, copy(to.data(), from.data(), from.size()));
  g.wait_until_reached();
  std::fill(from.begin(), from.end(), 2);  // pinned memory: what is there when the copy runs counts
  EXPECT_EQ(to[0], 0);
  struct params {
    const char* last;
    char* seen;
  };
  char seen = 0;
  static const abi::kernel_info look =
      loop_kernel([](const char* p,
                     thread_context*) { *params_of<params>(p).seen = *params_of<params>(p).last; },
                  "look");
  t.e.submit(s, launch(look, {}, {}, params{&to.back(), &seen}));
  g.open();
  EXPECT_EQ(t.e.synchronize(one_command(id), first_device), status::success);
  EXPECT_EQ(to[0], 2);
  EXPECT_EQ(t.sync(), status::success);
  EXPECT_EQ(seen, 2);
}

TEST(copies, in_both_directions_and_kernels_overlap) {
  engine_test t;
  std::vector<char> a(1 << 20, 1), b(1 << 20, 2), c(1 << 20);
  gate g;
  t.e.submit(t.stream(), g.operation());
  const stream_id up = t.stream(), down = t.stream(), inside = t.stream();
  t.e.submit(up, copy(a.data(), b.data(), a.size()));
  t.e.submit(down, copy(c.data(), b.data(), c.size(), copy_direction::device_to_host));
  t.e.submit(inside, copy(b.data(), b.data(), 0, copy_direction::device_to_device));
  for (const stream_id s : {up, down, inside})
    EXPECT_EQ(t.e.synchronize(whole_stream(s), first_device), status::success);
  EXPECT_EQ(a[77], 2);
  EXPECT_EQ(c[77], 2);
  g.open();
  EXPECT_EQ(t.sync(), status::success);
}

TEST(copies, release_their_staging_before_they_are_done) {
  engine_test t;
  auto staged = std::make_shared<int>(9);
  std::weak_ptr<int> watch = staged;
  int to = 0;
  copy_operation c = copy(&to, staged.get(), sizeof to);
  c.staging = std::move(staged);
  const command_id id = t.e.submit(t.stream(), std::move(c));
  while (!t.e.done(id)) std::this_thread::yield();
  EXPECT_TRUE(watch.expired());
  EXPECT_EQ(to, 9);
}

// chipStar: a graph launch ran node by node with a finish in between.
TEST(graphs, branches_run_at_the_same_time) {
  engine_test t;
  const stream_id s = t.stream();
  gate left, right;
  std::atomic<int> done{0};
  const operation l = left.operation(), r = right.operation(), m = mark(done);
  const std::uint32_t both[] = {0, 1};
  const graph_item items[] = {
      {&l, first_device, 0, {}}, {&r, first_device, 0, {}}, {&m, first_device, 0, both}};
  const command_id end = t.e.submit_graph(s, items);
  const command_id behind = t.e.submit(s, mark(done));
  left.wait_until_reached();
  right.wait_until_reached();
  EXPECT_FALSE(t.e.done(end));
  right.open();
  left.open();
  EXPECT_EQ(t.e.synchronize(one_command(end), first_device), status::success);
  EXPECT_GE(done, 1);
  EXPECT_EQ(t.e.synchronize(one_command(behind), first_device), status::success);
  EXPECT_EQ(done, 2);
}

TEST(graphs, may_be_launched_many_times_and_may_be_empty) {
  engine_test t;
  const stream_id s = t.stream();
  std::atomic<int> done{0};
  const operation m = mark(done);
  const std::uint32_t first[] = {0};
  const graph_item items[] = {{&m, first_device, 0, {}}, {&m, first_device, 0, first}};
  for (int i = 0; i < 30; ++i) t.e.submit_graph(s, items);
  t.e.submit_graph(s, {});
  EXPECT_EQ(t.sync(), status::success);
  EXPECT_EQ(done, 60);
}

// How many of these calls return while a gate holds the stream.
int calls_that_return(const std::function<void(engine&, stream_id, int)>& call, int expected) {
  engine_test t;
  const stream_id s = t.stream();
  gate g;
  t.e.submit(s, g.operation());
  g.wait_until_reached();
  std::atomic<int> submitted{0};
  std::thread caller([&] {
    for (int i = 0; i < expected + 80; ++i) {
      call(t.e, s, i);
      ++submitted;
    }
  });
  while (submitted < expected) std::this_thread::yield();
  for (int i = 0; i < 100; ++i) std::this_thread::yield();
  const int returned = submitted;
  g.open();
  caller.join();
  EXPECT_EQ(t.sync(), status::success);
  return returned;
}

// h200/pending.tsv: a stream takes 1021 kernels, copies or fills that have not begun, in each of
// its queues.
TEST(streams, the_call_behind_1021_entries_of_a_queue_blocks_its_caller) {
  std::atomic<int> done{0};
  std::array<char, 65536> from{}, to{};
  fill_operation fill;
  fill.destination = to.data();
  fill.width = 4;
  const auto event = std::make_shared<event_state>();
  const auto kernel = [&](engine& e, stream_id s) { e.submit(s, mark(done)); };
  const auto out = [&](engine& e, stream_id s) {
    e.submit(s, copy(to.data(), from.data(), 4, copy_direction::device_to_host));
  };
  EXPECT_EQ(calls_that_return([&](engine& e, stream_id s, int) { kernel(e, s); }, 1021), 1021);
  EXPECT_EQ(calls_that_return([&](engine& e, stream_id s, int) { out(e, s); }, 1021), 1021);
  // Small copies in and fills share the queue of the kernels; large copies in have their own.
  const auto turns = [&](std::size_t bytes) {
    return [&, bytes](engine& e, stream_id s, int i) {
      if (i % 2 == 0) {
        e.submit(s, fill);
      } else {
        e.submit(s, copy(to.data(), from.data(), bytes));
      }
    };
  };
  EXPECT_EQ(calls_that_return(turns(4), 1021), 1021);
  EXPECT_EQ(calls_that_return(turns(65536), 2042), 2042);
  // Records take no entry.
  EXPECT_EQ(calls_that_return(
                [&](engine& e, stream_id s, int i) {
                  if (i % 2 == 0) {
                    kernel(e, s);
                  } else {
                    e.submit(s, record_operation{event});
                  }
                },
                2042),
            2042);
}

TEST(streams, many_host_threads_submit_at_once) {
  engine_test t;
  std::atomic<int> done{0};
  std::vector<std::thread> threads;
  for (int i = 0; i < 8; ++i) {
    threads.emplace_back([&] {
      for (int round = 0; round < 10; ++round) {
        const stream_id s = t.stream();
        auto event = std::make_shared<event_state>();
        int from = round, to = -1;
        t.e.submit(s, mark(done));
        t.e.submit(s, copy(&to, &from, sizeof to));
        const command_id r = t.e.submit(s, record_operation{event});
        t.e.submit(s, host_operation{[&](status) { ++done; }});
        if (round % 2 == 0) t.e.synchronize(one_command(r), first_device);
        EXPECT_EQ(t.e.synchronize(whole_stream(s), first_device), status::success);
        EXPECT_EQ(to, round);
        t.e.destroy_stream(s);
      }
    });
  }
  for (auto& thread : threads) thread.join();
  EXPECT_EQ(done, 160);
}

TEST(streams, of_two_devices_do_not_wait_for_each_other) {
  engine_test t(options_for_tests(2));
  const device_id second{1};
  const stream_id a = t.e.legacy_stream(first_device), b = t.e.legacy_stream(second);
  gate g;
  std::atomic<int> done{0};
  t.e.submit(a, g.operation());
  t.e.submit(b, mark(done));
  EXPECT_EQ(t.e.synchronize(whole_device(second), second), status::success);
  EXPECT_EQ(done, 1);
  auto event = std::make_shared<event_state>();
  const command_id r = t.e.submit(a, record_operation{event});
  t.e.submit(b, wait_operation{r});
  t.e.submit(b, mark(done));
  EXPECT_FALSE(t.e.idle(b));
  g.open();
  EXPECT_EQ(t.e.synchronize(whole_device(second), second), status::success);
  EXPECT_EQ(done, 2);
  EXPECT_EQ(t.sync(), status::success);
}

TEST(engine, drops_pending_work_at_its_end) {
  std::atomic<int> done{0};
  gate g;
  {
    engine_test t;
    const stream_id s = t.stream();
    t.e.submit(s, g.operation());
    t.e.submit(s, mark(done));
    t.e.submit(s, host_operation{[&](status) { ++done; }});
    g.wait_until_reached();
  }
  EXPECT_EQ(done, 0);
}

}  // namespace
}  // namespace sb::engine::testing
