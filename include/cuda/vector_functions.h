/* make_int4(x, y, z, w) and its kin. */
#ifndef __VECTOR_FUNCTIONS_H__
#define __VECTOR_FUNCTIONS_H__

#include "host_defines.h"
#include "vector_types.h"

#define SB_MAKE static __inline__ __host__ __device__ __attribute__((unused, always_inline))

#define SB_MAKE_4(name, type)                                \
  SB_MAKE name make_##name(type x, type y, type z, type w) { \
    name v;                                                  \
    v.x = x;                                                 \
    v.y = y;                                                 \
    v.z = z;                                                 \
    v.w = w;                                                 \
    return v;                                                \
  }

#define SB_MAKE_ALL(name, type)                            \
  SB_MAKE name##1 make_##name##1(type x) {                 \
    name##1 v;                                             \
    v.x = x;                                               \
    return v;                                              \
  }                                                        \
  SB_MAKE name##2 make_##name##2(type x, type y) {         \
    name##2 v;                                             \
    v.x = x;                                               \
    v.y = y;                                               \
    return v;                                              \
  }                                                        \
  SB_MAKE name##3 make_##name##3(type x, type y, type z) { \
    name##3 v;                                             \
    v.x = x;                                               \
    v.y = y;                                               \
    v.z = z;                                               \
    return v;                                              \
  }                                                        \
  SB_MAKE_4(name##4, type)

SB_MAKE_ALL(char, signed char)
SB_MAKE_ALL(uchar, unsigned char)
SB_MAKE_ALL(short, short)
SB_MAKE_ALL(ushort, unsigned short)
SB_MAKE_ALL(int, int)
SB_MAKE_ALL(uint, unsigned int)
SB_MAKE_ALL(long, long)
SB_MAKE_ALL(ulong, unsigned long)
SB_MAKE_ALL(float, float)
SB_MAKE_ALL(longlong, long long)
SB_MAKE_ALL(ulonglong, unsigned long long)
SB_MAKE_ALL(double, double)

SB_MAKE_4(long4_16a, long)
SB_MAKE_4(long4_32a, long)
SB_MAKE_4(ulong4_16a, unsigned long)
SB_MAKE_4(ulong4_32a, unsigned long)
SB_MAKE_4(longlong4_16a, long long)
SB_MAKE_4(longlong4_32a, long long)
SB_MAKE_4(ulonglong4_16a, unsigned long long)
SB_MAKE_4(ulonglong4_32a, unsigned long long)
SB_MAKE_4(double4_16a, double)
SB_MAKE_4(double4_32a, double)

#undef SB_MAKE_ALL
#undef SB_MAKE_4
#undef SB_MAKE

#endif
