/* tex1D and its kin: the functions of CUDA's headers on texture objects. On arrays without levels,
   a level of detail or a gradient changes nothing. */
#ifndef STREAMBED_TEXTURE_FUNCTIONS_H
#define STREAMBED_TEXTURE_FUNCTIONS_H

#include "../texture_types.h"
#include "sync_functions.h"
#include "texture_sampling.h"

/* What a function returns is what the instruction does, cut to the type. */
template <class T>
struct __sb_texel_as;

#define SB_TEXEL(type, ...)                                      \
  template <>                                                    \
  struct __sb_texel_as<type> {                                   \
    SB_FN type of(const __sb_texel& t) { return {__VA_ARGS__}; } \
  };
#define SB_TEXELS(name, type)                   \
  SB_TEXEL(type, (type)t.c[0])                  \
  SB_TEXEL(name##1, (type)t.c[0])               \
  SB_TEXEL(name##2, (type)t.c[0], (type)t.c[1]) \
  SB_TEXEL(name##4, (type)t.c[0], (type)t.c[1], (type)t.c[2], (type)t.c[3])
SB_TEXEL(char, (char)t.c[0])
SB_TEXELS(char, signed char)
SB_TEXELS(uchar, unsigned char)
SB_TEXELS(short, short)
SB_TEXELS(ushort, unsigned short)
SB_TEXELS(int, int)
SB_TEXELS(uint, unsigned int)
#define SB_F(i) __sb_tex_float(t.c[i])
SB_TEXEL(float, SB_F(0))
SB_TEXEL(float1, SB_F(0))
SB_TEXEL(float2, SB_F(0), SB_F(1))
SB_TEXEL(float4, SB_F(0), SB_F(1), SB_F(2), SB_F(3))
#undef SB_F
#undef SB_TEXELS
#undef SB_TEXEL

/* A function, and its form that stores what it read. */
#define SB_ALL(...) __VA_ARGS__
#define SB_TEXTURE(name, parameters, instruction)                          \
  template <class T>                                                       \
  SB_FN T name(cudaTextureObject_t object, SB_ALL parameters) {            \
    return __sb_texel_as<T>::of(instruction);                              \
  }                                                                        \
  template <class T>                                                       \
  SB_FN void name(T* out, cudaTextureObject_t object, SB_ALL parameters) { \
    *out = __sb_texel_as<T>::of(instruction);                              \
  }
/* Whether a texel is there is a question about sparse arrays. */
#define SB_SPARSE(name, ...)                                                                      \
  template <class T>                                                                              \
  __attribute__((unavailable("Streambed has no sparse arrays: leave out isResident"))) __device__ \
      T name(cudaTextureObject_t, __VA_ARGS__);

#define SB_FLAT(dimensions, x, y, layer) \
  __sb_texture_flat(object, dimensions, x, y, layer, sizeof(T))
#define SB_LINE __sb_texture_line(object, x, layer, sizeof(T))
#define SB_VOLUME __sb_texture_volume(object, x, y, z, sizeof(T))
#define SB_CUBE(layer) __sb_texture_cube(object, x, y, z, layer, sizeof(T))

SB_TEXTURE(tex1Dfetch, (int x), __sb_texture_fetch(object, x, sizeof(T)))

SB_TEXTURE(tex1D, (float x), SB_FLAT(1, x, 0, 0))
SB_TEXTURE(tex2D, (float x, float y), SB_FLAT(2, x, y, 0))
SB_TEXTURE(tex3D, (float x, float y, float z), SB_VOLUME)
SB_TEXTURE(tex1DLayered, (float x, int layer), SB_LINE)
SB_TEXTURE(tex2DLayered, (float x, float y, int layer), SB_FLAT(2, x, y, layer))
SB_TEXTURE(texCubemap, (float x, float y, float z), SB_CUBE(0))
SB_TEXTURE(texCubemapLayered, (float x, float y, float z, int layer), SB_CUBE(layer))
SB_TEXTURE(tex2Dgather, (float x, float y, int comp = 0),
           __sb_texture_gather(object, x, y, comp, sizeof(T)))

SB_TEXTURE(tex1DLod, (float x, float), SB_FLAT(1, x, 0, 0))
SB_TEXTURE(tex2DLod, (float x, float y, float), SB_FLAT(2, x, y, 0))
SB_TEXTURE(tex3DLod, (float x, float y, float z, float), SB_VOLUME)
SB_TEXTURE(tex1DLayeredLod, (float x, int layer, float), SB_LINE)
SB_TEXTURE(tex2DLayeredLod, (float x, float y, int layer, float), SB_FLAT(2, x, y, layer))
SB_TEXTURE(texCubemapLod, (float x, float y, float z, float), SB_CUBE(0))
SB_TEXTURE(texCubemapLayeredLod, (float x, float y, float z, int layer, float), SB_CUBE(layer))

SB_TEXTURE(tex1DGrad, (float x, float, float), SB_FLAT(1, x, 0, 0))
SB_TEXTURE(tex2DGrad, (float x, float y, float2, float2), SB_FLAT(2, x, y, 0))
SB_TEXTURE(tex3DGrad, (float x, float y, float z, float4, float4), SB_VOLUME)
SB_TEXTURE(tex1DLayeredGrad, (float x, int layer, float, float), SB_LINE)
SB_TEXTURE(tex2DLayeredGrad, (float x, float y, int layer, float2, float2), SB_FLAT(2, x, y, layer))
SB_TEXTURE(texCubemapGrad, (float x, float y, float z, float4, float4), SB_CUBE(0))
SB_TEXTURE(texCubemapLayeredGrad, (float x, float y, float z, int layer, float4, float4),
           SB_CUBE(layer))

SB_SPARSE(tex2D, float, float, bool*)
SB_SPARSE(tex3D, float, float, float, bool*)
SB_SPARSE(tex2DLayered, float, float, int, bool*)
SB_SPARSE(tex2Dgather, float, float, bool*, int = 0)
SB_SPARSE(tex2DLod, float, float, float, bool*)
SB_SPARSE(tex3DLod, float, float, float, float, bool*)
SB_SPARSE(tex2DLayeredLod, float, float, int, float, bool*)
SB_SPARSE(tex2DGrad, float, float, float2, float2, bool*)
SB_SPARSE(tex3DGrad, float, float, float, float4, float4, bool*)
SB_SPARSE(tex2DLayeredGrad, float, float, int, float2, float2, bool*)

#undef SB_CUBE
#undef SB_VOLUME
#undef SB_LINE
#undef SB_FLAT
#undef SB_SPARSE
#undef SB_TEXTURE
#undef SB_ALL

#endif
