// Traces for tests: made up from a seed, with every part of the model in them.
#pragma once

#include <random>
#include <string>

#include "trace/trace.hpp"

namespace sb::trace::testing {

struct sample_size {
  number operations = 40;
  number calls = 30;
};

inline trace sample(unsigned seed, sample_size size = {}) {
  std::mt19937 random(seed);
  const auto below = [&](std::uint64_t limit) { return random() % limit; };
  const auto maybe = [&](number count) {
    return below(4) ? static_cast<number>(below(count)) : none;
  };
  trace made;
  made.head.version = 1;
  made.head.clock = clock_kind::modelled;
  made.head.deterministic = below(2) != 0;
  made.head.end = below(4) ? ending::complete : ending::hung;
  made.head.connections = 8;
  made.head.host_bytes = std::uint64_t{64} << 30;
  made.head.program = "sample";
  made.head.profile = "h200";
  made.names = {"scale",
                "reduce<float>(float*, int)",
                "cudaLaunchKernel",
                "a.cu",
                "b \"quoted\".cu",
                "main",
                "NVIDIA H200",
                "copies",
                "training",
                "cudaMemcpyAsync"};
  for (int i = 0; i < 2; ++i)
    made.devices.push_back(
        {"NVIDIA H200", 132, 2048, 32, 233472, 65536, 1024, 128, 3, {2500, 55500}, {1300, 55400}});
  for (number i = 0; i < 4; ++i) {
    stream one;
    one.device = i % 2;
    one.kind = i == 0   ? stream_kind::legacy
               : i == 1 ? stream_kind::blocking
                        : stream_kind::non_blocking;
    one.per_thread = i == 1;
    one.priority = i == 3 ? -5 : 0;
    one.connection = i == 0 ? none : i;
    one.name = i == 2 ? "copies" : "";
    made.streams.push_back(one);
  }
  made.threads = {{"main"}, {""}};
  made.places = {{"a.cu", 12}, {"b \"quoted\".cu", 70000}, {"a.cu", 13}};
  for (number i = 0; i < 5; ++i) {
    allocation one;
    one.kind = static_cast<memory_kind>(below(4));
    one.device = one.kind == memory_kind::device ? static_cast<number>(below(2)) : none;
    one.bytes = std::uint64_t{1} << below(40);
    one.from = below(1000);
    one.to = below(2) ? 1'000'000 + below(1000) : 0;
    one.allocated_by = maybe(size.calls);
    one.freed_by = one.to ? maybe(size.calls) : none;
    made.allocations.push_back(one);
  }
  nanoseconds now = 1000;
  for (number i = 0; i < size.calls; ++i) {
    call one;
    one.thread = static_cast<number>(below(2));
    one.name = below(2) ? "cudaLaunchKernel" : "cudaMemcpyAsync";
    one.place = maybe(3);
    one.begin = now += below(5000);
    one.end = one.begin + below(100'000);
    if (below(2)) one.blocked = below(one.end - one.begin + 1);
    if (one.blocked) one.blocked_on = maybe(size.operations);
    if (below(8) == 0) one.status = 600;
    made.calls.push_back(one);
  }
  now = 1000;
  for (number i = 0; i < size.operations; ++i) {
    operation op;
    op.kind = static_cast<operation_kind>(below(12));
    op.engine = static_cast<engine_kind>(below(6));
    op.in_graph = below(8) == 0;
    op.priority = below(8) ? 0 : -3;
    op.stream = static_cast<number>(below(4));
    op.device = op.stream % 2;
    op.call = maybe(size.calls);
    op.called = now += below(3000);
    op.queued = op.called + below(2000);
    if (op.kind == operation_kind::kernel) {
      op.name = static_cast<number>(below(2));
      op.cooperative = below(8) == 0;
      op.first_use = below(8) == 0;
      op.grid[0] = below(2) ? 1024 : 7;
      op.block[0] = 256;
      op.block[1] = below(8) ? 1 : 4;
      op.shared_bytes = below(2) ? 0 : 49152;
      op.registers = 32;
    }
    if (op.kind == operation_kind::copy) {
      op.direction = static_cast<copy_direction>(below(5));
      op.host_memory = static_cast<memory_kind>(below(4));
      op.bytes = below(1 << 30);
      if (op.direction == copy_direction::peer) op.peer = 1 - op.device;
    }
    if (op.kind == operation_kind::event_wait && i > 0) op.record = static_cast<number>(below(i));
    if (op.kind == operation_kind::event_record) op.event = static_cast<number>(below(9));
    if (op.in_graph) op.graph = static_cast<number>(below(3));
    for (std::uint64_t n = i > 0 ? below(3) : 0; n > 0; --n)
      op.after.push_back(static_cast<number>(below(i)));
    for (std::uint64_t n = below(4); n > 0; --n) {
      op.ranges.push_back({maybe(5), below(1 << 20), below(1 << 30),
                           static_cast<access>(1 + below(3)), below(2) != 0});
    }
    if (below(10)) {  // the others never come up
      op.ready = op.queued + below(1000);
      op.started = op.ready + below(1000);
      if (below(10)) op.ended = op.started + below(1'000'000);
      if (below(20) == 0) op.status = static_cast<std::int32_t>(below(1000));
      if (op.kind == operation_kind::kernel)
        op.needs = {1 + below(1'000'000), 7575, static_cast<std::uint32_t>(below(9999))};
      if (op.kind == operation_kind::kernel && op.ended == never)
        op.left = {1 + below(300), below(2000), below(200)};
      if (below(4))
        op.queue = {static_cast<queue_class>(below(3)), static_cast<std::uint8_t>(below(32))};
      nanoseconds until = op.queued;
      for (std::uint64_t n = below(4); n > 0; --n) {
        edge wait;
        wait.cause = static_cast<wait_cause>(below(10));
        if (wait.cause == wait_cause::host_call)
          wait.call = static_cast<number>(below(size.calls));
        else if (i > 0)
          wait.from = static_cast<number>(below(i));
        wait.until = until += below(300);
        op.waits.push_back(wait);
      }
    }
    made.operations.push_back(std::move(op));
  }
  for (int i = 0; i < 4; ++i) {
    annotation one;
    one.what = i == 3 ? annotation::shape::mark : annotation::shape::range;
    one.thread = static_cast<number>(below(2));
    one.domain = i == 1 ? "training" : "";
    one.text = "scale";
    one.colour = i == 2 ? 0xff76b900 : 0;
    one.begin = below(1'000'000);
    one.end = i == 3 ? one.begin : i == 0 ? never : one.begin + below(1000);
    made.annotations.push_back(one);
  }
  made.thread_waits = {{1, 0, 5'000, 5'000},
                       {0, 1, below(9'000), 9'000 + below(1'000'000), awaited::lock},
                       {.thread = 1,
                        .begin = below(9'000),
                        .end = 9'000 + below(1'000'000),
                        .what = awaited::condition,
                        .function = 2}};
  made.stuck = {
      {.thread = 1, .what = awaited::lock, .object = 3, .holding_function = 2},
      {.function = 2, .what = awaited::memory, .holder = 0},
      {.thread = 0, .what = awaited::lock, .object = 1, .holder = 1, .holder_ended = true}};
  made.end = 10'000'000;
  return made;
}

}  // namespace sb::trace::testing
