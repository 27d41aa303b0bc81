// What the runtime's calls do to the thread that makes them, by their names.
#pragma once

#include <string_view>

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

}  // namespace sb::analysis
