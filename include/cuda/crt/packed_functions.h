/* Two 16-bit or four 8-bit values in one word. */
#ifndef STREAMBED_PACKED_FUNCTIONS_H
#define STREAMBED_PACKED_FUNCTIONS_H

#include "sync_functions.h"

/* Applies `f` to each lane of a and b, as integers of the lane's type, and keeps the low bits. */
template <typename Lane, typename Function>
SB_FN unsigned __sb_lanes(unsigned a, unsigned b, Function f) {
  constexpr unsigned bits = 8 * sizeof(Lane);
  constexpr unsigned mask = (1u << bits) - 1u;
  unsigned result = 0;
  for (unsigned at = 0; at < 32; at += bits) {
    const int x = static_cast<Lane>(a >> at);
    const int y = static_cast<Lane>(b >> at);
    result |= (static_cast<unsigned>(f(x, y)) & mask) << at;
  }
  return result;
}
template <typename Lane>
SB_FN int __sb_clamp_lane(int x) {
  constexpr bool is_signed = static_cast<Lane>(-1) < 0;
  constexpr int high =
      is_signed ? (1 << (8 * sizeof(Lane) - 1)) - 1 : (1 << (8 * sizeof(Lane))) - 1;
  constexpr int low = is_signed ? -high - 1 : 0;
  return x < low ? low : x > high ? high : x;
}
template <typename Lane>
SB_FN unsigned __sb_lane_sad(unsigned a, unsigned b) {
  constexpr unsigned bits = 8 * sizeof(Lane);
  unsigned sum = 0;
  for (unsigned at = 0; at < 32; at += bits) {
    const int x = static_cast<Lane>(a >> at);
    const int y = static_cast<Lane>(b >> at);
    sum += static_cast<unsigned>(x > y ? x - y : y - x);
  }
  return sum;
}

#define SB_PACKED_1(name, lane, expression)                                                 \
  SB_FN unsigned name(unsigned a) {                                                         \
    return __sb_lanes<lane>(a, 0, [] __device__(int x, int) -> int { return expression; }); \
  }
#define SB_PACKED_2(name, lane, expression)                                                   \
  SB_FN unsigned name(unsigned a, unsigned b) {                                               \
    return __sb_lanes<lane>(a, b, [] __device__(int x, int y) -> int { return expression; }); \
  }

/* `count` is 2 or 4, S and U the signed and the unsigned lane. */
#define SB_PACKED(count, S, U)                                                             \
  SB_PACKED_1(__vabs##count, S, x < 0 ? -x : x)                                            \
  SB_PACKED_1(__vabsss##count, S, __sb_clamp_lane<S>(x < 0 ? -x : x))                      \
  SB_PACKED_1(__vneg##count, S, -x)                                                        \
  SB_PACKED_1(__vnegss##count, S, __sb_clamp_lane<S>(-x))                                  \
  SB_PACKED_2(__vadd##count, U, x + y)                                                     \
  SB_PACKED_2(__vaddss##count, S, __sb_clamp_lane<S>(x + y))                               \
  SB_PACKED_2(__vaddus##count, U, __sb_clamp_lane<U>(x + y))                               \
  SB_PACKED_2(__vsub##count, U, x - y)                                                     \
  SB_PACKED_2(__vsubss##count, S, __sb_clamp_lane<S>(x - y))                               \
  SB_PACKED_2(__vsubus##count, U, __sb_clamp_lane<U>(x - y))                               \
  SB_PACKED_2(__vavgs##count, S, (x + y + (x + y >= 0)) >> 1)                              \
  SB_PACKED_2(__vavgu##count, U, (x + y + 1) >> 1)                                         \
  SB_PACKED_2(__vhaddu##count, U, (x + y) >> 1)                                            \
  SB_PACKED_2(__vabsdiffs##count, S, x > y ? x - y : y - x)                                \
  SB_PACKED_2(__vabsdiffu##count, U, x > y ? x - y : y - x)                                \
  SB_PACKED_2(__vmaxs##count, S, x > y ? x : y)                                            \
  SB_PACKED_2(__vmaxu##count, U, x > y ? x : y)                                            \
  SB_PACKED_2(__vmins##count, S, x < y ? x : y)                                            \
  SB_PACKED_2(__vminu##count, U, x < y ? x : y)                                            \
  SB_FN unsigned __vsads##count(unsigned a, unsigned b) { return __sb_lane_sad<S>(a, b); } \
  SB_FN unsigned __vsadu##count(unsigned a, unsigned b) { return __sb_lane_sad<U>(a, b); } \
  SB_PACKED_COMPARE(eq, count, U, ==)                                                      \
  SB_PACKED_COMPARE(ne, count, U, !=)                                                      \
  SB_PACKED_COMPARE(ges, count, S, >=)                                                     \
  SB_PACKED_COMPARE(geu, count, U, >=)                                                     \
  SB_PACKED_COMPARE(gts, count, S, >)                                                      \
  SB_PACKED_COMPARE(gtu, count, U, >)                                                      \
  SB_PACKED_COMPARE(les, count, S, <=)                                                     \
  SB_PACKED_COMPARE(leu, count, U, <=)                                                     \
  SB_PACKED_COMPARE(lts, count, S, <)                                                      \
  SB_PACKED_COMPARE(ltu, count, U, <)

/* __vcmp answers all ones, __vset one. */
#define SB_PACKED_COMPARE(relation, count, lane, op)          \
  SB_PACKED_2(__vcmp##relation##count, lane, x op y ? -1 : 0) \
  SB_PACKED_2(__vset##relation##count, lane, x op y ? 1 : 0)

SB_PACKED(2, short, unsigned short)
SB_PACKED(4, signed char, unsigned char)

#undef SB_PACKED_COMPARE
#undef SB_PACKED
#undef SB_PACKED_2
#undef SB_PACKED_1

#endif
