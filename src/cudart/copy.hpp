// What all copy calls share: a request in bytes, and the one body that checks it, decides whether
// the call waits, and enqueues.
#pragma once

#include <cuda_runtime_api.h>

#include <cstddef>
#include <optional>

#include "base/status.hpp"
#include "cudart/context.hpp"
#include "engine/memory.hpp"
#include "engine/operation.hpp"

namespace sb::cudart {

inline engine::memory& the_memory() { return engine::memory::instance(); }

// A copy of up to three dimensions; a plain one has height == depth == 1.
struct copy_request {
  void* destination = nullptr;
  const void* source = nullptr;
  std::size_t width = 0, height = 1, depth = 1;
  std::size_t destination_pitch = 0, source_pitch = 0;
  std::size_t destination_slice = 0, source_slice = 0;
  cudaMemcpyKind kind = cudaMemcpyDefault;
  // With arrays: what a captured node answers when it is asked.
  std::optional<cudaMemcpy3DParms> of_arrays = std::nullopt;

  [[nodiscard]] bool empty() const { return width == 0 || height == 0 || depth == 0; }
};

enum class call_form : bool { synchronous, asynchronous };

inline bool known_kind(cudaMemcpyKind kind) {
  return kind >= cudaMemcpyHostToHost && kind <= cudaMemcpyDefault;
}

// The frame of a copy or fill: refused in host functions before anything; nothing to do and wrong
// arguments are answered even after a fault (faults.tsv *.memcpy.zero, *.memcpy.bad.kind). `check`
// answers not_ready for "nothing to do".
template <class Check, class Body>
cudaError_t transfer_entry(Check&& check, Body&& body,
                           const char* name = __builtin_FUNCTION()) noexcept {
  return entry(
      call_kind::light,
      [&]() -> status {
        const status arguments = check();
        if (arguments == status::not_ready) return status::success;
        if (arguments != status::success) return arguments;
        if (const status s = admit(call_kind::device); s != status::success) return s;
        return body();
      },
      name);
}

// Whether the allocation holds `depth` slices of `height` rows of `width` bytes from `first` on.
bool holds(const engine::allocation& allocation, const void* first, std::size_t width,
           std::size_t height, std::size_t depth, std::size_t pitch, std::size_t slice);

// Checks pointers and enqueues; waits where the hardware does.
status copy(const copy_request& request, cudaStream_t stream, call_form form);

// The request of a 3-D call. invalid_pitch_value and invalid_value as recorded.
result<copy_request> request_of(const cudaMemcpy3DParms& params);
result<copy_request> request_of_arrays(const cudaMemcpy3DParms& params);

}  // namespace sb::cudart
