// Making arrays, and asking about them.
#include "cudart/array.hpp"

#include <vector>

#include "cudart/capture.hpp"
#include "cudart/copy.hpp"

namespace sb::cudart {
namespace {

using array_table = handle_table<cudaArray, std::size_t{1} << 18>;
array_table& arrays() {
  static auto* table = new array_table;
  return *table;
}

// arrays.tsv make.flags16, make.flags32; others mean nothing
constexpr unsigned refused_flags = 0x10 | 0x20;
// Sparse arrays, and those whose memory comes later.
constexpr unsigned missing_flags = 0x40 | 0x80;

bool within(std::size_t size, std::int32_t most) { return size <= static_cast<std::size_t>(most); }
template <std::size_t N>
bool within(const std::array<std::int32_t, N>& most, std::size_t x, std::size_t y,
            std::size_t z = 0) {
  return within(x, most[0]) && within(y, most[1]) && (N < 3 || within(z, most[N - 1]));
}

// The profile's limits of textures, or of surfaces, whose shapes have the same names.
template <class Limits>
bool fits_layers(const Limits& limits, const cudaExtent& e, bool cube) {
  if (cube) return within(limits.layered_cubemap, e.width, e.depth);
  return e.height == 0 ? within(limits.layered_1d, e.width, e.depth)
                       : within(limits.layered_2d, e.width, e.height, e.depth);
}

bool fits(const texture_limits& t, const cudaExtent& e, unsigned flags) {
  const bool cube = (flags & cudaArrayCubemap) != 0;
  if ((flags & cudaArrayLayered) != 0) return fits_layers(t, e, cube);
  if (cube) return within(e.width, t.width_cubemap);
  if ((flags & cudaArrayTextureGather) != 0) return within(t.size_2d_gather, e.width, e.height);
  if (e.depth != 0) {
    return within(t.size_3d, e.width, e.height, e.depth) ||
           within(t.size_3d_alternate, e.width, e.height, e.depth);
  }
  return e.height != 0 ? within(t.size_2d, e.width, e.height) : within(e.width, t.width_1d);
}

bool fits(const surface_limits& s, const cudaExtent& e, unsigned flags) {
  const bool cube = (flags & cudaArrayCubemap) != 0;
  if ((flags & cudaArrayLayered) != 0) return fits_layers(s, e, cube);
  if (cube) return within(e.width, s.width_cubemap);
  if (e.depth != 0) return within(s.size_3d, e.width, e.height, e.depth);
  return e.height != 0 ? within(s.size_2d, e.width, e.height) : within(e.width, s.width_1d);
}

// arrays.tsv make.*
bool is_shape(const cudaExtent& e, unsigned flags) {
  const bool layered = (flags & cudaArrayLayered) != 0;
  if (e.width == 0 || (flags & refused_flags) != 0) return false;
  if ((flags & cudaArrayTextureGather) != 0) {
    return (flags & (cudaArrayLayered | cudaArrayCubemap)) == 0 && e.height != 0 && e.depth == 0;
  }
  if ((flags & cudaArrayCubemap) != 0) {
    return e.width == e.height && e.depth != 0 && e.depth % 6 == 0 && (layered || e.depth == 6);
  }
  if (layered) return e.depth != 0;
  return e.depth == 0 || e.height != 0;
}

status check(const cudaArray_t* out, const cudaChannelFormatDesc* format, const cudaExtent& e,
             unsigned flags) {
  if (out == nullptr || format == nullptr) return status::invalid_value;
  if ((flags & missing_flags) != 0) return status::not_supported;
  if (element_bytes(*format) == 0) return status::invalid_channel_descriptor;
  return is_shape(e, flags) ? status::success : status::invalid_value;
}

status make(cudaArray_t* out, const cudaChannelFormatDesc& format, const cudaExtent& e,
            unsigned flags) {
  const device_profile& profile = the_engine().profile(current_device());
  const bool surface = (flags & cudaArraySurfaceLoadStore) != 0;
  if (!fits(profile.texture, e, flags) || (surface && !fits(profile.surface, e, flags))) {
    return status::invalid_value;
  }
  if (const status s = admit_unsafe_call(); s != status::success) return s;
  the_engine().wait_for_blocked_calls();
  cudaArray array{current_device(), format, e, flags, nullptr, element_bytes(format)};
  const auto data = the_memory().allocate_device(current_device(), array.slice() * array.slices());
  if (!data) return data.error();
  engine::memory_taken_again();
  array.data = static_cast<char*>(*data);
  *out = arrays().create(array);
  if (*out != nullptr) return status::success;
  the_memory().free_device(*data);
  return status::memory_allocation;
}

cudaError_t make_entry(cudaArray_t* out, const cudaChannelFormatDesc* format, const cudaExtent& e,
                       unsigned flags, const char* name) {
  return entry(
      call_kind::device, [&] { return check(out, format, e, flags); },
      [&] { return make(out, *format, e, flags); }, name);
}

// CUDA: waits for the device, as cudaFree does; arrays.tsv held.free
status free_array(cudaArray_t array) {
  if (array == nullptr) return status::success;
  if (!arrays().alive(array)) return status::invalid_resource_handle;
  sched::wait_target target;
  target.scope = sched::wait_scope::device;
  target.device = array->device;
  const status s = the_engine().synchronize(target, array->device);
  engine::memory_given_back();
  if (s != status::success) return s;
  void* const data = array->data;
  if (!arrays().destroy(array)) return status::invalid_resource_handle;
  return the_memory().free_device(data);
}

}  // namespace

std::size_t element_bytes(const cudaChannelFormatDesc& f) {
  const int bits = f.x;
  const bool known =
      bits == 8 ? f.f == cudaChannelFormatKindSigned || f.f == cudaChannelFormatKindUnsigned
                : (bits == 16 || bits == 32) && f.f >= cudaChannelFormatKindSigned &&
                      f.f <= cudaChannelFormatKindFloat;
  const bool one = f.y == 0 && f.z == 0 && f.w == 0;
  const bool two = f.y == bits && f.z == 0 && f.w == 0;
  const bool four = f.y == bits && f.z == bits && f.w == bits;
  if (!known || !(one || two || four)) return 0;
  return static_cast<std::size_t>(bits) / 8 * static_cast<std::size_t>(component_count(f));
}

int component_count(const cudaChannelFormatDesc& f) { return f.w != 0 ? 4 : f.y != 0 ? 2 : 1; }

result<const cudaArray*> resolve(cudaArray_const_t array) {
  if (!arrays().alive(array)) return status::invalid_resource_handle;
  return array;
}

void forget_arrays(device_id device) {
  std::vector<cudaArray*> gone;
  arrays().for_each([&](cudaArray& a) {
    if (a.device == device) gone.push_back(&a);
  });
  for (cudaArray* a : gone) arrays().destroy(a);
}

SB_API cudaChannelFormatDesc CUDARTAPI cudaCreateChannelDesc(int x, int y, int z, int w,
                                                             cudaChannelFormatKind kind) {
  return {x, y, z, w, kind};
}

SB_API cudaError_t CUDARTAPI cudaMallocArray(cudaArray_t* out, const cudaChannelFormatDesc* format,
                                             size_t width, size_t height, unsigned flags) {
  return make_entry(out, format, {width, height, 0}, flags, __func__);
}

SB_API cudaError_t CUDARTAPI cudaMalloc3DArray(cudaArray_t* out,
                                               const cudaChannelFormatDesc* format,
                                               cudaExtent extent, unsigned flags) {
  return make_entry(out, format, extent, flags, __func__);
}

SB_API cudaError_t CUDARTAPI cudaFreeArray(cudaArray_t array) {
  return entry(call_kind::capture_unsafe, [&] { return free_array(array); });
}

SB_API cudaError_t CUDARTAPI cudaArrayGetInfo(cudaChannelFormatDesc* format, cudaExtent* extent,
                                              unsigned* flags, cudaArray_t array) {
  return entry(call_kind::device, [&]() -> status {
    const auto known = resolve(array);
    if (!known) return known.error();
    if (format != nullptr) *format = (*known)->format;
    if (extent != nullptr) *extent = (*known)->extent;
    if (flags != nullptr) *flags = (*known)->flags;
    return status::success;
  });
}

SB_API cudaError_t CUDARTAPI cudaGetChannelDesc(cudaChannelFormatDesc* format,
                                                cudaArray_const_t array) {
  const auto check = [&] { return format != nullptr ? status::success : status::invalid_value; };
  return entry(call_kind::device, check, [&]() -> status {
    const auto known = resolve(array);
    if (!known) return known.error();
    *format = (*known)->format;
    return status::success;
  });
}

}  // namespace sb::cudart
