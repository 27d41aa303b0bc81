// Texture and surface objects. An object's number is the address of its description, which device
// code reads (include/cuda/crt/texture_object.h); numbers of destroyed ones stay readable.
#include <algorithm>
#include <cmath>
#include <cstring>

#include "crt/texture_texels.h"
#include "cudart/array.hpp"
#include "cudart/copy.hpp"

namespace sb::cudart {
namespace {

struct texture_object {
  __sb_image image{};  // first: its address is the object's
  cudaResourceDesc resource{};
  cudaTextureDesc description{};
};
struct surface_object {
  __sb_image image{};
  cudaResourceDesc resource{};
};

template <class Object>
using object_table = handle_table<Object, std::size_t{1} << 20>;
template <class Object>
object_table<Object>& objects() {
  static auto* table = new object_table<Object>;
  return *table;
}
template <class Object>
Object* object_of(unsigned long long number) {
  auto* object = reinterpret_cast<Object*>(number);
  return objects<Object>().alive(object) ? object : nullptr;
}

// --- what is read -------------------------------------------------------------------------------

void set_format(__sb_image& image, const cudaChannelFormatDesc& format) {
  image.kind = static_cast<unsigned char>(format.f);
  image.bits = static_cast<unsigned char>(format.x);
  image.components = static_cast<unsigned char>(component_count(format));
}

__sb_image image_of(const cudaArray& a) {
  __sb_image image{};
  set_format(image, a.format);
  image.data = a.data;
  image.pitch = a.pitch();
  image.slice = a.slice();
  image.width = static_cast<unsigned>(a.extent.width);
  image.height = static_cast<unsigned>(a.rows());
  const bool layered = (a.flags & (cudaArrayLayered | cudaArrayCubemap)) != 0;
  (layered ? image.layers : image.depth) = static_cast<unsigned>(a.slices());
  (layered ? image.depth : image.layers) = 1;
  if ((a.flags & cudaArrayCubemap) != 0) {
    image.shape = __sb_image_cube;
  } else if (layered) {
    image.shape = a.extent.height == 0 ? __sb_image_lines : __sb_image_flat;
  } else {
    image.shape = a.extent.depth != 0 ? __sb_image_volume : __sb_image_flat;
  }
  return image;
}

// Memory that a texture may read: the device's, at a multiple of the alignment. arrays.tsv
// texture.line.*, texture.pitch.*
bool is_readable(const void* memory, std::uint32_t alignment) {
  return memory != nullptr && reinterpret_cast<std::uintptr_t>(memory) % alignment == 0 &&
         the_memory().find(memory).has_value();
}

result<__sb_image> image_of(const cudaResourceDesc& r) {
  const texture_limits& limits = the_engine().profile(current_device()).texture;
  __sb_image image{};
  image.height = image.depth = image.layers = 1;
  switch (r.resType) {
    case cudaResourceTypeArray: {
      const auto array = resolve(r.res.array.array);
      if (!array) return array.error();
      return image_of(**array);
    }
    case cudaResourceTypeLinear: {
      const auto& line = r.res.linear;
      const std::size_t element = element_bytes(line.desc);
      if (element == 0) return status::invalid_channel_descriptor;
      if (!is_readable(line.devPtr, limits.alignment)) return status::invalid_value;
      set_format(image, line.desc);
      image.data = static_cast<char*>(line.devPtr);
      image.width = static_cast<unsigned>(std::min<std::size_t>(line.sizeInBytes / element, ~0u));
      image.shape = __sb_image_memory;
      return image;
    }
    case cudaResourceTypePitch2D: {
      const auto& plane = r.res.pitch2D;
      if (element_bytes(plane.desc) == 0) return status::invalid_channel_descriptor;
      if (!is_readable(plane.devPtr, limits.alignment) ||
          plane.pitchInBytes % limits.pitch_alignment != 0 ||
          plane.width > static_cast<std::size_t>(limits.linear_2d[0]) ||
          plane.height > static_cast<std::size_t>(limits.linear_2d[1])) {
        return status::invalid_value;
      }
      set_format(image, plane.desc);
      image.data = static_cast<char*>(plane.devPtr);
      image.pitch = plane.pitchInBytes;
      image.width = static_cast<unsigned>(plane.width);
      // h200: without a height it has one row; without a width it reads 0.
      image.height = std::max(1u, static_cast<unsigned>(plane.height));
      image.shape = __sb_image_flat;
      return image;
    }
    default:
      return status::invalid_value;
  }
}

// --- how it is read -----------------------------------------------------------------------------

// arrays.tsv texture.filter*, texture.address*
status check(const cudaTextureDesc& how, const __sb_image& image) {
  const bool integers = image.kind != 2, wide = image.bits == 32;
  if (how.filterMode == cudaFilterModeLinear && integers &&
      (wide || how.readMode == cudaReadModeElementType)) {
    return status::invalid_filter_setting;
  }
  if (how.readMode == cudaReadModeNormalizedFloat && (!integers || wide)) {
    return status::invalid_norm_setting;
  }
  for (const cudaTextureAddressMode mode : how.addressMode) {
    if (mode < cudaAddressModeWrap || mode > cudaAddressModeBorder) return status::invalid_value;
  }
  for (const cudaTextureFilterMode mode : {how.filterMode, how.mipmapFilterMode}) {
    if (mode < cudaFilterModePoint || mode > cudaFilterModeLinear) return status::invalid_value;
  }
  return status::success;
}

// The sRGB number whose light is nearest.
unsigned nearest_srgb(float light) {
  unsigned best = 0;
  float distance = 2;
  for (int value = 0; value < 256; ++value) {
    const float d = std::fabs(__sb_tex_float(__sb_tex_srgb(value)) - light);
    if (d < distance) {
      distance = d;
      best = static_cast<unsigned>(value);
    }
  }
  return best;
}

// Towards 0, and no more than the largest there is.
unsigned to_half(float value) {
  const unsigned bits = __sb_tex_bits(value), sign = bits >> 16 & 0x8000u;
  const unsigned magnitude = std::min(bits & 0x7fffffffu, 0x477fe000u);
  if (magnitude >= 113u << 23) return sign | ((magnitude >> 13) - (112u << 10));
  return sign | static_cast<unsigned>(__sb_tex_float(magnitude) * 0x1p24f);
}

// A component of the border as the format has it; textures.tsv format.*
unsigned border_component(const __sb_image& image, int component, float value) {
  if (image.kind == 2) return image.bits == 16 ? to_half(value) : __sb_tex_bits(value);
  // h200: of an integer the border is the number's lowest bits.
  if (!image.normalized) return __sb_tex_bits(value);
  const bool is_signed = image.kind == 0;
  const float inside = std::clamp(value, is_signed ? -1.0f : 0.0f, 1.0f);
  if (__sb_tex_is_srgb(&image, component)) return nearest_srgb(inside);
  const int most = (1 << (image.bits - (is_signed ? 1 : 0))) - 1;
  return static_cast<unsigned>(static_cast<int>(std::floor(static_cast<double>(inside) * most)));
}

void set_reading(__sb_image& image, const cudaTextureDesc& how) {
  const bool cube = image.shape == __sb_image_cube;
  image.fractions = how.normalizedCoords != 0 || cube;
  image.linear = how.filterMode == cudaFilterModeLinear;
  image.normalized = how.readMode != cudaReadModeElementType && image.kind != 2 && image.bits != 32;
  image.srgb = how.sRGB != 0 && image.normalized && image.kind == 1 && image.bits == 8;
  image.seamless = how.seamlessCubemap != 0;
  for (int i = 0; i < 3; ++i) {
    // CUDA: without fractions there are no repetitions.
    const bool repeats =
        how.addressMode[i] == cudaAddressModeWrap || how.addressMode[i] == cudaAddressModeMirror;
    image.address[i] = static_cast<unsigned char>(repeats && !image.fractions ? cudaAddressModeClamp
                                                                              : how.addressMode[i]);
  }
  const std::size_t bytes = image.bits / 8u;
  for (int c = 0; c < image.components; ++c) {
    const unsigned value = border_component(image, c, how.borderColor[c]);
    std::memcpy(image.border + bytes * static_cast<std::size_t>(c), &value, bytes);
  }
}

status make_texture(unsigned long long* out, const cudaResourceDesc& resource,
                    const cudaTextureDesc* how, const cudaResourceViewDesc* view) {
  if (how == nullptr) return status::invalid_resource_handle;
  if (view != nullptr || resource.resType == cudaResourceTypeMipmappedArray) {
    return status::not_supported;
  }
  auto image = image_of(resource);
  if (!image) return image.error();
  if (const status s = check(*how, *image); s != status::success) return s;
  set_reading(*image, *how);
  texture_object object{*image, resource, *how};
  object.description.normalizedCoords = how->normalizedCoords != 0;
  *out = reinterpret_cast<std::uintptr_t>(objects<texture_object>().create(object));
  return *out != 0 ? status::success : status::memory_allocation;
}

status make_surface(unsigned long long* out, const cudaResourceDesc& resource) {
  if (resource.resType != cudaResourceTypeArray) return status::invalid_value;
  const auto array = resolve(resource.res.array.array);
  if (!array) return array.error();
  const surface_object object{image_of(**array), resource};
  *out = reinterpret_cast<std::uintptr_t>(objects<surface_object>().create(object));
  return *out != 0 ? status::success : status::memory_allocation;
}

// CUDA: any number may be destroyed; arrays.tsv destroy.*
template <class Object>
cudaError_t destroy_entry(unsigned long long number, const char* name = __builtin_FUNCTION()) {
  return entry(
      call_kind::device,
      [&] {
        objects<Object>().destroy(reinterpret_cast<Object*>(number));
        return status::success;
      },
      name);
}

template <class Object, class Out, class Read>
cudaError_t tell_entry(Out* out, unsigned long long number, Read&& read,
                       const char* name = __builtin_FUNCTION()) {
  return entry(
      call_kind::device,
      [&]() -> status {
        if (out == nullptr) return status::invalid_resource_handle;
        const Object* object = object_of<Object>(number);
        if (object == nullptr) return status::invalid_value;
        *out = read(*object);
        return status::success;
      },
      name);
}

}  // namespace

SB_API cudaError_t CUDARTAPI cudaCreateTextureObject(cudaTextureObject_t* out,
                                                     const cudaResourceDesc* resource,
                                                     const cudaTextureDesc* how,
                                                     const cudaResourceViewDesc* view) {
  const auto check = [&] {
    return out != nullptr && resource != nullptr ? status::success : status::invalid_value;
  };
  return entry(call_kind::device, check, [&] { return make_texture(out, *resource, how, view); });
}

SB_API cudaError_t CUDARTAPI cudaDestroyTextureObject(cudaTextureObject_t object) {
  return destroy_entry<texture_object>(object);
}

SB_API cudaError_t CUDARTAPI cudaGetTextureObjectResourceDesc(cudaResourceDesc* out,
                                                              cudaTextureObject_t object) {
  return tell_entry<texture_object>(out, object, [](const auto& o) { return o.resource; });
}

SB_API cudaError_t CUDARTAPI cudaGetTextureObjectTextureDesc(cudaTextureDesc* out,
                                                             cudaTextureObject_t object) {
  return tell_entry<texture_object>(out, object, [](const auto& o) { return o.description; });
}

SB_API cudaError_t CUDARTAPI cudaGetTextureObjectResourceViewDesc(cudaResourceViewDesc* out,
                                                                  cudaTextureObject_t object) {
  return tell_entry<texture_object>(out, object,
                                    [](const auto&) { return cudaResourceViewDesc{}; });
}

SB_API cudaError_t CUDARTAPI cudaCreateSurfaceObject(cudaSurfaceObject_t* out,
                                                     const cudaResourceDesc* resource) {
  const auto check = [&] {
    return out != nullptr && resource != nullptr ? status::success : status::invalid_value;
  };
  return entry(call_kind::device, check, [&] { return make_surface(out, *resource); });
}

SB_API cudaError_t CUDARTAPI cudaDestroySurfaceObject(cudaSurfaceObject_t object) {
  return destroy_entry<surface_object>(object);
}

SB_API cudaError_t CUDARTAPI cudaGetSurfaceObjectResourceDesc(cudaResourceDesc* out,
                                                              cudaSurfaceObject_t object) {
  return tell_entry<surface_object>(out, object, [](const auto& o) { return o.resource; });
}

// arrays.tsv linear.most.*: 4 GiB
SB_API cudaError_t CUDARTAPI
cudaDeviceGetTexture1DLinearMaxWidth(size_t* out, const cudaChannelFormatDesc* format, int device) {
  return entry(call_kind::device, [&]() -> status {
    if (out == nullptr || format == nullptr) return status::invalid_value;
    if (device < 0 || static_cast<std::uint32_t>(device) >= the_engine().device_count()) {
      return status::invalid_device;
    }
    const std::size_t element = element_bytes(*format);
    if (element == 0) return status::invalid_channel_descriptor;
    *out = (std::size_t{4} << 30) / element;
    return status::success;
  });
}

}  // namespace sb::cudart
