/* Operations of the threads of a warp with each other. Values travel as 64 bits. */
#ifndef STREAMBED_WARP_FUNCTIONS_H
#define STREAMBED_WARP_FUNCTIONS_H

#include "sync_functions.h"

template <unsigned Size>
struct __sb_bits;
template <>
struct __sb_bits<4> {
  using type = unsigned int;
};
template <>
struct __sb_bits<8> {
  using type = unsigned long long;
};

template <typename Type>
SB_FN unsigned long long __sb_to_payload(Type value) {
  return __builtin_bit_cast(typename __sb_bits<sizeof(Type)>::type, value);
}
template <typename Type>
SB_FN Type __sb_from_payload(unsigned long long payload) {
  using bits = typename __sb_bits<sizeof(Type)>::type;
  return __builtin_bit_cast(Type, static_cast<bits>(payload));
}

/* The hardware looks at five bits of the lane or distance. */
#define SB_SHUFFLES(type)                                                                   \
  SB_MEETING_FN type __shfl_sync(unsigned mask, type var, int lane, int width = warpSize) { \
    return __sb_from_payload<type>(                                                         \
        __sb_rt_shuffle(mask, 0, __sb_to_payload(var), lane & 31, width, 0));               \
  }                                                                                         \
  SB_MEETING_FN type __shfl_up_sync(unsigned mask, type var, unsigned delta,                \
                                    int width = warpSize) {                                 \
    return __sb_from_payload<type>(                                                         \
        __sb_rt_shuffle(mask, 1, __sb_to_payload(var), delta & 31, width, 0));              \
  }                                                                                         \
  SB_MEETING_FN type __shfl_down_sync(unsigned mask, type var, unsigned delta,              \
                                      int width = warpSize) {                               \
    return __sb_from_payload<type>(                                                         \
        __sb_rt_shuffle(mask, 2, __sb_to_payload(var), delta & 31, width, 0));              \
  }                                                                                         \
  SB_MEETING_FN type __shfl_xor_sync(unsigned mask, type var, int lane_mask,                \
                                     int width = warpSize) {                                \
    return __sb_from_payload<type>(                                                         \
        __sb_rt_shuffle(mask, 3, __sb_to_payload(var), lane_mask & 31, width, 0));          \
  }

#define SB_MATCHES(type)                                                               \
  SB_MEETING_FN unsigned __match_any_sync(unsigned mask, type value) {                 \
    return __sb_rt_match(mask, 0, __sb_to_payload(value), 0);                          \
  }                                                                                    \
  SB_MEETING_FN unsigned __match_all_sync(unsigned mask, type value, int* predicate) { \
    const unsigned same = __sb_rt_match(mask, 1, __sb_to_payload(value), 0);           \
    *predicate = same != 0;                                                            \
    return same;                                                                       \
  }

#define SB_FOR_WARP_TYPE(type) SB_SHUFFLES(type) SB_MATCHES(type)
SB_FOR_WARP_TYPE(int)
SB_FOR_WARP_TYPE(unsigned int)
SB_FOR_WARP_TYPE(long)
SB_FOR_WARP_TYPE(unsigned long)
SB_FOR_WARP_TYPE(long long)
SB_FOR_WARP_TYPE(unsigned long long)
SB_FOR_WARP_TYPE(float)
SB_FOR_WARP_TYPE(double)
#undef SB_FOR_WARP_TYPE
#undef SB_MATCHES
#undef SB_SHUFFLES

SB_MEETING_FN int __all_sync(unsigned mask, int predicate) {
  return static_cast<int>(__sb_rt_vote(mask, 0, predicate));
}
SB_MEETING_FN int __any_sync(unsigned mask, int predicate) {
  return static_cast<int>(__sb_rt_vote(mask, 1, predicate));
}
SB_MEETING_FN int __uni_sync(unsigned mask, int predicate) {
  return static_cast<int>(__sb_rt_vote(mask, 2, predicate));
}
SB_MEETING_FN unsigned __ballot_sync(unsigned mask, int predicate) {
  return __sb_rt_vote(mask, 3, predicate);
}
SB_MEETING_FN unsigned __activemask() { return __sb_rt_active_mask(); }

SB_MEETING_FN unsigned __reduce_add_sync(unsigned mask, unsigned value) {
  return __sb_rt_reduce(mask, 0, value);
}
SB_MEETING_FN int __reduce_add_sync(unsigned mask, int value) {
  return static_cast<int>(__sb_rt_reduce(mask, 0, static_cast<unsigned>(value)));
}
SB_MEETING_FN int __reduce_min_sync(unsigned mask, int value) {
  return static_cast<int>(__sb_rt_reduce(mask, 1, static_cast<unsigned>(value)));
}
SB_MEETING_FN int __reduce_max_sync(unsigned mask, int value) {
  return static_cast<int>(__sb_rt_reduce(mask, 2, static_cast<unsigned>(value)));
}
SB_MEETING_FN unsigned __reduce_min_sync(unsigned mask, unsigned value) {
  return __sb_rt_reduce(mask, 3, value);
}
SB_MEETING_FN unsigned __reduce_max_sync(unsigned mask, unsigned value) {
  return __sb_rt_reduce(mask, 4, value);
}
SB_MEETING_FN unsigned __reduce_and_sync(unsigned mask, unsigned value) {
  return __sb_rt_reduce(mask, 5, value);
}
SB_MEETING_FN unsigned __reduce_or_sync(unsigned mask, unsigned value) {
  return __sb_rt_reduce(mask, 6, value);
}
SB_MEETING_FN unsigned __reduce_xor_sync(unsigned mask, unsigned value) {
  return __sb_rt_reduce(mask, 7, value);
}

#endif
