/* The functions for dynamic programming, on both sides: the least or greatest of two or three
   values or of a sum and a value, with zero as a floor (relu), or with the answer whether it was
   the first. Sums wrap around. Each is there for words and for the two halves of a word (16x2). */
#ifndef STREAMBED_DPX_FUNCTIONS_H
#define STREAMBED_DPX_FUNCTIONS_H

#include "min_max_functions.h"

#define SB_DPX_OPERATION(name, expression)         \
  struct __sb_dpx_##name {                         \
    template <typename T>                          \
    SB_BOTH_FN T of(T a, T b, T c) {               \
      return expression;                           \
    }                                              \
    template <typename T>                          \
    SB_BOTH_FN T relu(T a, T b, T c) {             \
      return of(a, b, c) > 0 ? of(a, b, c) : T(0); \
    }                                              \
  };
template <typename T>
SB_BOTH_FN T __sb_dpx_least(T a, T b) {
  return a < b ? a : b;
}
template <typename T>
SB_BOTH_FN T __sb_dpx_greatest(T a, T b) {
  return a > b ? a : b;
}
template <typename T>
SB_BOTH_FN T __sb_dpx_sum(T a, T b) {
  return static_cast<T>(static_cast<unsigned>(a) + static_cast<unsigned>(b));
}
SB_DPX_OPERATION(min, (static_cast<void>(c), __sb_dpx_least(a, b)))
SB_DPX_OPERATION(max, (static_cast<void>(c), __sb_dpx_greatest(a, b)))
SB_DPX_OPERATION(min3, __sb_dpx_least(__sb_dpx_least(a, b), c))
SB_DPX_OPERATION(max3, __sb_dpx_greatest(__sb_dpx_greatest(a, b), c))
SB_DPX_OPERATION(addmin, __sb_dpx_least(__sb_dpx_sum(a, b), c))
SB_DPX_OPERATION(addmax, __sb_dpx_greatest(__sb_dpx_sum(a, b), c))
#undef SB_DPX_OPERATION

SB_BOTH_FN unsigned __sb_dpx_word(int high, int low) {
  return static_cast<unsigned>(high) << 16 | (static_cast<unsigned>(low) & 0xffffu);
}
template <typename Operation, typename Half>
SB_BOTH_FN unsigned __sb_dpx_halves(unsigned a, unsigned b, unsigned c) {
  return __sb_dpx_word(
      Operation::of(static_cast<Half>(a >> 16), static_cast<Half>(b >> 16),
                    static_cast<Half>(c >> 16)),
      Operation::of(static_cast<Half>(a), static_cast<Half>(b), static_cast<Half>(c)));
}
template <typename Operation>
SB_BOTH_FN unsigned __sb_dpx_halves_relu(unsigned a, unsigned b, unsigned c) {
  return __sb_dpx_word(
      Operation::relu(static_cast<short>(a >> 16), static_cast<short>(b >> 16),
                      static_cast<short>(c >> 16)),
      Operation::relu(static_cast<short>(a), static_cast<short>(b), static_cast<short>(c)));
}

#define SB_DPX_3(operation)                                                            \
  SB_BOTH_FN int __vi##operation##_s32(const int a, const int b, const int c) {        \
    return __sb_dpx_##operation::of(a, b, c);                                          \
  }                                                                                    \
  SB_BOTH_FN int __vi##operation##_s32_relu(const int a, const int b, const int c) {   \
    return __sb_dpx_##operation::relu(a, b, c);                                        \
  }                                                                                    \
  SB_BOTH_FN unsigned __vi##operation##_u32(const unsigned a, const unsigned b,        \
                                            const unsigned c) {                        \
    return __sb_dpx_##operation::of(a, b, c);                                          \
  }                                                                                    \
  SB_BOTH_FN unsigned __vi##operation##_s16x2(const unsigned a, const unsigned b,      \
                                              const unsigned c) {                      \
    return __sb_dpx_halves<__sb_dpx_##operation, short>(a, b, c);                      \
  }                                                                                    \
  SB_BOTH_FN unsigned __vi##operation##_s16x2_relu(const unsigned a, const unsigned b, \
                                                   const unsigned c) {                 \
    return __sb_dpx_halves_relu<__sb_dpx_##operation>(a, b, c);                        \
  }                                                                                    \
  SB_BOTH_FN unsigned __vi##operation##_u16x2(const unsigned a, const unsigned b,      \
                                              const unsigned c) {                      \
    return __sb_dpx_halves<__sb_dpx_##operation, unsigned short>(a, b, c);             \
  }
SB_DPX_3(min3)
SB_DPX_3(max3)
SB_DPX_3(addmin)
SB_DPX_3(addmax)
#undef SB_DPX_3

#define SB_DPX_2(operation)                                                              \
  SB_BOTH_FN int __vi##operation##_s32_relu(const int a, const int b) {                  \
    return __sb_dpx_##operation::relu(a, b, 0);                                          \
  }                                                                                      \
  SB_BOTH_FN unsigned __vi##operation##_s16x2_relu(const unsigned a, const unsigned b) { \
    return __sb_dpx_halves_relu<__sb_dpx_##operation>(a, b, 0);                          \
  }
SB_DPX_2(min)
SB_DPX_2(max)
#undef SB_DPX_2

/* `first` is how a and b compare when the answer is a. */
#define SB_DPX_WHICH(operation, kind, word, half, first)                                          \
  SB_BOTH_FN word __vib##operation##_##kind##32(const word a, const word b, bool* const pred) {   \
    *pred = a first b;                                                                            \
    return *pred ? a : b;                                                                         \
  }                                                                                               \
  SB_BOTH_FN unsigned __vib##operation##_##kind##16x2(const unsigned a, const unsigned b,         \
                                                      bool* const pred_hi, bool* const pred_lo) { \
    *pred_hi = static_cast<half>(a >> 16) first static_cast<half>(b >> 16);                       \
    *pred_lo = static_cast<half>(a) first static_cast<half>(b);                                   \
    return ((*pred_hi ? a : b) & 0xffff0000u) | ((*pred_lo ? a : b) & 0xffffu);                   \
  }
SB_DPX_WHICH(min, s, int, short, <=)
SB_DPX_WHICH(min, u, unsigned, unsigned short, <=)
SB_DPX_WHICH(max, s, int, short, >=)
SB_DPX_WHICH(max, u, unsigned, unsigned short, >=)
#undef SB_DPX_WHICH

#endif
