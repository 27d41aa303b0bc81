// What the runtime's calls do to the thread that makes them, by their names.
#pragma once

#include <string_view>

#include "trace/trace.hpp"

namespace sb::analysis {

enum class call_class {
  other,
  device_wait,  // cudaDeviceSynchronize
  stream_wait,  // cudaStreamSynchronize
  event_wait,   // cudaEventSynchronize
  copy,         // a copy or fill that returns when it is done
  launch,       // gives work to a stream and returns
  allocate,     // cudaMalloc, cudaMallocHost …: the memory is there when it returns
  free,         // cudaFree, cudaFreeHost …: waits for all work of the device
  query,        // cudaStreamQuery, cudaEventQuery
  create,       // streams and events
};

[[nodiscard]] call_class class_of(std::string_view call);

// Calls whose only purpose is to wait.
[[nodiscard]] constexpr bool only_waits(call_class c) {
  return c == call_class::device_wait || c == call_class::stream_wait ||
         c == call_class::event_wait;
}

// The shortest call of the run whose name begins so; never: there is none.
[[nodiscard]] trace::nanoseconds shortest_call(const trace::trace& t, std::string_view name);

}  // namespace sb::analysis
