/* Types of 16 bits and pairs of them travel through a warp as one word. */
#ifndef STREAMBED_SMALL_FLOAT_SHUFFLE_H
#define STREAMBED_SMALL_FLOAT_SHUFFLE_H

#include "warp_functions.h"

template <unsigned Size>
struct __sb_packed;
template <>
struct __sb_packed<2> {
  using type = unsigned short;
};
template <>
struct __sb_packed<4> {
  using type = unsigned int;
};
template <typename Type>
SB_FN unsigned int __sb_pack(Type value) {
  return __builtin_bit_cast(typename __sb_packed<sizeof(Type)>::type, value);
}
template <typename Type>
SB_FN Type __sb_unpack(unsigned int word) {
  using bits = typename __sb_packed<sizeof(Type)>::type;
  return __builtin_bit_cast(Type, static_cast<bits>(word));
}

#endif
