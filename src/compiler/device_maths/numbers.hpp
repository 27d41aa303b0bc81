// What the functions of this folder share: numbers as bits, rounding without a conversion, and
// powers of two. Everything is plain arithmetic without branches, so that LLVM can make vectors of
// it; nothing may be undefined for any argument, infinities and NaN included.
#pragma once

#include <array>
#include <cstddef>
#include <cstdint>

namespace sb::maths {

template <class To, class From>
inline To bits_as(From from) {
  static_assert(sizeof(To) == sizeof(From));
  To to;
  __builtin_memcpy(&to, &from, sizeof(to));
  return to;
}

inline float fused(float a, float b, float c) { return __builtin_fmaf(a, b, c); }
inline double fused(double a, double b, double c) { return __builtin_fma(a, b, c); }
inline float size_of(float x) { return __builtin_fabsf(x); }
inline double size_of(double x) { return __builtin_fabs(x); }
inline float root_of(float x) { return __builtin_sqrtf(x); }
inline double root_of(double x) { return __builtin_sqrt(x); }
inline bool is_negative(float x) { return bits_as<std::uint32_t>(x) >> 31 != 0; }
inline bool is_negative(double x) { return bits_as<std::uint64_t>(x) >> 63 != 0; }

// Turns x round where `sign` is negative, be it a zero or NaN.
inline float with_sign_of(float sign, float x) {
  return bits_as<float>(bits_as<std::uint32_t>(x) ^ (bits_as<std::uint32_t>(sign) & 0x80000000u));
}
inline double with_sign_of(double sign, double x) {
  return bits_as<double>(bits_as<std::uint64_t>(x) ^
                         (bits_as<std::uint64_t>(sign) & 0x8000000000000000u));
}

// c[0] + c[1] * x + c[2] * x^2 + ..., in pairs and pairs of pairs: half as many steps wait for one
// another as with one coefficient after the other, and a processor has several in flight.
template <class Real, std::size_t count>
inline Real in_pairs(Real x, const std::array<Real, count>& c) {
  if constexpr (count == 1) {
    return c[0];
  } else {
    std::array<Real, (count + 1) / 2> pairs;
    for (std::size_t i = 0; i < count; i += 2)
      pairs[i / 2] = i + 1 < count ? fused(x, c[i + 1], c[i]) : c[i];
    return in_pairs(x * x, pairs);
  }
}
template <class Real, class... More>
inline Real polynomial(Real x, Real first, More... more) {
  return in_pairs(x, std::array<Real, 1 + sizeof...(more)>{first, more...});
}
// The last two steps one after the other: what pairs round off is mostly of the first ones.
template <class Real, class... More>
inline Real fine_polynomial(Real x, Real first, Real second, More... more) {
  return fused(x, fused(x, polynomial(x, more...), second), first);
}

// The integer next to a number below 2^21 or 2^50: added to this, it is in the last bits.
constexpr float shifter_f = 0x1.8p23f;
constexpr double shifter_d = 0x1.8p52;

struct whole_f {
  float value;
  std::uint32_t bits;  // modulo 2^22
};
inline whole_f nearest(float x) {
  const float shifted = x + shifter_f;
  return {shifted - shifter_f, bits_as<std::uint32_t>(shifted) - bits_as<std::uint32_t>(shifter_f)};
}
struct whole_d {
  double value;
  std::uint64_t bits;
};
inline whole_d nearest(double x) {
  const double shifted = x + shifter_d;
  return {shifted - shifter_d, bits_as<std::uint64_t>(shifted) - bits_as<std::uint64_t>(shifter_d)};
}

inline float power_of_two(std::int32_t n) {
  return bits_as<float>((static_cast<std::uint32_t>(n) + 127u) << 23);
}
inline double power_of_two(std::int64_t n) {
  return bits_as<double>((static_cast<std::uint64_t>(n) + 1023u) << 52);
}

// x * 2^n in two steps: neither factor overflows, and a denormal result is rounded once.
inline float scaled(float x, std::uint32_t n) {
  const auto half = static_cast<std::int32_t>(n) >> 1;
  return x * power_of_two(half) * power_of_two(static_cast<std::int32_t>(n) - half);
}
inline double scaled(double x, std::uint64_t n) {
  const auto half = static_cast<std::int64_t>(n) >> 1;
  return x * power_of_two(half) * power_of_two(static_cast<std::int64_t>(n) - half);
}

// NaN stays.
template <class Real>
inline Real clamped(Real x, Real low, Real high) {
  const Real capped = x > high ? high : x;
  return capped < low ? low : capped;
}

}  // namespace sb::maths
