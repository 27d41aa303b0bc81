/* The built-in vector types: char1 ... ulonglong4, float1 ... double4, and dim3. */
#ifndef __VECTOR_TYPES_H__
#define __VECTOR_TYPES_H__

#include "host_defines.h"

#define SB_VECTOR_1(name, type) \
  struct name {                 \
    type x;                     \
  };                            \
  typedef struct name name;

/* Two and four components are aligned so that one access moves them all; three are not. */
#define SB_VECTOR_2(name, type)             \
  struct __align__(2 * sizeof(type)) name { \
    type x;                                 \
    type y;                                 \
  };                                        \
  typedef struct name name;

#define SB_VECTOR_3(name, type) \
  struct name {                 \
    type x;                     \
    type y;                     \
    type z;                     \
  };                            \
  typedef struct name name;

#define SB_VECTOR_4(name, type, alignment) \
  struct __align__(alignment) name {       \
    type x;                                \
    type y;                                \
    type z;                                \
    type w;                                \
  };                                       \
  typedef struct name name;

#define SB_VECTORS(name, type) \
  SB_VECTOR_1(name##1, type)   \
  SB_VECTOR_2(name##2, type)   \
  SB_VECTOR_3(name##3, type)

SB_VECTORS(char, signed char)
SB_VECTOR_4(char4, signed char, 4)
SB_VECTORS(uchar, unsigned char)
SB_VECTOR_4(uchar4, unsigned char, 4)
SB_VECTORS(short, short)
SB_VECTOR_4(short4, short, 8)
SB_VECTORS(ushort, unsigned short)
SB_VECTOR_4(ushort4, unsigned short, 8)
SB_VECTORS(int, int)
SB_VECTOR_4(int4, int, 16)
SB_VECTORS(uint, unsigned int)
SB_VECTOR_4(uint4, unsigned int, 16)
SB_VECTORS(float, float)
SB_VECTOR_4(float4, float, 16)

/* Four components of eight bytes: aligned to 16 under the old name, and by choice under the new. */
#define SB_VECTORS_OF_8_BYTES(name, type) \
  SB_VECTORS(name, type)                  \
  SB_VECTOR_4(name##4, type, 16)          \
  SB_VECTOR_4(name##4_16a, type, 16)      \
  SB_VECTOR_4(name##4_32a, type, 32)

SB_VECTORS_OF_8_BYTES(long, long)
SB_VECTORS_OF_8_BYTES(ulong, unsigned long)
SB_VECTORS_OF_8_BYTES(longlong, long long)
SB_VECTORS_OF_8_BYTES(ulonglong, unsigned long long)
SB_VECTORS_OF_8_BYTES(double, double)

#undef SB_VECTORS_OF_8_BYTES
#undef SB_VECTORS
#undef SB_VECTOR_4
#undef SB_VECTOR_3
#undef SB_VECTOR_2
#undef SB_VECTOR_1

/* Components that are not given are one. */
struct dim3 {
  unsigned int x;
  unsigned int y;
  unsigned int z;
#ifdef __cplusplus
  __host__ __device__ constexpr dim3(unsigned int x_ = 1, unsigned int y_ = 1, unsigned int z_ = 1)
      : x(x_), y(y_), z(z_) {}
  __host__ __device__ constexpr dim3(uint3 v) : x(v.x), y(v.y), z(v.z) {}
  __host__ __device__ constexpr operator uint3() const { return uint3{x, y, z}; }
#endif
};
typedef struct dim3 dim3;

#endif
