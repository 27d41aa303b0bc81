/* Numbers of 8 bits. E5M2 is the upper half of an IEEE half; E4M3 has no infinity, one NaN, and
   goes up to 448. Every conversion rounds once, to nearest even. */
#ifndef __CUDA_FP8_H__
#define __CUDA_FP8_H__

#ifdef __cplusplus

#include "cuda_bf16.h"
#include "cuda_fp16.h"

typedef unsigned char __nv_fp8_storage_t;
typedef unsigned short __nv_fp8x2_storage_t;
typedef unsigned int __nv_fp8x4_storage_t;

/* What is too large becomes the largest number, or else infinity, or NaN where there is none. */
typedef enum __nv_saturation_t { __NV_NOSAT, __NV_SATFINITE } __nv_saturation_t;
typedef enum __nv_fp8_interpretation_t { __NV_E4M3, __NV_E5M2 } __nv_fp8_interpretation_t;

SB_SMALL_FN __nv_fp8_storage_t __nv_cvt_double_to_fp8(double value, __nv_saturation_t saturate,
                                                      __nv_fp8_interpretation_t kind) {
  const unsigned long long bits = __builtin_bit_cast(unsigned long long, value);
  const unsigned long long magnitude = bits & 0x7fffffffffffffffull;
  const unsigned sign = static_cast<unsigned>(bits >> 63) << 7;
  const int mantissa = kind == __NV_E4M3 ? 3 : 2;
  const int lowest = kind == __NV_E4M3 ? -6 : -14; /* the exponent of the least normal number */
  const unsigned largest = kind == __NV_E4M3 ? 0x7e : 0x7b;
  if (magnitude > 0x7ff0000000000000ull) {
    const unsigned leading = kind == __NV_E4M3 ? 1 : magnitude >> 50 & 3;
    return static_cast<__nv_fp8_storage_t>(sign | 0x7e | leading);
  }
  const int exponent = static_cast<int>(magnitude >> 52) - 1023;
  const unsigned long long significand =
      (magnitude & 0xfffffffffffffull) | (magnitude >> 52 ? 1ull << 52 : 0);
  const int wanted = 52 - mantissa + (exponent < lowest ? lowest - exponent : 0);
  const int shift = wanted > 60 ? 60 : wanted;
  unsigned long long quotient = significand >> shift;
  const unsigned long long rest = significand & ((1ull << shift) - 1), half = 1ull << (shift - 1);
  quotient += rest > half || (rest == half && (quotient & 1)) ? 1 : 0;
  const unsigned long long encoded =
      (exponent < lowest ? 0ull : static_cast<unsigned long long>(exponent - lowest) << mantissa) +
      quotient;
  const unsigned limited = encoded <= largest           ? static_cast<unsigned>(encoded)
                           : saturate == __NV_SATFINITE ? largest
                           : kind == __NV_E4M3          ? 0x7f
                                                        : 0x7c;
  return static_cast<__nv_fp8_storage_t>(sign | limited);
}
SB_SMALL_FN __nv_fp8_storage_t __nv_cvt_float_to_fp8(float value, __nv_saturation_t saturate,
                                                     __nv_fp8_interpretation_t kind) {
  /* A NaN that is not a double's loses its sign. */
  return value != value ? 0x7f : __nv_cvt_double_to_fp8(static_cast<double>(value), saturate, kind);
}
SB_SMALL_FN __nv_fp8_storage_t __nv_cvt_halfraw_to_fp8(__half_raw value, __nv_saturation_t saturate,
                                                       __nv_fp8_interpretation_t kind) {
  return __nv_cvt_float_to_fp8(static_cast<float>(__half(value)), saturate, kind);
}
SB_SMALL_FN __nv_fp8_storage_t __nv_cvt_bfloat16raw_to_fp8(__nv_bfloat16_raw value,
                                                           __nv_saturation_t saturate,
                                                           __nv_fp8_interpretation_t kind) {
  return __nv_cvt_float_to_fp8(static_cast<float>(__nv_bfloat16(value)), saturate, kind);
}
SB_SMALL_FN __half_raw __nv_cvt_fp8_to_halfraw(__nv_fp8_storage_t bits,
                                               __nv_fp8_interpretation_t kind) {
  __half_raw result;
  if (kind == __NV_E5M2) {
    result.x = static_cast<unsigned short>((bits & 0x7f) > 0x7c ? 0x7fff : bits << 8);
    return result;
  }
  const unsigned sign = (bits & 0x80u) << 8, exponent = bits >> 3 & 15, mantissa = bits & 7u;
  if ((bits & 0x7f) == 0x7f) {
    result.x = 0x7fff;
  } else if (exponent != 0) {
    result.x = static_cast<unsigned short>(sign | (exponent + 8) << 10 | mantissa << 7);
  } else if (mantissa == 0) {
    result.x = static_cast<unsigned short>(sign);
  } else {
    const unsigned up = mantissa >= 4 ? 1 : mantissa >= 2 ? 2 : 3; /* to its leading bit */
    result.x = static_cast<unsigned short>(sign | (9 - up) << 10 | ((mantissa << up) & 7u) << 7);
  }
  return result;
}

