/* Floating-point numbers of 16 bits: how they are rounded to. A format is given by its number of
   exponent and mantissa bits; every result is the exact value rounded once. A NaN becomes the one
   that the device makes, 0x7fff. */
#ifndef STREAMBED_SMALL_FLOAT_H
#define STREAMBED_SMALL_FLOAT_H

#include <math.h>

#include "../host_defines.h"

#define SB_SMALL_FN static __host__ __device__ __forceinline__ __attribute__((unused))
#define SB_SMALL_NAN 0x7fff

enum __sb_rounding { __sb_rn, __sb_rz, __sb_ru, __sb_rd };

template <int ExponentBits, int MantissaBits>
SB_SMALL_FN unsigned short __sb_small_round(double value, __sb_rounding mode) {
  const unsigned long long bits = __builtin_bit_cast(unsigned long long, value);
  const unsigned long long magnitude = bits & 0x7fffffffffffffffull;
  const unsigned sign = static_cast<unsigned>(bits >> 63);
  const unsigned infinity = ((1u << ExponentBits) - 1u) << MantissaBits;
  const int lowest = 2 - (1 << (ExponentBits - 1)); /* the exponent of the least normal number */
  if (magnitude > 0x7ff0000000000000ull) return SB_SMALL_NAN;
  if (magnitude == 0x7ff0000000000000ull) {
    return static_cast<unsigned short>(sign << 15 | infinity);
  }
  const int exponent = static_cast<int>(magnitude >> 52) - 1023;
  const unsigned long long significand =
      (magnitude & 0xfffffffffffffull) | (magnitude >> 52 ? 1ull << 52 : 0);
  /* Below the normal numbers the unit stays that of the least one. */
  const int wanted = 52 - MantissaBits + (exponent < lowest ? lowest - exponent : 0);
  const int shift = wanted > 60 ? 60 : wanted;
  unsigned long long quotient = significand >> shift;
  const unsigned long long rest = significand & ((1ull << shift) - 1);
  const unsigned long long half = 1ull << (shift - 1);
  const bool up = mode == __sb_rn   ? rest > half || (rest == half && (quotient & 1))
                  : mode == __sb_ru ? rest && !sign
                  : mode == __sb_rd ? rest && sign
                                    : false;
  quotient += up;
  /* The significand's leading bit, or the carry out of it, adds itself to the exponent's field. */
  const unsigned long long encoded =
      (exponent < lowest ? 0ull
                         : static_cast<unsigned long long>(exponent - lowest) << MantissaBits) +
      quotient;
  const bool to_infinity =
      mode == __sb_rn || (mode == __sb_ru && !sign) || (mode == __sb_rd && sign);
  const unsigned limited = encoded < infinity ? static_cast<unsigned>(encoded)
                           : to_infinity      ? infinity
                                              : infinity - 1;
  return static_cast<unsigned short>(sign << 15 | limited);
}

/* A sum of two doubles that keeps, in its last bit, that something was lost: rounding it once more
   to 16 bits then gives what rounding the exact sum gives. */
SB_SMALL_FN double __sb_sum_to_odd(double a, double b) {
#if defined(__clang__)
#pragma clang fp contract(off) reassociate(off)
#endif
  const double sum = a + b;
  const double part = sum - a;
  const double lost = (a - (sum - part)) + (b - part);
  const unsigned long long bits = __builtin_bit_cast(unsigned long long, sum);
  if (!(lost > 0.0 || lost < 0.0) || (bits & 1) || !(sum - sum == 0.0)) return sum;
  const bool away = (lost > 0.0) == (sum > 0.0);
  return __builtin_bit_cast(double, away ? bits + 1 : bits - 1);
}

/* Integers of 64 bits do not all fit a double: the same last bit stands for what does not. */
SB_SMALL_FN double __sb_to_odd(unsigned long long value) {
  return __sb_sum_to_odd(static_cast<double>(value & 0xffffffff00000000ull),
                         static_cast<double>(value & 0xffffffffull));
}
SB_SMALL_FN double __sb_to_odd(long long value) {
  return value < 0 ? -__sb_to_odd(0ull - static_cast<unsigned long long>(value))
                   : __sb_to_odd(static_cast<unsigned long long>(value));
}

/* IEEE binary16. The processor's own conversion where there is one. */
#ifdef __clang__
#if defined(__aarch64__) || __has_builtin(__builtin_ia32_vcvtph2ps)
#define SB_SMALL_CONVERTS
#endif
#endif
#ifdef SB_SMALL_CONVERTS
SB_SMALL_FN float __sb_half_widen(unsigned short bits) {
  return static_cast<float>(__builtin_bit_cast(_Float16, bits));
}
SB_SMALL_FN unsigned short __sb_half_narrow(float value) {
  return value == value ? __builtin_bit_cast(unsigned short, static_cast<_Float16>(value))
                        : static_cast<unsigned short>(SB_SMALL_NAN);
}
#else
SB_SMALL_FN float __sb_half_widen(unsigned short bits) {
  const unsigned magnitude = bits & 0x7fffu, sign = (bits & 0x8000u) << 16;
  if (magnitude >= 0x7c00u) {
    return __builtin_bit_cast(float, sign | 0x7f800000u | (magnitude & 0x3ffu) << 13);
  }
  /* The exponents differ by 112; scaling by it makes subnormal numbers normal ones. */
  const float scaled = __builtin_bit_cast(float, magnitude << 13) * 0x1p112f;
  return __builtin_bit_cast(float, __builtin_bit_cast(unsigned, scaled) | sign);
}
SB_SMALL_FN unsigned short __sb_half_narrow(float value) {
  return __sb_small_round<5, 10>(value, __sb_rn);
}
#endif

/* bfloat16: the upper half of a float. */
SB_SMALL_FN float __sb_bfloat16_widen(unsigned short bits) {
  return __builtin_bit_cast(float, static_cast<unsigned>(bits) << 16);
}
SB_SMALL_FN unsigned short __sb_bfloat16_narrow(float value) {
  const unsigned bits = __builtin_bit_cast(unsigned, value);
  return value == value ? static_cast<unsigned short>((bits + 0x7fffu + (bits >> 16 & 1u)) >> 16)
                        : static_cast<unsigned short>(SB_SMALL_NAN);
}

/* To an integer: brought into its range; what a NaN becomes depends on the width. */
template <typename Integer>
SB_SMALL_FN Integer __sb_small_to_integer(double whole, Integer low, Integer high, Integer nan) {
  if (whole != whole) return nan;
  if (whole <= static_cast<double>(low)) return low;
  if (whole >= static_cast<double>(high)) return high;
  return static_cast<Integer>(whole);
}

#endif
