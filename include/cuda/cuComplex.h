/* Complex numbers as pairs: x is the real part, y the imaginary one. */
#ifndef CU_COMPLEX_H_
#define CU_COMPLEX_H_

#include <math.h>

#include "vector_types.h"

#ifdef __cplusplus
#define SB_COMPLEX_FN __host__ __device__ static __inline__
#else
#define SB_COMPLEX_FN static __inline__
#endif

typedef float2 cuFloatComplex;
typedef double2 cuDoubleComplex;
typedef cuFloatComplex cuComplex;

/* `suffix` is that of C's functions for the type: fabsf, sqrtf.

   A quotient is taken of both numbers over the divisor's size, so that its square neither
   overflows nor vanishes. A length is the longer part times the root of one and the square of what
   the other is of it; for no length and for infinite ones the sum of the parts says it. */
#define SB_COMPLEX(type, part, suffix, largest)                                                   \
  SB_COMPLEX_FN part cuCreal##suffix(type z) { return z.x; }                                      \
  SB_COMPLEX_FN part cuCimag##suffix(type z) { return z.y; }                                      \
  SB_COMPLEX_FN type make_##type(part real, part imaginary) {                                     \
    type z;                                                                                       \
    z.x = real;                                                                                   \
    z.y = imaginary;                                                                              \
    return z;                                                                                     \
  }                                                                                               \
  SB_COMPLEX_FN type cuConj##suffix(type z) { return make_##type(z.x, -z.y); }                    \
  SB_COMPLEX_FN type cuCadd##suffix(type a, type b) { return make_##type(a.x + b.x, a.y + b.y); } \
  SB_COMPLEX_FN type cuCsub##suffix(type a, type b) { return make_##type(a.x - b.x, a.y - b.y); } \
  SB_COMPLEX_FN type cuCmul##suffix(type a, type b) {                                             \
    return make_##type(a.x * b.x - a.y * b.y, a.x * b.y + a.y * b.x);                             \
  }                                                                                               \
  SB_COMPLEX_FN type cuCdiv##suffix(type a, type b) {                                             \
    part scale = 1 / (fabs##suffix(b.x) + fabs##suffix(b.y));                                     \
    const part ax = a.x * scale, ay = a.y * scale, bx = b.x * scale, by = b.y * scale;            \
    scale = 1 / (bx * bx + by * by);                                                              \
    return make_##type((ax * bx + ay * by) * scale, (ay * bx - ax * by) * scale);                 \
  }                                                                                               \
  SB_COMPLEX_FN part cuCabs##suffix(type z) {                                                     \
    const part a = fabs##suffix(z.x), b = fabs##suffix(z.y);                                      \
    const part longer = a > b ? a : b, shorter = a > b ? b : a;                                   \
    const part ratio = shorter / longer;                                                          \
    const part length = longer * sqrt##suffix(1 + ratio * ratio);                                 \
    return longer == 0 || longer > largest || shorter > largest ? longer + shorter : length;      \
  }                                                                                               \
  SB_COMPLEX_FN type cuCfma##suffix(type a, type b, type c) {                                     \
    const part real = a.x * b.x + c.x, imaginary = a.x * b.y + c.y;                               \
    return make_##type(real - a.y * b.y, a.y * b.x + imaginary);                                  \
  }

SB_COMPLEX(cuFloatComplex, float, f, 3.402823466e38f)
SB_COMPLEX(cuDoubleComplex, double, , 1.79769313486231570e+308)
#undef SB_COMPLEX

SB_COMPLEX_FN cuComplex make_cuComplex(float real, float imaginary) {
  return make_cuFloatComplex(real, imaginary);
}
SB_COMPLEX_FN cuDoubleComplex cuComplexFloatToDouble(cuFloatComplex z) {
  return make_cuDoubleComplex((double)z.x, (double)z.y);
}
SB_COMPLEX_FN cuFloatComplex cuComplexDoubleToFloat(cuDoubleComplex z) {
  return make_cuFloatComplex((float)z.x, (float)z.y);
}
#undef SB_COMPLEX_FN

#endif
