/* The IEEE format of 16 bits: 5 bits of exponent, 10 of mantissa. Every conversion and operation
   rounds once, to nearest even where its name says nothing else. A product and a sum stay two
   operations unless the program asks for __hfma. From C there are only the bits. */
#ifndef __CUDA_FP16_H__
#define __CUDA_FP16_H__

#ifdef __cplusplus

#include "cuda_runtime.h"

#include "crt/small_float.h"

#define SB_T __half
#define SB_T2 __half2
#define SB_RAW __half_raw
#define SB_RAW2 __half2_raw
#define SB_N half
#define SB_TWO half2
#define SB_EXPONENT 5
#define SB_MANTISSA 10
#define SB_WIDEN __sb_half_widen
#define SB_NARROW __sb_half_narrow
#ifdef __CUDA_NO_HALF_OPERATORS__
#define SB_NO_OPERATORS
#endif

#include "crt/small_float_type.inc"

#include "crt/small_float_conversions.inc"

#include "crt/small_float_arithmetic.inc"

#if defined(__CUDA__) && defined(__clang__)
#include "crt/small_float_shuffle.h"

#include "crt/small_float_device.inc"
#endif

#undef SB_T
#undef SB_T2
#undef SB_RAW
#undef SB_RAW2
#undef SB_N
#undef SB_TWO
#undef SB_EXPONENT
#undef SB_MANTISSA
#undef SB_WIDEN
#undef SB_NARROW
#undef SB_NO_OPERATORS
#undef SB_OF

typedef __half half;
typedef __half2 half2;
typedef __half __nv_half;
typedef __half2 __nv_half2;
typedef __half nv_half;
typedef __half2 nv_half2;
typedef __half_raw __nv_half_raw;
typedef __half2_raw __nv_half2_raw;

#define CUDART_INF_FP16 __ushort_as_half((unsigned short)0x7C00U)
#define CUDART_NAN_FP16 __ushort_as_half((unsigned short)0x7FFFU)
#define CUDART_MIN_DENORM_FP16 __ushort_as_half((unsigned short)0x0001U)
#define CUDART_MAX_NORMAL_FP16 __ushort_as_half((unsigned short)0x7BFFU)
#define CUDART_NEG_ZERO_FP16 __ushort_as_half((unsigned short)0x8000U)
#define CUDART_ZERO_FP16 __ushort_as_half((unsigned short)0x0000U)
#define CUDART_ONE_FP16 __ushort_as_half((unsigned short)0x3C00U)

#else

typedef struct {
  unsigned short x;
} __half_raw;
typedef struct {
  unsigned short x;
  unsigned short y;
} __half2_raw;

#endif

#endif
