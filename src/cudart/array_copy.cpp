// Copies with arrays. Widths and offsets of the two-dimensional calls are in bytes, those of
// cudaMemcpy3D in elements, at both of its ends; arrays.tsv copy.*, box.*
#include "cudart/array.hpp"
#include "cudart/call_name.hpp"
#include "cudart/copy.hpp"

namespace sb::cudart {
namespace {

bool says_host(cudaMemcpyKind kind, bool destination) {
  if (kind == cudaMemcpyHostToHost) return true;
  return kind == (destination ? cudaMemcpyDeviceToHost : cudaMemcpyHostToDevice);
}

// One end of a copy, as far as it is known: the bytes that a copy may touch in it.
struct array_end {
  char* first;
  std::size_t pitch, slice;
};

bool fits(std::size_t at, std::size_t length, std::size_t size) {
  return at <= size && length <= size - at;
}

// A box of an array, by bytes along x.
result<array_end> place_in(cudaArray_const_t handle, std::size_t x, std::size_t y, std::size_t z,
                           std::size_t width, std::size_t height, std::size_t depth) {
  const auto array = resolve(handle);
  if (!array) return array.error();
  const cudaArray& a = **array;
  if (!fits(x, width, a.pitch()) || !fits(y, height, a.rows()) || !fits(z, depth, a.slices())) {
    return status::invalid_value;
  }
  return array_end{a.data + z * a.slice() + y * a.pitch() + x, a.pitch(), a.slice()};
}

// --- two dimensions -----------------------------------------------------------------------------

// An end of a two-dimensional copy: an array with a place in it, or memory with a pitch.
struct plane_end {
  cudaArray_const_t array = nullptr;
  std::size_t x = 0, y = 0;
  void* memory = nullptr;
  std::size_t pitch = 0;
  bool is_array = false;
};

plane_end in_array(cudaArray_const_t array, std::size_t x, std::size_t y) {
  return {array, x, y, nullptr, 0, true};
}
plane_end in_memory(const void* memory, std::size_t pitch) {
  return {nullptr, 0, 0, const_cast<void*>(memory), pitch, false};
}

struct plane_copy {
  plane_end destination, source;
  std::size_t width, height;
  cudaMemcpyKind kind;
};

status check(const plane_copy& c) {
  if (c.width == 0 || c.height == 0) return status::not_ready;
  for (const plane_end* end : {&c.destination, &c.source}) {
    if (!end->is_array && end->pitch < c.width) return status::invalid_pitch_value;
  }
  const bool wrong = (c.destination.is_array && says_host(c.kind, true)) ||
                     (c.source.is_array && says_host(c.kind, false));
  return known_kind(c.kind) && !wrong ? status::success : status::invalid_memcpy_direction;
}

result<array_end> place_of(const plane_end& end, std::size_t width, std::size_t height) {
  if (end.is_array) return place_in(end.array, end.x, end.y, 0, width, height, 1);
  return array_end{static_cast<char*>(end.memory), end.pitch, 0};
}

// What a node of this copy answers: its extent is in elements.
cudaMemcpy3DParms describe(const plane_copy& c) {
  cudaMemcpy3DParms p{};
  const bool first = c.destination.is_array;
  const std::size_t element = (first ? c.destination : c.source).array->element;
  const auto tell = [&](const plane_end& end, cudaArray_t& array, cudaPos& at,
                        cudaPitchedPtr& memory) {
    if (end.is_array) {
      array = const_cast<cudaArray_t>(end.array);
      at = {end.x / element, end.y, 0};
    } else {
      memory = {end.memory, end.pitch, c.width, c.height};
    }
  };
  tell(c.destination, p.dstArray, p.dstPos, p.dstPtr);
  tell(c.source, p.srcArray, p.srcPos, p.srcPtr);
  p.extent = {c.width / element, c.height, 1};
  p.kind = c.kind;
  return p;
}

status transfer(const plane_copy& c, cudaStream_t stream, call_form form) {
  const auto to = place_of(c.destination, c.width, c.height);
  if (!to) return to.error();
  const auto from = place_of(c.source, c.width, c.height);
  if (!from) return from.error();
  copy_request r;
  r.destination = to->first;
  r.destination_pitch = to->pitch;
  r.source = from->first;
  r.source_pitch = from->pitch;
  r.width = c.width;
  r.height = c.height;
  r.kind = c.kind;
  r.of_arrays = describe(c);
  return copy(r, stream, form);
}

cudaError_t copy_plane(const plane_copy& c, cudaStream_t stream, call_form form) {
  return transfer_entry([&] { return check(c); }, [&] { return transfer(c, stream, form); });
}

// --- row after row ------------------------------------------------------------------------------

// `count` bytes from a place of an array on, which may go over the ends of its rows.
result<char*> flat_place(const plane_end& end, std::size_t count) {
  if (!end.is_array) return static_cast<char*>(end.memory);
  const auto array = resolve(end.array);
  if (!array) return array.error();
  const cudaArray& a = **array;
  if (end.x >= a.pitch() || end.y >= a.rows()) return status::invalid_value;
  const std::size_t first = end.y * a.pitch() + end.x;
  return count <= a.slice() - first ? result<char*>(a.data + first) : status::invalid_value;
}

cudaError_t copy_flat(plane_end destination, plane_end source, std::size_t count,
                      cudaMemcpyKind kind, cudaStream_t stream, call_form form) {
  destination.pitch = source.pitch = count;
  const plane_copy shape{destination, source, count, 1, kind};
  return transfer_entry([&] { return check(shape); },
                        [&]() -> status {
                          const auto to = flat_place(destination, count);
                          if (!to) return to.error();
                          const auto from = flat_place(source, count);
                          if (!from) return from.error();
                          copy_request r;
                          r.destination = *to;
                          r.source = *from;
                          r.width = count;
                          r.kind = kind;
                          return copy(r, stream, form);
                        });
}

// --- three dimensions ---------------------------------------------------------------------------

// An end of cudaMemcpy3D; exactly one of the array and the memory is there.
struct box_end {
  cudaArray_t array;
  const cudaPos& at;
  const cudaPitchedPtr& memory;
};

result<array_end> place_of(const box_end& end, const cudaExtent& e, std::size_t element) {
  const std::size_t x = end.at.x * element;  // h200: what no number holds begins again at 0
  std::size_t width = 0;
  if (__builtin_mul_overflow(e.width, element, &width)) return status::invalid_value;
  if (end.array != nullptr) {
    return place_in(end.array, x, end.at.y, end.at.z, width, e.height, e.depth);
  }
  const cudaPitchedPtr& m = end.memory;
  const bool stacked = e.depth > 1 || end.at.z != 0;
  if (!fits(x, width, m.pitch) || (stacked && !fits(end.at.y, e.height, m.ysize))) {
    return status::invalid_value;
  }
  const std::size_t slice = m.pitch * m.ysize;
  char* first = static_cast<char*>(m.ptr);
  if (first != nullptr) first += end.at.z * slice + end.at.y * m.pitch + x;
  return array_end{first, m.pitch, slice};
}

status check_ends(const cudaMemcpy3DParms& p, const box_end& to, const box_end& from) {
  for (const box_end* end : {&to, &from}) {
    if (end->array != nullptr && end->memory.ptr != nullptr) return status::invalid_value;
    // h200: compared as numbers, whatever their units.
    const bool tight = end->memory.pitch < p.extent.width ||
                       (p.extent.depth > 1 && end->memory.ysize < p.extent.height);
    if (end->array == nullptr && tight) return status::invalid_pitch_value;
  }
  const bool wrong = (to.array != nullptr && says_host(p.kind, true)) ||
                     (from.array != nullptr && says_host(p.kind, false));
  return wrong ? status::invalid_value : status::success;
}

result<std::size_t> element_of(const box_end& to, const box_end& from) {
  std::size_t element = 0;
  for (const box_end* end : {&to, &from}) {
    if (end->array == nullptr) continue;
    const auto array = resolve(end->array);
    if (!array) return array.error();
    if (element != 0 && (*array)->element != element) return status::invalid_value;
    element = (*array)->element;
  }
  return element;
}

}  // namespace

result<copy_request> request_of_arrays(const cudaMemcpy3DParms& p) {
  const box_end to{p.dstArray, p.dstPos, p.dstPtr}, from{p.srcArray, p.srcPos, p.srcPtr};
  if (const status s = check_ends(p, to, from); s != status::success) return s;
  const auto element = element_of(to, from);
  if (!element) return element.error();
  const auto destination = place_of(to, p.extent, *element);
  if (!destination) return destination.error();
  const auto source = place_of(from, p.extent, *element);
  if (!source) return source.error();
  copy_request r;
  r.destination = destination->first;
  r.destination_pitch = destination->pitch;
  r.destination_slice = destination->slice;
  r.source = source->first;
  r.source_pitch = source->pitch;
  r.source_slice = source->slice;
  r.width = p.extent.width * *element;
  r.height = p.extent.height;
  r.depth = p.extent.depth;
  r.kind = p.kind;
  r.of_arrays = p;
  return r;
}

SB_API cudaError_t CUDARTAPI cudaMemcpy2DToArray(cudaArray_t destination, size_t x, size_t y,
                                                 const void* source, size_t pitch, size_t width,
                                                 size_t height, cudaMemcpyKind kind) {
  return as_call([&] {
    return copy_plane({in_array(destination, x, y), in_memory(source, pitch), width, height, kind},
                      nullptr, call_form::synchronous);
  });
}
SB_PTDS(cudaMemcpy2DToArray,
        (cudaArray_t destination, size_t x, size_t y, const void* source, size_t pitch,
         size_t width, size_t height, cudaMemcpyKind kind),
        (destination, x, y, source, pitch, width, height, kind))

SB_API cudaError_t CUDARTAPI cudaMemcpy2DToArrayAsync(cudaArray_t destination, size_t x, size_t y,
                                                      const void* source, size_t pitch,
                                                      size_t width, size_t height,
                                                      cudaMemcpyKind kind, cudaStream_t stream) {
  return as_call([&] {
    return copy_plane({in_array(destination, x, y), in_memory(source, pitch), width, height, kind},
                      stream, call_form::asynchronous);
  });
}
SB_PTSZ(cudaMemcpy2DToArrayAsync,
        (cudaArray_t destination, size_t x, size_t y, const void* source, size_t pitch,
         size_t width, size_t height, cudaMemcpyKind kind, cudaStream_t stream),
        (destination, x, y, source, pitch, width, height, kind, stream))

SB_API cudaError_t CUDARTAPI cudaMemcpy2DFromArray(void* destination, size_t pitch,
                                                   cudaArray_const_t source, size_t x, size_t y,
                                                   size_t width, size_t height,
                                                   cudaMemcpyKind kind) {
  return as_call([&] {
    return copy_plane({in_memory(destination, pitch), in_array(source, x, y), width, height, kind},
                      nullptr, call_form::synchronous);
  });
}
SB_PTDS(cudaMemcpy2DFromArray,
        (void* destination, size_t pitch, cudaArray_const_t source, size_t x, size_t y,
         size_t width, size_t height, cudaMemcpyKind kind),
        (destination, pitch, source, x, y, width, height, kind))

SB_API cudaError_t CUDARTAPI cudaMemcpy2DFromArrayAsync(void* destination, size_t pitch,
                                                        cudaArray_const_t source, size_t x,
                                                        size_t y, size_t width, size_t height,
                                                        cudaMemcpyKind kind, cudaStream_t stream) {
  return as_call([&] {
    return copy_plane({in_memory(destination, pitch), in_array(source, x, y), width, height, kind},
                      stream, call_form::asynchronous);
  });
}
SB_PTSZ(cudaMemcpy2DFromArrayAsync,
        (void* destination, size_t pitch, cudaArray_const_t source, size_t x, size_t y,
         size_t width, size_t height, cudaMemcpyKind kind, cudaStream_t stream),
        (destination, pitch, source, x, y, width, height, kind, stream))

SB_API cudaError_t CUDARTAPI cudaMemcpy2DArrayToArray(cudaArray_t destination, size_t to_x,
                                                      size_t to_y, cudaArray_const_t source,
                                                      size_t x, size_t y, size_t width,
                                                      size_t height, cudaMemcpyKind kind) {
  return as_call([&] {
    return copy_plane(
        {in_array(destination, to_x, to_y), in_array(source, x, y), width, height, kind}, nullptr,
        call_form::synchronous);
  });
}
SB_PTDS(cudaMemcpy2DArrayToArray,
        (cudaArray_t destination, size_t to_x, size_t to_y, cudaArray_const_t source, size_t x,
         size_t y, size_t width, size_t height, cudaMemcpyKind kind),
        (destination, to_x, to_y, source, x, y, width, height, kind))

SB_API cudaError_t CUDARTAPI cudaMemcpyToArray(cudaArray_t destination, size_t x, size_t y,
                                               const void* source, size_t count,
                                               cudaMemcpyKind kind) {
  return as_call([&] {
    return copy_flat(in_array(destination, x, y), in_memory(source, 0), count, kind, nullptr,
                     call_form::synchronous);
  });
}
SB_PTDS(cudaMemcpyToArray,
        (cudaArray_t destination, size_t x, size_t y, const void* source, size_t count,
         cudaMemcpyKind kind),
        (destination, x, y, source, count, kind))

SB_API cudaError_t CUDARTAPI cudaMemcpyToArrayAsync(cudaArray_t destination, size_t x, size_t y,
                                                    const void* source, size_t count,
                                                    cudaMemcpyKind kind, cudaStream_t stream) {
  return as_call([&] {
    return copy_flat(in_array(destination, x, y), in_memory(source, 0), count, kind, stream,
                     call_form::asynchronous);
  });
}
SB_PTSZ(cudaMemcpyToArrayAsync,
        (cudaArray_t destination, size_t x, size_t y, const void* source, size_t count,
         cudaMemcpyKind kind, cudaStream_t stream),
        (destination, x, y, source, count, kind, stream))

SB_API cudaError_t CUDARTAPI cudaMemcpyFromArray(void* destination, cudaArray_const_t source,
                                                 size_t x, size_t y, size_t count,
                                                 cudaMemcpyKind kind) {
  return as_call([&] {
    return copy_flat(in_memory(destination, 0), in_array(source, x, y), count, kind, nullptr,
                     call_form::synchronous);
  });
}
SB_PTDS(cudaMemcpyFromArray,
        (void* destination, cudaArray_const_t source, size_t x, size_t y, size_t count,
         cudaMemcpyKind kind),
        (destination, source, x, y, count, kind))

SB_API cudaError_t CUDARTAPI cudaMemcpyFromArrayAsync(void* destination, cudaArray_const_t source,
                                                      size_t x, size_t y, size_t count,
                                                      cudaMemcpyKind kind, cudaStream_t stream) {
  return as_call([&] {
    return copy_flat(in_memory(destination, 0), in_array(source, x, y), count, kind, stream,
                     call_form::asynchronous);
  });
}
SB_PTSZ(cudaMemcpyFromArrayAsync,
        (void* destination, cudaArray_const_t source, size_t x, size_t y, size_t count,
         cudaMemcpyKind kind, cudaStream_t stream),
        (destination, source, x, y, count, kind, stream))

SB_API cudaError_t CUDARTAPI cudaMemcpyArrayToArray(cudaArray_t destination, size_t to_x,
                                                    size_t to_y, cudaArray_const_t source, size_t x,
                                                    size_t y, size_t count, cudaMemcpyKind kind) {
  return as_call([&] {
    return copy_flat(in_array(destination, to_x, to_y), in_array(source, x, y), count, kind,
                     nullptr, call_form::synchronous);
  });
}
SB_PTDS(cudaMemcpyArrayToArray,
        (cudaArray_t destination, size_t to_x, size_t to_y, cudaArray_const_t source, size_t x,
         size_t y, size_t count, cudaMemcpyKind kind),
        (destination, to_x, to_y, source, x, y, count, kind))

}  // namespace sb::cudart