/* Several at once: the first is in the lowest byte. */
SB_SMALL_FN __nv_fp8x2_storage_t __nv_cvt_double2_to_fp8x2(double2 v, __nv_saturation_t saturate,
                                                           __nv_fp8_interpretation_t kind) {
  return static_cast<__nv_fp8x2_storage_t>(__nv_cvt_double_to_fp8(v.x, saturate, kind) |
                                           __nv_cvt_double_to_fp8(v.y, saturate, kind) << 8);
}
SB_SMALL_FN __nv_fp8x2_storage_t __nv_cvt_float2_to_fp8x2(float2 v, __nv_saturation_t saturate,
                                                          __nv_fp8_interpretation_t kind) {
  return static_cast<__nv_fp8x2_storage_t>(__nv_cvt_float_to_fp8(v.x, saturate, kind) |
                                           __nv_cvt_float_to_fp8(v.y, saturate, kind) << 8);
}
SB_SMALL_FN __nv_fp8x2_storage_t __nv_cvt_halfraw2_to_fp8x2(__half2_raw v,
                                                            __nv_saturation_t saturate,
                                                            __nv_fp8_interpretation_t kind) {
  __half_raw x, y;
  x.x = v.x;
  y.x = v.y;
  return static_cast<__nv_fp8x2_storage_t>(__nv_cvt_halfraw_to_fp8(x, saturate, kind) |
                                           __nv_cvt_halfraw_to_fp8(y, saturate, kind) << 8);
}
SB_SMALL_FN __nv_fp8x2_storage_t __nv_cvt_bfloat16raw2_to_fp8x2(__nv_bfloat162_raw v,
                                                                __nv_saturation_t saturate,
                                                                __nv_fp8_interpretation_t kind) {
  __nv_bfloat16_raw x, y;
  x.x = v.x;
  y.x = v.y;
  return static_cast<__nv_fp8x2_storage_t>(__nv_cvt_bfloat16raw_to_fp8(x, saturate, kind) |
                                           __nv_cvt_bfloat16raw_to_fp8(y, saturate, kind) << 8);
}
SB_SMALL_FN __half2_raw __nv_cvt_fp8x2_to_halfraw2(__nv_fp8x2_storage_t bits,
                                                   __nv_fp8_interpretation_t kind) {
  __half2_raw result;
  result.x = __nv_cvt_fp8_to_halfraw(static_cast<__nv_fp8_storage_t>(bits), kind).x;
  result.y = __nv_cvt_fp8_to_halfraw(static_cast<__nv_fp8_storage_t>(bits >> 8), kind).x;
  return result;
}

