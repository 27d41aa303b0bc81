/* Arithmetic and conversions with a given rounding. _rn is to nearest even, _rz towards zero, _ru
   up, _rd down. */
#ifndef STREAMBED_ROUNDING_FUNCTIONS_H
#define STREAMBED_ROUNDING_FUNCTIONS_H

#include "integer_functions.h"
#include "sync_functions.h"

/* The numbers of __builtin_set_flt_rounds. */
#define SB_ROUND_ZERO 0
#define SB_ROUND_NEAREST 1
#define SB_ROUND_UP 2
#define SB_ROUND_DOWN 3

/* To nearest: what the processor does anyway, but never fused with what stands around it. */
#define SB_NEAREST(type, name, params, expression) \
  SB_FN type name params { _Pragma("clang fp contract(off)") return expression; }

/* Directed: the processor's rounding is set around the operation. Not inlined, so that the code
   around it may still be optimised as usual. */
#ifdef __CUDA_ARCH__
#define SB_MODE_MATTERS _Pragma("STDC FENV_ACCESS ON")
#else /* not compiled for the host, whose -ffast-math it would contradict */
#define SB_MODE_MATTERS
#endif
#define SB_DIRECTED(type, name, mode, params, expression)                   \
  static __device__ __noinline__ __attribute__((unused)) type name params { \
    SB_MODE_MATTERS __builtin_set_flt_rounds(mode);                         \
    const volatile type result = expression;                                \
    __builtin_set_flt_rounds(SB_ROUND_NEAREST);                             \
    return result;                                                          \
  }

