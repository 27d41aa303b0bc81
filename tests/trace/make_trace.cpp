// Writes traces for the tests of the command: make_trace KIND FILE
//
//   small     two copies, three kernels, a fill, annotations; one kernel that never started
//   complete  the same with an end
//   bytes     the same with texts that are not UTF-8
//   random    made up from a seed
//   large     600,000 operations
#include <cstdio>
#include <string_view>

#include "sample.hpp"
#include "trace/store.hpp"

namespace {

using namespace sb::trace;

operation at(operation_kind kind, engine_kind engine, number stream, nanoseconds started,
             nanoseconds ended) {
  operation op;
  op.kind = kind;
  op.engine = engine;
  op.device = 0;
  op.stream = stream;
  op.called = op.queued = op.ready = started >= 100 ? started - 100 : 0;
  op.started = started;
  op.ended = ended;
  return op;
}

trace small() {
  trace made;
  made.head.program = "small";
  made.head.clock = clock_kind::modelled;
  made.names = {"scale(float*, \"n\")", "reduce"};
  made.devices = {{"NVIDIA H200", 132, 2048, 32, 233472, 65536, 1024, 128, 3}};
  made.streams.resize(2);
  made.streams[0].device = made.streams[1].device = 0;
  made.streams[0].kind = sb::stream_kind::legacy;
  made.streams[1].name = "work";
  made.threads = {{"main"}};
  made.places = {{"small.cu", 12}};
  for (nanoseconds i = 0; i < 4; ++i) {
    call one;
    one.thread = 0;
    one.name = i < 3 ? "cudaLaunchKernel" : "cudaStreamSynchronize";
    one.place = 0;
    one.begin = 1000 * i;
    one.end = one.begin + 100 * (i + 1);
    made.calls.push_back(one);
  }
  operation copy = at(operation_kind::copy, engine_kind::host_to_device, 1, 1000, 3000);
  copy.host_memory = memory_kind::pinned;
  copy.bytes = 4'194'304;
  copy.queue = {sb::queue_class::host_to_device, 2};
  made.operations.push_back(copy);
  for (number i = 0; i < 3; ++i) {  // the first two overlap
    operation kernel = at(operation_kind::kernel, engine_kind::multiprocessors, i == 1 ? 0 : 1,
                          3000 + 500 * i, 5000 + 1500 * i);
    kernel.name = i == 2 ? 1 : 0;
    kernel.grid[0] = 1024;
    kernel.block[0] = 256;
    kernel.call = i;
    kernel.queue = {sb::queue_class::compute, static_cast<std::uint8_t>(i)};
    kernel.waits = {{i, none, i == 1 ? wait_cause::event : wait_cause::stream_order, 3000}};
    made.operations.push_back(kernel);
  }
  made.operations[3].started = made.operations[3].ended = never;
  operation fill = at(operation_kind::fill, engine_kind::multiprocessors, 1, 9000, 9500);
  fill.bytes = 1'000'000;
  made.operations.push_back(fill);
  annotation range;
  range.thread = 0;
  range.text = "step";
  range.begin = 500;
  range.end = 2500;
  annotation mark = range;
  mark.what = annotation::shape::mark;
  mark.text = "here";
  mark.end = mark.begin;
  made.annotations = {range, mark};
  made.end = 10'000;
  return made;
}

// As many operations as take a while to explain, one behind the other.
trace many() {
  trace made = small();
  made.head.end = ending::complete;
  operation one = at(operation_kind::kernel, engine_kind::multiprocessors, 0, 0, 0);
  constexpr std::uint64_t begin = 10'000, each = 100;
  for (std::uint64_t i = 0; i < 60'000; ++i) {
    const std::uint64_t start = begin + i * each;
    one.called = one.queued = one.ready = one.started = start;
    one.ended = made.end = start + each;
    made.operations.push_back(one);
  }
  return made;
}

}  // namespace

int main(int count, char** arguments) {
  const std::string_view kind = count == 3 ? arguments[1] : "";
  trace made;
  if (kind == "small" || kind == "complete" || kind == "bytes" || kind == "commands")
    made = small();
  else if (kind == "random")
    made = testing::sample(1);
  else if (kind == "many")
    made = many();
  else if (kind == "large")
    made = testing::sample(1, {600'000, 100'000});
  else
    return 2;
  if (kind == "bytes") {
    made.head.program = "caf\xe9";
    made.names[0] = "scale \xff\xc3\xa9 \x01";
    made.streams[1].name = "\xed\xa0\x80 \xc0\xaf \xf4\x90\x80\x80";
    made.annotations[0].text = "\xe2\x82";
  }
  if (kind == "commands") {  // for a terminal
    made.head.program = "a\x1b[2J";
    made.devices[0].name = "b\r\n";
    made.names[0] = "c\x1b[31m\n" + std::string(20'000, 'k');
    made.streams[1].name = "d\xc2\x9b\t" + std::string(20'000, 's');
    made.threads[0].name = "e\xe2\x80\xae";
    made.places[0].file = "f\x07.cu";
    made.calls[0].name = "g\x7f";
    made.annotations[0].text = "h\x08";
  }
  if (kind == "complete" || kind == "commands" || kind == "bytes") made.head.end = ending::complete;
  const auto stored = store_trace(made, arguments[2]);
  if (!stored) std::fprintf(stderr, "%s\n", stored.message().c_str());
  return stored ? 0 : 1;
}
