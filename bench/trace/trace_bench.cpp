// What recording costs an operation, in time and bytes, and how long a million takes to read.
// The counters: ns and bytes for each operation; the limits are 80 and 64.
#include <benchmark/benchmark.h>

#include <cstdio>
#include <filesystem>
#include <string>

#include "trace/reader.hpp"
#include "trace/writer.hpp"

namespace {

using namespace sb::trace;

std::string file_for(const char* name) {
  return (std::filesystem::temp_directory_path() / (std::string("trace_bench_") + name)).string();
}

enum class record_what { nothing, operation, operation_and_call };

// Four streams in turn: a copy to the device, a kernel with three arrays, a copy back; each waits
// for the one before it in its stream and for an engine.
class program {
 public:
  explicit program(const std::string& path) : path_(path) {
    header head;
    head.program = "bench";
    out_ = std::move(*writer::open(path, head, existing_file::replace));
    out_->device({"NVIDIA H200", 132, 2048, 32, 233472, 65536, 1024, 128, 3});
    for (number i = 0; i < 4; ++i)
      out_->stream({0, sb::stream_kind::non_blocking, false, 0, i, ""});
    for (number i = 0; i < 3; ++i) out_->allocated(memory_kind::device, 0, 64 << 20, 0, none);
    out_->thread("main");
    kernel_ = out_->name("kernel");
    call_ = out_->name("cudaLaunchKernel");
    place_ = out_->place("program.cu", 17);
  }
  ~program() {
    out_.reset();
    std::remove(path_.c_str());
  }

  void operation(record_what what) {
    const number call = what == record_what::operation_and_call ? out_->begin_call() : none;
    random_ = random_ * 1664525 + 1013904223;
    now_ += 2000 + (random_ >> 20);
    submitted_record op;
    const number phase = count_ / 4 % 3;
    op.device = 0;
    op.stream = count_ % 4;
    op.call = call;
    op.called = now_;
    op.queued = now_ + 1500;
    byte_range ranges[3];
    const std::uint64_t chunk = (count_ % 16) << 20;
    for (number i = 0; i < 3; ++i) ranges[i] = {i, chunk, 1 << 20, access::read, phase != 1};
    if (phase == 1) {
      op.kind = operation_kind::kernel;
      op.engine = engine_kind::multiprocessors;
      op.name = kernel_;
      op.grid[0] = 1024;
      op.block[0] = 256;
      op.registers = 32;
      ranges[2].how = access::write;
      op.ranges = ranges;
    } else {
      op.kind = operation_kind::copy;
      op.engine = phase == 0 ? engine_kind::host_to_device : engine_kind::device_to_host;
      op.direction =
          phase == 0 ? sb::copy_direction::host_to_device : sb::copy_direction::device_to_host;
      op.host_memory = memory_kind::pinned;
      op.bytes = 1 << 20;
      op.ranges = {ranges, 2};
    }
    const number self = count_++;
    if (what == record_what::nothing) {
      benchmark::DoNotOptimize(op);
      benchmark::DoNotOptimize(ranges);
    } else {
      out_->submitted(op);
    }
    if (self >= 16) finish(self - 16, what);
    if (what == record_what::operation_and_call) {
      call_record done;
      done.thread = 0;
      done.name = call_;
      done.place = place_;
      done.begin = op.called;
      done.end = op.called + 2100;
      out_->returned(call, done);
    }
  }

  void finish(number self, record_what what) {
    const nanoseconds ready = now_ - 90'000 + (random_ >> 16 & 4095), started = ready + 30'000,
                      ended = started + 40'000 + (random_ >> 18);
    const edge waits[2] = {{self >= 4 ? self - 4 : none, none, wait_cause::stream_order, ready},
                           {self >= 1 ? self - 1 : none, none, wait_cause::engine_busy, started}};
    const finished_record done{ready, started, ended, waits};
    if (what == record_what::nothing) {
      benchmark::DoNotOptimize(done);
      benchmark::DoNotOptimize(waits);
    } else {
      out_->finished(self, done);
    }
  }

  writer& out() { return *out_; }
  [[nodiscard]] nanoseconds now() const { return now_; }
  [[nodiscard]] number count() const { return count_; }

 private:
  std::string path_;
  std::unique_ptr<writer> out_;
  number kernel_ = none, call_ = none, place_ = none, count_ = 0;
  nanoseconds now_ = 1'000'000;
  std::uint32_t random_ = 1;
};

// A file of some size is begun again, so that a long measurement fills no disk.
constexpr number file_operations = 1'000'000;

void record(benchmark::State& state, record_what what) {
  auto run = std::make_unique<program>(file_for("write"));
  double bytes = 0, operations = 0;
  for (auto _ : state) {
    run->operation(what);
    if (run->count() == file_operations) {
      state.PauseTiming();
      bytes += static_cast<double>(run->out().bytes());
      operations += run->count();
      run.reset();
      run = std::make_unique<program>(file_for("write"));
      state.ResumeTiming();
    }
  }
  bytes += static_cast<double>(run->out().bytes());
  operations += run->count();
  state.counters["bytes_per_operation"] = bytes / operations;
}
// What the benchmark itself takes to fill the records; the others have it in them.
void operation_prepared(benchmark::State& state) { record(state, record_what::nothing); }
void operation_recorded(benchmark::State& state) { record(state, record_what::operation); }
void operation_and_its_call_recorded(benchmark::State& state) {
  record(state, record_what::operation_and_call);
}
BENCHMARK(operation_prepared);
BENCHMARK(operation_recorded);
BENCHMARK(operation_and_its_call_recorded);

void a_million_operations_read(benchmark::State& state) {
  const std::string path = file_for("read");
  program run(path);
  for (number i = 0; i < 1'000'000; ++i) run.operation(record_what::operation_and_call);
  run.out().close(ending::complete, true, run.now());
  for (auto _ : state) {
    const auto read = read_trace(path);
    if (!read || read->operations.size() != 1'000'000) state.SkipWithError("not read");
    benchmark::DoNotOptimize(read);
  }
}
BENCHMARK(a_million_operations_read)->Unit(benchmark::kMillisecond);

}  // namespace
