// Writes traces of small programs into a folder: for the tests of the commands that read them.
//
//   example_traces FOLDER
#include <cstdio>
#include <string>

#include "program_builder.hpp"
#include "trace/store.hpp"

namespace sb::analysis {
namespace {

// The gradient hook of examples/18_gradient_hook.cu: 8 layers of 0.5 ms, each with a hook of 0.5
// ms.
trace::trace gradient_hook(bool own_stream, std::uint32_t connections) {
  program_builder b;
  b.records().head.program = "18_gradient_hook";
  b.connections(connections);
  b.launch_cost = 4580;
  const number compute = b.stream(), side = b.stream();
  const number ready = b.event(), communicated = b.event();
  for (int layer = 0; layer < 8; ++layer) {
    const number gradient = b.allocation(trace::memory_kind::device, 2048);
    b.line(46).kernel(compute, "backward", 508_us, {4, 128});
    b.writes(gradient);
    b.line(47).record(compute, ready);
    b.line(48).wait(side, ready);
    b.line(49).kernel(side, "communicate", 457_us, {4, 128});
    b.reads(gradient).writes(gradient);
    if (own_stream) {
      b.line(51).kernel(side, "post_process", 50_us, {4, 128});
    } else {
      b.line(53).record(side, communicated);
      b.line(54).wait(compute, communicated);
      b.line(55).kernel(compute, "post_process", 50_us, {4, 128});
    }
    b.reads(gradient).writes(gradient);
  }
  b.line(60).synchronize();
  return b.run();
}

trace::trace sleeping_streams(int streams, trace::memory_kind memory) {
  program_builder b;
  b.records().head.program = "sleep_streams";
  std::vector<number> s;
  for (int i = 0; i < streams; ++i) s.push_back(b.stream());
  const bool pinned = memory == trace::memory_kind::pinned;
  for (int i = 0; i < 4; ++i) {
    const number where = s[static_cast<std::size_t>(i % streams)];
    b.line(31).copy(where, to_device, 4 << 20, pinned ? 80_us : 340_us, memory);
    b.line(32).kernel(where, "sleep_kernel", 200_us, {64, 256});
    b.line(33).copy(where, to_host, 4 << 20, pinned ? 80_us : 400_us, memory);
  }
  b.line(36).synchronize();
  return b.run();
}

bool store(const std::string& folder, const std::string& name, const trace::trace& t) {
  const auto written =
      trace::store_trace(t, folder + "/" + name + ".sbtrace", trace::existing_file::replace);
  if (!written) std::fprintf(stderr, "%s\n", written.message().c_str());
  return written.ok();
}

}  // namespace
}  // namespace sb::analysis

int main(int argc, char** argv) {
  using namespace sb::analysis;
  if (argc != 2) {
    std::fprintf(stderr, "example_traces FOLDER\n");
    return 2;
  }
  const std::string folder = argv[1];
  using sb::trace::memory_kind;
  bool ok = store(folder, "hook_compute", gradient_hook(false, 8));
  ok &= store(folder, "hook_own", gradient_hook(true, 8));
  ok &= store(folder, "hook_own_one_connection", gradient_hook(true, 1));
  ok &= store(folder, "sleep_4_pinned", sleeping_streams(4, memory_kind::pinned));
  ok &= store(folder, "sleep_1_pinned", sleeping_streams(1, memory_kind::pinned));
  ok &= store(folder, "sleep_4_pageable", sleeping_streams(4, memory_kind::pageable));
  return ok ? 0 : 1;
}
