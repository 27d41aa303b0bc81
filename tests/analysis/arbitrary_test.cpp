// Traces of any shape: whatever the reader lets through is explained, without a crash or an endless
// loop. Deterministic: the seed is the test's own.
#include <gtest/gtest.h>

#include <random>

#include "analysis/explain.hpp"
#include "program_builder.hpp"

namespace sb::analysis {
namespace {

class arbitrary {
 public:
  explicit arbitrary(std::uint32_t seed) : random_(seed) {}

  std::uint64_t up_to(std::uint64_t most) {
    return std::uniform_int_distribution<std::uint64_t>(0, most)(random_);
  }
  bool one_in(std::uint64_t n) { return up_to(n - 1) == 0; }
  // A number of something that is there, or none.
  number some(std::size_t size) {
    return size == 0 || one_in(8) ? none : static_cast<number>(up_to(size - 1));
  }
  nanoseconds time() { return one_in(10) ? never : up_to(1000000); }

  trace::trace records();

 private:
  trace::operation operation(const trace::trace& t, std::size_t operations);
  std::mt19937 random_;
};

trace::operation arbitrary::operation(const trace::trace& t, std::size_t operations) {
  trace::operation o;
  o.kind = static_cast<trace::operation_kind>(up_to(11));
  o.engine = static_cast<trace::engine_kind>(up_to(5));
  o.direction = static_cast<copy_direction>(up_to(4));
  o.host_memory = static_cast<trace::memory_kind>(up_to(3));
  o.in_graph = one_in(6);
  o.cooperative = one_in(10);
  o.first_use = one_in(4);
  o.priority = static_cast<std::int8_t>(up_to(255));
  o.device = some(t.devices.size());
  o.stream = some(t.streams.size());
  o.call = some(t.calls.size());
  o.name = some(t.names.size());
  o.record = some(operations);
  o.event = one_in(3) ? none : static_cast<number>(up_to(3));
  // Some keep the order of their times, some do not.
  nanoseconds times[5];
  for (nanoseconds& at : times) at = time();
  if (!one_in(5)) std::sort(std::begin(times), std::end(times));
  o.called = times[0];
  o.queued = times[1];
  o.ready = times[2];
  o.started = times[3];
  o.ended = times[4];
  o.bytes = up_to(1 << 20);
  o.grid[0] = static_cast<std::uint32_t>(up_to(3000));
  o.block[0] = static_cast<std::uint32_t>(up_to(1024));
  o.shared_bytes = static_cast<std::uint32_t>(up_to(300000));
  o.registers = static_cast<std::uint32_t>(up_to(300));
  for (std::uint64_t i = up_to(3); i > 0; --i) {
    if (const number other = some(operations); other != none) o.after.push_back(other);
    o.waits.push_back({.from = some(operations),
                       .call = some(t.calls.size()),
                       .cause = static_cast<trace::wait_cause>(up_to(8)),
                       .until = time()});
    if (const number a = some(t.allocations.size()); a != none) {
      o.ranges.push_back(
          {a, up_to(1000), up_to(1000), static_cast<trace::access>(1 + up_to(2)), one_in(2)});
    } else if (one_in(4)) {
      o.ranges.push_back(trace::anything);
    }
  }
  return o;
}

trace::trace arbitrary::records() {
  trace::trace t;
  t.head.connections = static_cast<std::uint32_t>(up_to(9));
  t.head.end = static_cast<trace::ending>(up_to(2));
  t.names = {"a", "b"};
  t.places = {{"a.cu", 1}, {"", 0}, {"b.cu", 7}};
  t.devices.resize(up_to(2));
  if (!t.devices.empty() && one_in(2)) t.devices[0].multiprocessors = 4;
  t.streams.resize(up_to(5));
  for (trace::stream& s : t.streams) {
    s.device = some(t.devices.size());
    s.kind = static_cast<stream_kind>(up_to(2));
    s.priority = static_cast<std::int32_t>(up_to(10)) - 5;
  }
  t.threads.resize(up_to(3));
  t.allocations.resize(up_to(4));
  for (trace::allocation& a : t.allocations) {
    a.kind = static_cast<trace::memory_kind>(up_to(3));
    a.bytes = up_to(1 << 20);
    a.from = up_to(1000);
    a.to = up_to(1000);
  }
  static constexpr const char* names[] = {
      "cudaLaunchKernel",      "cudaMemcpyAsync",      "cudaMemcpy",       "cudaDeviceSynchronize",
      "cudaStreamSynchronize", "cudaEventSynchronize", "cudaMalloc",       "cudaFree",
      "cudaStreamWaitEvent",   "cudaGraphLaunch",      "cudaStreamCreate", "{} odd"};
  const std::size_t operations = up_to(40);
  for (std::uint64_t i = up_to(40); i > 0; --i) {
    trace::call c;
    c.thread = some(t.threads.size());
    c.name = names[up_to(std::size(names) - 1)];
    c.place = some(t.places.size());
    c.begin = up_to(1000000);
    c.end = one_in(5) ? up_to(1000000) : c.begin + up_to(1000);
    c.blocked = one_in(2) ? 0 : up_to(2000);
    c.blocked_on = some(operations);
    c.returned = !one_in(10);
    t.calls.push_back(c);
  }
  for (std::size_t i = 0; i < operations; ++i) t.operations.push_back(operation(t, operations));
  t.end = up_to(1000000);
  for (std::uint64_t i = one_in(2) ? 0 : up_to(30); i > 0; --i) {
    t.head.clock = trace::clock_kind::modelled;
    const nanoseconds begin = up_to(1000000);
    t.thread_waits.push_back({.thread = some(t.threads.size()),
                              .other = some(t.threads.size()),
                              .begin = begin,
                              .end = one_in(3) ? begin : begin + up_to(100000),
                              .what = static_cast<trace::awaited>(up_to(5)),
                              .function = one_in(5) ? some(operations) : none});
  }
  return t;
}

TEST(ArbitraryTraces, AreExplained) {
  for (std::uint32_t seed = 0; seed < 5000; ++seed) {
    SCOPED_TRACE(seed);
    trace::trace t = arbitrary(seed).records();
    t.head.host_bytes = 1 << 20;
    const explanation e = explain(t);
    EXPECT_FALSE(text_of(t, e).empty());
    EXPECT_FALSE(json_of(t, e).empty());
    nanoseconds at = 0;
    for (const path_stretch& s : e.path.stretches) {
      ASSERT_EQ(s.begin, at);
      at = s.end;
    }
    ASSERT_EQ(at, e.path.length);
  }
}

}  // namespace
}  // namespace sb::analysis
