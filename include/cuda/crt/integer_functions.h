/* Integer intrinsics: bits, bytes, products, funnel shifts, reinterpretation. */
#ifndef STREAMBED_INTEGER_FUNCTIONS_H
#define STREAMBED_INTEGER_FUNCTIONS_H

#include "sync_functions.h"

/* Bits. Zero has as many leading zeros as it has bits, and no first set bit. */
SB_FN int __clz(int x) { return x ? __builtin_clz(static_cast<unsigned>(x)) : 32; }
SB_FN int __clzll(long long x) {
  return x ? __builtin_clzll(static_cast<unsigned long long>(x)) : 64;
}
SB_FN int __ffs(int x) { return __builtin_ffs(x); }
SB_FN int __ffsll(long long x) { return __builtin_ffsll(x); }
SB_FN int __popc(unsigned x) { return __builtin_popcount(x); }
SB_FN int __popcll(unsigned long long x) { return __builtin_popcountll(x); }
SB_FN unsigned __brev(unsigned x) { return __builtin_bitreverse32(x); }
SB_FN unsigned long long __brevll(unsigned long long x) { return __builtin_bitreverse64(x); }

/* The position of the n-th set bit from `base`, upwards for a positive n, downwards for a negative
   one; 0xffffffff where there is none. */
SB_FN unsigned __fns(unsigned mask, unsigned base, int offset) {
  if (base > 31) return 0xffffffffu;
  if (offset == 0) return (mask >> base) & 1u ? base : 0xffffffffu;
  int left = offset > 0 ? offset : -offset;
  const int step = offset > 0 ? 1 : -1;
  for (int at = static_cast<int>(base); at >= 0 && at < 32; at += step) {
    if (((mask >> at) & 1u) && --left == 0) return static_cast<unsigned>(at);
  }
  return 0xffffffffu;
}

/* Four bytes out of the eight of y:x, chosen by the low three bits of the selector's four low
 * nibbles. */
SB_FN unsigned __byte_perm(unsigned x, unsigned y, unsigned selector) {
  const unsigned long long bytes = (static_cast<unsigned long long>(y) << 32) | x;
  unsigned result = 0;
  for (unsigned i = 0; i < 4; ++i) {
    const unsigned which = (selector >> (4 * i)) & 7u;
    result |= (static_cast<unsigned>(bytes >> (8 * which)) & 0xffu) << (8 * i);
  }
  return result;
}

/* Shifts over the 64 bits of hi:lo. The plain forms use the shift modulo 32, the _c forms clamp it.
 */
SB_FN unsigned __funnelshift_l(unsigned lo, unsigned hi, unsigned shift) {
  const unsigned long long both = (static_cast<unsigned long long>(hi) << 32) | lo;
  return static_cast<unsigned>((both << (shift & 31u)) >> 32);
}
SB_FN unsigned __funnelshift_lc(unsigned lo, unsigned hi, unsigned shift) {
  return shift >= 32u ? lo : __funnelshift_l(lo, hi, shift);
}
SB_FN unsigned __funnelshift_r(unsigned lo, unsigned hi, unsigned shift) {
  const unsigned long long both = (static_cast<unsigned long long>(hi) << 32) | lo;
  return static_cast<unsigned>(both >> (shift & 31u));
}
SB_FN unsigned __funnelshift_rc(unsigned lo, unsigned hi, unsigned shift) {
  return shift >= 32u ? hi : __funnelshift_r(lo, hi, shift);
}

/* Products. */
SB_FN int __mulhi(int x, int y) { return static_cast<int>((static_cast<long long>(x) * y) >> 32); }
SB_FN unsigned __umulhi(unsigned x, unsigned y) {
  return static_cast<unsigned>((static_cast<unsigned long long>(x) * y) >> 32);
}
SB_FN long long __mul64hi(long long x, long long y) {
  return static_cast<long long>((static_cast<__int128>(x) * y) >> 64);
}
SB_FN unsigned long long __umul64hi(unsigned long long x, unsigned long long y) {
  return static_cast<unsigned long long>((static_cast<unsigned __int128>(x) * y) >> 64);
}
/* The low 32 bits of the product of the low 24 bits. */
SB_FN int __mul24(int x, int y) {
  const int a = static_cast<int>(static_cast<unsigned>(x) << 8) >> 8;
  const int b = static_cast<int>(static_cast<unsigned>(y) << 8) >> 8;
  return static_cast<int>(static_cast<unsigned>(a) * static_cast<unsigned>(b));
}
SB_FN unsigned __umul24(unsigned x, unsigned y) { return (x & 0xffffffu) * (y & 0xffffffu); }

/* Sums and averages without overflow in between. */
SB_FN unsigned __sad(int x, int y, unsigned z) {
  const long long difference = static_cast<long long>(x) - y;
  return z + static_cast<unsigned>(difference < 0 ? -difference : difference);
}
SB_FN unsigned __usad(unsigned x, unsigned y, unsigned z) { return z + (x > y ? x - y : y - x); }
SB_FN int __hadd(int x, int y) { return static_cast<int>((static_cast<long long>(x) + y) >> 1); }
SB_FN int __rhadd(int x, int y) {
  return static_cast<int>((static_cast<long long>(x) + y + 1) >> 1);
}
SB_FN unsigned __uhadd(unsigned x, unsigned y) {
  return static_cast<unsigned>((static_cast<unsigned long long>(x) + y) >> 1);
}
SB_FN unsigned __urhadd(unsigned x, unsigned y) {
  return static_cast<unsigned>((static_cast<unsigned long long>(x) + y + 1) >> 1);
}

