/* The upper half of a float: 8 bits of exponent, 7 of mantissa. Every conversion and operation
   rounds once, to nearest even where its name says nothing else. A product and a sum stay two
   operations unless the program asks for __hfma. From C there are only the bits. */
#ifndef __CUDA_BF16_H__
#define __CUDA_BF16_H__

#ifdef __cplusplus

#include "cuda_runtime.h"

#include "crt/small_float.h"

#define SB_T __nv_bfloat16
#define SB_T2 __nv_bfloat162
#define SB_RAW __nv_bfloat16_raw
#define SB_RAW2 __nv_bfloat162_raw
#define SB_N bfloat16
#define SB_TWO bfloat162
#define SB_EXPONENT 8
#define SB_MANTISSA 7
#define SB_WIDEN __sb_bfloat16_widen
#define SB_NARROW __sb_bfloat16_narrow
#ifdef __CUDA_NO_BFLOAT16_OPERATORS__
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

typedef __nv_bfloat16 nv_bfloat16;
typedef __nv_bfloat162 nv_bfloat162;

#define CUDART_INF_BF16 __ushort_as_bfloat16((unsigned short)0x7F80U)
#define CUDART_NAN_BF16 __ushort_as_bfloat16((unsigned short)0x7FFFU)
#define CUDART_MIN_DENORM_BF16 __ushort_as_bfloat16((unsigned short)0x0001U)
#define CUDART_MAX_NORMAL_BF16 __ushort_as_bfloat16((unsigned short)0x7F7FU)
#define CUDART_NEG_ZERO_BF16 __ushort_as_bfloat16((unsigned short)0x8000U)
#define CUDART_ZERO_BF16 __ushort_as_bfloat16((unsigned short)0x0000U)
#define CUDART_ONE_BF16 __ushort_as_bfloat16((unsigned short)0x3F80U)

#else

typedef struct {
  unsigned short x;
} __nv_bfloat16_raw;
typedef struct {
  unsigned short x;
  unsigned short y;
} __nv_bfloat162_raw;

#endif

#endif
