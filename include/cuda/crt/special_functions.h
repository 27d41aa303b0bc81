/* The maths functions that CUDA has beyond the C library, on both sides. Those for float compute in
   double and round once. */
#ifndef STREAMBED_SPECIAL_FUNCTIONS_H
#define STREAMBED_SPECIAL_FUNCTIONS_H

#include "host_device_libc.h"
#include "min_max_functions.h"

/* Reciprocal roots. */
SB_BOTH_FN double rsqrt(double x) { return 1.0 / __builtin_sqrt(x); }
/* Off by one unit in the last place at most, half of what CUDA allows. */
SB_BOTH_FN float rsqrtf(float x) { return 1.0f / __builtin_sqrtf(x); }
SB_BOTH_FN float rsqrt(float x) { return rsqrtf(x); }

/* Lengths. They are scaled by a power of two, so that squares neither overflow nor vanish. */
SB_BOTH_FN double __sb_length(int dim, const double* p, bool reciprocal) {
  double largest = 0.0;
  for (int i = 0; i < dim; ++i) {
    if (__builtin_isinf(p[i])) return reciprocal ? 0.0 : __builtin_inf();
    largest = __builtin_fmax(largest, __builtin_fabs(p[i]));
  }
  const int exponent = largest > 0.0 ? ilogb(largest) : 0;
  double sum = 0.0;
  for (int i = 0; i < dim; ++i) {
    const double scaled = scalbn(p[i], -exponent);
    sum = __builtin_fma(scaled, scaled, sum);
  }
  const double root = __builtin_sqrt(sum);
  return reciprocal ? scalbn(1.0 / root, -exponent) : scalbn(root, exponent);
}
SB_BOTH_FN double norm(int dim, const double* p) { return __sb_length(dim, p, false); }
SB_BOTH_FN double rnorm(int dim, const double* p) { return __sb_length(dim, p, true); }
/* The squares of floats fit into a double. */
SB_BOTH_FN double __sb_length(int dim, const float* p) {
  double sum = 0.0;
  bool infinite = false;
  for (int i = 0; i < dim; ++i) {
    infinite = infinite || __builtin_isinf(p[i]);
    sum += static_cast<double>(p[i]) * p[i];
  }
  return infinite ? __builtin_inf() : __builtin_sqrt(sum);
}
SB_BOTH_FN float normf(int dim, const float* p) { return static_cast<float>(__sb_length(dim, p)); }
SB_BOTH_FN float rnormf(int dim, const float* p) {
  return static_cast<float>(1.0 / __sb_length(dim, p));
}
SB_BOTH_FN float norm(int dim, const float* p) { return normf(dim, p); }
SB_BOTH_FN float rnorm(int dim, const float* p) { return rnormf(dim, p); }

/* Those of a fixed number of doubles and the others are functions of the compiler's own on the
   device (src/compiler/device_maths), which become vectors in loops over threads. */
#ifdef __CUDA_ARCH__
#include "device_special_functions.h"
#else
#include "host_special_functions.h"
#endif

SB_BOTH_FN float rcbrt(float x) { return rcbrtf(x); }
SB_BOTH_FN float erfcx(float x) { return erfcxf(x); }
SB_BOTH_FN float erfinv(float x) { return erfinvf(x); }
SB_BOTH_FN float erfcinv(float x) { return erfcinvf(x); }
SB_BOTH_FN float normcdfinv(float x) { return normcdfinvf(x); }
SB_BOTH_FN float normcdf(float x) { return normcdff(x); }
SB_BOTH_FN float cyl_bessel_i0(float x) { return cyl_bessel_i0f(x); }
SB_BOTH_FN float cyl_bessel_i1(float x) { return cyl_bessel_i1f(x); }

SB_BOTH_FN float norm3df(float a, float b, float c) {
  const float p[3] = {a, b, c};
  return normf(3, p);
}
SB_BOTH_FN float norm4df(float a, float b, float c, float d) {
  const float p[4] = {a, b, c, d};
  return normf(4, p);
}
SB_BOTH_FN float norm3d(float a, float b, float c) { return norm3df(a, b, c); }
SB_BOTH_FN float norm4d(float a, float b, float c, float d) { return norm4df(a, b, c, d); }
SB_BOTH_FN float rhypotf(float x, float y) {
  const float p[2] = {x, y};
  return rnormf(2, p);
}
SB_BOTH_FN float rhypot(float x, float y) { return rhypotf(x, y); }
SB_BOTH_FN float rnorm3df(float a, float b, float c) {
  const float p[3] = {a, b, c};
  return rnormf(3, p);
}
SB_BOTH_FN float rnorm4df(float a, float b, float c, float d) {
  const float p[4] = {a, b, c, d};
  return rnormf(4, p);
}
SB_BOTH_FN float rnorm3d(float a, float b, float c) { return rnorm3df(a, b, c); }
SB_BOTH_FN float rnorm4d(float a, float b, float c, float d) { return rnorm4df(a, b, c, d); }

/* sin and cos of multiples of pi, together. */
SB_BOTH_FN void sincospif(float x, float* sine, float* cosine) {
  *sine = sinpif(x);
  *cosine = cospif(x);
}
SB_BOTH_FN float sinpi(float x) { return sinpif(x); }
SB_BOTH_FN float cospi(float x) { return cospif(x); }
SB_BOTH_FN void sincospi(float x, float* sine, float* cosine) { sincospif(x, sine, cosine); }

/* float overloads of what the C library has only for double. */
SB_BOTH_FN float exp10(float x) { return exp10f(x); }
SB_BOTH_FN void sincos(float x, float* sine, float* cosine) { sincosf(x, sine, cosine); }
SB_BOTH_FN float j0(float x) { return j0f(x); }
SB_BOTH_FN float j1(float x) { return j1f(x); }
SB_BOTH_FN float jn(int n, float x) { return jnf(n, x); }
SB_BOTH_FN float y0(float x) { return y0f(x); }
SB_BOTH_FN float y1(float x) { return y1f(x); }
SB_BOTH_FN float yn(int n, float x) { return ynf(n, x); }

#endif