/* Dot products of bytes, and of two 16-bit values with two bytes. */
template <typename Byte>
SB_FN int __sb_dot4(unsigned a, unsigned b) {
  return static_cast<Byte>(a) * static_cast<Byte>(b) +
         static_cast<Byte>(a >> 8) * static_cast<Byte>(b >> 8) +
         static_cast<Byte>(a >> 16) * static_cast<Byte>(b >> 16) +
         static_cast<Byte>(a >> 24) * static_cast<Byte>(b >> 24);
}
template <typename Left, typename Right>
SB_FN long long __sb_dot2(unsigned a, unsigned b) {
  return static_cast<long long>(static_cast<Left>(a)) * static_cast<Right>(b) +
         static_cast<long long>(static_cast<Left>(a >> 16)) * static_cast<Right>(b >> 8);
}
SB_FN int __dp4a(int a, int b, int c) {
  int sum = __sb_dot4<signed char>(static_cast<unsigned>(a), static_cast<unsigned>(b));
  return static_cast<int>(static_cast<unsigned>(c) + static_cast<unsigned>(sum));
}
SB_FN unsigned __dp4a(unsigned a, unsigned b, unsigned c) {
  return c + static_cast<unsigned>(__sb_dot4<unsigned char>(a, b));
}
SB_FN int __dp4a(char4 a, char4 b, int c) {
  return __dp4a(__builtin_bit_cast(int, a), __builtin_bit_cast(int, b), c);
}
SB_FN unsigned __dp4a(uchar4 a, uchar4 b, unsigned c) {
  return __dp4a(__builtin_bit_cast(unsigned, a), __builtin_bit_cast(unsigned, b), c);
}
SB_FN int __dp2a_lo(int a, int b, int c) {
  return static_cast<int>(
      c + __sb_dot2<short, signed char>(static_cast<unsigned>(a), static_cast<unsigned>(b)));
}
SB_FN unsigned __dp2a_lo(unsigned a, unsigned b, unsigned c) {
  return static_cast<unsigned>(c + __sb_dot2<unsigned short, unsigned char>(a, b));
}
SB_FN int __dp2a_lo(short2 a, char4 b, int c) {
  return __dp2a_lo(__builtin_bit_cast(int, a), __builtin_bit_cast(int, b), c);
}
SB_FN unsigned __dp2a_lo(ushort2 a, uchar4 b, unsigned c) {
  return __dp2a_lo(__builtin_bit_cast(unsigned, a), __builtin_bit_cast(unsigned, b), c);
}
SB_FN int __dp2a_hi(int a, int b, int c) { return __dp2a_lo(a, b >> 16, c); }
SB_FN unsigned __dp2a_hi(unsigned a, unsigned b, unsigned c) { return __dp2a_lo(a, b >> 16, c); }
SB_FN int __dp2a_hi(short2 a, char4 b, int c) {
  return __dp2a_hi(__builtin_bit_cast(int, a), __builtin_bit_cast(int, b), c);
}
SB_FN unsigned __dp2a_hi(ushort2 a, uchar4 b, unsigned c) {
  return __dp2a_hi(__builtin_bit_cast(unsigned, a), __builtin_bit_cast(unsigned, b), c);
}

/* The same bits under another type. */
SB_FN float __int_as_float(int x) { return __builtin_bit_cast(float, x); }
SB_FN int __float_as_int(float x) { return __builtin_bit_cast(int, x); }
SB_FN float __uint_as_float(unsigned x) { return __builtin_bit_cast(float, x); }
SB_FN unsigned __float_as_uint(float x) { return __builtin_bit_cast(unsigned, x); }
SB_FN double __longlong_as_double(long long x) { return __builtin_bit_cast(double, x); }
SB_FN long long __double_as_longlong(double x) { return __builtin_bit_cast(long long, x); }
SB_FN int __double2hiint(double x) { return static_cast<int>(__double_as_longlong(x) >> 32); }
SB_FN int __double2loint(double x) { return static_cast<int>(__double_as_longlong(x)); }
SB_FN double __hiloint2double(int hi, int lo) {
  return __longlong_as_double(
      static_cast<long long>((static_cast<unsigned long long>(static_cast<unsigned>(hi)) << 32) |
                             static_cast<unsigned>(lo)));
}

/* Older names. */
SB_FN int mulhi(int x, int y) { return __mulhi(x, y); }
SB_FN unsigned mulhi(unsigned x, unsigned y) { return __umulhi(x, y); }
SB_FN unsigned mulhi(int x, unsigned y) { return __umulhi(static_cast<unsigned>(x), y); }
SB_FN unsigned mulhi(unsigned x, int y) { return __umulhi(x, static_cast<unsigned>(y)); }
SB_FN long long mul64hi(long long x, long long y) { return __mul64hi(x, y); }
SB_FN unsigned long long mul64hi(unsigned long long x, unsigned long long y) {
  return __umul64hi(x, y);
}
SB_FN int mul24(int x, int y) { return __mul24(x, y); }
SB_FN unsigned umul24(unsigned x, unsigned y) { return __umul24(x, y); }
SB_FN int float_as_int(float x) { return __float_as_int(x); }
SB_FN float int_as_float(int x) { return __int_as_float(x); }
SB_FN unsigned float_as_uint(float x) { return __float_as_uint(x); }
SB_FN float uint_as_float(unsigned x) { return __uint_as_float(x); }

#endif
