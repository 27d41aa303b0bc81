/* surf1Dread and its kin. x counts bytes. */
#ifndef STREAMBED_SURFACE_FUNCTIONS_H
#define STREAMBED_SURFACE_FUNCTIONS_H

#include "../surface_types.h"
#include "sync_functions.h"
#include "texture_object.h"

/* The types that an access can have: of 1, 2, 4, 8 or 16 bytes. */
template <class T>
struct __sb_surface_type {
  static_assert(sizeof(T) <= 16 && (sizeof(T) & (sizeof(T) - 1)) == 0,
                "a surface is read and written by 1, 2, 4, 8 or 16 bytes");
};

/* Where a row, slice or layer outside ends up; -1: nowhere. */
SB_FN int __sb_surface_place(int at, unsigned size, cudaSurfaceBoundaryMode mode, int below) {
  if (static_cast<unsigned>(at) < size) return at;
  if (mode != cudaBoundaryModeClamp) return -1;
  return at < 0 ? below : static_cast<int>(size) - 1;
}

/* The address of an access; null when there is none. With the mode that traps, an address that
   faults. */
template <class T>
SB_FN T* __sb_surface_at(cudaSurfaceObject_t object, int x, int y, int z, int layer,
                         cudaSurfaceBoundaryMode mode) {
  const __sb_image* s = reinterpret_cast<const __sb_image*>(object);
  if (s == nullptr) return nullptr;
  const unsigned row = s->width * (s->bits / 8u * s->components);
  int at = x;
  if (static_cast<unsigned>(x) >= row || row - static_cast<unsigned>(x) < sizeof(T)) {
    at = mode != cudaBoundaryModeClamp ? -1 : x < 0 ? 0 : static_cast<int>(row - sizeof(T));
  }
  const int v = __sb_surface_place(y, s->height, mode, 0);
  const int w = __sb_surface_place(z, s->depth, mode, 0);
  const int l = __sb_surface_place(layer, s->layers, mode, static_cast<int>(s->layers) - 1);
  if ((at | v | w | l) < 0) {
    return mode == cudaBoundaryModeTrap ? reinterpret_cast<T*>(sizeof(T)) : nullptr;
  }
  return reinterpret_cast<T*>(s->data + static_cast<size_t>(w + l) * s->slice +
                              static_cast<size_t>(v) * s->pitch + static_cast<size_t>(at));
}

#define SB_ALL(...) __VA_ARGS__
#define SB_SURFACE(name, parameters, place)                                      \
  template <class T>                                                             \
  SB_FN void name##read(T* out, cudaSurfaceObject_t object, SB_ALL parameters,   \
                        cudaSurfaceBoundaryMode mode = cudaBoundaryModeTrap) {   \
    (void)__sb_surface_type<T>();                                                \
    const T* at = __sb_surface_at<T>(object, SB_ALL place, mode);                \
    *out = at != nullptr ? *at : T{};                                            \
  }                                                                              \
  template <class T>                                                             \
  SB_FN T name##read(cudaSurfaceObject_t object, SB_ALL parameters,              \
                     cudaSurfaceBoundaryMode mode = cudaBoundaryModeTrap) {      \
    (void)__sb_surface_type<T>();                                                \
    const T* at = __sb_surface_at<T>(object, SB_ALL place, mode);                \
    return at != nullptr ? *at : T{};                                            \
  }                                                                              \
  template <class T>                                                             \
  SB_FN void name##write(T value, cudaSurfaceObject_t object, SB_ALL parameters, \
                         cudaSurfaceBoundaryMode mode = cudaBoundaryModeTrap) {  \
    (void)__sb_surface_type<T>();                                                \
    T* at = __sb_surface_at<T>(object, SB_ALL place, mode);                      \
    if (at != nullptr) *at = value;                                              \
  }

SB_SURFACE(surf1D, (int x), (x, 0, 0, 0))
SB_SURFACE(surf2D, (int x, int y), (x, y, 0, 0))
SB_SURFACE(surf3D, (int x, int y, int z), (x, y, z, 0))
SB_SURFACE(surf1DLayered, (int x, int layer), (x, 0, 0, layer))
SB_SURFACE(surf2DLayered, (int x, int y, int layer), (x, y, 0, layer))
SB_SURFACE(surfCubemap, (int x, int y, int face), (x, y, 0, face))
SB_SURFACE(surfCubemapLayered, (int x, int y, int layerface), (x, y, 0, layerface))

#undef SB_SURFACE
#undef SB_ALL

#endif