/* The types. Whatever they are made of saturates; an integer of theirs is cut off and limited. */
#define SB_FP8_FROM(name, type, wide, through)  \
  __host__ __device__ explicit name(type value) \
      : __x(__nv_cvt_##through##_to_fp8(wide(value), __NV_SATFINITE, kind)) {}
#define SB_FP8_TO(type, low, high)                     \
  __host__ __device__ explicit operator type() const { \
    const double value = static_cast<double>(*this);   \
    return value != value  ? static_cast<type>(0)      \
           : value <= low  ? static_cast<type>(low)    \
           : value >= high ? static_cast<type>(high)   \
                           : static_cast<type>(value); \
  }
#define SB_FP8(name, interpretation)                                                      \
  struct name {                                                                           \
    static constexpr __nv_fp8_interpretation_t kind = interpretation;                     \
    __nv_fp8_storage_t __x;                                                               \
    name() = default;                                                                     \
    SB_FP8_FROM(name, float, , float)                                                     \
    SB_FP8_FROM(name, double, , double)                                                   \
    SB_FP8_FROM(name, __half, static_cast<float>, float)                                  \
    SB_FP8_FROM(name, __nv_bfloat16, static_cast<float>, float)                           \
    SB_FP8_FROM(name, short, static_cast<double>, double)                                 \
    SB_FP8_FROM(name, unsigned short, static_cast<double>, double)                        \
    SB_FP8_FROM(name, int, static_cast<double>, double)                                   \
    SB_FP8_FROM(name, unsigned int, static_cast<double>, double)                          \
    __host__ __device__ explicit operator __half() const {                                \
      return __half(__nv_cvt_fp8_to_halfraw(__x, kind));                                  \
    }                                                                                     \
    __host__ __device__ explicit operator float() const {                                 \
      const float value = static_cast<float>(__half(__nv_cvt_fp8_to_halfraw(__x, kind))); \
      return value != value ? __builtin_bit_cast(float, 0x7fffffff) : value;              \
    }                                                                                     \
    __host__ __device__ explicit operator double() const {                                \
      return static_cast<double>(static_cast<float>(*this));                              \
    }                                                                                     \
    __host__ __device__ explicit operator __nv_bfloat16() const {                         \
      return __nv_bfloat16(static_cast<float>(*this));                                    \
    }                                                                                     \
    __host__ __device__ explicit operator bool() const { return (__x & 0x7f) != 0; }      \
    SB_FP8_TO(signed char, -128, 127)                                                     \
    SB_FP8_TO(unsigned char, 0, 255)                                                      \
    SB_FP8_TO(short, -32768, 32767)                                                       \
    SB_FP8_TO(unsigned short, 0, 65535)                                                   \
    SB_FP8_TO(int, -2147483647 - 1, 2147483647)                                           \
    SB_FP8_TO(unsigned int, 0, 0xffffffffu)                                               \
  };
SB_FP8(__nv_fp8_e4m3, __NV_E4M3)
SB_FP8(__nv_fp8_e5m2, __NV_E5M2)
#undef SB_FP8
#undef SB_FP8_FROM
#undef SB_FP8_TO

#define SB_FP8_VECTORS(one, two, four, interpretation)                                \
  struct two {                                                                        \
    __nv_fp8x2_storage_t __x;                                                         \
    two() = default;                                                                  \
    __host__ __device__ explicit two(float2 v)                                        \
        : __x(__nv_cvt_float2_to_fp8x2(v, __NV_SATFINITE, interpretation)) {}         \
    __host__ __device__ explicit two(double2 v)                                       \
        : __x(__nv_cvt_double2_to_fp8x2(v, __NV_SATFINITE, interpretation)) {}        \
    __host__ __device__ explicit operator __half2() const {                           \
      return __half2(__nv_cvt_fp8x2_to_halfraw2(__x, interpretation));                \
    }                                                                                 \
    __host__ __device__ explicit two(__half2 v)                                       \
        : __x(__nv_cvt_halfraw2_to_fp8x2(v, __NV_SATFINITE, interpretation)) {}       \
    __host__ __device__ explicit two(__nv_bfloat162 v)                                \
        : __x(__nv_cvt_bfloat16raw2_to_fp8x2(v, __NV_SATFINITE, interpretation)) {}   \
    __host__ __device__ explicit operator float2() const {                            \
      one x, y;                                                                       \
      x.__x = static_cast<__nv_fp8_storage_t>(__x);                                   \
      y.__x = static_cast<__nv_fp8_storage_t>(__x >> 8);                              \
      return float2{static_cast<float>(x), static_cast<float>(y)};                    \
    }                                                                                 \
  };                                                                                  \
  struct four {                                                                       \
    __nv_fp8x4_storage_t __x;                                                         \
    four() = default;                                                                 \
    __host__ __device__ explicit four(float4 v) {                                     \
      const unsigned low =                                                            \
          __nv_cvt_float2_to_fp8x2(float2{v.x, v.y}, __NV_SATFINITE, interpretation); \
      const unsigned high =                                                           \
          __nv_cvt_float2_to_fp8x2(float2{v.z, v.w}, __NV_SATFINITE, interpretation); \
      __x = low | high << 16;                                                         \
    }                                                                                 \
    __host__ __device__ explicit operator float4() const {                            \
      two low, high;                                                                  \
      low.__x = static_cast<__nv_fp8x2_storage_t>(__x);                               \
      high.__x = static_cast<__nv_fp8x2_storage_t>(__x >> 16);                        \
      const float2 a = static_cast<float2>(low), b = static_cast<float2>(high);       \
      return float4{a.x, a.y, b.x, b.y};                                              \
    }                                                                                 \
  };
SB_FP8_VECTORS(__nv_fp8_e4m3, __nv_fp8x2_e4m3, __nv_fp8x4_e4m3, __NV_E4M3)
SB_FP8_VECTORS(__nv_fp8_e5m2, __nv_fp8x2_e5m2, __nv_fp8x4_e5m2, __NV_E5M2)
#undef SB_FP8_VECTORS

#endif

#endif
