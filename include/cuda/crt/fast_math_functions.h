/* The quick variants of maths functions. On the device they trade accuracy for time; here the
   accurate function serves, which is within every bound that CUDA documents for the quick one. */
#ifndef STREAMBED_FAST_MATH_FUNCTIONS_H
#define STREAMBED_FAST_MATH_FUNCTIONS_H

#include "host_device_libc.h"
#include "sync_functions.h"

/* They are marked, as allowed to take a reciprocal: a model of a device knows them by that. It is
   the one mark that changes nothing about NaN and infinity, which they have like the accurate ones.
 */
#if defined(__clang__)
#pragma float_control(push)
#pragma clang fp reciprocal(on)
#endif
SB_FN float __sinf(float x) { return sinf(x); }
SB_FN float __cosf(float x) { return cosf(x); }
SB_FN float __tanf(float x) { return tanf(x); }
SB_FN float __tanhf(float x) { return tanhf(x); }
SB_FN void __sincosf(float x, float* sine, float* cosine) {
  *sine = sinf(x);
  *cosine = cosf(x);
}
SB_FN float __expf(float x) { return expf(x); }
SB_FN float __exp10f(float x) { return exp10f(x); }
SB_FN float __logf(float x) { return logf(x); }
SB_FN float __log2f(float x) { return log2f(x); }
SB_FN float __log10f(float x) { return log10f(x); }
/* A negative base has no logarithm, so the quick power is NaN there even for integral exponents. */
SB_FN float __powf(float x, float y) { return exp2f(y * log2f(x)); }
SB_FN float __sb_quick_quotient(float x, float y) { return x / y; }
#if defined(__clang__)
#pragma float_control(pop)
#endif
/* For divisors beyond 2^126 the device loses the quotient. */
SB_FN float __fdividef(float x, float y) {
  const float size = __builtin_fabsf(y);
  if (size > 0x1p126f && size <= 0x1.fffffep127f) {
    return __builtin_isinf(x) || __builtin_isnan(x) ? __builtin_nanf("")
                                                    : __builtin_copysignf(0.0f, x) * y;
  }
  return __sb_quick_quotient(x, y);
}
SB_FN float fdividef(float x, float y) { return x / y; }
SB_FN double fdivide(double x, double y) { return x / y; }
SB_FN float __saturatef(float x) { return x > 0.0f ? (x < 1.0f ? x : 1.0f) : 0.0f; }
SB_FN float saturate(float x) { return __saturatef(x); }

#endif
