// What the scheduler costs: nanoseconds per operation from submit to completion, and memory per
// pending command. The first argument is the number of streams.
#include <benchmark/benchmark.h>

#include <vector>

#include "sched/scheduler.hpp"

namespace {

using namespace sb;
using sched::action_kind;

struct bed {
  sched::scheduler s{{.devices = {{}}, .connections = 8}};
  std::vector<stream_id> streams;

  bed(std::int64_t count, stream_kind kind) {
    for (std::int64_t i = 0; i < count; ++i) {
      streams.push_back(s.create_stream({0}, kind, 0));
    }
  }

  // Does at once whatever the scheduler asks for.
  void run() {
    static thread_local std::vector<sched::action> now;
    while (!s.actions().empty()) {
      now.assign(s.actions().begin(), s.actions().end());
      s.clear_actions();
      for (const sched::action& a : now) {
        if (a.kind == action_kind::grant) {
          s.blocks_done(a.id, a.count);
        } else if (a.kind == action_kind::start && a.payload == 0) {
          s.complete(a.id);
        }
      }
    }
  }
};

command of_kind(command_kind kind, stream_id stream) {
  command c;
  c.kind = kind;
  c.stream = stream;
  c.payload = kind == command_kind::kernel ? 1 : 0;
  return c;
}

// One operation after the other, each in the next stream.
void submit_and_complete(benchmark::State& state, command_kind kind, stream_kind streams) {
  bed b(state.range(0), streams);
  std::size_t next = 0;
  for (auto _ : state) {
    b.s.submit(of_kind(kind, b.streams[next]));
    b.run();
    next = next + 1 == b.streams.size() ? 0 : next + 1;
  }
  state.SetItemsProcessed(state.iterations());
}

// A million operations behind a gate in every stream, then all of them run.
void drain_a_million(benchmark::State& state, command_kind kind) {
  constexpr std::int64_t pending = 1'000'000;
  double bytes = 0;
  for (auto _ : state) {
    state.PauseTiming();
    bed b(state.range(0), stream_kind::non_blocking);
    const std::size_t empty = b.s.memory_bytes();
    const stream_id gate = b.s.create_stream({0}, stream_kind::non_blocking, 0);
    const command_id held = b.s.submit(of_kind(command_kind::kernel, gate));
    const command_id record = b.s.submit(of_kind(command_kind::event_record, gate));
    for (const stream_id s : b.streams) {
      command wait = of_kind(command_kind::event_wait, s);
      wait.record = record;
      b.s.submit(wait);
    }
    b.s.clear_actions();
    state.ResumeTiming();
    for (std::int64_t i = 0; i < pending; ++i) {
      b.s.submit(of_kind(kind, b.streams[i % b.streams.size()]));
    }
    bytes = static_cast<double>(b.s.memory_bytes() - empty) / pending;
    b.s.blocks_done(held, 1);
    b.run();
    state.PauseTiming();
    if (!b.s.idle(device_id{0})) {
      state.SkipWithError("not everything ran");
    }
    state.ResumeTiming();
  }
  state.SetItemsProcessed(state.iterations() * pending);
  state.counters["bytes_per_pending"] = bytes;
}

// A legacy kernel between rounds over blocking streams.
void legacy_between_rounds(benchmark::State& state) {
  bed b(state.range(0), stream_kind::blocking);
  const stream_id legacy = b.s.create_stream({0}, stream_kind::legacy, 0);
  for (auto _ : state) {
    for (const stream_id s : b.streams) {
      b.s.submit(of_kind(command_kind::kernel, s));
    }
    b.s.submit(of_kind(command_kind::kernel, legacy));
    b.run();
  }
  state.SetItemsProcessed(state.iterations() * (state.range(0) + 1));
}

// Record in one stream, wait in another.
void record_and_wait(benchmark::State& state) {
  bed b(state.range(0), stream_kind::non_blocking);
  std::size_t next = 0;
  for (auto _ : state) {
    const std::size_t other = next + 1 == b.streams.size() ? 0 : next + 1;
    b.s.submit(of_kind(command_kind::kernel, b.streams[next]));
    command wait = of_kind(command_kind::event_wait, b.streams[other]);
    wait.record = b.s.submit(of_kind(command_kind::event_record, b.streams[next]));
    b.s.submit(wait);
    b.s.submit(of_kind(command_kind::kernel, b.streams[other]));
    b.run();
    next = other;
  }
  state.SetItemsProcessed(state.iterations() * 4);
}

void wait_for_idle_device(benchmark::State& state) {
  bed b(state.range(0), stream_kind::blocking);
  for (auto _ : state) {
    b.s.submit(of_kind(command_kind::kernel, b.streams[0]));
    sched::wait_target target;
    target.device = {0};
    b.s.wait(target);
    b.run();
  }
}

BENCHMARK_CAPTURE(submit_and_complete, kernel, command_kind::kernel, stream_kind::non_blocking)
    ->Arg(1)
    ->Arg(100)
    ->Arg(10000);
BENCHMARK_CAPTURE(submit_and_complete, kernel_blocking, command_kind::kernel, stream_kind::blocking)
    ->Arg(1)
    ->Arg(100)
    ->Arg(10000);
BENCHMARK_CAPTURE(submit_and_complete, copy, command_kind::copy, stream_kind::non_blocking)
    ->Arg(1)
    ->Arg(100)
    ->Arg(10000);
BENCHMARK_CAPTURE(submit_and_complete, record, command_kind::event_record,
                  stream_kind::non_blocking)
    ->Arg(1)
    ->Arg(10000);
BENCHMARK_CAPTURE(drain_a_million, kernel, command_kind::kernel)
    ->Arg(1)
    ->Arg(100)
    ->Arg(10000)
    ->Unit(benchmark::kMillisecond);
BENCHMARK_CAPTURE(drain_a_million, copy, command_kind::copy)
    ->Arg(10000)
    ->Unit(benchmark::kMillisecond);
BENCHMARK(legacy_between_rounds)->Arg(1)->Arg(100)->Arg(10000);
BENCHMARK(record_and_wait)->Arg(2)->Arg(10000);
BENCHMARK(wait_for_idle_device)->Arg(1)->Arg(10000);

}  // namespace
