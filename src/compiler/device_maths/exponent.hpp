// The exponent of a number: what it is, another one, a number without it.
#pragma once

#include "logarithm.hpp"

namespace sb::maths {

// x = mantissa * 2^n with a mantissa of the sign of x and from 1 to 2, if x is neither zero nor
// infinite nor NaN.
struct exponent_f {
  float mantissa;
  std::int32_t n;
};
inline exponent_f without_exponent(float x) {
  const bool denormal = size_of(x) < 0x1p-126f;
  const auto bits = bits_as<std::uint32_t>(denormal ? x * 0x1p23f : x);
  const auto n = static_cast<std::int32_t>(bits >> 23 & 0xffu) - (denormal ? 127 + 23 : 127);
  return {bits_as<float>((bits & 0x807fffffu) | 0x3f800000u), n};
}
struct exponent_d {
  double mantissa;
  std::int64_t n;
};
inline exponent_d without_exponent(double x) {
  const bool denormal = size_of(x) < 0x1p-1022;
  const auto bits = bits_as<std::uint64_t>(denormal ? x * 0x1p52 : x);
  const auto n = static_cast<std::int64_t>(bits >> 52 & 0x7ffu) - (denormal ? 1023 + 52 : 1023);
  return {bits_as<double>((bits & 0x800fffffffffffffu) | 0x3ff0000000000000u), n};
}
template <class Real>
inline bool has_exponent(Real x) {
  const Real size = size_of(x);
  return (size > Real(0)) & (size < Real(__builtin_inff()));
}

inline float scaled_within(float x, std::int32_t n) {
  return scaled(x, static_cast<std::uint32_t>(n));
}
inline double scaled_within(double x, std::int64_t n) {
  return scaled(x, static_cast<std::uint64_t>(n));
}
// The sum of the exponents may be anything; beyond these it is an infinity or a zero. What rounds
// is the second of two products only.
template <class Real, class Whole>
inline Real ldexp(Real x, Whole n) {
  constexpr int most = sizeof(Real) == 4 ? 600 : 5000, bound = sizeof(Real) == 4 ? 200 : 1200;
  const auto e = without_exponent(x);
  const Whole by = n > most ? most : n < -most ? -most : n;
  const auto sum = e.n + static_cast<decltype(e.n)>(by);
  const decltype(e.n) within = sum > bound ? bound : sum < -bound ? -bound : sum;
  return has_exponent(x) ? scaled_within(e.mantissa, within) : x;
}

inline float as_real(std::int32_t n) { return static_cast<float>(n); }
// Of small numbers, without an instruction that few processors have.
inline double as_real(std::int64_t n) {
  return bits_as<double>(static_cast<std::uint64_t>(n) + bits_as<std::uint64_t>(shifter_d)) -
         shifter_d;
}
template <class Real>
inline Real logb(Real x) {
  const Real infinity = __builtin_inff();
  return has_exponent(x) ? as_real(without_exponent(x).n) : x == Real(0) ? -infinity : x * x;
}
template <class Real>
inline int ilogb(Real x) {
  const int n = static_cast<int>(without_exponent(x).n);
  const int none = size_of(x) == Real(__builtin_inff()) ? 0x7fffffff : -0x7fffffff - 1;
  return has_exponent(x) ? n : none;
}

// frexp's two results.
template <class Real>
inline Real mantissa_of(Real x) {
  return has_exponent(x) ? Real(0.5) * without_exponent(x).mantissa : x;
}
template <class Real>
inline int exponent_of(Real x) {
  return has_exponent(x) ? static_cast<int>(without_exponent(x).n) + 1 : 0;
}

// The number next to x towards y. Zero and what is next to it have the smallest size of either
// sign.
template <class Real, class Bits>
inline Real next_towards(Real x, Real y, Bits sign_bit) {
  const Bits bits = bits_as<Bits>(x);
  const bool away = is_negative(x) ? y < x : y > x;
  const Bits next = away ? bits + 1 : bits - 1;
  const Bits from_zero = (bits_as<Bits>(y) & sign_bit) | 1;
  const Real moved = bits_as<Real>(x == Real(0) ? from_zero : next);
  const bool none = (x != x) | (y != y);
  return none ? x + y : x == y ? y : moved;
}
inline float nextafter(float x, float y) { return next_towards(x, y, 0x80000000u); }
inline double nextafter(double x, double y) {
  return next_towards(x, y, std::uint64_t{0x8000000000000000u});
}

// The difference, where it is above zero.
template <class Real>
inline Real fdim(Real x, Real y) {
  return x <= y ? Real(0) : x - y;
}

}  // namespace sb::maths
