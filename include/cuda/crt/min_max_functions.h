/* min and max in the global namespace, for every pair of arithmetic types, on both sides. */
#ifndef STREAMBED_MIN_MAX_FUNCTIONS_H
#define STREAMBED_MIN_MAX_FUNCTIONS_H

#include "host_device_libc.h"

#define SB_BOTH_FN static __host__ __device__ __forceinline__ __attribute__((unused))

/* Of a signed and an unsigned one the unsigned kind wins, as in an expression. */
#define SB_MIN_MAX(type, left, right)                                          \
  SB_BOTH_FN type min(left a, right b) {                                       \
    return static_cast<type>(a) < static_cast<type>(b) ? static_cast<type>(a)  \
                                                       : static_cast<type>(b); \
  }                                                                            \
  SB_BOTH_FN type max(left a, right b) {                                       \
    return static_cast<type>(a) > static_cast<type>(b) ? static_cast<type>(a)  \
                                                       : static_cast<type>(b); \
  }
#define SB_MIN_MAX_WITH_UNSIGNED(plain, uns) \
  SB_MIN_MAX(plain, plain, plain)            \
  SB_MIN_MAX(uns, uns, uns)                  \
  SB_MIN_MAX(uns, plain, uns)                \
  SB_MIN_MAX(uns, uns, plain)
SB_MIN_MAX_WITH_UNSIGNED(int, unsigned int)
SB_MIN_MAX_WITH_UNSIGNED(long, unsigned long)
SB_MIN_MAX_WITH_UNSIGNED(long long, unsigned long long)
#undef SB_MIN_MAX_WITH_UNSIGNED
#undef SB_MIN_MAX

/* A NaN gives way to the other operand. */
#define SB_MIN_MAX_FLOATING(type, left, right, minimum, maximum) \
  SB_BOTH_FN type min(left a, right b) { return minimum(a, b); } \
  SB_BOTH_FN type max(left a, right b) { return maximum(a, b); }
SB_MIN_MAX_FLOATING(float, float, float, __builtin_fminf, __builtin_fmaxf)
SB_MIN_MAX_FLOATING(double, double, double, __builtin_fmin, __builtin_fmax)
SB_MIN_MAX_FLOATING(double, float, double, __builtin_fmin, __builtin_fmax)
SB_MIN_MAX_FLOATING(double, double, float, __builtin_fmin, __builtin_fmax)
#undef SB_MIN_MAX_FLOATING

SB_BOTH_FN unsigned int umin(unsigned int a, unsigned int b) { return a < b ? a : b; }
SB_BOTH_FN unsigned int umax(unsigned int a, unsigned int b) { return a > b ? a : b; }
SB_BOTH_FN long long llmin(long long a, long long b) { return a < b ? a : b; }
SB_BOTH_FN long long llmax(long long a, long long b) { return a > b ? a : b; }
SB_BOTH_FN unsigned long long ullmin(unsigned long long a, unsigned long long b) {
  return a < b ? a : b;
}
SB_BOTH_FN unsigned long long ullmax(unsigned long long a, unsigned long long b) {
  return a > b ? a : b;
}

#endif
