// What a trace has of work that was done within its call.
#include <gmock/gmock.h>
#include <gtest/gtest.h>

#include <array>
#include <atomic>
#include <chrono>
#include <cstdlib>
#include <filesystem>
#include <thread>
#include <vector>

#include "engine/recorded_call.hpp"
#include "kernels.hpp"
#include "trace/reader.hpp"

namespace sb::engine::testing {
namespace {

using trace::operation_kind;

// One of the grids has two blocks.
void add_one(const char* p, thread_context*) {
  std::atomic_ref(*params_of<int*>(p)).fetch_add(1, std::memory_order_relaxed);
}

const abi::param pointer_params[] = {
    {0, sizeof(void*), abi::param_is_pointer | abi::param_is_read | abi::param_is_written}};

abi::kernel_info straight(const char* name) {
  abi::kernel_info info = loop_kernel(add_one, name);
  info.is_straight = 1;
  info.params = pointer_params;
  info.param_count = 1;
  info.param_bytes = sizeof(void*);
  return info;
}
const abi::kernel_info counts = straight("counts");

engine_options recorded_options(const std::string& path) {
  setenv("STREAMBED_TRACE", path.c_str(), 1);
  engine_options o = options_for_tests();
  o.record = true;
  o.at_once_ns = 1'000'000'000;
  return o;
}

// As the border does it.
template <class Body>
void call(engine& e, const char* name, Body&& body) {
  recorded_thread& self = recorded_thread::own();
  e.call(self, name);
  e.call_place(self, "program.cu", 7);
  body();
  e.end_call(self, 0);
}

TEST(recorder, work_within_calls_is_recorded_with_them) {
  const std::string path = (std::filesystem::temp_directory_path() /
                            ("recorder_test_" + std::to_string(getpid()) + ".sbt"))
                               .string();
  constexpr int rounds = 100;
  int number = 0, other = 0, copied = 0, alike = 0;
  {
    engine_test t(recorded_options(path));
    unsetenv("STREAMBED_TRACE");
    const stream_id s = t.stream(), free = t.stream();
    const auto event = std::make_shared<event_state>();
    t.e.submit(s, launch(counts, {1}, {1}, &number));  // what it takes gets known
    EXPECT_EQ(t.sync(), status::success);
    const auto at_once = [&](stream_id in, extent3 grid, int* what) {
      const kernel_operation k = launch(counts, grid, {1}, what);
      // A worker may still hold the engine's lock for what was before.
      while (!t.e.launch_at_once(in, k)) std::this_thread::yield();
    };
    for (int i = 0; i < rounds; ++i) {
      call(t.e, "launch", [&] { at_once(s, {1}, &number); });
      call(t.e, "launch", [&] { at_once(free, {2}, i == 50 ? &other : &number); });
      call(t.e, "record", [&] { t.e.submit(s, record_operation{event}); });
      call(t.e, "wait", [&] { t.e.idle_wait(free, *event); });
      call(t.e, "copy", [&] {
        copy_operation c;
        c.destination = i == 60 ? &alike : &copied;
        c.source = &number;
        c.width = i == 70 ? 2 : sizeof number;
        t.e.submit(s, std::move(c));
      });
    }
  }
  EXPECT_EQ(number, 1 + 3 * rounds - 2);
  EXPECT_EQ(other, 2);
  EXPECT_EQ(copied, number);

  const auto found = trace::read_trace(path);
  std::filesystem::remove(path);
  ASSERT_TRUE(found) << found.message();
  const trace::trace& t = *found;
  ASSERT_EQ(t.calls.size(), 5u * rounds);
  ASSERT_EQ(t.operations.size(), 1u + 5 * rounds);
  const operation_kind kinds[] = {operation_kind::kernel, operation_kind::kernel,
                                  operation_kind::event_record, operation_kind::event_wait,
                                  operation_kind::copy};
  for (trace::number i = 0; i < 5u * rounds; ++i) {
    const trace::operation& o = t.operations[i + 1];
    const trace::call& by = t.calls[i];
    EXPECT_EQ(o.kind, kinds[i % 5]);
    EXPECT_EQ(o.call, i);
    EXPECT_EQ(o.stream, t.operations[1 + i % 5 % 2].stream);
    EXPECT_EQ(o.called, by.begin);
    EXPECT_LE(o.called, o.started);
    EXPECT_LE(o.started, o.ended);
    EXPECT_LE(o.ended, by.end);
    EXPECT_TRUE(o.waits.empty());
    if (o.kind == operation_kind::kernel) {
      EXPECT_EQ(t.names[o.name], "counts");
      EXPECT_EQ(o.grid[0], i % 5 == 0 ? 1u : 2u);
    } else if (o.kind == operation_kind::copy) {
      EXPECT_EQ(o.bytes, i / 5 == 70 ? 2u : 4u);
      EXPECT_EQ(o.engine, trace::engine_kind::host_to_device);
    } else {
      EXPECT_EQ(o.event, 0u);
    }
    EXPECT_EQ(by.place, 0u);
  }
}

// In the default stream such a wait is work all the same.
TEST(recorder, a_wait_for_a_record_that_was_over_within_its_call_names_the_event) {
  const std::string path = (std::filesystem::temp_directory_path() /
                            ("recorder_wait_" + std::to_string(getpid()) + ".sbt"))
                               .string();
  {
    engine_test t(recorded_options(path));
    unsetenv("STREAMBED_TRACE");
    const stream_id s = t.stream(), other = t.stream();
    const auto first = std::make_shared<event_state>(), second = std::make_shared<event_state>();
    for (const auto& event : {first, second, second}) {
      call(t.e, "record", [&] { t.e.submit(s, record_operation{event}); });
      EXPECT_EQ(t.sync(), status::success);
      call(t.e, "wait", [&] {
        t.e.submit(other,
                   wait_operation{command_id{event->last_record.load()}, event->traced_as.load()});
      });
      EXPECT_EQ(t.sync(), status::success);
    }
  }
  const auto found = trace::read_trace(path);
  std::filesystem::remove(path);
  ASSERT_TRUE(found) << found.message();
  std::vector<trace::number> records, waits;
  for (const trace::operation& o : found->operations) {
    if (o.kind == operation_kind::event_record) records.push_back(o.event);
    if (o.kind != operation_kind::event_wait) continue;
    waits.push_back(o.event != trace::none ? o.event : found->operations[o.record].event);
  }
  EXPECT_THAT(records, ::testing::ElementsAre(0u, 1u, 1u));
  EXPECT_EQ(waits, records);
}

// What the engine's threads do is told by its call as well, unless anything of it is new.
TEST(recorder, work_that_is_handed_over_is_recorded_as_if_each_were_told_as_a_whole) {
  const std::string path = (std::filesystem::temp_directory_path() /
                            ("recorder_test_" + std::to_string(getpid()) + ".sbt"))
                               .string();
  constexpr int rounds = 200, threads = 3;
  std::array<int, threads> numbers{}, others{}, copied{};
  {
    engine_options options = recorded_options(path);
    options.at_once_ns = 0;
    engine_test t(options);
    unsetenv("STREAMBED_TRACE");
    std::array<stream_id, threads> streams;
    for (stream_id& s : streams) s = t.stream();
    std::vector<std::thread> all;
    for (int at = 0; at < threads; ++at)
      all.emplace_back([&, at] {
        const stream_id s = streams[at];
        const auto event = std::make_shared<event_state>();
        for (int i = 0; i < rounds; ++i) {
          call(t.e, "launch", [&] {
            t.e.submit(
                s, launch(counts, {i == 50 ? 2u : 1u}, {1}, i == 60 ? &others[at] : &numbers[at]));
          });
          call(t.e, "record", [&] { t.e.submit(s, record_operation{event}); });
          call(t.e, "wait",
               [&] { t.e.submit(s, wait_operation{command_id{event->last_record.load()}}); });
          call(t.e, "copy", [&] {
            copy_operation c;
            c.destination = &copied[at];
            c.source = &numbers[at];
            c.width = i == 70 ? 2 : sizeof(int);
            t.e.submit(s, std::move(c));
          });
        }
        call(t.e, "synchronize", [&] {
          sched::wait_target target;
          target.scope = sched::wait_scope::stream;
          target.stream = s;
          t.e.synchronize(target, {0});
        });
      });
    for (std::thread& one : all) one.join();
  }
  const auto found = trace::read_trace(path);
  std::filesystem::remove(path);
  ASSERT_TRUE(found) << found.message();
  const trace::trace& t = *found;
  constexpr std::size_t each = 4;
  ASSERT_EQ(t.operations.size(), each * rounds * threads);
  std::array<std::vector<trace::number>, threads> in_stream;
  for (trace::number i = 0; i < t.operations.size(); ++i)
    in_stream[t.operations[i].stream % threads].push_back(i);
  for (const auto& operations : in_stream) {
    ASSERT_EQ(operations.size(), each * rounds);
    for (std::size_t i = 0; i < operations.size(); ++i) {
      const trace::operation& o = t.operations[operations[i]];
      const operation_kind kinds[each] = {operation_kind::kernel, operation_kind::event_record,
                                          operation_kind::event_wait, operation_kind::copy};
      ASSERT_EQ(o.kind, kinds[i % each]) << i;
      EXPECT_EQ(t.calls[o.call].thread, t.calls[t.operations[operations[0]].call].thread);
      EXPECT_EQ(o.called, t.calls[o.call].begin);
      EXPECT_LE(o.ready, o.started);
      EXPECT_LE(o.started, o.ended);
      EXPECT_NE(o.ended, trace::never);
      if (i > 0) {
        EXPECT_GE(o.started, t.operations[operations[i - 1]].ended) << i;
      }
      for (const trace::edge& wait : o.waits) {
        if (wait.cause != trace::wait_cause::stream_order) continue;
        EXPECT_EQ(wait.from, operations[i - 1]);
        EXPECT_EQ(wait.until, t.operations[wait.from].ended);
      }
      if (o.kind == operation_kind::kernel) {
        EXPECT_EQ(t.names[o.name], "counts");
        EXPECT_EQ(o.grid[0], i / each == 50 ? 2u : 1u);
      } else if (o.kind == operation_kind::event_wait) {
        EXPECT_EQ(o.record, operations[i - 1]);
      } else if (o.kind == operation_kind::copy) {
        EXPECT_EQ(o.bytes, i / each == 70 ? 2u : 4u);
        EXPECT_EQ(o.engine, trace::engine_kind::host_to_device);
      }
    }
  }
}

// A call that waits for room, by looking for it or asleep, says how long and what had ended then.
TEST(recorder, calls_that_wait_for_room_say_so) {
  const std::string path = (std::filesystem::temp_directory_path() /
                            ("recorder_test_" + std::to_string(getpid()) + ".sbt"))
                               .string();
  constexpr int launches = 300;
  const abi::kernel_info busy = loop_kernel(
      [](const char*, thread_context*) {
        const auto end = std::chrono::steady_clock::now() + std::chrono::microseconds(20);
        while (std::chrono::steady_clock::now() < end) {
        }
      },
      "busy");
  {
    engine_options options = recorded_options(path);
    options.at_once_ns = 0;
    options.pending_entries = 2;
    engine_test t(options);
    unsetenv("STREAMBED_TRACE");
    const stream_id s = t.stream();
    for (int i = 0; i < launches; ++i)
      call(t.e, "launch", [&] { t.e.submit(s, launch(busy, {1}, {1}, i)); });
    EXPECT_EQ(t.sync(), status::success);
  }
  const auto found = trace::read_trace(path);
  std::filesystem::remove(path);
  ASSERT_TRUE(found) << found.message();
  int blocked = 0;
  for (const trace::operation& o : found->operations) {
    const trace::call& by = found->calls[o.call];
    EXPECT_LE(by.blocked, by.end - by.begin);
    // None: there was room when the first kernel had begun, before any was over.
    if (by.blocked == 0 || by.blocked_on == trace::none) continue;
    ++blocked;
    ASSERT_LT(by.blocked_on, found->operations.size());
    EXPECT_LE(found->operations[by.blocked_on].ended, by.end);
  }
  EXPECT_GT(blocked, 0);
}

// A thread that another recorder knew is a new one, and so are the places of its calls.
TEST(recorder, a_thread_and_its_places_belong_to_one_recording) {
  const std::string path = (std::filesystem::temp_directory_path() /
                            ("recorder_test_" + std::to_string(getpid()) + ".sbt"))
                               .string();
  for (int again = 0; again < 2; ++again) {
    {
      engine_test t(recorded_options(path));
      unsetenv("STREAMBED_TRACE");
      call(t.e, again == 0 ? "first" : "second", [] {});
    }
    const auto found = trace::read_trace(path);
    std::filesystem::remove(path);
    ASSERT_TRUE(found) << found.message();
    EXPECT_EQ(found->threads.size(), 1u);
    ASSERT_EQ(found->calls.size(), 1u);
    EXPECT_EQ(found->calls[0].name, again == 0 ? "first" : "second");
    ASSERT_EQ(found->places.size(), 1u);
    EXPECT_EQ(found->calls[0].place, 0u);
  }
}

}  // namespace
}  // namespace sb::engine::testing
