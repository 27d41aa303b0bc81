#include "sample_traces.hpp"

#include <algorithm>
#include <array>
#include <string>

namespace sb::testing {
namespace {

using trace::engine_kind;
using trace::nanoseconds;
using trace::number;
using trace::operation;
using trace::operation_kind;
using trace::wait_cause;

constexpr nanoseconds us = 1000;

trace::stream stream_of(stream_kind kind, number connection) {
  trace::stream out;
  out.device = 0;
  out.kind = kind;
  out.connection = connection;
  return out;
}

trace::trace one_device(std::string program) {
  trace::trace out;
  out.head = {.version = 1,
              .clock = trace::clock_kind::modelled,
              .deterministic = true,
              .end = trace::ending::complete,
              .program = std::move(program),
              .profile = "h200"};
  out.devices.push_back({.name = "NVIDIA H200", .multiprocessors = 132});
  out.threads.push_back({});
  out.streams.push_back(stream_of(stream_kind::legacy, trace::none));
  return out;
}

class builder {
 public:
  explicit builder(trace::trace& out) : out_(out) {}

  number name(const std::string& text) {
    const auto at = std::find(out_.names.begin(), out_.names.end(), text);
    if (at != out_.names.end()) return static_cast<number>(at - out_.names.begin());
    out_.names.push_back(text);
    return static_cast<number>(out_.names.size() - 1);
  }

  number call(const std::string& name, std::uint32_t line, nanoseconds length,
              nanoseconds blocked = 0, number on = trace::none) {
    number place = 0;  // each line once
    while (place < out_.places.size() && out_.places[place].line != line) ++place;
    if (place == out_.places.size()) out_.places.push_back({"three_way.cu", line});
    out_.calls.push_back({.thread = 0,
                          .name = name,
                          .place = place,
                          .begin = host_,
                          .end = host_ + length,
                          .blocked = blocked,
                          .blocked_on = on});
    host_ += length + 500;
    return static_cast<number>(out_.calls.size() - 1);
  }

  number add(operation what, number call, nanoseconds started, nanoseconds ended) {
    what.call = call;
    what.device = 0;
    what.called = out_.calls[call].begin;
    what.queued = out_.calls[call].end;
    what.ready = std::min(started, std::max(what.queued, ready_));
    what.started = started;
    what.ended = ended;
    for (trace::edge& edge : what.waits) {
      if (edge.from != trace::none) edge.until = out_.operations[edge.from].ended;
    }
    out_.operations.push_back(std::move(what));
    return static_cast<number>(out_.operations.size() - 1);
  }

  nanoseconds host_ = 10 * us;
  nanoseconds ready_ = 0;