#define SB_ROUNDED(type, name, params, expression)                \
  SB_NEAREST(type, name##_rn, params, expression)                 \
  SB_DIRECTED(type, name##_rz, SB_ROUND_ZERO, params, expression) \
  SB_DIRECTED(type, name##_ru, SB_ROUND_UP, params, expression)   \
  SB_DIRECTED(type, name##_rd, SB_ROUND_DOWN, params, expression)

SB_ROUNDED(float, __fadd, (float x, float y), x + y)
SB_ROUNDED(float, __fsub, (float x, float y), x - y)
SB_ROUNDED(float, __fmul, (float x, float y), x* y)
SB_ROUNDED(float, __fdiv, (float x, float y), x / y)
SB_ROUNDED(float, __frcp, (float x), 1.0f / x)
SB_ROUNDED(float, __fsqrt, (float x), __builtin_sqrtf(x))
SB_ROUNDED(float, __fmaf, (float x, float y, float z), __builtin_fmaf(x, y, z))
SB_ROUNDED(double, __dadd, (double x, double y), x + y)
SB_ROUNDED(double, __dsub, (double x, double y), x - y)
SB_ROUNDED(double, __dmul, (double x, double y), x* y)
SB_ROUNDED(double, __ddiv, (double x, double y), x / y)
SB_ROUNDED(double, __drcp, (double x), 1.0 / x)
SB_ROUNDED(double, __dsqrt, (double x), __builtin_sqrt(x))
SB_ROUNDED(double, __fma, (double x, double y, double z), __builtin_fma(x, y, z))

/* Never flushes subnormal numbers; nothing here does. */
SB_FN float __fmaf_ieee_rn(float x, float y, float z) { return __fmaf_rn(x, y, z); }
SB_FN float __fmaf_ieee_rz(float x, float y, float z) { return __fmaf_rz(x, y, z); }
SB_FN float __fmaf_ieee_ru(float x, float y, float z) { return __fmaf_ru(x, y, z); }
SB_FN float __fmaf_ieee_rd(float x, float y, float z) { return __fmaf_rd(x, y, z); }

/* Floating point to narrower floating point, and integers to floating point. */
SB_ROUNDED(float, __double2float, (double x), static_cast<float>(x))
SB_ROUNDED(float, __int2float, (int x), static_cast<float>(x))
SB_ROUNDED(float, __uint2float, (unsigned x), static_cast<float>(x))
SB_ROUNDED(float, __ll2float, (long long x), static_cast<float>(x))
SB_ROUNDED(float, __ull2float, (unsigned long long x), static_cast<float>(x))
SB_ROUNDED(double, __ll2double, (long long x), static_cast<double>(x))
SB_ROUNDED(double, __ull2double, (unsigned long long x), static_cast<double>(x))
SB_FN double __int2double_rn(int x) { return x; }
SB_FN double __uint2double_rn(unsigned x) { return x; }

#undef SB_ROUNDED
#undef SB_DIRECTED
#undef SB_NEAREST

/* The operands have 24 bits, so the quotient in double is never close enough to a tie to go wrong.
 */
SB_FN float __frsqrt_rn(float x) {
  return static_cast<float>(1.0 / __builtin_sqrt(static_cast<double>(x)));
}

/* Floating point to integer: out of range saturates. `x` is integral already; `not_a_number` is
   what the device makes of a NaN. */
template <typename To>
SB_FN To __sb_saturating(double x, To not_a_number) {
  constexpr bool is_signed = static_cast<To>(-1) < 0;
  constexpr int bits = 8 * sizeof(To);
  constexpr To high = static_cast<To>(~0ull >> (64 - bits + is_signed));
  constexpr To low = is_signed ? static_cast<To>(-high - 1) : To{0};
  constexpr double bound = is_signed ? static_cast<double>(1ull << (bits - 1))
                                     : 2.0 * static_cast<double>(1ull << (bits - 1));
  if (__builtin_isnan(x)) return not_a_number;
  if (x >= bound) return high;
  if (x < (is_signed ? -bound : 0.0)) return low;
  return static_cast<To>(x);
}

#define SB_TO_INTEGER(name, To, From, not_a_number)                                            \
  SB_FN To name##_rn(From x) { return __sb_saturating<To>(__builtin_rint(x), not_a_number); }  \
  SB_FN To name##_rz(From x) { return __sb_saturating<To>(__builtin_trunc(x), not_a_number); } \
  SB_FN To name##_ru(From x) { return __sb_saturating<To>(__builtin_ceil(x), not_a_number); }  \
  SB_FN To name##_rd(From x) { return __sb_saturating<To>(__builtin_floor(x), not_a_number); }
#define SB_TOP_BIT_32 static_cast<int>(0x80000000u)
#define SB_TOP_BIT_64 0x8000000000000000ull
SB_TO_INTEGER(__float2int, int, float, 0)
SB_TO_INTEGER(__float2uint, unsigned, float, 0u)
SB_TO_INTEGER(__float2ll, long long, float, static_cast<long long>(SB_TOP_BIT_64))
SB_TO_INTEGER(__float2ull, unsigned long long, float, SB_TOP_BIT_64)
SB_TO_INTEGER(__double2int, int, double, SB_TOP_BIT_32)
SB_TO_INTEGER(__double2uint, unsigned, double, 0x80000000u)
SB_TO_INTEGER(__double2ll, long long, double, static_cast<long long>(SB_TOP_BIT_64))
SB_TO_INTEGER(__double2ull, unsigned long long, double, SB_TOP_BIT_64)
#undef SB_TOP_BIT_64
#undef SB_TOP_BIT_32
#undef SB_TO_INTEGER

/* The rounding as an argument. */
#define SB_BY_MODE(mode, name, ...)                     \
  ((mode) == cudaRoundZero     ? name##_rz(__VA_ARGS__) \
   : (mode) == cudaRoundPosInf ? name##_ru(__VA_ARGS__) \
   : (mode) == cudaRoundMinInf ? name##_rd(__VA_ARGS__) \
                               : name##_rn(__VA_ARGS__))
#define SB_CONVERSION(To, name, From, default_mode)               \
  SB_FN To name(From a, enum cudaRoundMode mode = default_mode) { \
    return SB_BY_MODE(mode, __##name, a);                         \
  }
SB_CONVERSION(int, float2int, float, cudaRoundZero)
SB_CONVERSION(unsigned, float2uint, float, cudaRoundZero)
SB_CONVERSION(float, int2float, int, cudaRoundNearest)
SB_CONVERSION(float, uint2float, unsigned, cudaRoundNearest)
SB_CONVERSION(int, double2int, double, cudaRoundZero)
SB_CONVERSION(unsigned, double2uint, double, cudaRoundZero)
SB_CONVERSION(long long, double2ll, double, cudaRoundZero)
SB_CONVERSION(unsigned long long, double2ull, double, cudaRoundZero)
SB_CONVERSION(double, ll2double, long long, cudaRoundNearest)
SB_CONVERSION(double, ull2double, unsigned long long, cudaRoundNearest)
SB_FN double int2double(int a, enum cudaRoundMode = cudaRoundNearest) { return a; }
SB_FN double uint2double(unsigned a, enum cudaRoundMode = cudaRoundNearest) { return a; }
SB_FN double float2double(float a, enum cudaRoundMode = cudaRoundNearest) { return a; }
SB_FN double fma(double a, double b, double c, enum cudaRoundMode mode) {
  return SB_BY_MODE(mode, __fma, a, b, c);
}
SB_FN double dmul(double a, double b, enum cudaRoundMode mode = cudaRoundNearest) {
  return SB_BY_MODE(mode, __dmul, a, b);
}
SB_FN double dadd(double a, double b, enum cudaRoundMode mode = cudaRoundNearest) {
  return SB_BY_MODE(mode, __dadd, a, b);
}
SB_FN double dsub(double a, double b, enum cudaRoundMode mode = cudaRoundNearest) {
  return SB_BY_MODE(mode, __dsub, a, b);
}
#undef SB_CONVERSION
#undef SB_BY_MODE
#undef SB_ROUND_DOWN
#undef SB_ROUND_UP
#undef SB_ROUND_NEAREST
#undef SB_ROUND_ZERO

#endif
