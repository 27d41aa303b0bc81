// Copies of two and three dimensions.
#include "cudart/call_name.hpp"
#include "cudart/copy.hpp"

namespace sb::cudart {
namespace {

struct plane {
  void* destination;
  std::size_t destination_pitch;
  const void* source;
  std::size_t source_pitch;
  std::size_t width, height;
  cudaMemcpyKind kind;
};

status check(const plane& p) {
  if (p.width == 0 || p.height == 0) return status::not_ready;
  if (p.destination_pitch < p.width || p.source_pitch < p.width) return status::invalid_pitch_value;
  return known_kind(p.kind) ? status::success : status::invalid_memcpy_direction;
}

cudaError_t copy_plane(const plane& p, cudaStream_t stream, call_form form) {
  return transfer_entry([&] { return check(p); },
                        [&] {
                          copy_request r;
                          r.destination = p.destination;
                          r.source = p.source;
                          r.width = p.width;
                          r.height = p.height;
                          r.destination_pitch = p.destination_pitch;
                          r.source_pitch = p.source_pitch;
                          r.kind = p.kind;
                          return copy(r, stream, form);
                        });
}

bool empty(const cudaExtent& e) { return e.width == 0 || e.height == 0 || e.depth == 0; }

// An end of a 3-D copy: its first byte, and that the copied box fits into its rows and slices.
status check_box(const cudaPitchedPtr& p, const cudaPos&, const cudaExtent& e) {
  if (p.pitch < e.width) return status::invalid_pitch_value;
  if (e.depth > 1 && p.ysize < e.height) return status::invalid_pitch_value;
  return status::success;
}

status check_position(const cudaPitchedPtr& p, const cudaPos& at, const cudaExtent& e) {
  if (at.x + e.width > p.pitch) return status::invalid_value;
  const bool stacked = e.depth > 1 || at.z != 0;
  return stacked && at.y + e.height > p.ysize ? status::invalid_value : status::success;
}

char* first_byte(const cudaPitchedPtr& p, const cudaPos& at) {
  if (p.ptr == nullptr) return nullptr;
  return static_cast<char*>(p.ptr) + at.z * p.pitch * p.ysize + at.y * p.pitch + at.x;
}

cudaError_t copy_box(const cudaMemcpy3DParms* p, cudaStream_t stream, call_form form) {
  result<copy_request> request = status::invalid_value;
  return transfer_entry(
      [&]() -> status {
        if (p == nullptr) return status::invalid_value;
        if (empty(p->extent)) return status::not_ready;
        request = request_of(*p);
        // h200: the shape is looked at before the kind, positions and pointers after it.
        if (!request && request.error() == status::invalid_pitch_value) return request.error();
        return known_kind(p->kind) ? status::success : status::invalid_memcpy_direction;
      },
      [&] { return request ? copy(*request, stream, form) : request.error(); });
}

}  // namespace

result<copy_request> request_of(const cudaMemcpy3DParms& p) {
  if (p.srcArray != nullptr || p.dstArray != nullptr) return request_of_arrays(p);
  for (auto* check : {check_box, check_position}) {
    if (const status s = check(p.dstPtr, p.dstPos, p.extent); s != status::success) return s;
    if (const status s = check(p.srcPtr, p.srcPos, p.extent); s != status::success) return s;
  }
  copy_request r;
  r.destination = first_byte(p.dstPtr, p.dstPos);
  r.source = first_byte(p.srcPtr, p.srcPos);
  r.width = p.extent.width;
  r.height = p.extent.height;
  r.depth = p.extent.depth;
  r.destination_pitch = p.dstPtr.pitch;
  r.source_pitch = p.srcPtr.pitch;
  r.destination_slice = p.dstPtr.pitch * p.dstPtr.ysize;
  r.source_slice = p.srcPtr.pitch * p.srcPtr.ysize;
  r.kind = p.kind;
  return r;
}

SB_API cudaError_t CUDARTAPI cudaMemcpy2D(void* destination, size_t destination_pitch,
                                          const void* source, size_t source_pitch, size_t width,
                                          size_t height, cudaMemcpyKind kind) {
  return as_call([&] {
    return copy_plane({destination, destination_pitch, source, source_pitch, width, height, kind},
                      nullptr, call_form::synchronous);
  });
}
SB_PTDS(cudaMemcpy2D,
        (void* destination, size_t destination_pitch, const void* source, size_t source_pitch,
         size_t width, size_t height, cudaMemcpyKind kind),
        (destination, destination_pitch, source, source_pitch, width, height, kind))

SB_API cudaError_t CUDARTAPI cudaMemcpy2DAsync(void* destination, size_t destination_pitch,
                                               const void* source, size_t source_pitch,
                                               size_t width, size_t height, cudaMemcpyKind kind,
                                               cudaStream_t stream) {
  return as_call([&] {
    return copy_plane({destination, destination_pitch, source, source_pitch, width, height, kind},
                      stream, call_form::asynchronous);
  });
}
SB_PTSZ(cudaMemcpy2DAsync,
        (void* destination, size_t destination_pitch, const void* source, size_t source_pitch,
         size_t width, size_t height, cudaMemcpyKind kind, cudaStream_t stream),
        (destination, destination_pitch, source, source_pitch, width, height, kind, stream))

SB_API cudaError_t CUDARTAPI cudaMemcpy3D(const cudaMemcpy3DParms* p) {
  return as_call([&] { return copy_box(p, nullptr, call_form::synchronous); });
}
SB_PTDS(cudaMemcpy3D, (const cudaMemcpy3DParms* p), (p))

SB_API cudaError_t CUDARTAPI cudaMemcpy3DAsync(const cudaMemcpy3DParms* p, cudaStream_t stream) {
  return as_call([&] { return copy_box(p, stream, call_form::asynchronous); });
}
SB_PTSZ(cudaMemcpy3DAsync, (const cudaMemcpy3DParms* p, cudaStream_t stream), (p, stream))

}  // namespace sb::cudart