 private:
  trace::trace& out_;
};

operation copy(copy_direction direction, number stream, std::uint64_t bytes) {
  operation out;
  out.kind = operation_kind::copy;
  out.direction = direction;
  out.engine = direction == copy_direction::host_to_device ? engine_kind::host_to_device
                                                           : engine_kind::device_to_host;
  out.host_memory = trace::memory_kind::pinned;
  out.stream = stream;
  out.bytes = bytes;
  return out;
}

operation kernel(number name, number stream) {
  operation out;
  out.kind = operation_kind::kernel;
  out.engine = engine_kind::multiprocessors;
  out.name = name;
  out.stream = stream;
  out.grid[0] = 1056;
  out.block[0] = 256;
  out.registers = 32;
  return out;
}

trace::edge after(number from, wait_cause cause) { return {.from = from, .cause = cause}; }

}  // namespace

trace::trace small_trace() {
  trace::trace out = one_device("three_way");
  for (number i = 0; i < 3; ++i) out.streams.push_back(stream_of(stream_kind::blocking, i));
  out.streams[2].priority = -1;
  out.streams[3].kind = stream_kind::non_blocking;
  out.streams[3].name = "download";
  builder make(out);
  const number scale = make.name("scale(float*, int)");
  const number sum = make.name("void sum<float, 256>(float const*, float*, int)");
  const number done = make.name("on_done(void*)");
  constexpr std::uint64_t mebibytes = 4 << 20;

  for (number i = 0; i < 2; ++i)
    out.allocations.push_back({.device = 0, .bytes = mebibytes, .from = us});

  // Streams 1 and 2: copy, kernel, copy. The copies share one engine per direction.
  std::array<number, 3> in{}, run{};
  for (number s = 1; s <= 2; ++s) {
    const number c = make.call("cudaMemcpyAsync", 31, 2 * us);
    operation what = copy(copy_direction::host_to_device, s, mebibytes);
    if (s == 2) what.waits.push_back(after(in[1], wait_cause::engine_busy));
    in[s] = make.add(std::move(what), c, (s == 1 ? 15 : 95) * us, (s == 1 ? 95 : 175) * us);
  }
  for (number s = 1; s <= 2; ++s) {
    const number c = make.call("cudaLaunchKernel", 32, 3 * us);
    operation what = kernel(scale, s);
    what.ranges.push_back({s - 1, 0, mebibytes, trace::access::read_write, false});
    what.waits.push_back(after(in[s], wait_cause::stream_order));
    if (s == 2) what.waits.push_back(after(run[1], wait_cause::device_full));
    run[s] = make.add(std::move(what), c, (s == 1 ? 97 : 217) * us, (s == 1 ? 217 : 337) * us);
  }
  {
    operation record;
    record.kind = operation_kind::event_record;
    record.stream = 2;
    record.event = 0;
    record.waits.push_back(after(run[2], wait_cause::stream_order));
    const number recorded =
        make.add(std::move(record), make.call("cudaEventRecord", 34, us), 337 * us, 337 * us);
    operation wait;
    wait.kind = operation_kind::event_wait;
    wait.stream = 3;
    wait.event = 0;
    wait.record = recorded;
    wait.waits.push_back(after(recorded, wait_cause::event));
    const number waited =
        make.add(std::move(wait), make.call("cudaStreamWaitEvent", 35, us), 337 * us, 337 * us);
    operation total = kernel(sum, 3);
    total.shared_bytes = 1024;
    total.waits.push_back(after(waited, wait_cause::stream_order));
    const number summed =
        make.add(std::move(total), make.call("cudaLaunchKernel", 36, 3 * us), 340 * us, 380 * us);
    operation back = copy(copy_direction::device_to_host, 3, 64 << 10);
    back.host_memory = trace::memory_kind::pageable;
    back.waits.push_back(after(summed, wait_cause::stream_order));
    const number copied =
        make.add(std::move(back), make.call("cudaMemcpyAsync", 37, 2 * us), 384 * us, 392 * us);
    operation function;
    function.kind = operation_kind::host_function;
    function.engine = engine_kind::host;
    function.stream = 3;
    function.name = done;
    function.waits.push_back(after(copied, wait_cause::stream_order));
    const number called =
        make.add(std::move(function), make.call("cudaLaunchHostFunc", 38, us), 396 * us, 401 * us);
    const nanoseconds now = make.host_;
    make.call("cudaDeviceSynchronize", 40, 405 * us - now, 403 * us - now, called);
  }
  trace::annotation range;
  range.thread = 0;
  range.domain = "app";
  range.text = "step 0";
  range.colour = 0xff4477aa;
  range.begin = 9 * us;
  range.end = 406 * us;
  out.annotations.push_back(range);
  out.end = 410 * us;
  return out;
}

tools::timeline_notes small_notes() {
  tools::timeline_notes notes;
  notes.words = {"copies host to device ran",
                 "kernels ran",
                 "copies device to host ran",
                 "host functions ran",
                 "the host was inside calls of the runtime",
                 "operations were being started by the device"};
  const auto step = [&](number operation, nanoseconds from, nanoseconds to, tools::bar_kind bar,
                        number words) {
    notes.path.push_back(
        {.operation = operation, .from = from * us, .to = to * us, .bar = bar, .words = words});
  };
  step(trace::none, 0, 15, tools::bar_kind::call, 4);
  notes.path.back().call = 0;
  step(0, 15, 95, tools::bar_kind::to_device, 0);
  step(2, 95, 97, tools::bar_kind::other, 5);
  step(2, 97, 217, tools::bar_kind::kernel, 1);
  step(3, 217, 337, tools::bar_kind::kernel, 1);
  step(6, 337, 340, tools::bar_kind::other, 5);
  step(6, 340, 380, tools::bar_kind::kernel, 1);
  step(7, 380, 384, tools::bar_kind::other, 5);
  step(7, 384, 392, tools::bar_kind::to_host, 2);
  step(8, 392, 396, tools::bar_kind::other, 5);
  step(8, 396, 401, tools::bar_kind::host_function, 3);
  step(trace::none, 401, 410, tools::bar_kind::call, 4);
  notes.path.back().call = 9;
  notes.parts = {{.time = 280 * us, .words = 1, .places = {1}},
                 {.time = 80 * us, .words = 0, .places = {0}},
                 {.time = 24 * us, .words = 4},
                 {.time = 13 * us, .words = 5}};
  notes.findings = {
      {.title = "Kernels fill the device",
       .detail = "scale on stream 2 waited 42.0 us for scale on stream 1.",
       .advice = "Use fewer blocks, or one larger kernel.",
       .cost = 42 * us,
       .from = 175 * us,
       .to = 337 * us,
       .operations = {2, 3},
       .places = {1}},
      {.title = "Copy from pageable memory",
       .detail = "A copy of 64 KiB to pageable memory cannot overlap.",
       .evidence = {"8.00 us for 64 KiB"},
       .advice = "Allocate it with cudaMallocHost.",
       .cost = 4 * us,
       .from = 384 * us,
       .to = 392 * us,
       .operations = {7},
       .places = {5}},
  };
  return notes;
}

trace::trace large_trace(std::size_t operations) {
  trace::trace out = one_device("many");
  constexpr number streams = 16;
  for (number i = 0; i < streams; ++i)
    out.streams.push_back(stream_of(stream_kind::blocking, i % 8));
  builder make(out);
  std::array<number, 5> names{};
  for (std::size_t i = 0; i < names.size(); ++i) {
    names[i] = make.name("layer" + std::to_string(i) + "(float*)");
  }
  out.places.push_back({"many.cu", 12});
  out.calls.reserve(operations);
  out.operations.reserve(operations);
  std::array<nanoseconds, streams + 1> stream_end{};
  std::array<number, streams + 1> last{};
  last.fill(trace::none);
  std::array<nanoseconds, 3> engine_end{};  // to device, to host, and kernels' fourth last
  std::array<nanoseconds, 4> kernel_end{};
  nanoseconds host = 0;
  for (std::size_t i = 0; i < operations; ++i) {
    const number stream = 1 + static_cast<number>((i / 3) % streams);
    const std::size_t step = i % 3;
    out.calls.push_back({.thread = 0,
                         .name = step == 1 ? "cudaLaunchKernel" : "cudaMemcpyAsync",
                         .place = 0,
                         .begin = host,
                         .end = host + 1800});
    operation what = step == 0   ? copy(copy_direction::host_to_device, stream, 65536)
                     : step == 1 ? kernel(names[i / 3 % names.size()], stream)
                                 : copy(copy_direction::device_to_host, stream, 65536);
    what.call = static_cast<number>(i);
    what.device = 0;
    what.called = host;
    what.queued = what.ready = host + 1800;
    nanoseconds& engine =
        step == 1 ? *std::min_element(kernel_end.begin(), kernel_end.end()) : engine_end[step / 2];
    if (last[stream] != trace::none) {
      what.ready = std::max(what.ready, stream_end[stream]);
      what.waits.push_back(
          {.from = last[stream], .cause = wait_cause::stream_order, .until = stream_end[stream]});
    }
    what.started = std::max(what.ready, engine);
    const nanoseconds length = step == 1 ? 6000 + (i * 7919) % 9000 : 1500 + (i * 104729) % 1200;
    what.ended = what.started + length;
    engine = stream_end[stream] = what.ended;
    last[stream] = static_cast<number>(i);
    out.end = std::max(out.end, what.ended);
    out.operations.push_back(std::move(what));
    host += 2300;
  }
  out.end = std::max(out.end, host);
  return out;
}

trace::trace hung_trace() {
  trace::trace out = one_device("hang");
  out.head.end = trace::ending::hung;
  out.streams.push_back(stream_of(stream_kind::blocking, 0));
  builder make(out);
  const number spin = make.name("spin(int volatile*)");
  make.add(kernel(spin, 1), make.call("cudaLaunchKernel", 10, 3 * us), 20 * us, trace::never);
  for (int i = 0; i < 6; ++i) {
    operation stuck = kernel(spin, 1);
    stuck.waits.push_back({.from = 0, .cause = wait_cause::stream_order, .until = trace::never});
    make.add(std::move(stuck), make.call("cudaLaunchKernel", 11, 3 * us), trace::never,
             trace::never);
    out.operations.back().ready = trace::never;
  }
  make.call("cudaDeviceSynchronize", 12, 60 * us, 60 * us);
  out.end = 100 * us;
  out.calls.back().end = out.end;
  out.calls.back().returned = false;
  return out;
}

}  // namespace sb::testing
