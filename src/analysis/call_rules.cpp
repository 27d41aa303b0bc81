#include "analysis/call_rules.hpp"

#include <algorithm>
#include <array>
#include <utility>

namespace sb::analysis {

namespace {

// The longest name that a call begins with decides. "…Async" is looked at first.
constexpr std::array<std::pair<std::string_view, call_class>, 36> prefixes = {{
    {"cudaDeviceSynchronize", call_class::device_wait},
    {"cudaThreadSynchronize", call_class::device_wait},
    {"cudaCtxSynchronize", call_class::device_wait},
    {"cudaStreamSynchronize", call_class::stream_wait},
    {"cudaEventSynchronize", call_class::event_wait},
    {"cudaMemcpy", call_class::copy},
    {"cudaMemset", call_class::copy},
    {"cudaLaunch", call_class::launch},
    {"cudaGraphLaunch", call_class::launch},
    {"cudaStreamAddCallback", call_class::launch},
    {"cudaEventRecord", call_class::launch},
    {"cudaStreamWaitEvent", call_class::launch},
    {"cudaMallocAsync", call_class::launch},
    {"cudaMallocFromPoolAsync", call_class::launch},
    {"cudaMemPrefetchAsync", call_class::launch},
    {"cudaFreeAsync", call_class::launch},
    {"cudaMalloc", call_class::allocate},
    {"cudaMallocHost", call_class::allocate},
    {"cudaMallocManaged", call_class::allocate},
    {"cudaMallocPitch", call_class::allocate},
    {"cudaMalloc3D", call_class::allocate},
    {"cudaMallocArray", call_class::allocate},
    {"cudaHostAlloc", call_class::allocate},
    {"cudaHostRegister", call_class::allocate},
    {"cudaHostUnregister", call_class::free},
    {"cudaFree", call_class::free},
    {"cudaFree(nullptr)", call_class::other},  // waits for nothing
    {"cudaFreeHost", call_class::free},
    {"cudaFreeHost(nullptr)", call_class::other},
    {"cudaFreeArray", call_class::free},
    {"cudaDeviceReset", call_class::device_wait},
    {"cudaStreamQuery", call_class::query},
    {"cudaEventQuery", call_class::query},
    {"cudaStreamCreate", call_class::create},
    {"cudaEventCreate", call_class::create},
    {"cudaStreamDestroy", call_class::create},
}};

}  // namespace

call_class class_of(std::string_view call) {
  call_class best = call_class::other;
  std::size_t length = 0;
  for (const auto& [prefix, kind] : prefixes) {
    if (call.starts_with(prefix) && prefix.size() > length) {
      best = kind;
      length = prefix.size();
    }
  }
  const bool async = call.find("Async") != std::string_view::npos;
  return best == call_class::copy && async ? call_class::launch : best;
}

trace::nanoseconds shortest_call(const trace::trace& t, std::string_view name) {
  trace::nanoseconds least = trace::never;
  for (const trace::call& c : t.calls) {
    if (c.returned && c.name.starts_with(name)) least = std::min(least, c.end - c.begin);
  }
  return least;
}

}  // namespace sb::analysis
